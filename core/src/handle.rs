//! The public session handle: opens locks, tells its state, closes.

use std::sync::Arc;
use std::time::Duration;

use crate::clock;
use crate::command::{Command, HandleId};
use crate::config::{
    Acl, Backoff, LeaseConfirmation, LockOptions, Secret, SessionConfig, SessionOptions, Tls,
};
use crate::error::Result;
use crate::link::{self, Link};
use crate::manager;
use crate::mutex::Mutex;
use crate::pending::Pending;
use crate::process::PerProcess;
use crate::reentrant::ReentrantMutex;
use crate::rwlock::RwLock;
use crate::state::{SessionState, StateWatch};
use crate::sync::primitive::atomic::{AtomicBool, Ordering};

/// How long [`Session::close`] takes at most.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A handle on a session with a ZooKeeper ensemble.
///
/// Handles opened in one process with the same servers and options share one ZooKeeper session
/// (R16). Clones are the same handle: closing one closes all. A handle that is dropped without
/// [`close`](Session::close), with every lock and guard made from it, closes in the background.
///
/// The session moves between servers by itself, and a new one is started when it is over; waiting
/// calls go on, guards of the old one are lost. The handle stays usable until it is closed.
///
/// # Forks
/// In a forked child the handle opens a session of the child's own on first use (R18).
///
/// # Examples
/// ```
/// # #[tokio::main]
/// # async fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let hosts = server.hosts();
/// // let hosts = "zk1:2181,zk2:2181,zk3:2181/chroot";
/// let session = zoolock::Session::connect(&hosts).await?;
/// let mutex = session.mutex("/locks/order/user-123")?;
/// let guard = mutex.lock().await?;
/// println!("fencing token {}", guard.fencing_token());
/// guard.release().await?;
/// session.close().await
/// # }
/// ```
#[derive(Clone)]
pub struct Session(Arc<Handle>);

struct Handle {
    config: SessionConfig,
    attachment: PerProcess<Attachment>,
    closed: AtomicBool,
}

/// A handle's place in a managed session of the present process.
pub(crate) struct Attachment {
    pub(crate) handle: HandleId,
    pub(crate) link: Arc<Link>,
}

/// Options of a session; see [`Session::builder`]. Units are those of [`Duration`]; what is not set
/// has its default.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use zoolock::{Backoff, Session};
///
/// # fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let hosts = server.hosts();
/// let session = Session::builder()
///     .session_timeout(Duration::from_secs(6))
///     .connect_timeout(Duration::from_secs(3))
///     .backoff(Backoff::Fixed { delay: Duration::from_millis(200), retries: Some(5) })
///     .identity("billing-7")
///     .connect(&hosts)
///     .wait()?;
/// assert_eq!(session.negotiated_timeout(), Duration::from_secs(6));
/// # session.close().wait()
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SessionBuilder(SessionOptions);

impl Session {
    /// A handle that belongs to no session, for tests that drive an engine themselves.
    #[cfg(test)]
    pub(crate) fn detached(config: SessionConfig) -> Session {
        Session(Arc::new(Handle {
            config,
            attachment: PerProcess::new(),
            closed: AtomicBool::new(true),
        }))
    }

    /// Connects with default options, within 10 s.
    ///
    /// # Errors
    /// As [`SessionBuilder::connect`].
    pub fn connect(hosts: &str) -> Pending<Session> {
        Session::builder().connect(hosts)
    }

    /// Options, to connect with: `Session::builder().….connect(hosts)`.
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    /// A mutex on `path`, with default options. Nothing is sent; missing parents are made when it is
    /// locked first (R15).
    ///
    /// # Errors
    /// `InvalidArgument` if the path is not one that ZooKeeper takes (R20); `Closed`.
    pub fn mutex(&self, path: &str) -> Result<Mutex> {
        self.mutex_with(path, LockOptions::default())
    }

    /// A mutex on `path`, with options. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidArgument` if the path is not one that ZooKeeper takes, or an option is bad (R20);
    /// `Closed`.
    pub fn mutex_with(&self, path: &str, options: LockOptions) -> Result<Mutex> {
        Mutex::new(self.clone(), path, options)
    }

    /// A re-entrant mutex on `path`, with default options. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidArgument` if the path is not one that ZooKeeper takes (R20); `Closed`.
    pub fn reentrant_mutex(&self, path: &str) -> Result<ReentrantMutex> {
        self.reentrant_mutex_with(path, LockOptions::default())
    }

    /// A re-entrant mutex on `path`, with options. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidArgument` if the path is not one that ZooKeeper takes, or an option is bad (R20);
    /// `Closed`.
    pub fn reentrant_mutex_with(&self, path: &str, options: LockOptions) -> Result<ReentrantMutex> {
        ReentrantMutex::new(self.clone(), path, options)
    }

