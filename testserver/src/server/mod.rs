//! A ZooKeeper server in this process, **for development and tests only**: a listener on a [model](crate::model) of one
//! server. It keeps everything in memory and forgets it when it stops, does not replicate, knows no TLS and no SASL,
//! and has not seen the load or the years that ZooKeeper has. Never put it where data or mutual exclusion matter.
//!
//! Applications reach it as `zoolock::testing::Server`.
//!
//! ```
//! use zoolock_testserver::server::Server;
//!
//! let server = Server::builder().start()?;
//! println!("connect to {}", server.hosts());
//! # Ok::<(), zoolock_testserver::server::StartError>(())
//! ```
//!
//! Faults can be ordered from the test that owns it:
//!
//! ```
//! # use zoolock_testserver::server::Server;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = Server::builder().start()?;
//! for session in server.sessions()? {
//!     server.expire_session(session.id)?;
//! }
//! server.freeze_all()?;          // clients get no answer, and their sessions run out
//! server.thaw_all()?;
//! server.cut_all()?;             // every connection ends; clients may come back
//! # Ok(())
//! # }
//! ```
//!
//! It uses two threads of its own and two for each connection.

mod builder;
mod error;
mod gate;
mod link;
mod outbox;
mod reader;
mod state;

use std::fmt;
use std::mem::ManuallyDrop;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

pub use builder::Builder;
pub use error::{AcceptError, Gone, StartError};

use crate::model::Cluster;
use state::Shared;

/// A server that runs until it is dropped, or stopped.
///
/// It belongs to the process that started it. In a forked child every method that needs it fails, and dropping it does
/// nothing: the parent's server goes on.
pub struct Server {
    /// Leaked in a forked child, whose copies of the locks in it nobody may ever unlock.
    shared: ManuallyDrop<Arc<Shared>>,
    process: u32,
}

/// A session that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSession {
    /// Its id, as the client knows it.
    pub id: i64,
    /// The session timeout, as negotiated.
    pub timeout: Duration,
    /// Whether it has an open connection at this moment.
    pub connected: bool,
    /// The paths of its ephemeral nodes, sorted.
    pub ephemerals: Vec<String>,
}

impl Server {
    /// The defaults: a free port of the loopback address, ticks of 500 ms, session timeouts of 1 to 60 s.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn new(shared: Arc<Shared>) -> Self {
        Server {
            shared: ManuallyDrop::new(shared),
            process: std::process::id(),
        }
    }

    fn is_here(&self) -> bool {
        self.process == std::process::id()
    }

    fn running(&self) -> Result<&Shared, Gone> {
        if !self.is_here() {
            return Err(Gone::OtherProcess);
        }
        if self.shared.is_stopped() {
            return Err(Gone::Stopped);
        }
        Ok(&self.shared)
    }

    /// The connect string; of a server that listens on all addresses, with the loopback address.
    pub fn hosts(&self) -> String {
        let address = self.address();
        let host: IpAddr = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        SocketAddr::new(host, address.port()).to_string()
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.shared.gate.address()
    }

    /// The sessions that have not ended, sorted by id.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn sessions(&self) -> Result<Vec<ServerSession>, Gone> {
        Ok(self.running()?.sessions())
    }

    /// Ends a session at once, as if it had been silent for its timeout. False if there is none.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn expire_session(&self, session: i64) -> Result<bool, Gone> {
        Ok(self.running()?.expire(session))
    }

    /// Ends all sessions, and says how many there were.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn expire_all(&self) -> Result<usize, Gone> {
        Ok(self.running()?.expire_all())
    }

    /// Ends the connection of a session. The session stays, and its client may come back. False if it has none.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn cut_session(&self, session: i64) -> Result<bool, Gone> {
        Ok(self.running()?.cut(Some(session)) > 0)
    }

    /// Ends all connections, and says how many there were. Sessions stay, and clients may come back.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn cut_all(&self) -> Result<usize, Gone> {
        Ok(self.running()?.cut(None))
    }

    /// Keeps back all that this session's client sends, on whatever connection, and all answers, with connections open. The
    /// session's time runs on. False if there is no such session.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn freeze_session(&self, session: i64) -> Result<bool, Gone> {
        Ok(self.running()?.freeze_session(session))
    }

    /// Ends [`freeze_session`](Self::freeze_session); what was kept back goes through. False if it was not frozen by that.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn thaw_session(&self, session: i64) -> Result<bool, Gone> {
        Ok(self.running()?.thaw_session(session))
    }

    /// Keeps back all that clients send and all answers, with connections open. New connections are frozen, too. Sessions go on
    /// running out.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn freeze_all(&self) -> Result<(), Gone> {
        self.running()?.freeze_all();
        Ok(())
    }

    /// Ends [`freeze_all`](Self::freeze_all) and every [`freeze_session`](Self::freeze_session); what was kept back goes
    /// through.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn thaw_all(&self) -> Result<(), Gone> {
        self.running()?.thaw_all();
        Ok(())
    }

    /// Holds back every answer and event from now on for so long; zero ends that.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn delay_answers(&self, delay: Duration) -> Result<(), Gone> {
        self.running()?.set_delay(delay);
        Ok(())
    }

    /// Closes the port: new connections are refused. Open ones stay.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn refuse_connections(&self) -> Result<(), Gone> {
        self.running()?.gate.close();
        Ok(())
    }

    /// Opens the port again: clients can connect when it returns.
    ///
    /// # Errors
    /// [`Gone`]; or the port cannot be opened, for want of a descriptor.
    pub fn accept_connections(&self) -> Result<(), AcceptError> {
        let gate = &self.running()?.gate;
        gate.open()
            .map_err(|error| AcceptError::Listen(gate.address(), error))
    }

    /// Looks at the model, or does to it what this type has no method for. The second argument is the model's time.
    ///
    /// # Errors
    /// [`Gone`].
    pub fn with_model<R>(&self, f: impl FnOnce(&mut Cluster, u64) -> R) -> Result<R, Gone> {
        Ok(self.running()?.with_model(f))
    }

    /// Ends all connections, frees the port, and returns when its threads have ended. Does nothing the second time, or in a
    /// forked child.
    pub fn stop(&self) {
        if self.is_here() {
            self.shared.stop();
        }
    }
}

/// Without the model, which is long, and locked in a forked child perhaps.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("hosts", &self.hosts())
            .finish_non_exhaustive()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.is_here() {
            self.shared.stop();
            // SAFETY: nothing uses it after this.
            unsafe { ManuallyDrop::drop(&mut self.shared) };
        }
    }
}
