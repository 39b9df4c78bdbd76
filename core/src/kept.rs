//! Contenders that are kept after a release, where callers on any thread find them: the next acquire
//! takes one without the network thread.

use std::collections::HashMap;
use std::sync::Arc;

use crate::clock::Time;
use crate::command::{GuardId, HandleId, LockTarget};
use crate::guard::{Grant, GuardCell};
use crate::lease_term::LeaseTerm;
use crate::link::Link;
use crate::loss::Loss;
use crate::mutant::{Mutant, broken};
use crate::queue::PathId;
use crate::sync::primitive::Mutex;
use crate::sync::primitive::atomic::{AtomicBool, Ordering};

/// The kept contenders of a session, by lock path.
#[derive(Default)]
pub(crate) struct KeptSlots(Mutex<HashMap<Box<str>, Arc<KeptSlot>>>);

impl KeptSlots {
    pub(crate) fn get(&self, path: &str) -> Option<Arc<KeptSlot>> {
        self.0.lock().get(path).cloned()
    }

    pub(crate) fn insert(&self, path: &str, slot: Arc<KeptSlot>) {
        self.0.lock().insert(path.into(), slot);
    }

    pub(crate) fn remove(&self, path: &str) {
        self.0.lock().remove(path);
    }

    /// Nothing is driven any more: what is held by callers is lost, and what is not goes with the session.
    pub(crate) fn abandon(&self, now: Time) {
        let slots = std::mem::take(&mut *self.0.lock());
        for slot in slots.into_values() {
            if let Some((cell, _)) = slot.withdraw() {
                cell.lose(now, Loss::Closed);
            }
        }
    }
}

/// What a look for a kept contender came to.
pub(crate) enum Asked {
    Granted(Arc<GuardCell>),
    /// The engine decides; the kept contender that the attempt is sent past.
    Queue(Option<Arc<KeptSlot>>),
}

/// Takes the kept contender of a lock, if nobody has it. What an owner holds only the engine knows (R11).
/// `is_closed` tells whether the handle is closed.
pub(crate) fn ask(
    link: &Arc<Link>,
    target: &Arc<LockTarget>,
    owned: bool,
    handle: HandleId,
    is_closed: impl FnOnce() -> bool,
    now: Time,
) -> Asked {
    let slot = target.keep.and_then(|_| link.kept.get(&target.path));
    let Some(slot) = slot else {
        return Asked::Queue(None);
    };
    if owned {
        slot.send_past();
        return Asked::Queue(Some(slot));
    }
    match slot.take(now, handle, is_closed, target, link) {
        Taken::Granted(cell) => {
            target.stats.granted(std::time::Duration::ZERO, false);
            Asked::Granted(cell)
        }
        Taken::Queue => Asked::Queue(Some(slot)),
        Taken::Over => Asked::Queue(None),
    }
}

/// One kept contender. The engine has it until it opens the slot, and whenever an attempt waits in
/// the process; in between callers take it and give it back.
pub(crate) struct KeptSlot {
    pub(crate) path: PathId,
    token: i64,
    node_path: Arc<str>,
    pub(crate) term: Arc<LeaseTerm>,
    /// Set before the lock is waited for, so that at most the grant that is being given goes before.
    withdrawn: AtomicBool,
    inner: Mutex<Inner>,
}

struct Inner {
    place: Place,
    /// How many grants there have been.
    grants: u64,
    /// Attempts that were sent to the engine, and have not arrived.
    on_their_way: usize,
    /// An attempt waits in the engine.
    wanted: bool,
}

enum Place {
    Engine,
    Idle {
        since: Time,
    },
    Held {
        cell: Arc<GuardCell>,
        handle: HandleId,
    },
    Withdrawn,
}

/// What a caller gets.
pub(crate) enum Taken {
    Granted(Arc<GuardCell>),
    /// The engine decides; it has to be told by this slot when the attempt arrives.
    Queue,
    /// It is not kept any more.
    Over,
}

/// What becomes of a contender at a release.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GivenBack {
    Kept,
    /// The engine has to be told: an attempt waits for it.
    Wanted,
    /// The guard is the engine's: it was withdrawn, or never from here.
    Over,
}

impl KeptSlot {
    /// A contender of which the engine has given so many grants, the last with this token.
    pub(crate) fn new(
        path: PathId,
        token: (i64, u64),
        node_path: Arc<str>,
        term: Arc<LeaseTerm>,
    ) -> Self {
        KeptSlot {
            path,
            token: token.0,
            node_path,
            term,
            withdrawn: AtomicBool::new(false),
            inner: Mutex::new(Inner {
                place: Place::Engine,
                grants: token.1,
                on_their_way: 0,
                wanted: false,
            }),
        }
    }

    pub(crate) fn token(&self) -> i64 {
        self.token
    }