    /// A read-write lock on `path`, with default options. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidArgument` if the path is not one that ZooKeeper takes (R20); `Closed`.
    pub fn rwlock(&self, path: &str) -> Result<RwLock> {
        self.rwlock_with(path, LockOptions::default())
    }

    /// A read-write lock on `path`, with options. Nothing is sent.
    ///
    /// # Errors
    /// `InvalidArgument` if the path is not one that ZooKeeper takes, or an option is bad (R20);
    /// `Closed`.
    pub fn rwlock_with(&self, path: &str, options: LockOptions) -> Result<RwLock> {
        RwLock::new(self.clone(), path, options)
    }

    /// The state at this moment (R16). Never blocks.
    pub fn state(&self) -> SessionState {
        if self.is_closed() {
            return SessionState::Closed;
        }
        match self.0.attachment.get() {
            Some(attachment) => attachment.link.states.get(),
            None => SessionState::Connecting,
        }
    }

    /// Every change of state from now on (R16). The first thing that it tells is the next change, not
    /// the present [`state`](Session::state).
    ///
    /// # Examples
    /// ```
    /// use zoolock::{Session, SessionState};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> zoolock::Result<()> {
    /// # let server = zoolock::testing::Server::start()?;
    /// let session = Session::connect(&server.hosts()).await?;
    /// let mut changes = session.watch_state();
    /// server.cut_all()?;
    /// assert_eq!(changes.changed().await, Some(SessionState::Suspended));
    /// assert_eq!(changes.changed().await, Some(SessionState::Connected));
    /// session.close().await?;
    /// assert_eq!(changes.changed().await, Some(SessionState::Closed));
    /// assert_eq!(changes.changed().await, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn watch_state(&self) -> StateWatch {
        match self.attach("watch_state") {
            Ok(attachment) => attachment.link.states.watch(attachment.handle),
            Err(_) => StateWatch::closed(),
        }
    }

    /// Calls `callback` with every change of state from now on, in order, on the thread that runs all
    /// callbacks of the process: one that blocks delays the others, but no lock. One that panics is
    /// logged. It is dropped when the handle is closed, after it was told so.
    ///
    /// # Errors
    /// `Closed`; `Internal` if the background threads cannot be started.
    pub fn on_state(&self, callback: impl Fn(SessionState) + Send + Sync + 'static) -> Result<()> {
        let attachment = self.attach("on_state")?;
        attachment
            .link
            .states
            .on_change(attachment.handle, Arc::new(callback));
        Ok(())
    }

    /// The id that the ensemble knows the session by, as in its logs; 0 before the first connect. It
    /// changes when a session is over and another one is started.
    pub fn session_id(&self) -> i64 {
        self.0.attachment.get().map_or(0, |a| a.link.session_id())
    }

    /// The session timeout that the ensemble has granted; zero before the first connect.
    pub fn negotiated_timeout(&self) -> Duration {
        self.0
            .attachment
            .get()
            .map_or(Duration::ZERO, |a| a.link.negotiated_timeout())
    }

    /// Closes the handle within 5 s (R17): its guards are lost at once, and told so; its waiting calls
    /// fail with `Closed`; its contenders are freed, which the outcome waits for. Idempotent. Dropping
    /// the outcome cancels nothing.
    ///
    /// # Errors
    /// None at present: what could not be freed in time goes on in the background.
    pub fn close(&self) -> Pending<()> {
        self.close_timeout(CLOSE_TIMEOUT)
    }

    /// [`close`](Session::close) within another time; zero does not wait for the freeing, which goes
    /// on in the background.
    ///
    /// # Errors
    /// As [`close`](Session::close).
    pub fn close_timeout(&self, timeout: Duration) -> Pending<()> {
        let (completer, pending) = Pending::new("close");
        self.0.closed.store(true, Ordering::SeqCst);
        match self.0.attachment.get() {
            // Also when closed before: whoever closes again wants to know when it is done.
            Some(attachment) => {
                attachment.link.send(Command::Close {
                    handle: attachment.handle,
                    until: clock::now() + timeout,
                    then: Box::new(move |outcome| drop(completer.complete(outcome))),
                });
                pending.on(Arc::clone(&attachment.link))
            }
            None => {
                drop(completer.complete(Ok(())));
                pending
            }
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn config(&self) -> &SessionConfig {
        &self.0.config
    }

    /// This handle's place in a session of the present process; opened if a fork came between.
    pub(crate) fn attach(&self, operation: &'static str) -> Result<&Attachment> {
        if self.is_closed() {
            return Err(link::closed(operation));
        }
        self.0
            .attachment
            .get_or_try_init(|| manager::attach(&self.0.config))
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("servers", &self.0.config.servers.to_string())
            .field("state", &self.state())
            .finish()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if self.closed.load(Ordering::SeqCst) {
            return;
        }
        if let Some(attachment) = self.attachment.get() {
            attachment.link.send(Command::Close {
                handle: attachment.handle,
                until: clock::now() + CLOSE_TIMEOUT,
                then: Box::new(|_| ()),
            });
        }
    }
}

impl SessionBuilder {
    /// The session timeout to ask for, 1 ms to 24 days; the server may grant another
    /// ([`Session::negotiated_timeout`]). Default 15 s.
    ///
    /// The locks of a process that is killed are free after it, and a half of it without the leader's
    /// word loses a lock (R3). It should be four server ticks or more.
    pub fn session_timeout(mut self, timeout: Duration) -> SessionBuilder {
        self.0.session_timeout = timeout;
        self
    }

    /// How long the first connect, a try, and [`contenders`](crate::Mutex::contenders) may take.
    /// Default 10 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> SessionBuilder {
        self.0.connect_timeout = timeout;
        self
    }

    /// Adds credentials, such as `("digest", "user:password")`; several are sent in their order, on
    /// every connection. Never shown (R19): not in logs, errors, or [`Debug`].
    pub fn auth(mut self, scheme: impl Into<String>, credentials: impl Into<Vec<u8>>) -> Self {
        self.0
            .auth
            .push((scheme.into(), Secret(credentials.into())));
        self
    }

    /// The ACL of nodes that are made: contenders and missing parents. Default: [`Acl::Creator`] with
    /// credentials or a client certificate, else [`Acl::Open`].
    pub fn acl(mut self, acl: Acl) -> SessionBuilder {
        self.0.acl = Some(acl);
        self
    }

    /// What contenders' data says of the holder, at most 512 KiB; others see it in
    /// [`Contender::identity`](crate::Contender::identity). Default `host/pid`.
    pub fn identity(mut self, identity: impl Into<String>) -> SessionBuilder {
        self.0.identity = Some(identity.into());
        self
    }

    /// A ZooKeeper session of this handle's own, shared with nobody (R16). Default false.
    pub fn exclusive(mut self, exclusive: bool) -> SessionBuilder {
        self.0.exclusive = exclusive;
        self
    }

    /// How the first connect is retried. Later reconnects follow the session manager's rules (R16).
    /// Default [`Backoff::Exponential`] from 50 ms to 1 s, without a limit but `connect_timeout`.
    pub fn backoff(mut self, backoff: Backoff) -> SessionBuilder {
        self.0.backoff = backoff;
        self
    }

    /// What renews leases (R3). Default [`LeaseConfirmation::Sync`].
    pub fn lease_confirmation(mut self, confirmation: LeaseConfirmation) -> SessionBuilder {
        self.0.lease_confirmation = confirmation;
        self
    }

    /// TLS towards the servers; see [`Tls`]. Default: none.
    pub fn tls(mut self, tls: Tls) -> SessionBuilder {
        self.0.tls = Some(tls);
        self
    }

    /// Connects to `hosts`, ZooKeeper's `host:port,host:port/chroot`. The outcome is a connected
    /// session. Dropping it before closes what was opened.
    ///
    /// # Errors
    /// - `InvalidArgument`: bad hosts or options, before anything is sent (R20).
    /// - `Unavailable`: at `connect_timeout`, or when the retries are used up.
    /// - `AuthFailed`: at once, for credentials or certificates that are not accepted on either side.
    /// - `Unsupported`: the server is older than 3.5.5.
    /// - `Internal`: the background threads cannot be started.
    pub fn connect(self, hosts: &str) -> Pending<Session> {
        self.start(Some(hosts))
    }

    /// Connects to the servers named by the environment variable `ZOOLOCK_HOSTS`, else to
    /// `127.0.0.1:2181`.
    ///
    /// # Errors
    /// As [`connect`](SessionBuilder::connect).
    pub fn connect_default(self) -> Pending<Session> {
        self.start(None)
    }

    fn start(self, hosts: Option<&str>) -> Pending<Session> {
        match self.open(hosts) {
            Ok(pending) => pending,
            Err(error) => Pending::ready("connect", Err(error)),
        }
    }

    fn open(self, hosts: Option<&str>) -> Result<Pending<Session>> {
        let config = SessionConfig::new(hosts, &self.0)?;
        let until = clock::now() + config.options.connect_timeout;
        let session = Session(Arc::new(Handle {
            config,
            attachment: PerProcess::new(),
            closed: AtomicBool::new(false),
        }));
        let (completer, pending) = Pending::new("connect");
        let attachment = session.attach("connect")?;
        let link = Arc::clone(&attachment.link);
        link.send(Command::Connect {
            handle: attachment.handle,
            until,
            // Dropping the session where nobody waits, or on failure, closes the handle.
            then: Box::new(move |outcome| drop(completer.complete(outcome.map(|()| session)))),
        });
        Ok(pending)
    }
}
