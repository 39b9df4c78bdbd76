//! Options of the server.

use std::net::IpAddr;
use std::time::Duration;

use zoolock_testserver::server::{self, StartError};

use super::Server;
use crate::error::{Error, ErrorKind, Result};

/// Options of a [`Server`]; see [`Server::builder`].
///
/// ```
/// use std::time::Duration;
/// use zoolock::testing::Server;
///
/// let server = Server::builder().tick(Duration::from_millis(50)).start()?;
/// println!("connect to {}", server.hosts());
/// # Ok::<(), zoolock::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ServerBuilder(server::Builder);

impl ServerBuilder {
    /// The address to listen on. Default 127.0.0.1. Anything but a loopback address lets others in.
    pub fn address(self, address: IpAddr) -> ServerBuilder {
        ServerBuilder(self.0.address(address))
    }

    /// The port. Default 0: a free one.
    pub fn port(self, port: u16) -> ServerBuilder {
        ServerBuilder(self.0.port(port))
    }

    /// ZooKeeper's `tickTime`: sessions expire in steps of it. From 10 ms to 1 min; default 500 ms.
    pub fn tick(self, tick: Duration) -> ServerBuilder {
        ServerBuilder(self.0.tick(tick))
    }

    /// The shortest session timeout that clients get. Default, and least, two ticks (R1).
    pub fn min_session_timeout(self, timeout: Duration) -> ServerBuilder {
        ServerBuilder(self.0.min_session_timeout(timeout))
    }

    /// The longest session timeout that clients get. Default the longest of 60 s, twenty ticks, and the shortest.
    pub fn max_session_timeout(self, timeout: Duration) -> ServerBuilder {
        ServerBuilder(self.0.max_session_timeout(timeout))
    }

    /// How often empty containers are removed. From 1 ms to a day; default 60 s.
    pub fn container_check(self, interval: Duration) -> ServerBuilder {
        ServerBuilder(self.0.container_check(interval))
    }

    /// Starts the server; clients can connect when it returns, some milliseconds later.
    ///
    /// # Errors
    /// `InvalidArgument` for an option out of its range, naming it (R20); `Unavailable` if the address or port cannot be bound, or
    /// no thread can be started, with the system's error behind it.
    pub fn start(self) -> Result<Server> {
        let started = self.0.start();
        started.map(Server).map_err(|error| match error {
            StartError::Option(option, problem) => {
                Error::invalid_argument("start", option, problem)
            }
            error => {
                Error::new(ErrorKind::Unavailable, "start", error.to_string()).with_source(error)
            }
        })
    }
}
