//! A model of an ensemble of ZooKeeper servers, as of 3.9.
//!
//! It is pure: a caller hands in the bytes that clients send, the time in nanoseconds from any start, and faults, and
//! takes out bytes and closed connections. The same calls with the same seed give the same answers.
//!
//! ```
//! use zoolock_testserver::model::{Cluster, Output, Settings};
//!
//! let mut cluster = Cluster::new(Settings { servers: 3, ..Settings::default() }, 42);
//! let connection = cluster.open(0, 1).expect("the server runs");
//! cluster.receive(0, connection, b"ruok");
//! assert_eq!(cluster.poll_output(), Some(Output::Bytes { connection, bytes: b"imok".to_vec() }));
//! assert_eq!(cluster.poll_output(), Some(Output::Close { connection }));
//! ```
//!
//! One server leads, the others follow. Writes, syncs and handshakes go to the leader; it needs a majority for what it
//! commits, and each server answers its own clients after it has applied the transaction itself. Reads and pings are
//! answered from the server's own state, be it old. The consensus protocol is not modelled: a transaction is committed
//! at once when a majority is reachable.
//!
//! A request through a server that the session has left ends the connection, as with a real server, for which
//! `SessionMoved` (-118) is an error of the connection and never an answer.
//!
//! Not modelled: TLS, SASL, observers, local sessions, quotas, time-to-live nodes, persistent watches
//! (`addWatch`, `setWatches2`), `multiRead`, `reconfig`, and the
//! mixture of sequence numbers that pipelined creates see at a counter's end. A single server answers a write that it
//! cannot decode with -5, and so does the model; an ensemble never answers it.

mod acl;
mod apply;
mod connection;
mod database;
mod digest;
mod election;
mod faults;
mod four_letter;
mod handshake;
mod input;
mod ip;
mod leader;
mod links;
mod local;
mod look;
mod path;
mod prepare;
mod random;
mod read_only;
mod server;
mod settings;
mod stat;
mod timers;
mod tracker;
mod txn;
mod watches;

use std::collections::{BTreeMap, VecDeque};

pub use acl::{Acl, Id, permission};
pub use connection::ConnectionId;
pub use faults::{NodeKind, Snapshot};
pub use look::{NodeInfo, Role, SessionInfo};
pub use settings::{Settings, Version};
pub use stat::Stat;

use connection::Connection;
use connection::Waiting;
use database::Database;
use random::Random;
use server::{Piled, Server};

/// What the servers do to the outside.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Output {
    /// For the client.
    Bytes {
        connection: ConnectionId,
        bytes: Vec<u8>,
    },
    /// The server has closed the connection; nothing more comes from it.
    Close { connection: ConnectionId },
}

/// An ensemble and its connections. Servers are counted from 0.
///
/// Calls with a time first do everything that is due by then. Time never goes back: an earlier one counts as the
/// latest that was given.
#[derive(Debug)]
pub struct Cluster {
    settings: Settings,
    random: Random,
    now: u64,
    servers: Vec<Server>,
    connections: BTreeMap<ConnectionId, Connection>,
    outputs: VecDeque<Output>,
    /// Connections whose kept input can be read now.
    ready: VecDeque<ConnectionId>,
    next_connection: u64,
    next_session: i64,
    password_secret: u64,
    epoch: i64,
    terms: u64,
    election_at: Option<u64>,
}

impl Cluster {
    /// All servers run, and of several one leads: which, the seed says.
    pub fn new(mut settings: Settings, seed: u64) -> Cluster {
        settings.servers = settings.servers.clamp(1, 255);
        let mut random = Random::new(seed);
        let database = Database::new(settings.sequence_sticks);
        let leader = random.below(settings.servers);
        let mut cluster = Cluster {
            now: 0,
            servers: (0..settings.servers)
                .map(|_| Server::new(database.clone()))
                .collect(),
            connections: BTreeMap::new(),
            outputs: VecDeque::new(),
            ready: VecDeque::new(),
            next_connection: 1,
            next_session: i64::from(u32::try_from(random.next() >> 40).unwrap_or(0)) << 16,
            password_secret: random.next(),
            epoch: 0,
            terms: 0,
            election_at: None,
            random,
            settings,
        };
        let followers = (0..cluster.settings.servers)
            .filter(|server| *server != leader)
            .collect::<Vec<_>>();
        cluster.establish(leader, &followers, true);
        cluster
    }

    /// A client connects. `None` if the server is down and its port refuses.
    pub fn open(&mut self, now: u64, server: usize) -> Option<ConnectionId> {
        self.advance(now);
        self.servers
            .get(server)
            .filter(|server| server.is_running())?;
        let id = ConnectionId(self.next_connection);
        self.next_connection += 1;
        let open = self.connections.values();
        let open = open.filter(|connection| connection.server == server);
        let full = self
            .settings
            .max_connections
            .is_some_and(|most| open.count() >= most);
        self.connections.insert(id, Connection::new(server));
        if full {
            // Taken, and closed at once: so a server does that has enough of a client's address.
            self.close(id);
        }
        Some(id)
    }

    /// The client's bytes arrive, split anyhow. Nothing happens on a connection that is closed.
    pub fn receive(&mut self, now: u64, connection: ConnectionId, bytes: &[u8]) {
        self.advance(now);
        let Some(state) = self.connections.get_mut(&connection) else {
            return;
        };
        let server = &mut self.servers[state.server];
        if server.paused {
            server
                .piled
                .push_back(Piled::Bytes(connection, bytes.to_vec()));
            return;
        }
        state.input.extend_from_slice(bytes);
        self.feed(connection);
        self.settle();
    }

    /// The client's end of the connection is gone. What it had sent before is still done.
    pub fn client_closed(&mut self, now: u64, connection: ConnectionId) {
        self.advance(now);
        let Some(state) = self.connections.get(&connection) else {
            return;
        };
        let server = &mut self.servers[state.server];
        if server.paused {
            server.piled.push_back(Piled::Closed(connection));
        } else {
            self.forget(connection);
        }
    }

    /// What comes out next. Call it until it is `None` after every other call.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do, if nothing happens before.
    pub fn next_timeout(&self) -> Option<u64> {
        self.next_timer().map(|(at, _)| at)
    }

    /// Does everything that is due.
    pub fn handle_timeout(&mut self, now: u64) {
        self.advance(now);
        self.settle();
    }

    fn send(&mut self, connection: ConnectionId, bytes: Vec<u8>) {
        if self.connections.contains_key(&connection) {
            self.outputs.push_back(Output::Bytes { connection, bytes });
        }
    }

    fn close(&mut self, connection: ConnectionId) {
        if self.forget(connection) {
            self.outputs.push_back(Output::Close { connection });
        }
    }

    fn forget(&mut self, connection: ConnectionId) -> bool {
        let Some(state) = self.connections.remove(&connection) else {
            return false;
        };
        let server = &mut self.servers[state.server];
        let with_leader = state.queue.iter();
        let with_leader = with_leader.filter(|waiting| matches!(waiting, Waiting::Forwarded));
        let count = with_leader.count();
        if count > 0 {
            let abandoned = (state.session, count);
            server.abandoned.insert(connection, abandoned);
        }
        server.watches.forget(connection);
        if server.attached.get(&state.session) == Some(&connection) {
            server.attached.remove(&state.session);
        }
        true
    }

    fn wall_ms(&self) -> i64 {
        let elapsed = i64::try_from(self.now / 1_000_000).unwrap_or(i64::MAX);
        self.settings.epoch_ms.saturating_add(elapsed)
    }
}
