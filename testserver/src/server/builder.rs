//! Puts a server together.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::gate::Gate;
use super::state::{self, Shared};
use super::{Server, reader};
use crate::model::{Cluster, Settings};

/// The settings of a [`Server`] to be started.
#[derive(Debug, Clone)]
#[must_use]
pub struct Builder {
    address: IpAddr,
    port: u16,
    settings: Settings,
    seed: u64,
}

impl Default for Builder {
    fn default() -> Self {
        let epoch_ms = SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |since| since.as_millis());
        Builder {
            address: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            settings: Settings {
                tick: Duration::from_millis(500),
                max_session_timeout: Some(Duration::from_secs(60)),
                epoch_ms: i64::try_from(epoch_ms).unwrap_or(0),
                ..Settings::default()
            },
            seed: u64::try_from(epoch_ms).unwrap_or(0) ^ u64::from(std::process::id()) << 44,
        }
    }
}

impl Builder {
    /// The port; 0, the default, for a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// The address to listen on; 127.0.0.1 by default. Anything but a loopback address lets others in.
    pub fn address(mut self, address: IpAddr) -> Self {
        self.address = address;
        self
    }

    /// `tickTime`: sessions expire in steps of it, and the shortest lasts two. 500 ms by default.
    pub fn tick(mut self, tick: Duration) -> Self {
        self.settings.tick = tick;
        self
    }

    /// The shortest and the longest session timeout that clients get. Two ticks and 60 s by default.
    pub fn session_timeouts(mut self, shortest: Duration, longest: Duration) -> Self {
        self.settings.min_session_timeout = Some(shortest);
        self.settings.max_session_timeout = Some(longest);
        self
    }

    /// How often empty containers are removed; 60 s by default.
    pub fn container_check(mut self, interval: Duration) -> Self {
        self.settings.container_check = interval;
        self
    }

    /// Fixes session ids and passwords, which otherwise differ from start to start.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Listens, and returns when clients can connect.
    ///
    /// # Errors
    /// The port cannot be bound, or the system has no thread left.
    pub fn start(self) -> io::Result<Server> {
        let gate = Gate::new(SocketAddr::new(self.address, self.port))?;
        let model = Cluster::new(self.settings, self.seed);
        let server = Server::new(Arc::new(Shared::new(model, gate)));
        state::spawn(&server.shared, "zoolock-testserver-clock", {
            let shared = server.shared.clone();
            move || shared.run_clock()
        })?;
        state::spawn(&server.shared, "zoolock-testserver-accept", {
            let shared = server.shared.clone();
            move || reader::run_acceptor(&shared)
        })?;
        Ok(server)
    }
}
