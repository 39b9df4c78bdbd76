//! Looking at the ensemble from outside: the truth is the leader's.

use std::time::Duration;

use super::acl::Acl;
use super::connection::Phase;
use super::database::{CONTAINER, Database, Node};
use super::server;
use super::stat::Stat;
use super::{Cluster, ConnectionId};

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct NodeInfo {
    pub data: Vec<u8>,
    pub stat: Stat,
    pub acl: Vec<Acl>,
    /// Clients cannot see this.
    pub is_container: bool,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: i64,
    /// As negotiated.
    pub timeout: Duration,
    /// The server through which it may write, once it has.
    pub server: Option<usize>,
    /// When the leader will end it, if it does not hear of it.
    pub expires_at: Option<u64>,
    /// Whether its end has been decided and waits for a majority.
    pub closing: bool,
    /// Its nodes.
    pub ephemerals: Vec<String>,
}

/// The part that a server plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Role {
    Leader,
    Follower,
    /// Running without a leader, serving nobody.
    Looking,
    Stopped,
}

impl NodeInfo {
    fn of(node: &Node) -> Self {
        NodeInfo {
            data: node.data.as_deref().unwrap_or_default().to_vec(),
            stat: node.stat(),
            acl: node.acl.to_vec(),
            is_container: node.owner() == CONTAINER,
        }
    }
}

impl Cluster {
    /// The leader's data; without one, that of the server that has seen most.
    pub(super) fn truth(&self) -> &Database {
        let newest = || (0..self.servers.len()).max_by_key(|at| self.servers[*at].database.zxid);
        let server = self.leader_index().or_else(newest).unwrap_or(0);
        &self.servers[server].database
    }

    /// The names of a node's children, sorted. `None` if there is no such node.
    pub fn children(&self, path: &str) -> Option<Vec<String>> {
        let node = self.truth().node(path)?;
        Some(node.children.iter().map(ToString::to_string).collect())
    }

    /// A node.
    pub fn node(&self, path: &str) -> Option<NodeInfo> {
        self.truth().node(path).map(NodeInfo::of)
    }

    /// A node as this server has it.
    pub fn node_at(&self, server: usize, path: &str) -> Option<NodeInfo> {
        let server = self.servers.get(server)?;
        server.database.node(path).map(NodeInfo::of)
    }

    /// The sessions that have not ended.
    pub fn sessions(&self) -> Vec<SessionInfo> {
        let database = self.truth();
        let tracker = self
            .leader_index()
            .and_then(|leader| self.servers[leader].leading())
            .map(|leading| &leading.tracker);
        database
            .sessions
            .iter()
            .map(|(id, timeout_ms)| SessionInfo {
                id: *id,
                timeout: Duration::from_millis(u64::from(*timeout_ms)),
                server: tracker.and_then(|tracker| tracker.owner(*id)),
                expires_at: tracker.and_then(|tracker| tracker.expires_at(*id)),
                closing: tracker.is_some_and(|tracker| tracker.is_closing(*id)),
                ephemerals: database.ephemerals(*id).cloned().collect(),
            })
            .collect()
    }

    /// How many watches this server keeps.
    pub fn watch_count(&self, server: usize) -> usize {
        self.servers[server].watches.len()
    }

    /// The server that leads, of the youngest term where an old leader has not noticed yet.
    pub fn leader(&self) -> Option<usize> {
        self.leader_index()
    }

    /// The part that a server plays; that of a paused one, when it was paused.
    pub fn role(&self, server: usize) -> Role {
        match self.servers[server].role {
            server::Role::Leading(_) => Role::Leader,
            server::Role::Following(_) => Role::Follower,
            server::Role::Looking { .. } => Role::Looking,
            server::Role::Stopped => Role::Stopped,
        }
    }

    /// How many servers there are.
    pub fn size(&self) -> usize {
        self.servers.len()
    }

    /// The last transaction that this server has applied.
    pub fn zxid(&self, server: usize) -> i64 {
        self.servers[server].database.zxid
    }

    /// The open connections of a server.
    pub fn connections(&self, server: usize) -> Vec<ConnectionId> {
        let connections = self.connections.iter();
        connections
            .filter(|(_, connection)| connection.server == server)
            .map(|(id, _)| *id)
            .collect()
    }

    /// The session of a connection whose handshake is done.
    pub fn session_of(&self, connection: ConnectionId) -> Option<i64> {
        let connection = self.connections.get(&connection)?;
        (connection.phase == Phase::Active).then_some(connection.session)
    }
}
