//! The re-entrant mutex.

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

/// A mutex that its owner may lock again, at no request and with the same token (R11). Made by
/// [`Session::reentrant_mutex`].
///
/// The contender goes when every guard is released. Re-entrancy counts per session, path, naming and
/// [`Owner`], not per object; plain [`Mutex`](crate::Mutex)es on the path are excluded. Another owner
/// queues, in the same process too. An owner's second attempt made while its first still waits waits
/// for the first.
///
/// # Examples
/// ```
/// use zoolock::{Owner, ReentrantMutex};
///
/// async fn inner(mutex: &ReentrantMutex, owner: &Owner) -> zoolock::Result<i64> {
///     let guard = mutex.lock(owner).await?;        // at no request, if the caller holds it
///     Ok(guard.fencing_token())
/// }
///
/// # #[tokio::main]
/// # async fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let session = zoolock::Session::connect(&server.hosts()).await?;
/// let mutex = session.reentrant_mutex("/locks/account-7")?;
/// let owner = Owner::new();
/// let guard = mutex.lock(&owner).await?;
/// assert_eq!(inner(&mutex, &owner).await?, guard.fencing_token());
/// assert!(mutex.try_lock(&Owner::new()).await?.is_none());
/// guard.release().await?;
/// # session.close().await
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ReentrantMutex(Lock);

impl ReentrantMutex {
    pub(crate) fn new(session: Session, path: &str, options: LockOptions) -> Result<Self> {
        Lock::new(session, "reentrant_mutex", Family::Mutex, path, options).map(ReentrantMutex)
    }

    /// Waits for the lock as long as it takes (R6, R9).
    ///
    /// # Errors
    /// `LockLost` if the owner holds it already, and lost it; every guard of the lost one has to be
    /// released or dropped before the owner gets it anew. Else as for
    /// [`Mutex::lock`](crate::Mutex::lock).
    pub fn lock(&self, owner: &Owner) -> Pending<Guard> {
        self.0
            .lock(Kind::Exclusive, Some(owner), Wait::Forever, None)
    }

    /// Waits at most `timeout`, and returns within 50 ms after it whatever servers and network do (R6).
    /// Zero is a try: see [`Wait::Try`].
    ///
    /// # Errors
    /// `Timeout` if it is not granted in time: somebody else holds it, or no server could be reached,
    /// as the error's source then says. `InvalidArgument` for more than ten years. Else as for
    /// [`lock`](ReentrantMutex::lock).
    pub fn lock_timeout(&self, owner: &Owner, timeout: Duration) -> Pending<Guard> {
        self.0.lock_timeout(Kind::Exclusive, Some(owner), timeout)
    }

    /// Takes the lock if no other owner is before us; `None` if one is.
    ///
    /// # Errors
    /// `Unavailable` if no server answers within `connect_timeout`. Else as for
    /// [`lock`](ReentrantMutex::lock).
    pub fn try_lock(&self, owner: &Owner) -> Pending<Option<Guard>> {
        self.acquire(owner, Wait::Try, None)
    }

    /// The general form of `lock`, `lock_timeout` and `try_lock`, with a [`Cancel`] to end the wait from
    /// elsewhere. `None` only for a busy [`Wait::Try`].
    ///
    /// # Errors
    /// `Timeout` as for [`lock_timeout`](ReentrantMutex::lock_timeout), `Unavailable` as for
    /// [`try_lock`](ReentrantMutex::try_lock), `Cancelled`. Else as for [`lock`](ReentrantMutex::lock).
    pub fn acquire(
        &self,
        owner: &Owner,
        wait: Wait,
        cancel: Option<&Cancel>,
    ) -> Pending<Option<Guard>> {
        self.0.acquire(Kind::Exclusive, Some(owner), wait, cancel)
    }

    /// Who queues on the path, in order; see [`Mutex::contenders`](crate::Mutex::contenders).
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

    /// What this object and its clones have counted. Never blocks.
    pub fn statistics(&self) -> LockStatistics {
        self.0.statistics()
    }
}
