//! The read-write lock.

use std::time::Duration;

use crate::cancel::Cancel;
use crate::config::{LockOptions, Wait};
use crate::contender::Contender;
use crate::error::Result;
use crate::guard::Guard;
use crate::handle::Session;
use crate::lock::Lock;
use crate::owner::Owner;
use crate::pending::Pending;
use crate::queue::names::{Family, Kind};
use crate::stats::LockStatistics;

/// A read-write lock on a lock path: many readers or one writer, in the order of arrival (R7, R12).
///
/// Re-entrant per side for one [`Owner`]. The owner of the write lock may take the read lock and
/// then release the write lock (downgrade), with no writer in between; the owner of only a read
/// lock that asks for the write lock gets `WouldDeadlock`. It does not exclude a
/// [`Mutex`](crate::Mutex) on the same path.
#[derive(Clone, Debug)]
pub struct RwLock(Lock);

/// One side of a [`RwLock`], with a lock's whole interface.
#[derive(Clone, Debug)]
pub struct RwLockSide {
    lock: Lock,
    kind: Kind,
}

impl RwLock {
    pub(crate) fn new(session: Session, path: &str, options: LockOptions) -> Result<RwLock> {
        Lock::new(session, "rwlock", Family::ReadWrite, path, options).map(RwLock)
    }

    /// The side that is shared.
    pub fn read(&self) -> RwLockSide {
        self.side(Kind::Read)
    }

    /// The side that is exclusive.
    pub fn write(&self) -> RwLockSide {
        self.side(Kind::Write)
    }

    fn side(&self, kind: Kind) -> RwLockSide {
        RwLockSide {
            lock: self.0.clone(),
            kind,
        }
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

    /// What this object has counted, both sides together.
    pub fn statistics(&self) -> LockStatistics {
        self.0.statistics()
    }
}

impl RwLockSide {
    /// Waits for this side as long as it takes (R6, R9).
    ///
    /// # Errors
    /// `WouldDeadlock` if the owner of only a read lock asks for the write lock; `LockLost` if the
    /// owner holds this side, or the write side, and lost it. Else as for
    /// [`Mutex::lock`](crate::Mutex::lock).
    pub fn lock(&self, owner: &Owner) -> Pending<Guard> {
        self.lock.lock(self.kind, Some(owner), Wait::Forever, None)
    }

    /// Waits at most `timeout`; zero is a try.
    ///
    /// # Errors
    /// `Timeout` if it is not granted in time: somebody else holds it, or no server could be reached,
    /// as the error's source then says. `InvalidArgument` for more than ten years. Else as for
    /// [`lock`](RwLockSide::lock).
    pub fn lock_timeout(&self, owner: &Owner, timeout: Duration) -> Pending<Guard> {
        self.lock.lock_timeout(self.kind, Some(owner), timeout)
    }

    /// Takes this side if nobody who excludes it is before us; `None` if somebody is.
    ///
    /// # Errors
    /// `Unavailable` if no server answers within `connect_timeout`. Else as for
    /// [`lock`](RwLockSide::lock).
    pub fn try_lock(&self, owner: &Owner) -> Pending<Option<Guard>> {
        self.acquire(owner, Wait::Try, None)
    }

    /// The general form: `None` only for a busy [`Wait::Try`].
    ///
    /// # Errors
    /// `Timeout` as for [`lock_timeout`](RwLockSide::lock_timeout), `Unavailable` as for
    /// [`try_lock`](RwLockSide::try_lock), `Cancelled`. Else as for [`lock`](RwLockSide::lock).
    pub fn acquire(
        &self,
        owner: &Owner,
        wait: Wait,
        cancel: Option<&Cancel>,
    ) -> Pending<Option<Guard>> {
        self.lock.acquire(self.kind, Some(owner), wait, cancel)
    }

    /// Who queues on the path, in order.
    ///
    /// # Errors
    /// `Unavailable` if no server answers within `connect_timeout`; `NoAuth`; `Closed`.
    pub fn contenders(&self) -> Pending<Vec<Contender>> {
        self.lock.contenders()
    }

    /// The lock path.
    pub fn path(&self) -> &str {
        self.lock.path()
    }

    /// What the lock has counted, both sides together.
    pub fn statistics(&self) -> LockStatistics {
        self.lock.statistics()
    }
}
