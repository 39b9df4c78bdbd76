//! R2: tokens are positive, belong to one job each, and are repeated by re-entry and downgrade.

use std::collections::HashMap;

use crate::checks::Violation;
use crate::history::History;
use crate::recipe::Resource;

pub(crate) fn check(history: &History) -> Vec<Violation> {
    let mut violations = Vec::new();
    // The servers count them all in one row.
    let mut jobs: HashMap<i64, usize> = HashMap::new();
    for resource in Resource::ALL {
        for (held, grant) in history.granted(resource) {
            let mut add = |text: String| {
                let who = history.who(held.id);
                violations.push(Violation {
                    resource,
                    at: grant.at,
                    text: format!("{who} got the token {}{text}", grant.token),
                });
            };
            if grant.token <= 0 {
                add(String::new());
            }
            let owner = *jobs.entry(grant.token).or_insert(held.id.job);
            if owner != held.id.job {
                add(format!(", which job {owner} had"));
            }
            let first = held.job.holds.first().and_then(|hold| hold.grant());
            if let Some(first) = first
                && first.token != grant.token
            {
                add(format!(" behind {}", first.token));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::sample::{history, hold};
    use crate::recipe::Recipe::{Downgrade, Mutex, Reentrant};

    #[test]
    fn a_token_for_each_job_is_good() {
        let history = history()
            .with(Mutex, [hold('a', 5, 10, 20)])
            .with(Reentrant, [hold('a', 6, 10, 40), hold('b', 6, 20, 30)]);
        assert_eq!(check(&history), []);
    }

    #[test]
    fn a_token_that_was_used_before_is_found_on_any_path() {
        for recipe in [Mutex, Reentrant] {
            let history = history()
                .with(Mutex, [hold('a', 5, 10, 20)])
                .with(recipe, [hold('a', 5, 30, 40)]);
            assert_eq!(check(&history).len(), 1);
        }
    }

    #[test]
    fn tokens_that_are_not_positive_are_found() {
        for token in [0, -1] {
            let history = history().with(Mutex, [hold('a', token, 10, 20)]);
            assert_eq!(check(&history).len(), 1);
        }
    }

    #[test]
    fn a_second_grant_with_a_token_of_its_own_is_found() {
        for recipe in [Downgrade, Reentrant] {
            let holds = [hold('a', 5, 10, 20), hold('b', 6, 15, 30)];
            let history = history().with(recipe, holds);
            assert_eq!(check(&history).len(), 1);
        }
    }
}
