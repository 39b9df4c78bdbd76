//! A running ensemble.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::builder::Builder;
use crate::error::{Error, Result};
use crate::eventually::{eventually, retry};
use crate::four_letter::{self, field};
use crate::handshake;
use crate::log::RequestLog;
use crate::observer::Observer;
use crate::ports::Port;
use crate::proxy::{Direction, Fault, Link, Proxy, Scope};
use crate::server::Server;
use crate::tempdir::{self, TempDir};

/// A JVM's start on a busy machine.
const START: Duration = Duration::from_secs(60);

/// One or three servers with their links. Dropping it kills the servers and removes their data.
#[derive(Debug)]
pub struct Ensemble {
    pub(crate) version: String,
    pub(crate) proxied: bool,
    pub(crate) hosts: Vec<String>,
    pub(crate) secure_hosts: Vec<String>,
    pub(crate) servers: Vec<Mutex<Server>>,
    pub(crate) client_links: Vec<Link>,
    pub(crate) quorum_links: Vec<Link>,
    pub(crate) log: RequestLog,
    #[allow(dead_code)] // runs as long as this does
    pub(crate) proxy: Proxy,
    pub(crate) _ports: Vec<Port>,
    pub(crate) dir: TempDir,
}

/// What a server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The only server.
    Standalone,
    /// The leader.
    Leader,
    /// A follower.
    Follower,
    /// Running, but without a leader.
    Looking,
    /// Stopped by SIGSTOP.
    Paused,
    /// Not running.
    Down,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", format!("{self:?}").to_lowercase())
    }
}

/// A session as the ensemble knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Session {
    /// Its id.
    pub id: i64,
    /// Its negotiated timeout.
    pub timeout_ms: u32,
    /// The server that its client is connected to, if any.
    pub server: Option<usize>,
}

impl Ensemble {
    /// The settings of a new ensemble.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// ZooKeeper's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The connect string for clients under test: the proxies, or the servers themselves without proxies.
    pub fn hosts(&self) -> String {
        self.hosts.join(",")
    }

    /// The connect string for clients that speak TLS, if the servers do.
    pub fn secure_hosts(&self) -> String {
        self.secure_hosts.join(",")
    }

    /// The address of one server's port for TLS, if it has one.
    pub fn secure_address(&self, server: usize) -> Result<SocketAddr> {
        self.check(server)?;
        let port = self
            .secure_hosts
            .get(server - 1)
            .and_then(|host| host.rsplit_once(':')?.1.parse().ok());
        port.map(|port| SocketAddr::from(([127, 0, 0, 1], port)))
            .ok_or_else(|| Error::new("this ensemble was started without TLS"))
    }

    /// The client address of one server as clients under test should use it.
    pub fn host(&self, server: usize) -> Result<String> {
        self.check(server)?;
        Ok(self.hosts[server - 1].clone())
    }

    /// The connect string of the servers themselves, past all proxies.
    pub fn direct(&self) -> String {
        let addresses = self.servers.iter().map(|server| lock(server).address());
        addresses
            .map(|address| address.to_string())
            .collect::<Vec<_>>()
            .join(",")
    }

    /// The address of one server itself.
    pub fn direct_address(&self, server: usize) -> Result<SocketAddr> {
        Ok(self.server(server)?.address())
    }

    /// How many servers there are, running or not.
    pub fn size(&self) -> usize {
        self.servers.len()
    }

    /// The directory with data and logs; it goes away with the ensemble.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A server's log.
    pub fn log_file(&self, server: usize) -> Result<PathBuf> {
        Ok(self.server(server)?.log_file.clone())
    }

    /// The process id of a running server.
    pub fn pid(&self, server: usize) -> Result<Option<u32>> {
        Ok(self.server(server)?.pid())
    }

    /// What clients sent and got over the proxied links.
    pub fn log(&self) -> &RequestLog {
        &self.log
    }

    /// The link between clients and a server (1, 2, 3).
    pub fn client_link(&self, server: usize) -> Result<&Link> {
        self.check(server)?;
        self.client_links
            .get(server - 1)
            .ok_or_else(|| Error::new("this ensemble was started without proxies"))
    }

    /// All links of a server (1, 2, 3) to the other servers, for votes and data alike. Direction `ToServer` is towards
    /// this server.
    pub fn quorum_link(&self, server: usize) -> Result<&Link> {
        self.check(server)?;
        if self.servers.len() == 1 {
            return Err(Error::new("a single server has no quorum links"));
        }
        if !self.proxied {
            return Err(Error::new("this ensemble was started without proxies"));
        }
        Ok(&self.quorum_links[server - 1])
    }

