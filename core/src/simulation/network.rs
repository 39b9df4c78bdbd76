//! Connections between clients and servers: bytes in order, with delays, freezes and cuts.

use std::collections::VecDeque;

use zoolock_testserver::model::ConnectionId;

use crate::session::DialId;

/// What travels.
#[derive(Debug)]
pub(super) enum Parcel {
    Bytes(Vec<u8>),
    /// The other end has closed the connection.
    Close,
}

/// One direction of a connection.
#[derive(Default)]
pub(super) struct Lane {
    parcels: VecDeque<(u64, Parcel)>,
    pub(super) frozen: bool,
    last: u64,
}

impl Lane {
    /// Sends at `at`, to arrive after `delay`, never before what was sent earlier.
    pub(super) fn send(&mut self, at: u64, delay: u64, parcel: Parcel) {
        self.last = self.last.max(at + delay);
        self.parcels.push_back((self.last, parcel));
    }

    pub(super) fn next(&self) -> Option<u64> {
        match self.parcels.front() {
            Some((at, _)) if !self.frozen => Some(*at),
            _ => None,
        }
    }

    pub(super) fn take(&mut self, now: u64) -> Option<Parcel> {
        if self.next()? > now {
            return None;
        }
        self.parcels.pop_front().map(|(_, parcel)| parcel)
    }
}

/// A connection as the network knows it.
pub(super) struct Pipe {
    pub(super) client: usize,
    pub(super) dial: DialId,
    pub(super) connection: ConnectionId,
    pub(super) to_server: Lane,
    pub(super) to_client: Lane,
    /// Either end has hung up and been told so; nothing arrives any more.
    pub(super) client_open: bool,
    pub(super) server_open: bool,
}
