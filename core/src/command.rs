//! What callers ask of the network thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Time;
use crate::config::Acl;
use crate::contender::Contender;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::Guard;
use crate::handle::Session;
use crate::kept::KeptSlot;
use crate::owner::Owner;
use crate::queue::names::{Family, Kind, Naming};
use crate::stats::LockStats;
use crate::sync::Completer;

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) u64);

        impl $name {
            pub(crate) fn next() -> $name {
                static NEXT: AtomicU64 = AtomicU64::new(1);
                $name(NEXT.fetch_add(1, Ordering::Relaxed))
            }
        }
    };
}

numbered!(
    /// One opened session handle.
    HandleId
);
numbered!(
    /// One call for a lock.
    AttemptId
);
numbered!(
    /// One guard.
    GuardId
);

/// What a lock object is about: fixed when the object is made.
pub(crate) struct LockTarget {
    /// As the user gave it, without chroot.
    pub(crate) path: Box<str>,
    pub(crate) family: Family,
    pub(crate) naming: Naming,
    pub(crate) data: Option<Vec<u8>>,
    pub(crate) acl: Option<Acl>,
    /// How long its contender may be idle before it is given up.
    pub(crate) keep: Option<Duration>,
    pub(crate) stats: LockStats,
}

/// How long an attempt may take, with the clock read at the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    Never,
    At(Time),
    /// A try, and when it must have been answered.
    Try(Time),
}

/// Who hears how an attempt ended.
pub(crate) enum GrantTo {
    /// A busy try and a time-out are errors.
    Lock(Completer<Result<Guard>>),
    /// A busy try is `None`.
    Try(Completer<Result<Option<Guard>>>),
}

impl GrantTo {
    /// Hands over the guard. Where nobody waits any more its own `Drop` releases it.
    pub(crate) fn grant(self, guard: Guard) {
        match self {
            GrantTo::Lock(to) => drop(to.complete(Ok(guard))),
            GrantTo::Try(to) => drop(to.complete(Ok(Some(guard)))),
        }
    }

    pub(crate) fn fail(self, error: Error) {
        match self {
            GrantTo::Lock(to) => drop(to.complete(Err(error))),
            GrantTo::Try(to) => drop(to.complete(Err(error))),
        }
    }

    /// A try found somebody before it.
    pub(crate) fn not_acquired(self, path: &str) {
        match self {
            GrantTo::Try(to) => drop(to.complete(Ok(None))),
            GrantTo::Lock(_) => self.fail(
                Error::new(ErrorKind::Timeout, "lock", "somebody else holds it").with_path(path),
            ),
        }
    }
}

/// One call for a lock.
pub(crate) struct LockRequest {
    pub(crate) attempt: AttemptId,
    pub(crate) handle: HandleId,
    /// Stays open as long as the attempt waits, and the guard lives. `None` where a test drives the
    /// engine without handles.
    pub(crate) session: Option<Session>,
    pub(crate) target: Arc<LockTarget>,
    pub(crate) kind: Kind,
    /// Whom re-entrancy counts for; a plain mutex has none.
    pub(crate) owner: Option<Owner>,
    pub(crate) called: Time,
    pub(crate) deadline: Deadline,
    /// The kept contender that it was sent past.
    pub(crate) past: Option<Arc<KeptSlot>>,
    pub(crate) to: GrantTo,
}

/// Runs on the network thread with the outcome; must not block.
pub(crate) type Then<T> = Box<dyn FnOnce(Result<T>) + Send>;

/// See the module.
pub(crate) enum Command {
    /// A handle joins the session.
    Open {
        handle: HandleId,
    },
    /// Answer when connected, or when the first connect has failed (R16).
    Connect {
        handle: HandleId,
        until: Time,
        then: Then<()>,
    },
    Lock(LockRequest),
    /// The caller left, or cancelled.
    Cancel {
        attempt: AttemptId,
    },
    /// `then` is missing where a guard was dropped.
    Release {
        guard: GuardId,
        then: Option<Then<()>>,
    },
    /// A kept contender was released, which an attempt waits for.
    KeptFreed {
        slot: Arc<KeptSlot>,
    },
    Close {
        handle: HandleId,
        until: Time,
        then: Then<()>,
    },
    Contenders {
        handle: HandleId,
        target: Arc<LockTarget>,
        until: Time,
        then: Then<Vec<Contender>>,
    },
    /// The process ends: close the session whatever handles there are.
    Shutdown {
        then: Then<()>,
    },
}