    /// Kills all servers and removes the directory: what dropping does, for when others still hold the ensemble.
    pub fn shut_down(&self) {
        for server in &self.servers {
            let mut server = lock(server);
            if server.is_running() {
                // It can only fail for a process that is gone.
                let _ = server.kill();
            }
        }
        tempdir::remove(self.dir.path());
    }

    /// Stops a server in order (SIGTERM).
    pub fn stop(&self, server: usize) -> Result<()> {
        self.take_down(server, Server::stop)
    }

    /// Kills a server (SIGKILL).
    pub fn kill(&self, server: usize) -> Result<()> {
        self.take_down(server, Server::kill)
    }

    fn take_down(&self, server: usize, end: impl Fn(&mut Server) -> Result<()>) -> Result<()> {
        end(&mut *self.server(server)?)?;
        // A dead server's ports refuse, so its proxies have to.
        self.set_down(server, true)
    }

    /// Stops a server's process where it stands (SIGSTOP): connections stay open, nothing is answered.
    pub fn pause(&self, server: usize) -> Result<()> {
        self.server(server)?.pause()
    }

    /// Lets a paused server go on (SIGCONT).
    pub fn resume(&self, server: usize) -> Result<()> {
        self.server(server)?.resume()
    }

    /// Starts a server that is down, or stops and starts one that runs; returns when its port is open. Whether it serves
    /// depends on the others too: see [`wait_serving`](Self::wait_serving).
    pub fn restart(&self, server: usize) -> Result<()> {
        if self.server(server)?.is_running() {
            self.stop(server)?;
        }
        self.server(server)?.spawn()?;
        let address = self.direct_address(server)?;
        let end = Instant::now() + START;
        retry(START, || {
            self.server(server)?.check_alive()?;
            TcpStream::connect_timeout(&address, START)
                .map_err(|error| Error::new(format!("server {server}: {error}")))
        })
        .map_err(|error| self.with_tail(server, error, end))?;
        self.set_down(server, false)
    }

    fn set_down(&self, server: usize, down: bool) -> Result<()> {
        if let Some(link) = self.client_links.get(server - 1) {
            link.set_down(down)?;
        }
        self.quorum_links[server - 1].set_down(down)
    }

    pub(crate) fn spawn_all(&self) -> Result<()> {
        for server in &self.servers {
            lock(server).spawn()?;
        }
        Ok(())
    }

    /// Waits until every server that runs and is not paused serves: it has a role, there is one leader, and it opens and
    /// closes a session.
    pub fn wait_serving(&self, deadline: Duration) -> Result<()> {
        let end = Instant::now() + deadline;
        for number in 1..=self.size() {
            let (running, paused) = {
                let server = self.server(number)?;
                (server.is_running(), server.paused)
            };
            if !running || paused {
                continue;
            }
            let address = self.direct_address(number)?;
            let left = end.saturating_duration_since(Instant::now());
            retry(left, || {
                self.server(number)?.check_alive()?;
                match self.role(number)? {
                    Role::Looking => Err(Error::new(format!("server {number} does not serve"))),
                    _ => handshake::probe(address),
                }
            })
            .map_err(|error| self.with_tail(number, error, end))?;
        }
        Ok(())
    }

    fn with_tail(&self, server: usize, error: Error, end: Instant) -> Error {
        match self.server(server) {
            // It did not die (that error has the tail already) but ran out of time.
            Ok(server) if Instant::now() >= end => {
                Error::new(format!("{error}; {}", server.log_tail()))
            }
            _ => error,
        }
    }

    /// What a server is doing.
    pub fn role(&self, server: usize) -> Result<Role> {
        let address = {
            let mut server = self.server(server)?;
            if server.paused {
                return Ok(Role::Paused);
            }
            if server.check_alive().is_err() {
                return Ok(Role::Down);
            }
            server.address()
        };
        let answer = four_letter::ask(address, "srvr").unwrap_or_default();
        Ok(match field(&answer, "Mode:") {
            Some("standalone") => Role::Standalone,
            Some("leader") => Role::Leader,
            Some("follower") => Role::Follower,
            _ => Role::Looking,
        })
    }

    /// What every server is doing, by number.
    pub fn roles(&self) -> BTreeMap<usize, Role> {
        let numbers = 1..=self.size();
        numbers
            .filter_map(|number| Some((number, self.role(number).ok()?)))
            .collect()
    }

