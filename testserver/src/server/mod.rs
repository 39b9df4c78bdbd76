//! A ZooKeeper server in this process, **for development and tests only**: a listener on a [model](crate::model) of one
//! server. It keeps everything in memory and forgets it when it stops, does not replicate, knows no TLS and no SASL,
//! and has not seen the load or the years that ZooKeeper has. Never put it where data or mutual exclusion matter.
//!
//! ```
//! use zoolock_testserver::server::Server;
//!
//! let server = Server::builder().start()?;
//! println!("connect to {}", server.hosts());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Faults can be ordered from the test that owns it:
//!
//! ```
//! # use zoolock_testserver::server::Server;
//! # let server = Server::builder().start()?;
//! for session in server.sessions() {
//!     server.expire(session.id);
//! }
//! server.freeze();          // clients get no answer, and their sessions run out
//! server.thaw();
//! server.cut();             // every connection ends; clients may come back
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! It uses two threads of its own and two for each connection.

mod acceptor;
mod builder;
mod outbox;
mod reader;
mod state;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

pub use builder::Builder;

use crate::model::{Cluster, SessionInfo};
use state::Shared;

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl Server {
    /// The defaults: a free port of the loopback address, ticks of 500 ms, session timeouts of 1 to 60 s.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The connect string.
    pub fn hosts(&self) -> String {
        self.address.to_string()
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The sessions that have not ended.
    pub fn sessions(&self) -> Vec<SessionInfo> {
        self.shared.with_model(|model, _| model.sessions())
    }

    /// Ends a session at once, as if it had been silent for its timeout. False if there is none.
    pub fn expire(&self, session: i64) -> bool {
        self.shared
            .with_model(|model, now| model.expire_session(now, session))
    }

    /// Looks at the model, or does to it what this type has no method for. The second argument is the model's time.
    pub fn with_model<R>(&self, f: impl FnOnce(&mut Cluster, u64) -> R) -> R {
        self.shared.with_model(f)
    }

    /// Ends all connections. Sessions stay, and clients may come back.
    pub fn cut(&self) {
        self.shared.cut();
    }

    /// Keeps all that clients send and all answers back, with connections open. Sessions go on running out.
    pub fn freeze(&self) {
        self.shared.set_frozen(true);
    }

    /// Ends [`freeze`](Self::freeze); what was kept back goes through.
    pub fn thaw(&self) {
        self.shared.set_frozen(false);
    }

    /// Holds up everything that comes from now on by so much, each way; zero ends that.
    pub fn delay(&self, delay: Duration) {
        self.shared.set_delay(delay);
    }

    /// Closes the port: new connections are refused. Open ones stay.
    pub fn refuse(&self) {
        self.shared.gate.close(self.address);
    }

    /// Opens the port again, and returns when it is open.
    pub fn accept(&self) {
        self.shared.gate.open();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop(self.address);
    }
}
