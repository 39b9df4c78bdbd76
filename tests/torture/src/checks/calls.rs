//! R6, R9 and R16: every call ends, with an answer that its arguments allow.

use crate::checks::Violation;
use crate::history::{Held, History, Outcome};
use crate::recipe::Recipe;

/// How much later than its time-out a call may end here. The rule says 50 ms; a machine that starts servers and runs
/// four languages on few cores takes longer now and then.
const GRACE: u64 = 15_000_000_000;

/// Every call has ended, but those of killed processes.
pub(crate) fn endless(history: &History) -> Vec<Violation> {
    let waiting = history.waiting().into_iter();
    waiting
        .filter_map(|id| {
            let job = &history.jobs[id.job];
            Some(Violation {
                resource: job.recipe.resource(),
                at: history.hold(id)?.asked,
                text: format!("{} still waits", history.who(id)),
            })
        })
        .collect()
}

/// Calls ended only as they may: granted, busy or late if they set a limit, or lost if their owner had lost the lock.
pub(crate) fn failures(history: &History) -> Vec<Violation> {
    let denied = history.holds().filter_map(|held| match &held.hold.outcome {
        Some(Outcome::Denied { kind, at, message }) if !is_allowed(&held, kind) => {
            Some(Violation {
                resource: held.job.recipe.resource(),
                at: *at,
                text: format!("{} ended with {kind} {message}", history.who(held.id)),
            })
        }
        _ => None,
    });
    denied.collect()
}

fn is_allowed(held: &Held<'_>, kind: &str) -> bool {
    // Re-entry asks nobody, so nothing can take time or be busy.
    let reentry = held.job.recipe == Recipe::Reentrant && held.id.name == 'b';
    match kind {
        "BUSY" => held.job.timeout_ms == 0 && held.id.name == 'a',
        "TIMEOUT" => held.job.timeout_ms > 0 && !reentry,
        "LOCK_LOST" => held.id.name == 'b',
        _ => false,
    }
}

/// Calls with a time-out that ended long after it, though their process was not stopped.
pub(crate) fn late(history: &History) -> Vec<Violation> {
    let late = history
        .holds()
        .filter(|held| overshoot(history, held).is_some_and(|over| over > GRACE));
    late.map(|held| Violation {
        resource: held.job.recipe.resource(),
        at: held.hold.asked,
        text: format!("{} ended long after its time-out", history.who(held.id)),
    })
    .collect()
}

/// By how many nanoseconds a call outlasted its time-out, if its process was not stopped meanwhile.
pub(crate) fn overshoot(history: &History, held: &Held<'_>) -> Option<u64> {
    let limit = u64::try_from(held.job.timeout_ms)
        .ok()
        .filter(|limit| *limit > 0)?;
    let end = held.hold.outcome.as_ref()?.at();
    let process = &history.processes[held.job.process];
    let stopped = |(from, to): &(u64, u64)| *from <= end && *to >= held.hold.asked;
    if process.stops.iter().any(stopped) {
        return None;
    }
    Some(end.saturating_sub(held.hold.asked + limit * 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::sample::{history, hold};
    use crate::history::Hold;
    use crate::recipe::Recipe::{Mutex, Reentrant};

    fn denied(name: char, kind: &str, at: u64) -> Hold {
        Hold {
            outcome: Some(Outcome::Denied {
                kind: kind.into(),
                at,
                message: String::new(),
            }),
            ..Hold::new(name, 1)
        }
    }

    fn with_timeout(recipe: Recipe, timeout_ms: i64, holds: Vec<Hold>) -> History {
        let mut history = history().with(recipe, holds);
        history.jobs[0].timeout_ms = timeout_ms;
        history
    }

    #[test]
    fn a_waiter_without_an_end_is_found_but_not_of_a_killed_process() {
        let mut history = history().with(Mutex, [Hold::new('a', 5)]);
        assert_eq!(endless(&history).len(), 1);
        history.processes[0].killed = Some(9);
        assert_eq!(endless(&history), []);
    }

    #[test]
    fn answers_fit_to_what_was_asked() {
        let good = [
            with_timeout(Mutex, 0, vec![denied('a', "BUSY", 9)]),
            with_timeout(Mutex, 7, vec![denied('a', "TIMEOUT", 9)]),
            with_timeout(
                Reentrant,
                -1,
                vec![hold('a', 5, 10, 20), denied('b', "LOCK_LOST", 30)],
            ),
        ];
        for history in good {
            assert_eq!(failures(&history), []);
        }
        let bad = [
            with_timeout(Mutex, -1, vec![denied('a', "TIMEOUT", 9)]),
            with_timeout(Mutex, 7, vec![denied('a', "BUSY", 9)]),
            with_timeout(Mutex, 7, vec![denied('a', "LOCK_LOST", 9)]),
            with_timeout(Mutex, 7, vec![denied('a', "SESSION_EXPIRED", 9)]),
            with_timeout(
                Reentrant,
                7,
                vec![hold('a', 5, 10, 20), denied('b', "TIMEOUT", 30)],
            ),
        ];
        for history in bad {
            assert_eq!(failures(&history).len(), 1);
        }
    }

    #[test]
    fn a_call_that_is_far_too_late_is_found_unless_its_process_was_stopped() {
        let mut history = with_timeout(Mutex, 7, vec![denied('a', "TIMEOUT", GRACE + 8_000_000)]);
        assert_eq!(late(&history).len(), 1);
        history.processes[0].stops.push((4, GRACE));
        assert_eq!(late(&history), []);
    }
}
