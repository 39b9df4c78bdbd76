//! R2, R3, R5 and R7, held against the servers' own transaction logs.

use std::collections::{BTreeMap, HashMap};

use crate::checks::Violation;
use crate::history::History;
use crate::queue::{self, Contender};
use crate::recipe::Resource;
use crate::txnlog::Transaction;
use crate::wall::WallClock;

/// The queues of all paths, with the time of each turn.
pub(crate) struct Queues {
    contenders: BTreeMap<Resource, HashMap<String, (Contender, Option<i64>)>>,
    wall: WallClock,
}

/// A turn that came before a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Not before, on the monotonic clock.
    pub(crate) from: u64,
    /// Not after.
    pub(crate) to: u64,
}

impl Queues {
    /// `path` gives the lock path of a resource.
    pub(crate) fn new(
        log: &BTreeMap<i64, Transaction>,
        path: impl Fn(Resource) -> String,
        wall: WallClock,
    ) -> Queues {
        let of = |resource| {
            let contenders = queue::contenders(&path(resource), log);
            let turns = queue::turns(&contenders);
            let with_turn = |contender: &Contender| {
                let turn = turns.get(contender.node.as_str()).copied().flatten();
                (contender.node.clone(), (contender.clone(), turn))
            };
            (resource, contenders.iter().map(with_turn).collect())
        };
        Queues {
            contenders: Resource::ALL.into_iter().map(of).collect(),
            wall,
        }
    }

    fn find(&self, resource: Resource, node: &str) -> Option<&(Contender, Option<i64>)> {
        self.contenders.get(&resource)?.get(node)
    }

    pub(crate) fn count(&self) -> usize {
        self.contenders.values().map(HashMap::len).sum()
    }

    /// When the turn of a granted node had come.
    pub(crate) fn turn(&self, resource: Resource, node: &str) -> Option<Turn> {
        let (_, turn) = self.find(resource, node)?;
        let ms = (*turn)?;
        Some(Turn {
            from: self.wall.not_before(ms),
            to: self.wall.not_after(ms),
        })
    }

    /// R2: a token is the zxid that created the contender, or of a downgraded read its writer.
    pub(crate) fn wrong_tokens(&self, history: &History) -> Vec<Violation> {
        self.each_grant(history, |contender, _, grant_token, _| {
            (contender.place != grant_token).then(|| {
                format!(
                    "has the token {grant_token}, and its place is {}",
                    contender.place
                )
            })
        })
    }

    /// R7 (and R1): nobody was granted before everybody earlier who excludes him had gone.
    pub(crate) fn overtakers(&self, history: &History) -> Vec<Violation> {
        self.each_grant(history, |_, turn, _, at| match turn {
            None => Some("was granted while an earlier contender stood".into()),
            Some(turn) => {
                let early = self.wall.not_before(turn).saturating_sub(at);
                (early > 0).then(|| format!("was granted {early} ns before its turn"))
            }
        })
    }

    /// R3: no guard believed after the servers had removed its contender.
    pub(crate) fn outlived(&self, history: &History) -> Vec<Violation> {
        let mut violations = Vec::new();
        for resource in Resource::ALL {
            for (held, grant) in history.granted(resource) {
                let Some((contender, _)) = self.find(resource, &grant.node) else {
                    continue;
                };
                let (Some((_, ms)), Some(until)) = (contender.deleted, held.hold.believed_until())
                else {
                    continue;
                };
                let gone = self.wall.not_after(ms);
                if until > gone {
                    violations.push(Violation {
                        resource,
                        at: until,
                        text: format!(
                            "{} believed {} ns after its contender had gone",
                            history.who(held.id),
                            until - gone
                        ),
                    });
                }
            }
        }
        violations
    }

    /// R5: nothing stays.
    pub(crate) fn left(&self) -> Vec<Violation> {
        let mut violations = Vec::new();
        for (&resource, contenders) in &self.contenders {
            for (contender, _) in contenders.values() {
                if contender.deleted.is_none() {
                    violations.push(Violation {
                        resource,
                        at: self.wall.not_before(contender.created_ms),
                        text: format!("{} is left", contender.node),
                    });
                }
            }
        }
        violations
    }

