//! The grants of several processes on one path, put in order.

use crate::answers::{HasTokens, Shares, check_tokens};
use crate::trouble::Trouble;

/// One grant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Grant {
    begin: u64,
    grant: u64,
    release: u64,
    token: i64,
}

/// What happened, and that it was right: nobody had the lock while another had it, and tokens rose.
#[derive(Debug)]
pub(crate) struct Timeline {
    grants: Vec<Grant>,
    /// Grants of each process, in the order in which they were handed in.
    pub(crate) counts: Vec<usize>,
}

impl Timeline {
    pub(crate) fn new(
        shares: &[Shares],
        has_tokens: HasTokens,
        floor: &mut i64,
    ) -> Result<Timeline, Trouble> {
        let mut grants = Vec::new();
        for share in shares {
            let count = share.grants.len();
            let tokens_fit = !has_tokens || share.tokens.len() == count;
            if share.begins.len() != count || share.releases.len() != count || !tokens_fit {
                let reason = "the numbers of grants, releases and tokens differ";
                return Err(Trouble::wrong(reason.to_owned()));
            }
            grants.extend((0..count).map(|index| Grant {
                begin: share.begins[index],
                grant: share.grants[index],
                release: share.releases[index],
                token: share.tokens.get(index).copied().unwrap_or_default(),
            }));
        }
        grants.sort_by_key(|grant| grant.grant);
        for pair in grants.windows(2) {
            if pair[1].grant < pair[0].release {
                return Err(Trouble::wrong(format!(
                    "two holders: one was granted at {}, and another kept the lock until {}",
                    pair[1].grant, pair[0].release
                )));
            }
        }
        let tokens: Vec<i64> = grants.iter().map(|grant| grant.token).collect();
        check_tokens(&tokens, grants.len(), has_tokens, floor)?;
        Ok(Timeline {
            grants,
            counts: shares.iter().map(|share| share.grants.len()).collect(),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.grants.len()
    }

    /// From the first to the last.
    pub(crate) fn grants_per_second(&self) -> Result<f64, String> {
        match (self.grants.first(), self.grants.last()) {
            (Some(first), Some(last)) if last.grant > first.grant => {
                Ok((self.grants.len() - 1) as f64 * 1e9 / (last.grant - first.grant) as f64)
            }
            _ => Err("fewer than two grants".to_owned()),
        }
    }

    /// From a release's begin to the next grant, in nanoseconds, where the next one had asked at least `margin` before
    /// and so was waiting.
    pub(crate) fn hand_offs(&self, margin: u64) -> Vec<u64> {
        self.grants
            .windows(2)
            .filter(|pair| pair[1].begin + margin <= pair[0].release)
            .map(|pair| pair[1].grant - pair[0].release)
            .collect()
    }
}

/// The fewest grants of a process as a part of the most.
pub(crate) fn fairness(counts: &[usize]) -> f64 {
    match (counts.iter().min(), counts.iter().max()) {
        (Some(&least), Some(&most)) if most > 0 => least as f64 / most as f64,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(grants: &[(u64, u64, u64, i64)]) -> Shares {
        Shares {
            begins: grants.iter().map(|grant| grant.0).collect(),
            grants: grants.iter().map(|grant| grant.1).collect(),
            releases: grants.iter().map(|grant| grant.2).collect(),
            tokens: grants.iter().map(|grant| grant.3).collect(),
        }
    }

    #[test]
    fn turns_are_put_in_order() {
        let both = [
            shares(&[(0, 10, 20, 1), (21, 40, 50, 3)]),
            shares(&[(5, 25, 35, 2)]),
        ];
        let timeline = Timeline::new(&both, true, &mut 0).unwrap();
        assert_eq!(
            (timeline.len(), timeline.counts.as_slice()),
            (3, &[2, 1][..])
        );
        assert_eq!(timeline.hand_offs(10), vec![5, 5]);
        assert_eq!(timeline.hand_offs(15), vec![5], "one was just in time");
        assert!((timeline.grants_per_second().unwrap() - 2e9 / 30.0).abs() < 1.0);
    }

    #[test]
    fn two_holders_are_found() {
        let both = [shares(&[(0, 10, 20, 1)]), shares(&[(5, 19, 35, 2)])];
        let error = Timeline::new(&both, true, &mut 0).unwrap_err();
        assert!(
            error.wrong && error.reason.contains("two holders"),
            "{error:?}"
        );
    }

    #[test]
    fn an_order_other_than_the_tokens_is_found() {
        let both = [shares(&[(0, 10, 20, 2)]), shares(&[(5, 21, 35, 1)])];
        assert!(Timeline::new(&both, true, &mut 0).is_err());
        assert!(
            Timeline::new(&both, false, &mut 0).is_ok(),
            "where there are none"
        );
    }

    #[test]
    fn fairness_is_the_least_over_the_most() {
        assert_eq!(fairness(&[8, 10, 9]), 0.8);
        assert_eq!(fairness(&[5, 5]), 1.0);
        assert_eq!(fairness(&[0, 0]), 0.0);
    }
}
