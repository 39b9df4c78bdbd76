//! The session handle.

use std::time::Duration;

use super::{Mutex, ReentrantMutex, RwLock};
use crate::SessionBuilder;
use crate::config::LockOptions;
use crate::error::Result;
use crate::state::SessionState;

/// The blocking form of [`crate::Session`]: a handle on a session with a ZooKeeper ensemble. Clones
/// are the same handle.
#[derive(Clone, Debug)]
pub struct Session(crate::Session);

impl From<crate::Session> for Session {
    fn from(session: crate::Session) -> Session {
        Session(session)
    }
}

impl From<Session> for crate::Session {
    fn from(session: Session) -> crate::Session {
        session.0
    }
}

impl Session {
    /// Connects with default options, within 10 s; see [`SessionBuilder::connect`].
    ///
    /// # Errors
    /// As there.
    pub fn connect(hosts: &str) -> Result<Session> {
        Session::connect_with(crate::Session::builder(), hosts)
    }

    /// Options, for [`connect_with`](Session::connect_with).
    pub fn builder() -> SessionBuilder {
        crate::Session::builder()
    }

    /// Connects with the options given, within their `connect_timeout`.
    ///
    /// # Errors
    /// As [`SessionBuilder::connect`].
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use zoolock::blocking::Session;
    ///
    /// # fn main() -> zoolock::Result<()> {
    /// # let server = zoolock::testing::Server::start()?;
    /// # let hosts = server.hosts();
    /// let options = Session::builder().session_timeout(Duration::from_secs(6));
    /// let session = Session::connect_with(options, &hosts)?;
    /// # session.close()
    /// # }
    /// ```
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

    /// A mutex on `path`, with default options. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn mutex(&self, path: &str) -> Result<Mutex> {
        self.0.mutex(path).map(Mutex::from)
    }

    /// A mutex on `path` with options. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn mutex_with(&self, path: &str, options: LockOptions) -> Result<Mutex> {
        self.0.mutex_with(path, options).map(Mutex::from)
    }

    /// A re-entrant mutex on `path`, with default options. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn reentrant_mutex(&self, path: &str) -> Result<ReentrantMutex> {
        self.0.reentrant_mutex(path).map(ReentrantMutex::from)
    }

    /// A re-entrant mutex on `path` with options. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn reentrant_mutex_with(&self, path: &str, options: LockOptions) -> Result<ReentrantMutex> {
        self.0
            .reentrant_mutex_with(path, options)
            .map(ReentrantMutex::from)
    }

    /// A read-write lock on `path`, with default options. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn rwlock(&self, path: &str) -> Result<RwLock> {
        self.0.rwlock(path).map(RwLock::from)
    }

    /// A read-write lock on `path` with options. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidArgument` (R20), `Closed`.
    pub fn rwlock_with(&self, path: &str, options: LockOptions) -> Result<RwLock> {
        self.0.rwlock_with(path, options).map(RwLock::from)
    }

    /// The state at this moment (R16). Never blocks.
    pub fn state(&self) -> SessionState {
        self.0.state()
    }

    /// Calls `callback` on the callback thread with every change of state from now on; see
    /// [`crate::Session::on_state`].
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

    /// Closes the handle within 5 s (R17): its guards are lost, its waiting calls fail with `Closed`,
    /// and its contenders are freed. Idempotent. See [`crate::Session::close`].
    ///
    /// # Errors
    /// None at present; the freeing goes on in the background.
    pub fn close(&self) -> Result<()> {
        self.0.close().wait()
    }

    /// [`close`](Session::close) within `timeout`; zero does not wait for the freeing.
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
