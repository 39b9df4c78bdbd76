//! The history of grants, writes, losses and releases is that of *some* lock: stateright's tester looks for an order of
//! all of them that respects what came before what, and in which a lock that knows no concurrency gives the same answers.
//!
//! Unlike the check by sorting it is told nothing of how tokens and beliefs hang together, only what a lock is. Its
//! search is exponential in the worst case, so it looks at a few neighbours in the order of tokens at a time: part of a
//! history of a lock is one too. What is further apart is the sorting's to find.

use std::collections::HashMap;

use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use crate::checks::Violation;
use crate::history::{Held, History};
use crate::message::HoldId;
use crate::recipe::Resource;
use crate::register::Access;

/// Holds looked at together; windows overlap by half.
const WINDOW: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operation {
    Acquire {
        shared: bool,
        token: i64,
    },
    /// Through the fence, by a holder that believed afterwards.
    Write,
    /// Released, lost, or killed.
    End,
}

/// A read-write lock without concurrency; a mutex is one without readers.
#[derive(Clone, Debug, Default)]
struct Lock {
    holders: Vec<(HoldId, bool)>,
    last: Option<i64>,
}

impl SequentialSpec for Lock {
    type Op = (HoldId, Operation);
    /// Whether a lock can do so now.
    type Ret = bool;

    fn invoke(&mut self, (id, operation): &Self::Op) -> bool {
        match operation {
            Operation::Acquire { shared, token } => {
                let of_another = |holder: &HoldId| holder.job != id.job;
                let excludes = |(holder, holds_shared): &(HoldId, bool)| {
                    of_another(holder) && !(*shared && *holds_shared)
                };
                let again = self.holders.iter().any(|(holder, _)| !of_another(holder));
                let rises = again || self.last.is_none_or(|last| last < *token);
                if self.holders.iter().any(excludes) || !rises {
                    return false;
                }
                self.holders.push((*id, *shared));
                if !shared {
                    self.last = Some(*token);
                }
                true
            }
            Operation::Write => {
                let writes = |(holder, shared): &(HoldId, bool)| holder.job == id.job && !shared;
                self.holders.iter().any(writes)
            }
            Operation::End => {
                let holders = self.holders.len();
                self.holders.retain(|(holder, _)| holder != id);
                self.holders.len() < holders
            }
        }
    }
}

/// An operation with its interval. One without an end may have happened or not.
struct Timed {
    lane: (usize, u8),
    id: HoldId,
    operation: Operation,
    from: u64,
    to: Option<u64>,
}

