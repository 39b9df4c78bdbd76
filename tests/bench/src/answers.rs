//! What programs answer, and whether it can be true.

use serde::Deserialize;

use crate::trouble::Trouble;

/// Cycles one after the other.
#[derive(Debug, Deserialize)]
pub(crate) struct Cycles {
    pub(crate) nanos: Vec<u64>,
    pub(crate) tokens: Vec<i64>,
}

/// Cycles of a kept contender: the whole, the acquire alone, and the pairs that are tokens.
#[derive(Debug, Deserialize)]
pub(crate) struct KeptCycles {
    pub(crate) nanos: Vec<u64>,
    pub(crate) acquires: Vec<u64>,
    pub(crate) tokens: Vec<(i64, u64)>,
}

/// Cycles on several paths at once.
#[derive(Debug, Deserialize)]
pub(crate) struct Paths {
    pub(crate) nanos: u64,
    pub(crate) tokens: Vec<Vec<i64>>,
}

/// Grants to one process of a lock that others want too; times of a clock that all share.
#[derive(Debug, Deserialize)]
pub(crate) struct Shares {
    pub(crate) begins: Vec<u64>,
    pub(crate) grants: Vec<u64>,
    pub(crate) releases: Vec<u64>,
    pub(crate) tokens: Vec<i64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Queued {
    pub(crate) queued: usize,
}

/// The grants to waiters, in their order.
#[derive(Debug, Deserialize)]
pub(crate) struct Drained {
    pub(crate) tokens: Vec<i64>,
}

/// Whether a library tells fencing tokens; without them only numbers of grants can be checked.
pub(crate) type HasTokens = bool;

impl Cycles {
    pub(crate) fn check(
        &self,
        count: usize,
        has_tokens: HasTokens,
        floor: &mut i64,
    ) -> Result<(), Trouble> {
        if self.nanos.len() != count {
            return Err(Trouble::wrong(format!(
                "{count} cycles were asked for, {} came",
                self.nanos.len()
            )));
        }
        check_tokens(&self.tokens, count, has_tokens, floor)
    }
}

impl KeptCycles {
    /// The pairs rise, from above `floor`, which becomes the last.
    pub(crate) fn check(&self, count: usize, floor: &mut (i64, u64)) -> Result<(), Trouble> {
        let came = [self.nanos.len(), self.acquires.len(), self.tokens.len()];
        if came != [count; 3] {
            return Err(Trouble::wrong(format!(
                "{count} cycles were asked for, {came:?} times and tokens came"
            )));
        }
        for &token in &self.tokens {
            if token <= *floor {
                return Err(Trouble::wrong(format!(
                    "the token {token:?} came after {floor:?}"
                )));
            }
            *floor = token;
        }
        Ok(())
    }
}

impl Paths {
    pub(crate) fn check(
        &self,
        paths: usize,
        cycles: usize,
        has_tokens: HasTokens,
        floor: &mut i64,
    ) -> Result<(), Trouble> {
        if !has_tokens {
            return Ok(());
        }
        if self.tokens.len() != paths {
            return Err(Trouble::wrong(format!(
                "{paths} paths were asked for, {} came",
                self.tokens.len()
            )));
        }
        let mut highest = *floor;
        for tokens in &self.tokens {
            let mut last = *floor;
            check_tokens(tokens, cycles, has_tokens, &mut last)?;
            highest = highest.max(last);
        }
        *floor = highest;
        Ok(())
    }
}

impl Drained {
    pub(crate) fn check(
        &self,
        count: usize,
        has_tokens: HasTokens,
        floor: &mut i64,
    ) -> Result<(), Trouble> {
        check_tokens(&self.tokens, count, has_tokens, floor)
    }
}

/// One after the other they rise, from above `floor`, which becomes the last.
pub(crate) fn check_tokens(
    tokens: &[i64],
    count: usize,
    has_tokens: HasTokens,
    floor: &mut i64,
) -> Result<(), Trouble> {
    if !has_tokens {
        return Ok(());
    }
    if tokens.len() != count {
        return Err(Trouble::wrong(format!(
            "{count} grants, and {} tokens",
            tokens.len()
        )));
    }
    for &token in tokens {
        if token <= *floor {
            return Err(Trouble::wrong(format!(
                "the token {token} came after {floor}"
            )));
        }
        *floor = token;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(tokens: &[i64]) -> Cycles {
        Cycles {
            nanos: vec![1; tokens.len()],
            tokens: tokens.to_vec(),
        }
    }

    #[test]
    fn rising_tokens_in_the_right_number_pass() {
        let mut floor = 4;
        assert_eq!(cycles(&[5, 6, 9]).check(3, true, &mut floor), Ok(()));
        assert_eq!(floor, 9);
    }

    #[test]
    fn a_wrong_count_is_found() {
        assert!(cycles(&[5, 6]).check(3, true, &mut 4).is_err());
        assert!(
            cycles(&[5, 6]).check(3, false, &mut 4).is_err(),
            "without tokens, too"
        );
        let mut short = cycles(&[5, 6, 7]);
        short.tokens.pop();
        assert!(short.check(3, true, &mut 4).is_err());
    }

    #[test]
    fn tokens_that_do_not_rise_are_found() {
        assert!(cycles(&[5, 5]).check(2, true, &mut 4).is_err());
        assert!(cycles(&[6, 5]).check(2, true, &mut 4).is_err());
        assert!(
            cycles(&[4, 5]).check(2, true, &mut 4).is_err(),
            "not above the floor"
        );
    }

    #[test]
    fn of_a_kept_contender_the_pairs_rise() {
        let kept = |tokens: &[(i64, u64)]| KeptCycles {
            nanos: vec![1; tokens.len()],
            acquires: vec![1; tokens.len()],
            tokens: tokens.to_vec(),
        };
        let mut floor = (4, 9);
        let rising = kept(&[(5, 1), (5, 2), (7, 1)]);
        assert_eq!(rising.check(3, &mut floor), Ok(()));
        assert_eq!(floor, (7, 1));
        assert!(kept(&[(7, 1)]).check(1, &mut floor).is_err(), "repeated");
        assert!(kept(&[(5, 3)]).check(1, &mut floor).is_err(), "earlier");
        assert!(rising.check(4, &mut (0, 0)).is_err(), "one is missing");
    }

    #[test]
    fn tokens_rise_on_each_path_and_from_block_to_block() {
        let paths = |tokens: &[&[i64]]| Paths {
            nanos: 1,
            tokens: tokens.iter().map(|tokens| tokens.to_vec()).collect(),
        };
        let mut floor = 0;
        assert_eq!(
            paths(&[&[1, 4], &[2, 3]]).check(2, 2, true, &mut floor),
            Ok(())
        );
        assert_eq!(floor, 4);
        assert!(
            paths(&[&[5, 8], &[7, 6]])
                .check(2, 2, true, &mut floor)
                .is_err()
        );
        assert!(
            paths(&[&[5, 8]]).check(2, 2, true, &mut 0).is_err(),
            "a path is missing"
        );
    }
}
