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
/// the order of arrival (R7). Made by [`Session::mutex`].
///
/// **Not re-entrant**: a task that holds it and locks it again waits for itself, until its
/// time-out. See [`ReentrantMutex`](crate::ReentrantMutex).
///
/// Clones are the same object, and count together; objects made anew for the same path exclude each
/// other just the same, and count for themselves.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use zoolock::ErrorKind;
///
/// # #[tokio::main]
/// # async fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let session = zoolock::Session::connect(&server.hosts()).await?;
/// let mutex = session.mutex("/locks/order/user-123")?;
/// let guard = mutex.lock().await?;
///
/// let other = session.mutex("/locks/order/user-123")?;
/// assert!(other.try_lock().await?.is_none());
/// let late = other.lock_timeout(Duration::from_millis(20)).await.unwrap_err();
/// assert_eq!(late.kind(), ErrorKind::Timeout);
///
/// guard.release().await?;
/// assert!(other.try_lock().await?.is_some());
/// # session.close().await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Mutex(Lock);

impl Mutex {
    pub(crate) fn new(session: Session, path: &str, options: LockOptions) -> Result<Mutex> {
        Lock::new(session, "mutex", Family::Mutex, path, options).map(Mutex)
    }

    /// Waits for the lock as long as it takes, through outages and session changes (R6, R9). Dropping
    /// the [`Pending`] withdraws the attempt, and leaves no contender (R5).
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

    /// Waits at most `timeout`, and returns within 50 ms after it whatever servers and network do (R6).
    /// Zero is a try: see [`Wait::Try`].
    ///
    /// # Errors
    /// `Timeout` if it is not granted in time: somebody else holds it, or no server could be reached,
    /// as the error's source then says. `InvalidArgument` for more than ten years. Else as for
    /// [`lock`](Mutex::lock).
    pub fn lock_timeout(&self, timeout: Duration) -> Pending<Guard> {
        self.0.lock_timeout(Kind::Exclusive, None, timeout)
    }

    /// Takes the lock if nobody is before us; `None` if somebody is. Waits for no holder, but for the
    /// servers' answers, at most `connect_timeout` (R6).
    ///
    /// # Errors
    /// `Unavailable` if no server answers within `connect_timeout`. Else as for
    /// [`lock`](Mutex::lock).
    pub fn try_lock(&self) -> Pending<Option<Guard>> {
        self.acquire(Wait::Try, None)
    }

    /// The general form of `lock`, `lock_timeout` and `try_lock`, with a [`Cancel`] to end the wait from
    /// elsewhere. `None` only for a busy [`Wait::Try`].
    ///
    /// # Errors
    /// `Timeout` as for [`lock_timeout`](Mutex::lock_timeout), `Unavailable` as for
    /// [`try_lock`](Mutex::try_lock), `Cancelled`. Else as for [`lock`](Mutex::lock).
    pub fn acquire(&self, wait: Wait, cancel: Option<&Cancel>) -> Pending<Option<Guard>> {
        self.0.acquire(Kind::Exclusive, None, wait, cancel)
    }

    /// Who queues on the path, in order, whatever library they use: holders first. A question to the
    /// server, out of date when it is answered; never use it to decide who holds.
    ///
    /// # Errors
    /// `Unavailable` if no server answers within `connect_timeout`; `NoAuth`; `Closed`.
    pub fn contenders(&self) -> Pending<Vec<Contender>> {
        self.0.contenders()
    }

    /// The lock path, as it was given.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// What this object and its clones have counted. Never blocks.
    pub fn statistics(&self) -> LockStatistics {
        self.0.statistics()
    }
}
