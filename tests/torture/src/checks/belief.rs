//! R1 and the order of R2, by sorting: of two holds that exclude each other the one with the lower token has to have
//! stopped believing before the other began.
//!
//! What a guard answers is true at some moment between the two clock readings around it. So a hold believed from the
//! earliest `after` to the latest `before` of its positive answers, at least; that is all that is held against it. A
//! process that was stopped believes only if it says so afterwards.

use crate::checks::Violation;
use crate::history::History;
use crate::message::HoldId;
use crate::recipe::Resource;

/// What the two rules were broken by.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Two believed at once.
    pub(crate) overlaps: Vec<Violation>,
    /// The one with the higher token came first.
    pub(crate) reversals: Vec<Violation>,
}

struct Belief {
    id: HoldId,
    token: i64,
    shared: bool,
    from: u64,
    until: u64,
}

/// The one that believed longest among those before.
#[derive(Clone, Copy, Default)]
struct Latest(Option<(u64, HoldId)>);

impl Latest {
    fn add(&mut self, until: u64, id: HoldId) {
        if self.0.is_none_or(|(latest, _)| latest < until) {
            self.0 = Some((until, id));
        }
    }
}

pub(crate) fn check(history: &History) -> Found {
    let mut found = Found::default();
    for resource in Resource::ALL {
        check_path(history, resource, &mut found);
    }
    found
}

fn check_path(history: &History, resource: Resource, found: &mut Found) {
    let mut beliefs: Vec<Belief> = history
        .granted(resource)
        .filter_map(|(held, grant)| {
            Some(Belief {
                id: held.id,
                token: grant.token,
                shared: held.is_shared(),
                from: held.hold.believed_from()?,
                until: held.hold.believed_until()?,
            })
        })
        .collect();
    beliefs.sort_by_key(|belief| (belief.token, belief.id));
    let (mut writers, mut all) = (Latest::default(), Latest::default());
    // Holds of one job share its token, and do not exclude each other.
    for same in beliefs.chunk_by(|a, b| (a.token, a.id.job) == (b.token, b.id.job)) {
        for belief in same {
            let before = if belief.shared { writers } else { all };
            if let Some((until, other)) = before.0
                && until >= belief.from
            {
                compare(history, resource, other, belief, found);
            }
        }
        for belief in same {
            all.add(belief.until, belief.id);
            if !belief.shared {
                writers.add(belief.until, belief.id);
            }
        }
    }
}

fn compare(
    history: &History,
    resource: Resource,
    earlier: HoldId,
    later: &Belief,
    found: &mut Found,
) {
    let from = history.hold(earlier).and_then(|hold| hold.believed_from());
    let violation = |what: &str| Violation {
        resource,
        at: later.from,
        text: format!(
            "{} (token {}) {what} {}",
            history.who(later.id),
            later.token,
            history.who(earlier)
        ),
    };
    if from.is_some_and(|from| later.until < from) {
        let what = "has the higher token and came before";
        found.reversals.push(violation(what));
    } else {
        let what = "believed at the same time as";
        found.overlaps.push(violation(what));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::sample::{check as answer, history, hold, lost};
    use crate::history::Check;
    use crate::recipe::Recipe::{Downgrade, Mutex, Read, Reentrant, Write};

    fn counts(history: &History) -> (usize, usize) {
        let found = check(history);
        (found.overlaps.len(), found.reversals.len())
    }

    #[test]
    fn one_after_the_other_is_good() {
        let history = history()
            .with(Mutex, [hold('a', 5, 10, 20)])
            .with(Mutex, [hold('a', 7, 30, 40)])
            .with(Reentrant, [hold('a', 6, 10, 40), hold('b', 6, 20, 30)]);
        assert_eq!(counts(&history), (0, 0));
    }

    #[test]
    fn two_holders_are_found() {
        let history = history()
            .with(Mutex, [hold('a', 5, 10, 31)])
            .with(Mutex, [hold('a', 7, 30, 40)]);
        assert_eq!(counts(&history), (1, 0));
    }

    #[test]
    fn two_holders_are_found_though_others_came_between() {
        let history = history()
            .with(Mutex, [hold('a', 5, 10, 100)])
            .with(Mutex, [hold('a', 6, 20, 30)])
            .with(Mutex, [hold('a', 7, 90, 95)]);
        assert_eq!(counts(&history), (2, 0));
    }

    #[test]
    fn a_reordered_grant_is_found() {
        let history = history()
            .with(Mutex, [hold('a', 7, 10, 20)])
            .with(Mutex, [hold('a', 5, 30, 40)]);
        assert_eq!(counts(&history), (0, 1));
    }

    #[test]
    fn a_lost_guard_that_says_so_is_no_believer() {
        let history = history()
            .with(Mutex, [lost('a', 5, 10, 20)])
            .with(Mutex, [hold('a', 7, 30, 40)]);
        assert_eq!(counts(&history), (0, 0));
    }

    #[test]
    fn a_stopped_process_that_still_believes_is_found() {
        let mut first = hold('a', 5, 10, 20);
        first.checks.push(answer(true, 35));
        let history = history()
            .with(Mutex, [first])
            .with(Mutex, [hold('a', 7, 30, 40)]);
        assert_eq!(counts(&history), (1, 0));
    }

    #[test]
    fn an_answer_that_was_stopped_in_the_middle_vouches_for_its_beginning_only() {
        let mut first = lost('a', 5, 10, 20);
        first.checks.push(Check {
            held: true,
            before: 25,
            after: 500,
        });
        let history = history()
            .with(Mutex, [first])
            .with(Mutex, [hold('a', 7, 30, 40)]);
        assert_eq!(counts(&history), (0, 0));
    }

    #[test]
    fn a_release_that_succeeded_after_the_next_grant_is_found() {
        let mut first = hold('a', 5, 10, 20);
        first.release = Some(crate::checks::sample::release("OK", 35));
        let history = history()
            .with(Mutex, [first])
            .with(Mutex, [hold('a', 7, 30, 40)]);
        assert_eq!(counts(&history), (1, 0));
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        let good = history()
            .with(Write, [hold('a', 3, 1, 5)])
            .with(Read, [hold('a', 5, 10, 100)])
            .with(Read, [hold('a', 6, 20, 30)])
            .with(Write, [hold('a', 9, 110, 120)])
            .with(
                Downgrade,
                [hold('a', 10, 130, 150), hold('b', 10, 140, 200)],
            )
            .with(Read, [hold('a', 11, 160, 170)]);
        assert_eq!(counts(&good), (0, 0));
        let under_a_reader = good.clone().with(Write, [hold('a', 7, 90, 95)]);
        assert_eq!(counts(&under_a_reader), (1, 0));
        let under_a_downgraded = good.clone().with(Write, [hold('a', 12, 180, 210)]);
        assert_eq!(counts(&under_a_downgraded), (1, 0));
        let reader_in_a_write = good.with(Read, [hold('a', 10, 145, 170)]);
        assert_eq!(counts(&reader_in_a_write), (1, 0));
    }
}
