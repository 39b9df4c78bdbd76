//! Options of the server, validated before anything is bound (R20).

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use zoolock_testserver::server;

use super::Server;
use crate::error::{Error, ErrorKind, Result};

const SHORTEST_TICK: Duration = Duration::from_millis(10);
const LONGEST_TICK: Duration = Duration::from_secs(60);
const LONGEST_SESSION: Duration = Duration::from_millis(i32::MAX as u64);
const SHORTEST_CHECK: Duration = Duration::from_millis(1);
const LONGEST_CHECK: Duration = Duration::from_secs(24 * 3600);

/// Longer than the sessions that clients usually ask for.
const USUAL_LONGEST_SESSION: Duration = Duration::from_secs(60);

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
#[derive(Clone, Debug)]
#[must_use]
pub struct ServerBuilder {
    address: IpAddr,
    port: u16,
    tick: Duration,
    min_session_timeout: Option<Duration>,
    max_session_timeout: Option<Duration>,
    container_check: Duration,
}

impl Default for ServerBuilder {
    fn default() -> ServerBuilder {
        ServerBuilder {
            address: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            tick: Duration::from_millis(500),
            min_session_timeout: None,
            max_session_timeout: None,
            container_check: Duration::from_secs(60),
        }
    }
}

impl ServerBuilder {
    /// The address to listen on. Default 127.0.0.1. Anything but a loopback address lets others in.
    pub fn address(mut self, address: IpAddr) -> ServerBuilder {
        self.address = address;
        self
    }

    /// The port. Default 0: a free one.
    pub fn port(mut self, port: u16) -> ServerBuilder {
        self.port = port;
        self
    }

    /// ZooKeeper's `tickTime`: sessions expire in steps of it. From 10 ms to 1 min; default 500 ms.
    pub fn tick(mut self, tick: Duration) -> ServerBuilder {
        self.tick = tick;
        self
    }

    /// The shortest session timeout that clients get. Default, and least, two ticks (R1).
    pub fn min_session_timeout(mut self, timeout: Duration) -> ServerBuilder {
        self.min_session_timeout = Some(timeout);
        self
    }

    /// The longest session timeout that clients get. Default the longest of 60 s, twenty ticks, and the shortest.
    pub fn max_session_timeout(mut self, timeout: Duration) -> ServerBuilder {
        self.max_session_timeout = Some(timeout);
        self
    }

    /// How often empty containers are removed. From 1 ms to a day; default 60 s.
    pub fn container_check(mut self, interval: Duration) -> ServerBuilder {
        self.container_check = interval;
        self
    }

    /// Starts the server; clients can connect when it returns, some milliseconds later.
    ///
    /// # Errors
    /// `InvalidArgument` for an option out of its range, naming it; `Unavailable` if the address or port cannot be bound, or no
    /// thread can be started, with the system's error as its source.
    pub fn start(self) -> Result<Server> {
        let (shortest, longest) = self.validate()?;
        let wanted = SocketAddr::new(self.address, self.port);
        let started = server::Server::builder()
            .address(self.address)
            .port(self.port)
            .tick(self.tick)
            .session_timeouts(shortest, longest)
            .container_check(self.container_check)
            .start();
        started.map(Server).map_err(|error| {
            let message = format!("cannot listen on {wanted}: {error}");
            Error::new(ErrorKind::Unavailable, "start", message).with_source(error)
        })
    }

    /// The shortest and the longest session timeout.
    fn validate(&self) -> Result<(Duration, Duration)> {
        within("tick", self.tick, SHORTEST_TICK, LONGEST_TICK)?;
        within(
            "container_check",
            self.container_check,
            SHORTEST_CHECK,
            LONGEST_CHECK,
        )?;
        let least = self.tick * 2;
        let shortest = self.min_session_timeout.unwrap_or(least);
        // A lease outlasts the session that is shorter.
        within("min_session_timeout", shortest, least, LONGEST_SESSION)?;
        let usual = USUAL_LONGEST_SESSION.max(self.tick * 20).max(shortest);
        let longest = self.max_session_timeout.unwrap_or(usual);
        within("max_session_timeout", longest, shortest, LONGEST_SESSION)?;
        Ok((shortest, longest))
    }
}

fn within(option: &str, value: Duration, least: Duration, most: Duration) -> Result<()> {
    if value < least || value > most {
        let problem = format!("{value:?} is not between {least:?} and {most:?}");
        return Err(Error::invalid_argument("start", option, problem));
    }
    Ok(())
}
