//! R4 and R10: a loss is told once and is final, and a release says truly how it ended.

use crate::checks::Violation;
use crate::history::{Held, History, Release};

/// A process that is killed so soon behind a release may not have come to telling.
const TELLING: u64 = 10_000_000_000;

pub(crate) fn check(history: &History) -> Vec<Violation> {
    let mut violations = Vec::new();
    for held in history.holds() {
        let Some(grant) = held.hold.grant() else {
            if !held.hold.told.is_empty() {
                violations.push(violation(
                    history,
                    &held,
                    held.hold.told[0],
                    "lost what it never had",
                ));
            }
            continue;
        };
        for what in problems(history, &held) {
            let at = held
                .hold
                .release
                .as_ref()
                .map_or(grant.at, |release| release.before);
            violations.push(violation(history, &held, at, what));
        }
    }
    violations
}

fn problems(history: &History, held: &Held<'_>) -> Vec<&'static str> {
    let hold = held.hold;
    let mut problems = Vec::new();
    let answers: Vec<bool> = hold.checks.iter().map(|check| check.held).collect();
    if answers.windows(2).any(|pair| pair == [false, true]) {
        problems.push("had lost the lock and held it again");
    }
    if hold.told.len() > 1 {
        problems.push("was told of its loss more than once");
    }
    let killed = history.processes[held.job.process].killed;
    let released = hold.release.as_ref().map(|release| release.after);
    let was_killed_soon = killed
        .zip(released)
        .is_some_and(|(killed, released)| killed < released + TELLING);
    let outcome = hold
        .release
        .as_ref()
        .map(|Release { outcome, .. }| outcome.as_str());
    match outcome {
        Some("OK") => {
            if answers.contains(&false) {
                problems.push("was lost and was released in order");
            }
            if !hold.told.is_empty() {
                problems.push("was released and told of a loss");
            }
        }
        Some("LOCK_LOST") if hold.told.is_empty() && !was_killed_soon => {
            problems.push("was lost and not told");
        }
        Some("LOCK_LOST") => {}
        Some(_) => problems.push("was released with an outcome that nothing explains"),
        None if killed.is_none() => problems.push("was not released"),
        None => {}
    }
    problems
}

fn violation(history: &History, held: &Held<'_>, at: u64, what: &str) -> Violation {
    Violation {
        resource: held.job.recipe.resource(),
        at,
        text: format!("{} {what}", history.who(held.id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::sample::{check as answer, history, hold, lost, release};
    use crate::history::Hold;
    use crate::recipe::Recipe::Mutex;

    fn problems_of(hold: Hold) -> usize {
        check(&history().with(Mutex, [hold])).len()
    }

    #[test]
    fn a_release_and_a_told_loss_are_good() {
        assert_eq!(problems_of(hold('a', 5, 10, 20)), 0);
        assert_eq!(problems_of(lost('a', 5, 10, 20)), 0);
    }

    #[test]
    fn a_loss_that_is_not_told_or_told_twice_is_found() {
        let mut untold = lost('a', 5, 10, 20);
        untold.told.clear();
        assert_eq!(problems_of(untold), 1);
        let mut twice = lost('a', 5, 10, 20);
        twice.told.push(90);
        assert_eq!(problems_of(twice), 1);
    }

    #[test]
    fn a_loss_told_of_a_lock_that_was_released_is_found() {
        let mut hold = hold('a', 5, 10, 20);
        hold.told.push(90);
        assert_eq!(problems_of(hold), 1);
    }

    #[test]
    fn a_lock_that_comes_back_is_found() {
        let mut hold = lost('a', 5, 10, 20);
        hold.checks.push(answer(true, 500));
        assert_eq!(problems_of(hold), 1);
    }

    #[test]
    fn a_lost_lock_that_is_released_in_order_is_found() {
        let mut hold = lost('a', 5, 10, 20);
        hold.told.clear();
        hold.release = Some(release("OK", 130));
        assert_eq!(problems_of(hold), 1);
    }

    #[test]
    fn a_strange_or_missing_release_is_found_but_not_of_a_killed_process() {
        let mut strange = hold('a', 5, 10, 20);
        strange.release = Some(release("NOT_HELD", 20));
        assert_eq!(problems_of(strange), 1);
        let mut untold = lost('a', 5, 10, 20);
        untold.told.clear();
        let mut killed = history().with(Mutex, [untold]);
        killed.processes[0].killed = Some(TELLING);
        assert_eq!(check(&killed), []);
        killed.processes[0].killed = Some(2 * TELLING);
        assert_eq!(check(&killed).len(), 1);
        let mut missing = hold('a', 5, 10, 20);
        missing.release = None;
        assert_eq!(problems_of(missing.clone()), 1);
        let mut killed = history().with(Mutex, [missing]);
        killed.processes[0].killed = Some(25);
        assert_eq!(check(&killed), []);
    }
}