pub(crate) fn check(history: &History) -> Vec<Violation> {
    let mut writes: HashMap<HoldId, Vec<u64>> = HashMap::new();
    for entry in &history.accesses {
        let accepted = matches!(entry.access, Access::FencedWrite { answer: Ok(()), .. });
        let hold = history.hold(entry.hold);
        if accepted && hold.is_some_and(|hold| hold.believes_after(entry.at)) {
            writes.entry(entry.hold).or_default().push(entry.at);
        }
    }
    let mut violations = Vec::new();
    for resource in Resource::ALL {
        let mut holds: Vec<(Held<'_>, i64)> = history
            .granted(resource)
            .filter(|(held, _)| held.hold.believed_from().is_some())
            .map(|(held, grant)| (held, grant.token))
            .collect();
        holds.sort_by_key(|(held, token)| (*token, held.id));
        for start in (0..holds.len()).step_by(WINDOW / 2) {
            let end = holds.len().min(start + WINDOW);
            violations.extend(check_window(history, resource, &holds[start..end], &writes));
        }
    }
    violations
}

fn check_window(
    history: &History,
    resource: Resource,
    window: &[(Held<'_>, i64)],
    writes: &HashMap<HoldId, Vec<u64>>,
) -> Option<Violation> {
    let operations: Vec<Timed> = window
        .iter()
        .enumerate()
        .flat_map(|(rank, (held, token))| {
            let writes = writes.get(&held.id).map_or(&[][..], Vec::as_slice);
            timed(history, rank, held, *token, writes)
        })
        .collect();
    if is_linearizable(operations) {
        return None;
    }
    let (first, _) = window.first()?;
    let names: Vec<String> = window
        .iter()
        .map(|(held, _)| history.who(held.id))
        .collect();
    Some(Violation {
        resource,
        at: first.hold.believed_from()?,
        text: format!("no lock behaves as it did towards {}", names.join(", ")),
    })
}

/// What one hold did. Lanes are in the order in which the search succeeds at once on a good history.
fn timed(
    history: &History,
    rank: usize,
    held: &Held<'_>,
    token: i64,
    writes: &[u64],
) -> Vec<Timed> {
    let hold = held.hold;
    let (Some(from), Some(until)) = (hold.believed_from(), hold.believed_until()) else {
        return Vec::new();
    };
    let operation = |lane, operation, from, to| Timed {
        lane: (rank, lane),
        id: held.id,
        operation,
        from,
        to,
    };
    let shared = held.is_shared();
    let acquire = Operation::Acquire { shared, token };
    let mut all = vec![operation(
        0,
        acquire,
        hold.asked,
        Some(from.max(hold.asked)),
    )];
    all.extend(
        writes
            .iter()
            .map(|at| operation(1, Operation::Write, *at, Some(*at))),
    );
    let seen_lost = hold
        .checks
        .iter()
        .filter(|check| !check.held)
        .map(|check| check.after);
    let released = hold.release.iter().map(|release| release.after);
    let killed = history.processes[held.job.process].killed;
    let end = seen_lost.chain(released).chain(killed).min();
    all.push(operation(
        2,
        Operation::End,
        until,
        end.map(|end| end.max(until)),
    ));
    all
}

fn is_linearizable(operations: Vec<Timed>) -> bool {
    let mut tester = LinearizabilityTester::new(Lock::default());
    // At one moment what begins comes first, so that nothing is taken to be ordered that may not be.
    let mut moments: Vec<(u64, bool, &Timed)> = Vec::new();
    for operation in &operations {
        moments.push((operation.from, false, operation));
        moments.extend(operation.to.map(|to| (to, true, operation)));
    }
    moments.sort_by_key(|(at, is_return, operation)| (*at, *is_return, operation.lane));
    let mut tell = |&(_, is_return, operation): &(u64, bool, &Timed)| {
        let lane = operation.lane;
        if is_return {
            tester.on_return(lane, true).is_ok()
        } else {
            let asked = (operation.id, operation.operation.clone());
            tester.on_invoke(lane, asked).is_ok()
        }
    };
    moments.iter().all(&mut tell) && tester.is_consistent()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::sample::{history, hold, lost};
    use crate::recipe::Recipe::{Downgrade, Mutex, Read, Reentrant, Write};

    fn write(token: i64) -> Access {
        Access::FencedWrite {
            token,
            value: 1,
            answer: Ok(()),
        }
    }

    #[test]
    fn a_good_history_of_many_holds_has_an_order() {
        let mut history = history();
        for number in 0..50 {
            let (token, from) = (number + 1, number as u64 * 100 + 10);
            // All of them had asked long before.
            let mut hold = match number % 3 {
                0 => lost('a', token, from, from + 20),
                _ => hold('a', token, from, from + 20),
            };
            hold.asked = 0;
            history = history.with(Mutex, [hold]);
            history = history.access(from + 5, number as usize, 'a', write(token));
        }
        // The loss of every third is only seen while the next one holds.
        assert_eq!(check(&history), []);
    }

    #[test]
    fn reentry_and_downgrade_are_a_locks() {
        let history = history()
            .with(Reentrant, [hold('a', 1, 10, 50), hold('b', 1, 20, 30)])
            .with(Reentrant, [hold('a', 2, 60, 70)])
            .with(Downgrade, [hold('a', 3, 10, 30), hold('b', 3, 20, 60)])
            .with(Read, [hold('a', 5, 40, 50)])
            .with(Write, [hold('a', 6, 70, 80)]);
        assert_eq!(check(&history), []);
    }

    #[test]
    fn two_holders_are_found() {
        let history = history()
            .with(Mutex, [hold('a', 1, 10, 40)])
            .with(Mutex, [hold('a', 2, 30, 50)]);
        assert_eq!(check(&history).len(), 1);
    }

    #[test]
    fn a_reused_token_is_found() {
        let history = history()
            .with(Mutex, [hold('a', 1, 10, 20)])
            .with(Mutex, [hold('a', 1, 30, 40)]);
        assert_eq!(check(&history).len(), 1);
    }

    #[test]
    fn a_reordered_grant_is_found() {
        let history = history()
            .with(Mutex, [hold('a', 2, 10, 20)])
            .with(Mutex, [hold('a', 1, 30, 40)]);
        assert_eq!(check(&history).len(), 1);
    }

    #[test]
    fn a_stale_write_that_was_accepted_is_found() {
        let history = history()
            .with(Mutex, [hold('a', 1, 10, 20)])
            .with(Mutex, [hold('a', 2, 30, 40)])
            .access(35, 0, 'a', write(1));
        assert_eq!(check(&history), [], "its holder did not believe any more");
        let mut believer = history;
        believer.jobs[0].holds[0]
            .checks
            .push(crate::checks::sample::check(true, 36));
        assert_eq!(check(&believer).len(), 1);
    }

    #[test]
    fn a_lost_update_needs_two_holders() {
        let history = history()
            .with(Mutex, [hold('a', 1, 10, 40)])
            .with(Mutex, [hold('a', 2, 20, 50)])
            .access(25, 0, 'a', write(1))
            .access(26, 1, 'a', write(2))
            .access(27, 0, 'a', write(1));
        assert_eq!(check(&history).len(), 1);
    }

    #[test]
    fn a_writer_among_readers_is_found() {
        let history = history()
            .with(Read, [hold('a', 1, 10, 40)])
            .with(Read, [hold('a', 2, 20, 50)])
            .with(Write, [hold('a', 3, 45, 60)]);
        assert_eq!(check(&history).len(), 1);
    }

    #[test]
    fn what_is_bad_is_found_wherever_it_is() {
        for bad in 0..19_usize {
            let mut all = history();
            for number in 0..20_usize {
                let from = number as u64 * 100 + 10;
                let until = if number == bad { from + 120 } else { from + 20 };
                all = all.with(Mutex, [hold('a', number as i64 + 1, from, until)]);
            }
            assert_ne!(check(&all), [], "{bad}");
        }
    }
}
