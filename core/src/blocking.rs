//! The synchronous face: the same nouns and verbs, blocking the calling thread. The owner of
//! re-entrant and read-write locks is the calling thread.
//!
//! Every wait can be ended from another thread by a [`Cancel`].
//!
//! ```no_run
//! # fn main() -> zoolock::Result<()> {
//! let session = zoolock::blocking::Session::connect("127.0.0.1:2181")?;
//! let mutex = session.mutex("/locks/order/user-123")?;
//! let guard = mutex.lock()?;
//! println!("fencing token {}", guard.fencing_token());
//! guard.release()?;
//! session.close()?;
//! # Ok(())
//! # }
//! ```

use std::time::Duration;

use crate::config::{LockOptions, Wait};
use crate::contender::Contender;
use crate::error::Result;
use crate::owner::Owner;
use crate::state::{GuardState, SessionState};
use crate::stats::LockStatistics;
use crate::{Cancel, SessionBuilder};

/// The blocking form of [`crate::Session`].
#[derive(Clone, Debug)]
pub struct Session(crate::Session);

impl Session {
    /// Connects with default options; see [`SessionBuilder::connect`].
    ///
    /// # Errors
    /// As there.
    pub fn connect(hosts: &str) -> Result<Session> {
        Session::connect_with(crate::Session::builder(), hosts)
    }

    /// Connects with the options given.
    ///
    /// # Errors
    /// As [`SessionBuilder::connect`].
    pub fn connect_with(builder: SessionBuilder, hosts: &str) -> Result<Session> {
        builder.connect(hosts).wait().map(Session)
    }

    /// Connects to the servers that the environment names; see
    /// [`SessionBuilder::connect_default`].
    ///
    /// # Errors
    /// As there.
    pub fn connect_default(builder: SessionBuilder) -> Result<Session> {
        builder.connect_default().wait().map(Session)
    }

    /// A mutex on `path`.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn mutex(&self, path: &str) -> Result<Mutex> {
        self.0.mutex(path).map(Mutex)
    }

    /// A mutex on `path` with options.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn mutex_with(&self, path: &str, options: LockOptions) -> Result<Mutex> {
        self.0.mutex_with(path, options).map(Mutex)
    }

    /// A re-entrant mutex on `path`.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn reentrant_mutex(&self, path: &str) -> Result<ReentrantMutex> {
        self.0.reentrant_mutex(path).map(ReentrantMutex)
    }

    /// A re-entrant mutex on `path` with options.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn reentrant_mutex_with(&self, path: &str, options: LockOptions) -> Result<ReentrantMutex> {
        self.0
            .reentrant_mutex_with(path, options)
            .map(ReentrantMutex)
    }

    /// A read-write lock on `path`.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn rwlock(&self, path: &str) -> Result<RwLock> {
        self.0.rwlock(path).map(RwLock)
    }

    /// A read-write lock on `path` with options.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn rwlock_with(&self, path: &str, options: LockOptions) -> Result<RwLock> {
        self.0.rwlock_with(path, options).map(RwLock)
    }

    /// The state at this moment.
    pub fn state(&self) -> SessionState {
        self.0.state()
    }

    /// See [`crate::Session::on_state`].
    ///
    /// # Errors
    /// As there.
    pub fn on_state(&self, callback: impl Fn(SessionState) + Send + Sync + 'static) -> Result<()> {
        self.0.on_state(callback)
    }

    /// The id that the ensemble knows the session by; 0 before the first connect.
    pub fn session_id(&self) -> i64 {
        self.0.session_id()
    }

    /// The session timeout that the ensemble has granted; zero before the first connect.
    pub fn negotiated_timeout(&self) -> Duration {
        self.0.negotiated_timeout()
    }

    /// Closes within 5 s (R17).
    ///
    /// # Errors
    /// None at present; the freeing goes on in the background.
    pub fn close(&self) -> Result<()> {
        self.0.close().wait()
    }

    /// Closes within `timeout`.
    ///
    /// # Errors
    /// As [`close`](Session::close).
    pub fn close_timeout(&self, timeout: Duration) -> Result<()> {
        self.0.close_timeout(timeout).wait()
    }

    /// The asynchronous form of this handle.
    pub fn as_async(&self) -> &crate::Session {
        &self.0
    }
}

/// The blocking form of [`crate::Guard`].
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub struct Guard(crate::Guard);

impl Guard {
    /// See [`crate::Guard::fencing_token`].
    pub fn fencing_token(&self) -> i64 {
        self.0.fencing_token()
    }

    /// See [`crate::Guard::path`].
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// See [`crate::Guard::node_path`].
    pub fn node_path(&self) -> &str {
        self.0.node_path()
    }

    /// See [`crate::Guard::is_held`].
    pub fn is_held(&self) -> bool {
        self.0.is_held()
    }

    /// See [`crate::Guard::state`].
    pub fn state(&self) -> GuardState {
        self.0.state()
    }

    /// See [`crate::Guard::ensure_held`].
    ///
    /// # Errors
    /// As there.
    pub fn ensure_held(&self) -> Result<()> {
        self.0.ensure_held()
    }

    /// See [`crate::Guard::on_lost`].
    pub fn on_lost(&self, callback: impl FnOnce() + Send + 'static) {
        self.0.on_lost(callback);
    }

