//! What went over the client links.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;

use crate::op::Op;

/// Entries kept: enough for any test, and a bound for a long-running `ensemble run`.
const CAPACITY: usize = 200_000;

/// One thing that a client link's proxy saw.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Milliseconds since the ensemble was started.
    pub at_ms: f64,
    /// The server's number.
    pub server: usize,
    /// The connection's number, unique in the ensemble.
    pub connection: u64,
    /// What was seen.
    #[serde(flatten)]
    pub what: What,
}

/// What an [`Entry`] records.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "lowercase")]
#[allow(missing_docs)] // the fields are ZooKeeper's own
pub enum What {
    /// A connection was accepted.
    Open,
    /// A connection ended, with the reason.
    Closed { why: String },
    /// A client's request.
    Request {
        op: Op,
        xid: i32,
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        bytes: usize,
        /// For `connect`: the session asked for, 0 for a new one.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<i64>,
        /// Whether a fault swallowed it.
        dropped: bool,
    },
    /// A server's reply.
    Reply {
        op: Op,
        xid: i32,
        err: i32,
        zxid: i64,
        bytes: usize,
        /// For `connect`: the session given, 0 when it is over.
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<i64>,
        dropped: bool,
    },
    /// A watch event; `kind` is ZooKeeper's event type.
    Event {
        kind: i32,
        path: String,
        zxid: i64,
        dropped: bool,
    },
    /// A connection that does not speak the client protocol (a four-letter word, TLS); forwarded as it is.
    Raw,
}

/// The shared log of all client links.
#[derive(Clone, Debug)]
pub struct RequestLog {
    start: Instant,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    entries: VecDeque<Entry>,
    requests: BTreeMap<Op, u64>,
}

impl RequestLog {
    pub(crate) fn new() -> Self {
        RequestLog {
            start: Instant::now(),
            inner: Arc::default(),
        }
    }

    pub(crate) fn add(&self, server: usize, connection: u64, what: What) {
        let entry = Entry {
            at_ms: self.start.elapsed().as_secs_f64() * 1e3,
            server,
            connection,
            what,
        };
        let mut inner = self.lock();
        if let What::Request { op, .. } = entry.what {
            *inner.requests.entry(op).or_default() += 1;
        }
        if inner.entries.len() == CAPACITY {
            inner.entries.pop_front();
        }
        inner.entries.push_back(entry);
    }

    /// A copy of all entries, oldest first. Only the newest 200,000 are kept.
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().entries.iter().cloned().collect()
    }

    /// Requests seen since the last [`clear`](Self::clear), by operation.
    pub fn counts(&self) -> BTreeMap<Op, u64> {
        self.lock().requests.clone()
    }

    /// Requests of one kind seen since the last [`clear`](Self::clear).
    pub fn count(&self, op: Op) -> u64 {
        self.lock().requests.get(&op).copied().unwrap_or(0)
    }

    /// Requests that a lock costs: all but pings and handshakes.
    pub fn total(&self) -> u64 {
        let inner = self.lock();
        let idle = |op: &Op| matches!(op, Op::Ping | Op::Connect);
        inner
            .requests
            .iter()
            .filter(|(op, _)| !idle(op))
            .map(|(_, count)| count)
            .sum()
    }

    /// Forgets all entries and sets all counters to zero.
    pub fn clear(&self) {
        *self.lock() = Inner::default();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