    /// The number of the server that leads (or is alone), `None` while there is none. With a cut-off leader two may
    /// think so for a while; then it is the lower-numbered one of them.
    pub fn leader(&self) -> Option<usize> {
        let leads = |role: &Role| matches!(role, Role::Leader | Role::Standalone);
        self.roles()
            .into_iter()
            .find_map(|(number, role)| leads(&role).then_some(number))
    }

    /// The numbers of the servers that follow.
    pub fn followers(&self) -> Vec<usize> {
        let roles = self.roles().into_iter();
        roles
            .filter_map(|(number, role)| (role == Role::Follower).then_some(number))
            .collect()
    }

    /// What a server answers to a four-letter word: `srvr`, `mntr`, `cons`, `dump`, `wchs`, `wchp` and so on.
    pub fn four_letter(&self, server: usize, word: &str) -> Result<String> {
        four_letter::ask(self.direct_address(server)?, word)
    }

    /// A client of its own, connected to one server past all proxies.
    pub fn observer(&self, server: usize) -> Result<Observer> {
        Observer::connect(self.direct_address(server)?)
    }

    /// All sessions that the leader knows.
    pub fn sessions(&self) -> Result<Vec<Session>> {
        let leader = self.leader().ok_or_else(|| Error::new("no server leads"))?;
        let answer = self.server(leader)?.command("sessions")?;
        let mut at = BTreeMap::new();
        for number in 1..=self.size() {
            if !matches!(self.role(number)?, Role::Down | Role::Paused) {
                let connections = self.four_letter(number, "cons").unwrap_or_default();
                at.extend(session_ids(&connections).map(|id| (id, number)));
            }
        }
        let session = |word: &str| {
            let (id, timeout) = word.split_once(':')?;
            let id = u64::from_str_radix(id, 16).ok()? as i64;
            Some(Session {
                id,
                timeout_ms: timeout.parse().ok()?,
                server: at.get(&id).copied(),
            })
        };
        Ok(answer.split_whitespace().filter_map(session).collect())
    }

    /// Ends a session at once, as if it had expired: its ephemeral nodes go, its connection is closed, and its client
    /// learns of it when it comes back.
    pub fn expire(&self, session: i64) -> Result<()> {
        let leader = self.leader().ok_or_else(|| Error::new("no server leads"))?;
        self.server(leader)?
            .command(&format!("expire {session:x}"))?;
        self.wait_expired(session, START)
    }

    /// Freezes all client links (of every client) until the session has expired of itself, and thaws them. Unlike
    /// [`expire`](Self::expire) the client sees a silent connection first, as in a network outage.
    pub fn expire_by_freeze(&self, session: i64, deadline: Duration) -> Result<()> {
        if self.client_links.is_empty() {
            return Err(Error::new("this ensemble was started without proxies"));
        }
        for link in &self.client_links {
            link.begin(Fault::Freeze, Direction::Both, Scope::All);
        }
        let outcome = self.wait_expired(session, deadline);
        for link in &self.client_links {
            link.thaw();
        }
        outcome
    }

    /// Waits until the leader does not know the session any more.
    pub fn wait_expired(&self, session: i64, deadline: Duration) -> Result<()> {
        let gone = || {
            self.sessions()
                .is_ok_and(|sessions| sessions.iter().all(|known| known.id != session))
        };
        if eventually(deadline, gone) {
            return Ok(());
        }
        Err(Error::new(format!(
            "session 0x{session:x} was still there after {} ms",
            deadline.as_millis()
        )))
    }

    fn check(&self, number: usize) -> Result<()> {
        self.server(number).map(drop)
    }

    fn server(&self, number: usize) -> Result<MutexGuard<'_, Server>> {
        let index = number.checked_sub(1);
        let server = index.and_then(|index| self.servers.get(index));
        server.map(lock).ok_or_else(|| {
            Error::new(format!(
                "there is no server {number}; servers are numbered 1 to {}",
                self.size()
            ))
        })
    }
}

fn lock(server: &Mutex<Server>) -> MutexGuard<'_, Server> {
    server.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The session ids in an answer to `cons`.
fn session_ids(connections: &str) -> impl Iterator<Item = i64> {
    connections.split("sid=0x").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_hexdigit())?;
        Some(u64::from_str_radix(&rest[..end], 16).ok()? as i64)
    })
}
