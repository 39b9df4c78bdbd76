//! A ZooKeeper server inside the program, **for development and tests only**: to try zoolock with, and to test what
//! uses it, without Java. Needs the feature `testing`.
//!
//! It is a model of one ZooKeeper 3.9 server behind a listener on the loopback address. It starts in milliseconds, keeps
//! everything in memory and forgets it when it stops. It does not replicate, knows no TLS and no SASL, and lets
//! everybody in who reaches its port: never put it where data or mutual exclusion matter. Any ZooKeeper client can
//! connect.
//!
//! It can be told to misbehave, so that a test sees what its program does when a lock is lost:
//!
//! ```
//! use zoolock::blocking::Session;
//! use zoolock::testing::Server;
//!
//! # fn main() -> zoolock::Result<()> {
//! let server = Server::start()?;
//! let session = Session::connect(&server.hosts())?;
//! let guard = session.mutex("/locks/order/user-123")?.lock()?;
//! assert!(guard.is_held());
//!
//! server.expire_all()?;
//! guard.wait_lost(None);
//! assert!(!guard.is_held());
//! # session.close()
//! # }
//! ```
//!
//! # Forks
//! A server belongs to the process that started it. In a forked child every method that needs it fails with `Closed`, and
//! dropping it does nothing.

mod builder;

use std::net::SocketAddr;
use std::time::Duration;

pub use zoolock_testserver::server::ServerSession;
use zoolock_testserver::server::{self, AcceptError, Gone};

pub use builder::ServerBuilder;

use crate::error::{Error, ErrorKind, Result};

/// What is longer is a mistake of units.
const LONGEST_DELAY: Duration = Duration::from_secs(3600);

/// A server that runs until it is stopped or dropped. For any thread.
///
/// No method waits for a client: each returns within milliseconds. All but [`hosts`](Server::hosts),
/// [`address`](Server::address) and [`stop`](Server::stop) fail with `Closed` once the server is stopped.
///
/// A session that a method names is that of [`Session::session_id`](crate::Session::session_id).
#[derive(Debug)]
pub struct Server(server::Server);

impl Server {
    /// Starts a server with default options; clients can connect when it returns.
    ///
    /// # Errors
    /// As [`ServerBuilder::start`].
    pub fn start() -> Result<Server> {
        Server::builder().start()
    }

    /// Options, to start with.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// The connect string, such as `127.0.0.1:41234`.
    pub fn hosts(&self) -> String {
        self.0.hosts()
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// The sessions that have not ended, sorted by id.
    ///
    /// # Errors
    /// `Closed`.
    pub fn sessions(&self) -> Result<Vec<ServerSession>> {
        self.0.sessions().map_err(gone("sessions"))
    }

    /// Ends a session at once, as if it had been silent for its timeout: its locks are free, and its connection ends. False if
    /// there is no such session.
    ///
    /// # Errors
    /// `Closed`.
    pub fn expire_session(&self, id: i64) -> Result<bool> {
        self.0.expire_session(id).map_err(gone("expire_session"))
    }

    /// Ends all sessions, and answers how many there were.
    ///
    /// # Errors
    /// `Closed`.
    pub fn expire_all(&self) -> Result<usize> {
        self.0.expire_all().map_err(gone("expire_all"))
    }

    /// Ends the connection of a session. The session stays, and its client may come back at once. False if it has none.
    ///
    /// # Errors
    /// `Closed`.
    pub fn cut_session(&self, id: i64) -> Result<bool> {
        self.0.cut_session(id).map_err(gone("cut_session"))
    }

    /// Ends all connections, and answers how many there were. Sessions stay, and clients may come back at once.
    ///
    /// # Errors
    /// `Closed`.
    pub fn cut_all(&self) -> Result<usize> {
        self.0.cut_all().map_err(gone("cut_all"))
    }

    /// Cuts a session off: nothing that its client sends is read, nothing is answered, and connections stay open, later ones
    /// too. The session's time runs on, so that it expires. False if there is no such session.
    ///
    /// # Errors
    /// `Closed`.
    pub fn freeze_session(&self, id: i64) -> Result<bool> {
        self.0.freeze_session(id).map_err(gone("freeze_session"))
    }

    /// Ends [`freeze_session`](Server::freeze_session); what was kept back goes through. False if the session was not frozen by
    /// that.
    ///
    /// # Errors
    /// `Closed`.
    pub fn thaw_session(&self, id: i64) -> Result<bool> {
        self.0.thaw_session(id).map_err(gone("thaw_session"))
    }

    /// Cuts every client off, later ones too: nothing is read and nothing answered, with connections open. Sessions' time runs
    /// on.
    ///
    /// # Errors
    /// `Closed`.
    pub fn freeze_all(&self) -> Result<()> {
        self.0.freeze_all().map_err(gone("freeze_all"))
    }

    /// Ends [`freeze_all`](Server::freeze_all) and every [`freeze_session`](Server::freeze_session); what was kept back goes
    /// through.
    ///
    /// # Errors
    /// `Closed`.
    pub fn thaw_all(&self) -> Result<()> {
        self.0.thaw_all().map_err(gone("thaw_all"))
    }

    /// Holds back every answer and event from now on for so long; zero ends that.
    ///
    /// # Errors
    /// `InvalidArgument` for more than an hour; `Closed`.
    pub fn delay_answers(&self, delay: Duration) -> Result<()> {
        const OPERATION: &str = "delay_answers";
        if delay > LONGEST_DELAY {
            let problem = format!("{delay:?} is more than an hour");
            return Err(Error::invalid_argument(OPERATION, "delay", problem));
        }
        self.0.delay_answers(delay).map_err(gone(OPERATION))
    }

    /// Closes the port: new connections are refused. Open ones stay.
    ///
    /// # Errors
    /// `Closed`.
    pub fn refuse_connections(&self) -> Result<()> {
        let refused = self.0.refuse_connections();
        refused.map_err(gone("refuse_connections"))
    }

    /// Opens the port again: clients can connect when it returns.
    ///
    /// # Errors
    /// `Unavailable` if the system has no descriptor left for it; `Closed`.
    pub fn accept_connections(&self) -> Result<()> {
        const OPERATION: &str = "accept_connections";
        self.0.accept_connections().map_err(|error| match error {
            AcceptError::Gone(why) => gone(OPERATION)(why),
            error => {
                Error::new(ErrorKind::Unavailable, OPERATION, error.to_string()).with_source(error)
            }
        })
    }

    /// Ends all connections, frees the port, and returns when the server's threads have ended. Sessions and data are gone then.
    /// Does nothing the second time, or in a forked child.
    pub fn stop(&self) {
        self.0.stop();
    }
}

fn gone(operation: &'static str) -> impl Fn(Gone) -> Error {
    move |why| Error::new(ErrorKind::Closed, operation, why.to_string())
}