    pub(crate) fn node_path(&self) -> Arc<str> {
        Arc::clone(&self.node_path)
    }

    // ---- callers ----

    /// Takes the contender if nobody has it and nobody came before; `now` was read just before. Only
    /// with a running lease, on the present connection (R3).
    pub(crate) fn take(
        self: &Arc<Self>,
        now: Time,
        handle: HandleId,
        is_closed: impl FnOnce() -> bool,
        target: &Arc<LockTarget>,
        link: &Arc<Link>,
    ) -> Taken {
        let mut inner = self.inner.lock();
        if self.withdrawn.load(Ordering::Acquire) {
            return Taken::Over;
        }
        let runs = self.term.is_running(now) || broken(Mutant::KeptWithoutLease);
        let connected = link.is_connected() || broken(Mutant::KeptWithoutConnection);
        let free = matches!(inner.place, Place::Idle { .. }) && inner.on_their_way == 0;
        // Looked at within the lock: a close that comes later finds who holds it (R17).
        let open = !is_closed();
        if !(free && runs && connected && open) {
            inner.on_their_way += 1;
            return Taken::Queue;
        }
        let grant = Grant {
            token: self.token,
            count: inner.next_count(),
            node_path: Arc::clone(&self.node_path),
            granted: now,
            term: Arc::clone(&self.term),
            kept: Some(Arc::clone(self)),
        };
        let cell = GuardCell::new(GuardId::next(), grant, Arc::clone(target), Arc::clone(link));
        inner.place = Place::Held {
            cell: Arc::clone(&cell),
            handle,
        };
        Taken::Granted(cell)
    }

    /// An attempt is sent to the engine without a look at the slot.
    pub(crate) fn send_past(&self) {
        self.inner.lock().on_their_way += 1;
    }

    /// A guard that was taken here is released.
    pub(crate) fn give_back(&self, guard: GuardId, now: Time) -> GivenBack {
        let mut inner = self.inner.lock();
        match &inner.place {
            Place::Held { cell, .. } if cell.id == guard => {}
            _ if broken(Mutant::KeptReleaseForgotten) => return GivenBack::Kept,
            _ => return GivenBack::Over,
        }
        // Those on their way take it as they arrive.
        if inner.wanted {
            inner.place = Place::Engine;
            GivenBack::Wanted
        } else {
            inner.place = Place::Idle { since: now };
            GivenBack::Kept
        }
    }

    // ---- the engine ----

    /// An attempt that was sent past the slot has arrived, and is known to the engine.
    pub(crate) fn arrived(&self) {
        let mut inner = self.inner.lock();
        inner.on_their_way = inner.on_their_way.saturating_sub(1);
    }

    /// The engine wants the contender for an attempt: true if it has it now, else at the next release.
    pub(crate) fn want(&self) -> bool {
        let mut inner = self.inner.lock();
        match inner.place {
            Place::Idle { .. } => inner.place = Place::Engine,
            Place::Engine => {}
            Place::Held { .. } => inner.wanted = true,
            Place::Withdrawn => return false,
        }
        matches!(inner.place, Place::Engine)
    }

    /// Whether the engine has it.
    pub(crate) fn is_engines(&self) -> bool {
        matches!(self.inner.lock().place, Place::Engine)
    }

    /// The engine, which has it, grants it: the number of the grant.
    pub(crate) fn count_grant(&self) -> u64 {
        self.inner.lock().next_count()
    }

    /// No attempt waits: callers may take it.
    pub(crate) fn open(&self, now: Time) {
        let mut inner = self.inner.lock();
        inner.wanted = false;
        if matches!(inner.place, Place::Engine) {
            inner.place = Place::Idle { since: now };
        }
    }

    /// Since when nobody has it; `None` if somebody has.
    pub(crate) fn idle_since(&self) -> Option<Time> {
        match self.inner.lock().place {
            Place::Idle { since } => Some(since),
            _ => None,
        }
    }

    /// Whose guard has it.
    pub(crate) fn holder(&self) -> Option<HandleId> {
        match &self.inner.lock().place {
            Place::Held { handle, .. } => Some(*handle),
            _ => None,
        }
    }

    /// Ends the keeping. A guard that a caller has goes on; it is the engine's from now on.
    pub(crate) fn withdraw(&self) -> Option<(Arc<GuardCell>, HandleId)> {
        self.withdrawn.store(true, Ordering::Release);
        match std::mem::replace(&mut self.inner.lock().place, Place::Withdrawn) {
            Place::Held { cell, handle } => Some((cell, handle)),
            _ => None,
        }
    }
}

impl Inner {
    fn next_count(&mut self) -> u64 {
        self.grants += u64::from(!broken(Mutant::KeptCountStays));
        self.grants
    }
}
