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
/// Made by [`Session::rwlock`]. Re-entrant per side for one [`Owner`]. The owner of the write lock may take the read lock and
/// then release the write lock (downgrade), with no writer in between; the owner of only a read
/// lock that asks for the write lock gets `WouldDeadlock`. A queued writer is not overtaken by later
/// readers. It does not exclude a [`Mutex`](crate::Mutex) on the same path.
///
/// # Examples
/// Many readers, and a writer that goes on reading what it wrote:
/// ```
/// use zoolock::Owner;
///
/// # #[tokio::main]
/// # async fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let session = zoolock::Session::connect(&server.hosts()).await?;
/// let lock = session.rwlock("/locks/catalogue")?;
/// let (one, two) = (Owner::new(), Owner::new());
/// let readers = [lock.read().lock(&one).await?, lock.read().lock(&two).await?];
/// assert!(lock.write().try_lock(&Owner::new()).await?.is_none());
/// drop(readers);
///
/// let writing = lock.write().lock(&one).await?;
/// let reading = lock.read().lock(&one).await?;
/// writing.release().await?;                      // no other writer comes in between
/// assert!(reading.is_held());
/// # session.close().await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RwLock(Lock);

/// One side of a [`RwLock`], with a lock's whole interface: [`RwLock::read`], [`RwLock::write`].
#[derive(Clone, Debug)]
pub struct RwLockSide {
    lock: Lock,
    kind: Kind,
}

impl RwLock {
    pub(crate) fn new(session: Session, path: &str, options: LockOptions) -> Result<RwLock> {
        Lock::new(session, "rwlock", Family::ReadWrite, path, options).map(RwLock)
    }

    /// The side that is shared among readers.
    pub fn read(&self) -> RwLockSide {
        self.side(Kind::Read)
    }

    /// The side that is exclusive, to other writers and to readers.
    pub fn write(&self) -> RwLockSide {
        self.side(Kind::Write)
    }

    fn side(&self, kind: Kind) -> RwLockSide {
        RwLockSide {
            lock: self.0.clone(),
            kind,
        }
    }

    /// Who queues on the path, readers and writers, in order; see
    /// [`Mutex::contenders`](crate::Mutex::contenders).
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

    /// What this object, its sides and its clones have counted. Never blocks.
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

    /// Waits at most `timeout`, and returns within 50 ms after it whatever servers and network do (R6).
    /// Zero is a try: see [`Wait::Try`].
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

    /// The general form of `lock`, `lock_timeout` and `try_lock`, with a [`Cancel`] to end the wait from
    /// elsewhere. `None` only for a busy [`Wait::Try`].
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

    /// Who queues on the path, readers and writers, in order; see
    /// [`Mutex::contenders`](crate::Mutex::contenders).
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

    /// What the lock has counted, both sides together. Never blocks.
    pub fn statistics(&self) -> LockStatistics {
        self.lock.statistics()
    }
}
