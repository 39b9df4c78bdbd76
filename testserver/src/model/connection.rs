//! A client's connection to one server.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::acl::Id;
use crate::wire::reader;
use crate::wire::request::Request;

/// A connection; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub(crate) u64);

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "connection {}", self.0)
    }
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) server: usize,
    pub(crate) phase: Phase,
    /// Received and not yet taken apart.
    pub(crate) input: Vec<u8>,
    pub(crate) session: i64,
    pub(crate) timeout_ms: u32,
    /// What the client said of reading only, which old ones do not; such must not be told of it.
    pub(crate) read_only: Option<bool>,
    pub(crate) ids: Arc<[Id]>,
    /// Requests not yet answered, in their order.
    pub(crate) queue: VecDeque<Waiting>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing but a handshake or a four-letter word is expected.
    Fresh,
    /// The handshake is with the leader; what the client sends meanwhile is kept.
    Handshaking,
    Active,
}

/// A request in the queue of its connection.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// Answered by the server alone when it is at the head.
    Local {
        xid: i32,
        ids: Arc<[Id]>,
        request: reader::Result<Request>,
        arrived: u64,
    },
    Throttled {
        xid: i32,
        /// How much work had reached the server before it, if it leads.
        arrived: u64,
    },
    /// With the leader. Its answer finds it at the head, because answers come in the order of requests.
    Forwarded,
}

impl Connection {
    pub(crate) fn new(server: usize) -> Self {
        Connection {
            server,
            phase: Phase::Fresh,
            input: Vec::new(),
            session: 0,
            timeout_ms: 0,
            read_only: None,
            ids: Arc::from([Id::new("ip", "127.0.0.1")]),
            queue: VecDeque::new(),
        }
    }

    pub(crate) fn add_id(&mut self, id: Id) {
        if !self.ids.contains(&id) {
            let mut ids = self.ids.to_vec();
            ids.push(id);
            self.ids = ids.into();
        }
    }
}