    /// See [`crate::Guard::wait_lost`].
    pub fn wait_lost(&self, limit: Option<Duration>) -> bool {
        self.0.wait_lost(limit)
    }

    /// Releases the lock; see [`crate::Guard::release`].
    ///
    /// # Errors
    /// `LockLost` if the lock was lost before the call.
    pub fn release(self) -> Result<()> {
        self.0.release().wait()
    }

    /// [`release`](Guard::release) for callers that keep the guard: a second one is `NotHeld`.
    ///
    /// # Errors
    /// `LockLost`, `NotHeld`.
    pub fn release_shared(&self) -> Result<()> {
        self.0.release_shared().wait()
    }
}

/// The blocking form of [`crate::Mutex`].
#[derive(Clone, Debug)]
pub struct Mutex(crate::Mutex);

impl Mutex {
    /// Waits as long as it takes.
    ///
    /// # Errors
    /// See [`crate::Mutex::lock`].
    pub fn lock(&self) -> Result<Guard> {
        self.0.lock().wait().map(Guard)
    }

    /// Waits at most `timeout`.
    ///
    /// # Errors
    /// See [`crate::Mutex::lock_timeout`].
    pub fn lock_timeout(&self, timeout: Duration) -> Result<Guard> {
        self.0.lock_timeout(timeout).wait().map(Guard)
    }

    /// Takes the lock if nobody is before us.
    ///
    /// # Errors
    /// See [`crate::Mutex::try_lock`].
    pub fn try_lock(&self) -> Result<Option<Guard>> {
        self.acquire(Wait::Try, None)
    }

    /// The general form; `cancel` ends the wait from another thread.
    ///
    /// # Errors
    /// See [`crate::Mutex::acquire`].
    pub fn acquire(&self, wait: Wait, cancel: Option<&Cancel>) -> Result<Option<Guard>> {
        Ok(self.0.acquire(wait, cancel).wait()?.map(Guard))
    }

    /// Who queues on the path, in order.
    ///
    /// # Errors
    /// `Unavailable`, `NoAuth`, `Closed`.
    pub fn contenders(&self) -> Result<Vec<Contender>> {
        self.0.contenders().wait()
    }

    /// The path, as the user gave it.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// What this object has counted.
    pub fn statistics(&self) -> LockStatistics {
        self.0.statistics()
    }
}

macro_rules! owned_by_thread {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name($inner);

        impl $name {
            /// Waits as long as it takes.
            ///
            /// # Errors
            /// See the asynchronous form.
            pub fn lock(&self) -> Result<Guard> {
                self.0.lock(&Owner::current_thread()).wait().map(Guard)
            }

            /// Waits at most `timeout`.
            ///
            /// # Errors
            /// See the asynchronous form.
            pub fn lock_timeout(&self, timeout: Duration) -> Result<Guard> {
                self.0
                    .lock_timeout(&Owner::current_thread(), timeout)
                    .wait()
                    .map(Guard)
            }

            /// Takes the lock if nobody who excludes it is before us.
            ///
            /// # Errors
            /// See the asynchronous form.
            pub fn try_lock(&self) -> Result<Option<Guard>> {
                self.acquire(&Owner::current_thread(), Wait::Try, None)
            }

            /// The general form, with an owner of the caller's choice.
            ///
            /// # Errors
            /// See the asynchronous form.
            pub fn acquire(
                &self,
                owner: &Owner,
                wait: Wait,
                cancel: Option<&Cancel>,
            ) -> Result<Option<Guard>> {
                Ok(self.0.acquire(owner, wait, cancel).wait()?.map(Guard))
            }

            /// Who queues on the path, in order.
            ///
            /// # Errors
            /// `Unavailable`, `NoAuth`, `Closed`.
            pub fn contenders(&self) -> Result<Vec<Contender>> {
                self.0.contenders().wait()
            }

            /// The path, as the user gave it.
            pub fn path(&self) -> &str {
                self.0.path()
            }

            /// What this object has counted.
            pub fn statistics(&self) -> LockStatistics {
                self.0.statistics()
            }
        }
    };
}

owned_by_thread!(
    /// The blocking form of [`crate::ReentrantMutex`].
    ReentrantMutex,
    crate::ReentrantMutex
);
owned_by_thread!(
    /// The blocking form of [`crate::RwLockSide`].
    RwLockSide,
    crate::RwLockSide
);

/// The blocking form of [`crate::RwLock`].
#[derive(Clone, Debug)]
pub struct RwLock(crate::RwLock);

impl RwLock {
    /// The side that is shared.
    pub fn read(&self) -> RwLockSide {
        RwLockSide(self.0.read())
    }

    /// The side that is exclusive.
    pub fn write(&self) -> RwLockSide {
        RwLockSide(self.0.write())
    }

    /// Who queues on the path, in order.
    ///
    /// # Errors
    /// `Unavailable`, `NoAuth`, `Closed`.
    pub fn contenders(&self) -> Result<Vec<Contender>> {
        self.0.contenders().wait()
    }

    /// The path, as the user gave it.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// What this object has counted.
    pub fn statistics(&self) -> LockStatistics {
        self.0.statistics()
    }
}
