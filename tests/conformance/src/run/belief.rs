//! Who believes to hold what, so that every grant of every scenario is checked against R1 and R2.

use std::collections::{BTreeMap, HashMap, HashSet};

/// Which contenders exclude each other: a mutex and a read-write lock on one path do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Exclusive,
    Read,
    Write,
}

/// A lock object of an actor.
#[derive(Clone, Debug)]
pub(super) struct Lock {
    /// The session that it was made from.
    pub(super) session: String,
    /// The path as the lock was given it.
    pub(super) path: String,
    /// The path with the session's chroot.
    pub(super) full_path: String,
    pub(super) kind: Kind,
}

/// A guard that was granted and has not been given up or reported lost.
#[derive(Clone, Debug)]
struct Belief {
    lock: Lock,
    owner: String,
}

/// Names of actors' guards and the like.
pub(super) type Name = (String, String);

#[derive(Default)]
pub(super) struct Beliefs {
    /// The chroot of each actor's session.
    chroots: HashMap<Name, String>,
    locks: HashMap<Name, Lock>,
    held: BTreeMap<Name, Belief>,
    tokens: HashMap<Name, i64>,
    /// The last token of each queue that has to rise.
    last: HashMap<(String, bool), i64>,
    seen: HashSet<i64>,
}

impl Beliefs {
    pub(super) fn connect(&mut self, session: Name, hosts: &str) {
        let chroot = hosts.find('/').map_or("", |slash| &hosts[slash..]);
        self.chroots.insert(session, chroot.to_owned());
    }

    pub(super) fn open(&mut self, actor: &str, lock: &str, session: &str, path: &str, kind: Kind) {
        let session_name = (actor.to_owned(), session.to_owned());
        let chroot = self.chroots.get(&session_name).cloned().unwrap_or_default();
        let lock_object = Lock {
            session: session.to_owned(),
            path: path.to_owned(),
            full_path: format!("{chroot}{path}"),
            kind,
        };
        self.locks
            .insert((actor.to_owned(), lock.to_owned()), lock_object);
    }

    pub(super) fn lock(&self, actor: &str, lock: &str) -> Option<&Lock> {
        self.locks.get(&(actor.to_owned(), lock.to_owned()))
    }

    /// Notes a grant. The guards that it excludes are returned, to be asked whether they believe.
    pub(super) fn grant(&mut self, guard: Name, lock: &Lock, owner: String) -> Vec<Name> {
        let excluded = self
            .held
            .iter()
            .filter(|(_, other)| excludes(lock, &other.lock) && other.owner != owner)
            .map(|(name, _)| name.clone())
            .collect();
        let lock = lock.clone();
        self.held.insert(guard, Belief { lock, owner });
        excluded
    }

    /// Checks a token: positive, and as R2 says of its kind.
    pub(super) fn check_token(
        &mut self,
        guard: &Name,
        lock: &Lock,
        token: i64,
        same: Option<&str>,
    ) -> Result<(), String> {
        self.tokens.insert(guard.clone(), token);
        let fresh = self.seen.insert(token);
        if let Some(other) = same {
            let other_name = (guard.0.clone(), other.to_owned());
            return match self.tokens.get(&other_name) {
                Some(wanted) if *wanted == token => Ok(()),
                wanted => Err(format!(
                    "the token {token} is not that of {other}: {wanted:?}"
                )),
            };
        }
        if token <= 0 {
            return Err(format!("the token {token} is not positive"));
        }
        if !fresh {
            return Err(format!("the token {token} was granted before"));
        }
        if lock.kind != Kind::Read {
            let queue = (lock.full_path.clone(), lock.kind == Kind::Write);
            let last = self.last.entry(queue).or_insert(0);
            if token <= *last {
                return Err(format!("the token {token} does not rise above {last}"));
            }
            *last = token;
        }
        Ok(())
    }

    pub(super) fn token(&self, actor: &str, guard: &str) -> Option<i64> {
        let name = (actor.to_owned(), guard.to_owned());
        self.tokens.get(&name).copied()
    }

    pub(super) fn end(&mut self, guard: &Name) {
        self.held.remove(guard);
    }

    pub(super) fn close(&mut self, actor: &str, session: &str) {
        self.held
            .retain(|(holder, _), belief| holder != actor || belief.lock.session != session);
    }

    pub(super) fn forget_actor(&mut self, actor: &str) {
        self.held.retain(|(holder, _), _| holder != actor);
    }
}

fn excludes(one: &Lock, other: &Lock) -> bool {
    let same_family = (one.kind == Kind::Exclusive) == (other.kind == Kind::Exclusive);
    let readers = one.kind == Kind::Read && other.kind == Kind::Read;
    one.full_path == other.full_path && same_family && !readers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(kind: Kind) -> Lock {
        Lock {
            session: "s".into(),
            path: "/p".into(),
            full_path: "/p".into(),
            kind,
        }
    }

    fn name(actor: &str, guard: &str) -> Name {
        (actor.to_owned(), guard.to_owned())
    }

    #[test]
    fn a_grant_beside_another_owners_belief_is_noticed() {
        let mut beliefs = Beliefs::default();
        let mutex = lock(Kind::Exclusive);
        assert!(beliefs.grant(name("a", "g"), &mutex, "a".into()).is_empty());
        assert_eq!(
            beliefs.grant(name("b", "g"), &mutex, "b".into()),
            [name("a", "g")]
        );
    }

    #[test]
    fn readers_and_one_owner_do_not_exclude_each_other() {
        let mut beliefs = Beliefs::default();
        beliefs.grant(name("a", "r"), &lock(Kind::Read), "a".into());
        let readers = beliefs.grant(name("b", "r"), &lock(Kind::Read), "b".into());
        assert!(readers.is_empty());
        beliefs.end(&name("b", "r"));
        let upgrade = beliefs.grant(name("a", "w"), &lock(Kind::Write), "a".into());
        assert!(upgrade.is_empty());
        assert_eq!(
            beliefs
                .grant(name("b", "r"), &lock(Kind::Read), "b".into())
                .len(),
            1
        );
    }

    #[test]
    fn tokens_have_to_rise() {
        let mut beliefs = Beliefs::default();
        let mutex = lock(Kind::Exclusive);
        let mut check = |token, same| beliefs.check_token(&name("a", "g"), &mutex, token, same);
        assert!(check(5, None).is_ok());
        assert!(check(5, None).is_err());
        assert!(check(4, None).is_err());
        assert!(check(0, None).is_err());
        assert!(check(6, None).is_ok());
    }
}