    fn each_grant(
        &self,
        history: &History,
        check: impl Fn(&Contender, Option<i64>, i64, u64) -> Option<String>,
    ) -> Vec<Violation> {
        let mut violations = Vec::new();
        for resource in Resource::ALL {
            for (held, grant) in history.granted(resource) {
                let problem = match self.find(resource, &grant.node) {
                    Some((contender, turn)) => check(contender, *turn, grant.token, grant.at),
                    None => Some(format!("was granted {}, which never was", grant.node)),
                };
                if let Some(problem) = problem {
                    violations.push(Violation {
                        resource,
                        at: grant.at,
                        text: format!("{} {problem}", history.who(held.id)),
                    });
                }
            }
        }
        violations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::sample::{history, hold};
    use crate::history::{Hold, Outcome};
    use crate::recipe::Recipe::Mutex;
    use crate::txnlog::Change;

    const MS: u64 = 1_000_000;
    const FIRST: &str = "/t/mutex/_c_x-lock-0000000000";
    const SECOND: &str = "/t/mutex/_c_y-lock-0000000001";

    /// The first contender (token 1) comes at 1 ms and goes at 20 ms, the second (2) comes at 2 ms and goes at 40 ms.
    fn queues(first_goes: bool) -> Queues {
        let mut log = BTreeMap::new();
        let mut add = |zxid, ms, change| {
            log.insert(
                zxid,
                Transaction {
                    wall_ms: ms,
                    session: 1,
                    changes: vec![change],
                },
            )
        };
        add(1, 1, Change::Created(FIRST.into()));
        add(2, 2, Change::Created(SECOND.into()));
        if first_goes {
            add(3, 20, Change::Deleted(FIRST.into()));
        }
        add(4, 40, Change::Deleted(SECOND.into()));
        Queues::new(
            &log,
            |resource| format!("/t/{}", resource.name()),
            WallClock::exact(),
        )
    }

    fn held(node: &str, token: i64, from_ms: u64, until_ms: u64) -> Hold {
        let mut hold = hold('a', token, from_ms * MS, until_ms * MS);
        if let Some(Outcome::Granted(grant)) = &mut hold.outcome {
            grant.node = node.into();
        }
        hold
    }

    #[test]
    fn a_hold_within_its_turn_is_good() {
        let history = history()
            .with(Mutex, [held(FIRST, 1, 3, 15)])
            .with(Mutex, [held(SECOND, 2, 21, 35)]);
        let queues = queues(true);
        assert_eq!(queues.wrong_tokens(&history), []);
        assert_eq!(queues.overtakers(&history), []);
        assert_eq!(queues.outlived(&history), []);
        assert_eq!(queues.left(), []);
        let turn = queues.turn(Resource::Mutex, SECOND).unwrap();
        assert_eq!((turn.from, turn.to), (20 * MS, 21 * MS));
    }

    #[test]
    fn a_token_that_is_not_the_contenders_is_found() {
        let history = history().with(Mutex, [held(FIRST, 2, 3, 15)]);
        assert_eq!(queues(true).wrong_tokens(&history).len(), 1);
        let history = crate::checks::sample::history().with(Mutex, [held("/t/mutex/x", 2, 3, 15)]);
        assert_eq!(queues(true).wrong_tokens(&history).len(), 1);
    }

    #[test]
    fn a_grant_before_its_turn_is_found() {
        let history = history().with(Mutex, [held(SECOND, 2, 19, 35)]);
        assert_eq!(queues(true).overtakers(&history).len(), 1);
        let history = crate::checks::sample::history().with(Mutex, [held(SECOND, 2, 30, 35)]);
        assert_eq!(queues(false).overtakers(&history).len(), 1);
    }

    #[test]
    fn a_guard_that_outlives_its_contender_is_found() {
        let history = history().with(Mutex, [held(FIRST, 1, 3, 22)]);
        assert_eq!(queues(true).outlived(&history).len(), 1);
    }

    #[test]
    fn an_orphan_is_found() {
        assert_eq!(queues(false).left().len(), 1);
    }
}
