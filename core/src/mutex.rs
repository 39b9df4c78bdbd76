//! The plain mutex.

use std::time::Duration;

use crate::cancel::Cancel;
use crate::config::{LockOptions, Wait};
use crate::contender::Contender;
use crate::error::Result;
use crate::guard::Guard;
use crate::handle::Session;
use crate::lock::Lock;
use crate::pending::Pending;
use crate::queue::names::{Family, Kind};
use crate::stats::LockStatistics;

/// A mutex on a lock path: one guard at a time among all processes and languages (R1), granted in
/// the order of arrival (R7).
///
/// **Not re-entrant**: a task that holds it and locks it again waits for itself, until its
/// time-out. See [`ReentrantMutex`](crate::ReentrantMutex).
#[derive(Clone, Debug)]
pub struct Mutex(Lock);

impl Mutex {
    pub(crate) fn new(session: Session, path: &str, options: LockOptions) -> Result<Mutex> {
        Lock::new(session, "mutex", Family::Mutex, path, options).map(Mutex)
    }

    /// Waits for the lock as long as it takes, through outages and session changes (R6, R9).
    ///
    /// # Errors
    /// - `NoAuth`: the server denies a right on the path or on a parent of it.
    /// - `AuthFailed`: the server does not accept the session's credentials.
    /// - `InvalidArgument`: the path, or a parent of it, is an ephemeral node; or the server does not
    ///   take the ACL.
    /// - `SequenceExhausted`: the path's sequence is used up (R14).
    /// - `Unsupported`: the server is older than 3.5.5.
    /// - `Closed`: the session was closed, before or meanwhile, or this is a forked child's copy of
    ///   the call (R18).
    /// - `Internal`: what should not happen.
    pub fn lock(&self) -> Pending<Guard> {
        self.0.lock(Kind::Exclusive, None, Wait::Forever, None)
    }

    /// Waits at most `timeout`; zero is a try.
    ///
    /// # Errors
    /// `Timeout` if it is not granted in time: somebody else holds it, or no server could be reached,
    /// as the error's source then says. `InvalidArgument` for more than ten years. Else as for
    /// [`lock`](Mutex::lock).
    pub fn lock_timeout(&self, timeout: Duration) -> Pending<Guard> {
        self.0.lock_timeout(Kind::Exclusive, None, timeout)
    }

    /// Takes the lock if nobody is before us; `None` if somebody is. Bounded by `connect_timeout`.
    ///
    /// # Errors
    /// `Unavailable` if no server answers within `connect_timeout`. Else as for
    /// [`lock`](Mutex::lock).
    pub fn try_lock(&self) -> Pending<Option<Guard>> {
        self.acquire(Wait::Try, None)
    }

    /// The general form: `None` only for a busy [`Wait::Try`].
    ///
    /// # Errors
    /// `Timeout` as for [`lock_timeout`](Mutex::lock_timeout), `Unavailable` as for
    /// [`try_lock`](Mutex::try_lock), `Cancelled`. Else as for [`lock`](Mutex::lock).
    pub fn acquire(&self, wait: Wait, cancel: Option<&Cancel>) -> Pending<Option<Guard>> {
        self.0.acquire(Kind::Exclusive, None, wait, cancel)
    }

    /// Who queues on the path, in order.
    ///
    /// # Errors
    /// `Unavailable` if no server answers within `connect_timeout`; `NoAuth`; `Closed`.
    pub fn contenders(&self) -> Pending<Vec<Contender>> {
        self.0.contenders()
    }

    /// The lock path.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// What this object has counted.
    pub fn statistics(&self) -> LockStatistics {
        self.0.statistics()
    }
}
