//! Puts a server together.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::state::{self, Shared};
use super::{Server, acceptor};
use crate::model::{Cluster, Settings, Version};

/// The settings of a [`Server`] to be started.
#[derive(Debug, Clone)]
pub struct Builder {
    address: SocketAddr,
    settings: Settings,
    seed: u64,
}

impl Default for Builder {
    fn default() -> Self {
        let epoch_ms = SystemTime::UNIX_EPOCH
            .elapsed()
            .map_or(0, |since| since.as_millis());
        Builder {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            settings: Settings {
                tick: Duration::from_millis(500),
                max_session_timeout: Some(Duration::from_secs(60)),
                epoch_ms: i64::try_from(epoch_ms).unwrap_or(0),
                ..Settings::default()
            },
            seed: u64::try_from(epoch_ms).unwrap_or(0),
        }
    }
}

impl Builder {
    /// The port; 0, the default, for a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.address.set_port(port);
        self
    }

    /// Address and port. Anything but a loopback address lets others in.
    pub fn address(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    /// Which servers it answers like.
    pub fn version(mut self, version: Version) -> Self {
        self.settings.version = version;
        self
    }

    /// `tickTime`: sessions expire in steps of it, and the shortest lasts two.
    pub fn tick(mut self, tick: Duration) -> Self {
        self.settings.tick = tick;
        self
    }

    /// The shortest and the longest session timeout that clients get.
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
        let listener = TcpListener::bind(self.address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(Cluster::new(self.settings, self.seed)));
        let server = Server {
            shared: shared.clone(),
            address,
        };
        state::spawn(&shared, "zoolock-testserver-clock", {
            let shared = shared.clone();
            move || shared.run_clock()
        })?;
        state::spawn(&shared, "zoolock-testserver-accept", {
            let shared = shared.clone();
            move || acceptor::run(&shared, address, listener)
        })?;
        Ok(server)
    }
}
