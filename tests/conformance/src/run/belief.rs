//! Who believes to hold what, so that every grant of every scenario is checked against R1 and R2.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

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

/// The fencing token, and the number of the grant: a pair where contenders are kept.
pub(super) type Token = (i64, i64);

/// What the token of a grant has to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted<'a> {
    /// The first of a new contender, above all before.
    Fresh,
    /// That of another guard, which the owner holds.
    Same(&'a str),
    /// A later one of the contender of another guard, which was kept.
    Again(&'a str),
}

/// Names of actors' guards and the like.
pub(super) type Name = (String, String);

#[derive(Default)]
pub(super) struct Beliefs {
    /// The chroot of each actor's session.
    chroots: HashMap<Name, String>,
    locks: HashMap<Name, Lock>,
    held: BTreeMap<Name, Belief>,
    tokens: HashMap<Name, Token>,
    /// The last token of each queue that has to rise.
    last: HashMap<(String, bool), Token>,
    seen: HashSet<Token>,
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

    /// The nodes of an actor's locks.
    pub(super) fn paths(&self, actor: &str) -> BTreeSet<String> {
        let its = self.locks.iter().filter(|((owner, _), _)| owner == actor);
        its.map(|(_, lock)| lock.full_path.clone()).collect()
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

    /// Whether a grant of `lock` to `owner` has to wait for the end of a guard that is held.
    pub(super) fn keeps_out(&self, guard: &Name, lock: &Lock, owner: &str) -> bool {
        let held = self.held.get(guard);
        held.is_some_and(|belief| excludes(lock, &belief.lock) && belief.owner != owner)
    }

    /// Checks a token: positive, and as R2 says of its kind.
    pub(super) fn check_token(
        &mut self,
        guard: &Name,
        lock: &Lock,
        token: Token,
        wanted: Wanted<'_>,
    ) -> Result<(), String> {
        self.tokens.insert(guard.clone(), token);
        let fresh = self.seen.insert(token);
        let of = |other: &str| self.token(&guard.0, other);
        match wanted {
            Wanted::Same(other) if of(other) == Some(token) => return Ok(()),
            Wanted::Same(other) => {
                return Err(format!(
                    "the token {token:?} is not that of {other}: {:?}",
                    of(other)
                ));
            }
            Wanted::Again(other) if of(other).is_none_or(|known| known.0 != token.0) => {
                return Err(format!(
                    "the token {token:?} is not of the contender of {other}: {:?}",
                    of(other)
                ));
            }
            Wanted::Fresh if token.1 != 1 => {
                return Err(format!("the token {token:?} is not a contender's first"));
            }
            Wanted::Again(_) | Wanted::Fresh => {}
        }
        if token.0 <= 0 {
            return Err(format!("the token {token:?} is not positive"));
        }
        if !fresh {
            return Err(format!("the token {token:?} was granted before"));
        }
        if lock.kind != Kind::Read {
            let queue = (lock.full_path.clone(), lock.kind == Kind::Write);
            let last = self.last.entry(queue).or_insert((0, 0));
            if token <= *last {
                return Err(format!("the token {token:?} does not rise above {last:?}"));
            }
            *last = token;
        }
        Ok(())
    }

    pub(super) fn token(&self, actor: &str, guard: &str) -> Option<Token> {
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
    fn a_guard_keeps_others_out_until_it_ends() {
        let mut beliefs = Beliefs::default();
        let (guard, mutex) = (name("a", "g"), lock(Kind::Exclusive));
        beliefs.grant(guard.clone(), &mutex, "a".into());
        assert!(beliefs.keeps_out(&guard, &mutex, "b"));
        assert!(!beliefs.keeps_out(&guard, &mutex, "a"));
        beliefs.end(&guard);
        assert!(!beliefs.keeps_out(&guard, &mutex, "b"));
    }

    #[test]
    fn tokens_have_to_rise() {
        let mut beliefs = Beliefs::default();
        let mutex = lock(Kind::Exclusive);
        let mut check = |token, wanted| beliefs.check_token(&name("a", "g"), &mutex, token, wanted);
        assert!(check((5, 1), Wanted::Fresh).is_ok());
        assert!(check((5, 1), Wanted::Fresh).is_err());
        assert!(check((4, 1), Wanted::Fresh).is_err());
        assert!(check((0, 1), Wanted::Fresh).is_err());
        assert!(check((6, 1), Wanted::Fresh).is_ok());
        assert!(
            check((6, 2), Wanted::Fresh).is_err(),
            "nothing was to be kept"
        );
    }

    #[test]
    fn of_a_kept_contender_the_count_has_to_rise() {
        let mut beliefs = Beliefs::default();
        let mutex = lock(Kind::Exclusive);
        let mut check = |guard, token, wanted| {
            let guard = name("a", guard);
            beliefs.check_token(&guard, &mutex, token, wanted)
        };
        assert!(check("g1", (5, 1), Wanted::Fresh).is_ok());
        assert!(check("g2", (5, 2), Wanted::Again("g1")).is_ok());
        assert!(check("g3", (5, 2), Wanted::Again("g1")).is_err());
        assert!(check("g4", (6, 1), Wanted::Again("g1")).is_err());
        assert!(check("g5", (7, 1), Wanted::Fresh).is_ok());
        assert!(
            check("g6", (5, 4), Wanted::Again("g1")).is_err(),
            "too late"
        );
    }
}
