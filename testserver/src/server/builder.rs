//! Puts a server together.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::error::StartError;
use super::gate::Gate;
use super::state::{self, Shared};
use super::{Server, reader};
use crate::model::{Cluster, Settings, Version};

const SHORTEST_TICK: Duration = Duration::from_millis(10);
const LONGEST_TICK: Duration = Duration::from_secs(60);
const LONGEST_SESSION: Duration = Duration::from_millis(i32::MAX as u64);
const SHORTEST_CHECK: Duration = Duration::from_millis(1);
const LONGEST_CHECK: Duration = Duration::from_secs(24 * 3600);

/// Longer than the sessions that clients usually ask for.
const USUAL_LONGEST_SESSION: Duration = Duration::from_secs(60);

/// The settings of a [`Server`] to be started.
#[derive(Debug, Clone)]
#[must_use]
pub struct Builder {
    address: IpAddr,
    port: u16,
    version: Version,
    tick: Duration,
    min_session_timeout: Option<Duration>,
    max_session_timeout: Option<Duration>,
    container_check: Duration,
    seed: Option<u64>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            address: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            version: Version::default(),
            tick: Duration::from_millis(500),
            min_session_timeout: None,
            max_session_timeout: None,
            container_check: Duration::from_secs(60),
            seed: None,
        }
    }
}

impl Builder {
    /// The address to listen on; 127.0.0.1 by default. Anything but a loopback address lets others in.
    pub fn address(mut self, address: IpAddr) -> Self {
        self.address = address;
        self
    }

    /// The port; 0, the default, for a free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Which servers it answers like.
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// `tickTime`: sessions expire in steps of it. From 10 ms to 1 min; 500 ms by default.
    pub fn tick(mut self, tick: Duration) -> Self {
        self.tick = tick;
        self
    }

    /// The shortest session timeout that clients get. By default, and at least, two ticks.
    pub fn min_session_timeout(mut self, timeout: Duration) -> Self {
        self.min_session_timeout = Some(timeout);
        self
    }

    /// The longest session timeout that clients get. By default the longest of 60 s, twenty ticks, and the shortest.
    pub fn max_session_timeout(mut self, timeout: Duration) -> Self {
        self.max_session_timeout = Some(timeout);
        self
    }

    /// How often empty containers are removed. From 1 ms to a day; 60 s by default.
    pub fn container_check(mut self, interval: Duration) -> Self {
        self.container_check = interval;
        self
    }

    /// Fixes session ids and passwords, which otherwise differ from start to start.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Listens, and returns when clients can connect.
    ///
    /// # Errors
    /// An option is out of its range, the address or port cannot be bound, or the system has no thread left.
    pub fn start(self) -> Result<Server, StartError> {
        let settings = self.settings()?;
        // Nobody can guess it: two servers that start at once have different processes or addresses.
        let seed = self.seed.unwrap_or_else(|| {
            let time = u64::try_from(settings.epoch_ms).unwrap_or(0);
            time ^ u64::from(std::process::id()) << 44
        });
        let wanted = SocketAddr::new(self.address, self.port);
        listen(wanted, settings, seed).map_err(|error| StartError::Listen(wanted, error))
    }

    fn settings(&self) -> Result<Settings, StartError> {
        within("tick", self.tick, SHORTEST_TICK, LONGEST_TICK)?;
        let check = self.container_check;
        within("container_check", check, SHORTEST_CHECK, LONGEST_CHECK)?;
        // A client's lease may outlast a session that is shorter.
        let least = self.tick * 2;
        let shortest = self.min_session_timeout.unwrap_or(least);
        within("min_session_timeout", shortest, least, LONGEST_SESSION)?;
        let usual = USUAL_LONGEST_SESSION.max(self.tick * 20).max(shortest);
        let longest = self.max_session_timeout.unwrap_or(usual);
        within("max_session_timeout", longest, shortest, LONGEST_SESSION)?;
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Ok(Settings {
            version: self.version,
            tick: self.tick,
            min_session_timeout: Some(shortest),
            max_session_timeout: Some(longest),
            container_check: check,
            epoch_ms: i64::try_from(since.as_millis()).unwrap_or(0),
            ..Settings::default()
        })
    }
}

fn within(
    option: &'static str,
    value: Duration,
    least: Duration,
    most: Duration,
) -> Result<(), StartError> {
    if value < least || value > most {
        let problem = format!("{value:?} is not between {least:?} and {most:?}");
        return Err(StartError::Option(option, problem));
    }
    Ok(())
}

fn listen(address: SocketAddr, settings: Settings, seed: u64) -> io::Result<Server> {
    let gate = Gate::new(address)?;
    let model = Cluster::new(settings, seed);
    let shared = Arc::new(Shared::new(model, gate));
    let server = Server::new(shared.clone());
    state::spawn(&shared, "zoolock-testserver-clock", {
        let shared = shared.clone();
        move || shared.run_clock()
    })?;
    state::spawn(&shared, "zoolock-testserver-accept", {
        let shared = shared.clone();
        move || reader::run_acceptor(&shared)
    })?;
    Ok(server)
}
