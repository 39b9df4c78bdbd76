//! Judges a history of holds: did they ever overlap, did tokens rise, did everybody get a turn?

use crate::hold::Hold;
use crate::language::Language;

/// What one language did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) language: Language,
    pub(crate) grants: usize,
    /// Overlaps that a hold of this language took part in.
    pub(crate) overlaps: usize,
    /// Nanoseconds.
    pub(crate) longest_wait: u64,
}

/// The outcome: good if there are no problems.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) tallies: Vec<Tally>,
    pub(crate) problems: Vec<String>,
}

/// Judges all holds of a run.
pub(crate) fn judge(mut holds: Vec<Hold>) -> Verdict {
    holds.sort_by_key(|hold| hold.entered);
    let mut tallies: Vec<Tally> = Language::ALL
        .into_iter()
        .map(|language| Tally {
            language,
            grants: 0,
            overlaps: 0,
            longest_wait: 0,
        })
        .collect();
    let mut problems = Vec::new();
    for hold in &holds {
        let tally = &mut tallies[hold.language as usize];
        tally.grants += 1;
        tally.longest_wait = tally.longest_wait.max(hold.waited());
    }
    for (first, second) in overlaps(&holds) {
        tallies[first.language as usize].overlaps += 1;
        if first.language != second.language {
            tallies[second.language as usize].overlaps += 1;
        }
        problems.push(format!(
            "{} (token {}) held the lock while {} (token {}) did",
            second.language, second.token, first.language, first.token
        ));
    }
    problems.extend(token_problems(&holds));
    for tally in &tallies {
        if tally.grants == 0 {
            problems.push(format!("{} never got the lock", tally.language));
        }
    }
    Verdict { tallies, problems }
}

/// Pairs of holds, the earlier one first, that the clock or the witness file shows to have overlapped.
fn overlaps(holds: &[Hold]) -> Vec<(&Hold, &Hold)> {
    let mut pairs = Vec::new();
    for (index, second) in holds.iter().enumerate() {
        // A release takes a round trip, so even two equal times cannot come of a lock that works.
        let by_clock = |first: &Hold| second.entered <= first.believed_until();
        // A holder that lost the lock could not know that it had to take its file away.
        let by_file = |first: &Hold| second.met == Some(first.token) && !first.lost;
        for first in &holds[..index] {
            if by_clock(first) || by_file(first) {
                pairs.push((first, second));
            }
        }
        // The file can also name a holder that entered later, or none that reported.
        if let Some(met) = second.met {
            match holds.iter().position(|hold| hold.token == met) {
                Some(other) if other > index && !holds[other].lost => {
                    if holds[other].entered > second.believed_until() {
                        pairs.push((second, &holds[other]));
                    }
                }
                Some(_) => {}
                None => pairs.push((second, second)),
            }
        }
    }
    pairs
}

fn token_problems(holds: &[Hold]) -> Vec<String> {
    let mut problems = Vec::new();
    for hold in holds {
        if hold.token <= 0 {
            problems.push(format!("{} got the token {}", hold.language, hold.token));
        }
    }
    for pair in holds.windows(2) {
        if pair[1].token <= pair[0].token {
            problems.push(format!(
                "the token went from {} ({}) to {} ({})",
                pair[0].token, pair[0].language, pair[1].token, pair[1].language
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(language: Language, token: i64, entered: u64, left: u64) -> Hold {
        Hold {
            language,
            pid: 1,
            token,
            asked: entered.saturating_sub(3),
            entered,
            left,
            lost: false,
            met: None,
        }
    }

    /// Every language once, one after the other.
    fn good() -> Vec<Hold> {
        vec![
            hold(Language::Rust, 1, 10, 20),
            hold(Language::C, 2, 30, 40),
            hold(Language::Python, 5, 50, 60),
            hold(Language::Node, 6, 70, 80),
        ]
    }

    fn problems(holds: Vec<Hold>) -> Vec<String> {
        judge(holds).problems
    }

    #[test]
    fn a_good_history_has_no_problems() {
        let verdict = judge(good());
        assert_eq!(verdict.problems, Vec::<String>::new());
        assert_eq!(
            verdict.tallies[1],
            Tally {
                language: Language::C,
                grants: 1,
                overlaps: 0,
                longest_wait: 3
            }
        );
    }

    #[test]
    fn the_order_of_arrival_does_not_matter() {
        let mut holds = good();
        holds.reverse();
        assert_eq!(problems(holds), Vec::<String>::new());
    }

    #[test]
    fn an_overlap_is_found_and_counted_for_both_languages() {
        let mut holds = good();
        holds[2] = hold(Language::Python, 5, 39, 60);
        let verdict = judge(holds);
        assert_eq!(verdict.problems.len(), 1, "{:?}", verdict.problems);
        let overlaps: Vec<usize> = verdict.tallies.iter().map(|t| t.overlaps).collect();
        assert_eq!(overlaps, [0, 1, 1, 0]);
    }

    #[test]
    fn an_overlap_with_a_long_hold_further_back_is_found() {
        let mut holds = good();
        holds[0].left = 65;
        assert_eq!(problems(holds).len(), 2);
    }

    #[test]
    fn touching_holds_overlap() {
        let mut holds = good();
        holds[1] = hold(Language::C, 2, 20, 40);
        assert_eq!(problems(holds).len(), 1);
    }

    #[test]
    fn the_witness_file_shows_an_overlap_that_the_clock_does_not() {
        let mut holds = good();
        holds[1].met = Some(1);
        assert_eq!(problems(holds.clone()).len(), 1);
        holds[1].met = Some(6);
        assert_eq!(problems(holds.clone()).len(), 1, "a later one's file");
        holds[1].met = Some(77);
        assert_eq!(problems(holds).len(), 1, "a file of nobody known");
    }

    #[test]
    fn a_hold_reported_lost_is_not_held_against_its_successor() {
        let mut holds = good();
        holds[0].lost = true;
        holds[0].left = 35;
        holds[1].met = Some(1);
        assert_eq!(problems(holds), Vec::<String>::new());
    }

    #[test]
    fn tokens_that_fall_repeat_or_are_not_positive_are_found() {
        for bad in [1, 2, 0, -4] {
            let mut holds = good();
            holds[2].token = bad;
            assert!(!problems(holds).is_empty(), "token {bad}");
        }
    }

    #[test]
    fn a_language_without_a_grant_is_a_problem() {
        let mut holds = good();
        holds.remove(3);
        assert_eq!(problems(holds), ["node never got the lock"]);
    }
}
