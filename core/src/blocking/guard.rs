//! The held lock.

use std::time::Duration;

use crate::error::Result;
use crate::state::GuardState;

/// The blocking form of [`crate::Guard`]: a lock that was granted. Dropping it releases the lock in
/// the background (R10).
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// # fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let session = zoolock::blocking::Session::connect(&server.hosts())?;
/// let guard = session.mutex("/locks/report")?.lock()?;
/// guard.ensure_held()?;                       // between two steps of what it protects
/// server.expire_all()?;                       // what may happen to a session
/// assert!(guard.wait_lost(Some(Duration::from_secs(30))));
/// let error = guard.release().unwrap_err();
/// assert_eq!(error.kind(), zoolock::ErrorKind::LockLost);
/// assert_eq!(error.cause().unwrap().kind(), zoolock::ErrorKind::SessionExpired);
/// # session.close()
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub struct Guard(crate::Guard);

impl From<crate::Guard> for Guard {
    fn from(guard: crate::Guard) -> Guard {
        Guard(guard)
    }
}

impl From<Guard> for crate::Guard {
    fn from(guard: Guard) -> crate::Guard {
        guard.0
    }
}

impl Guard {
    /// The fencing token (R2): positive, rising from grant to grant. See [`crate::Guard::fencing_token`].
    pub fn fencing_token(&self) -> i64 {
        self.0.fencing_token()
    }

    /// The second part of the token where contenders are kept (R2). See [`crate::Guard::grant_count`].
    pub fn grant_count(&self) -> u64 {
        self.0.grant_count()
    }

    /// The lock path.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// The path of the contender's node, without the session's chroot.
    pub fn node_path(&self) -> &str {
        self.0.node_path()
    }

    /// Whether the lock may still be believed in, by the clock at the call (R3). Never blocks.
    pub fn is_held(&self) -> bool {
        self.0.is_held()
    }

    /// The state at this moment, by the clock (R3). Never blocks.
    pub fn state(&self) -> GuardState {
        self.0.state()
    }

    /// Checks that the lock may still be believed in (R3). Never blocks.
    ///
    /// # Errors
    /// `LockLost` if the lock was lost, with the reason as its source; `NotHeld` if it was released.
    pub fn ensure_held(&self) -> Result<()> {
        self.0.ensure_held()
    }

    /// Calls `callback` once, on the callback thread, when the lock is lost (R4), soon if it is already;
    /// never after a release. See [`crate::Guard::on_lost`].
    pub fn on_lost(&self, callback: impl FnOnce() + Send + 'static) {
        self.0.on_lost(callback);
    }

    /// Waits until the lock is lost, at most `limit` (for ever if `None`): true if it is lost, false at
    /// the limit, or as soon as it is released by another thread.
    pub fn wait_lost(&self, limit: Option<Duration>) -> bool {
        self.0.wait_lost(limit)
    }

    /// Releases the lock, and waits until its contender is deleted, the session is over, or the lease
    /// would have ended (R10).
    ///
    /// # Errors
    /// `LockLost` if the lock was lost before the call, with the reason as its source; `NoAuth` if the
    /// server denies the deletion.
    pub fn release(self) -> Result<()> {
        self.0.release().wait()
    }

    /// [`release`](Guard::release) for guards that are shared among threads.
    ///
    /// # Errors
    /// As for `release`; and `NotHeld` if it was released before.
    pub fn release_shared(&self) -> Result<()> {
        self.0.release_shared().wait()
    }
}
