//! One server of the ensemble: its data, its watches, and the part it plays.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::acl::Id;
use super::connection::ConnectionId;
use super::database::Database;
use super::tracker::Tracker;
use super::txn::{Entry, Origin};
use super::watches::Watches;
use crate::wire::reader;
use crate::wire::request::Request;

#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) database: Database,
    pub(crate) watches: Watches,
    pub(crate) role: Role,
    pub(crate) paused: bool,
    pub(crate) cut_off: bool,
    pub(crate) lag: u64,
    /// How many more requests are refused.
    pub(crate) throttle: u32,
    /// The connection through which each session is attached here.
    pub(crate) attached: BTreeMap<i64, ConnectionId>,
    /// Requests of connections that are gone, still with the leader: whose session, and how many. The session's later
    /// requests wait for them, also those of a new connection, since servers keep order by session.
    pub(crate) abandoned: BTreeMap<ConnectionId, (i64, usize)>,
    /// What happened on the sockets of a paused server.
    pub(crate) piled: VecDeque<Piled>,
    /// Proposals that it logged as leader and that no majority had.
    pub(crate) undecided: Vec<Work>,
    /// Committed transactions that it has logged and not applied when its leader went.
    pub(crate) logged: Vec<Arc<Entry>>,
}

#[derive(Debug)]
pub(crate) enum Role {
    Stopped,
    /// Runs, but serves nobody: it looks for a leader.
    Looking {
        since: u64,
        joins_at: Option<u64>,
    },
    Following(Following),
    Leading(Box<Leading>),
}

#[derive(Debug)]
pub(crate) struct Following {
    pub(crate) leader: usize,
    pub(crate) term: u64,
    pub(crate) last_heard: u64,
    /// Sessions heard of since the last report to the leader, with their timeouts.
    pub(crate) touched: BTreeMap<i64, u32>,
}

#[derive(Debug)]
pub(crate) struct Leading {
    /// Of all leaderships, the younger has the greater.
    pub(crate) term: u64,
    pub(crate) tracker: Tracker,
    pub(crate) links: BTreeMap<usize, Link>,
    /// What waits for a majority.
    pub(crate) blocked: VecDeque<Work>,
    /// How much work has reached it.
    pub(crate) arrived: u64,
    pub(crate) next_zxid: i64,
    pub(crate) next_beat: u64,
    pub(crate) beats: u64,
    pub(crate) next_container_check: u64,
}

/// The link between a leader and one follower: in order, both ways.
#[derive(Debug, Default)]
pub(crate) struct Link {
    pub(crate) to_follower: VecDeque<Packet>,
    pub(crate) to_leader: VecDeque<ToLeader>,
    pub(crate) last_ack: u64,
    /// The follower has closed its end.
    pub(crate) follower_gone: bool,
}

#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) due: u64,
    /// Whether the follower has it, if only in its log: then it survives the leader.
    pub(crate) received: bool,
    pub(crate) content: ToFollower,
}

#[derive(Debug)]
pub(crate) enum ToFollower {
    Commit(Arc<Entry>),
    Synced {
        connection: ConnectionId,
        xid: i32,
        path: Option<String>,
    },
    Revalidated {
        connection: ConnectionId,
        valid: bool,
    },
    Ping,
}

#[derive(Debug)]
pub(crate) enum ToLeader {
    Work(Work),
    Revalidate {
        connection: ConnectionId,
        session: i64,
        timeout_ms: u32,
    },
    Pong(BTreeMap<i64, u32>),
}

/// What only a leader can do.
#[derive(Debug)]
pub(crate) struct Work {
    /// The server that it came through, `None` from the leader itself.
    pub(crate) through: Option<usize>,
    pub(crate) origin: Option<Origin>,
    pub(crate) session: i64,
    pub(crate) ids: Arc<[Id]>,
    pub(crate) task: Task,
    /// Found when it reached the leader.
    pub(crate) standing: Result<(), crate::wire::code::Code>,
    /// Which of all work it was that reached the leader.
    pub(crate) number: u64,
}

#[derive(Debug)]
pub(crate) enum Task {
    Write(Request),
    Malformed {
        uses_zxid: bool,
    },
    CreateSession {
        timeout_ms: u32,
    },
    Reap {
        path: String,
    },
    /// A follower's sync: answered in order, and without a majority unless something before it waits for one.
    Sync {
        connection: ConnectionId,
        xid: i32,
        path: Option<String>,
    },
}

#[derive(Debug)]
pub(crate) enum Piled {
    Bytes(ConnectionId, Vec<u8>),
    Closed(ConnectionId),
}

/// What a forwarded request carries.
pub(crate) type Body = reader::Result<Request>;

impl Server {
    pub(crate) fn new(database: Database) -> Self {
        Server {
            database,
            watches: Watches::default(),
            role: Role::Looking {
                since: 0,
                joins_at: None,
            },
            paused: false,
            cut_off: false,
            lag: 0,
            throttle: 0,
            attached: BTreeMap::new(),
            abandoned: BTreeMap::new(),
            piled: VecDeque::new(),
            undecided: Vec::new(),
            logged: Vec::new(),
        }
    }

    /// Whether a read of the session, which came when so much work had reached the leader, has to wait: servers keep
    /// order by session. A leader does so whatever server a request came through; a follower knows of its own ones only.
    pub(crate) fn is_occupied(&self, session: i64, arrived: u64) -> bool {
        match self.leading() {
            Some(leading) => leading.blocked.iter().any(|work| {
                // The sync of a follower's client is in no queue of sessions.
                let queues = !matches!(work.task, Task::Sync { .. });
                queues && work.session == session && work.number <= arrived
            }),
            None => self.abandoned.values().any(|(owner, _)| *owner == session),
        }
    }

    pub(crate) fn is_serving(&self) -> bool {
        matches!(self.role, Role::Following(_) | Role::Leading(_))
    }

    pub(crate) fn is_running(&self) -> bool {
        !matches!(self.role, Role::Stopped)
    }

    pub(crate) fn leading(&self) -> Option<&Leading> {
        match &self.role {
            Role::Leading(leading) => Some(leading),
            _ => None,
        }
    }

    pub(crate) fn leading_mut(&mut self) -> Option<&mut Leading> {
        match &mut self.role {
            Role::Leading(leading) => Some(leading),
            _ => None,
        }
    }
}
