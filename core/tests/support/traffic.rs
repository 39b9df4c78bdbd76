//! What went over the client links.

use std::collections::BTreeMap;

use zoolock_ensemble::{Ensemble, Entry, Op, What};

/// Requests and events that belong to locks: no pings, handshakes, or what renews leases.
#[derive(Debug)]
pub struct Traffic {
    pub entries: Vec<Entry>,
}

impl Traffic {
    /// Since the log was cleared.
    pub fn of(ensemble: &Ensemble) -> Traffic {
        Traffic {
            entries: ensemble.log().entries(),
        }
    }

    /// Requests in the order in which they were sent.
    pub fn requests(&self) -> Vec<Op> {
        let requests = self.entries.iter().filter_map(|entry| match entry.what {
            What::Request { op, .. } if belongs(op) => Some(op),
            _ => None,
        });
        requests.collect()
    }

    /// How many requests of each kind.
    pub fn counts(&self) -> BTreeMap<Op, usize> {
        let mut counts = BTreeMap::new();
        for op in self.requests() {
            *counts.entry(op).or_default() += 1;
        }
        counts
    }

    /// Where the `nth` request (from 0) of a kind stands, and with which connection and xid.
    pub fn request(&self, wanted: Op, nth: usize) -> Option<(usize, u64, i32)> {
        let found = self.entries.iter().enumerate();
        found
            .filter_map(|(at, entry)| match entry.what {
                What::Request { op, xid, .. } if op == wanted => Some((at, entry.connection, xid)),
                _ => None,
            })
            .nth(nth)
    }

    /// Where the reply to that request stands.
    pub fn reply(&self, connection: u64, wanted: i32) -> Option<usize> {
        self.entries.iter().position(|entry| {
            entry.connection == connection
                && matches!(entry.what, What::Reply { xid, .. } if xid == wanted)
        })
    }

    /// Watch events that reached clients.
    pub fn events(&self) -> usize {
        let events = self.entries.iter();
        events
            .filter(|entry| matches!(entry.what, What::Event { .. }))
            .count()
    }
}

/// How many requests that belong to locks were sent since the log was cleared, by kind.
pub fn requests(ensemble: &Ensemble) -> BTreeMap<Op, usize> {
    Traffic::of(ensemble).counts()
}

fn belongs(op: Op) -> bool {
    !matches!(op, Op::Ping | Op::Connect | Op::Sync)
}
