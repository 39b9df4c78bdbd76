//! Connections between clients and servers: bytes in order, with delays, freezes and cuts.

use std::collections::VecDeque;

use zoolock_testserver::model::ConnectionId;

use super::trace::Asked;
use crate::session::DialId;

/// What travels.
#[derive(Debug)]
pub(super) enum Parcel {
    Bytes(Vec<u8>),
    /// The other end has closed the connection.
    Close,
    /// The network has broken it; the other end hears of that by itself, or not.
    Broken,
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

    /// Ends at `now` with this parcel; what is under way arrives before it, at once, or is lost.
    pub(super) fn end(&mut self, now: u64, lose: bool, parcel: Parcel) {
        if lose {
            self.parcels.clear();
        }
        for (at, _) in &mut self.parcels {
            *at = now;
        }
        self.frozen = false;
        self.last = now;
        self.parcels.push_back((now, parcel));
    }

    /// Everything under way takes so much longer.
    pub(super) fn hold_up(&mut self, nanos: u64) {
        for (at, _) in &mut self.parcels {
            *at += nanos;
        }
        self.last += nanos;
    }
}

/// A connection as the network knows it.
pub(super) struct Pipe {
    pub(super) client: usize,
    pub(super) dial: DialId,
    pub(super) server: usize,
    pub(super) connection: ConnectionId,
    pub(super) to_server: Lane,
    pub(super) to_client: Lane,
    /// Either end has hung up and been told so; nothing arrives any more.
    pub(super) client_open: bool,
    pub(super) server_open: bool,
    /// The handshake has been sent.
    pub(super) greeted: bool,
    /// For the reader of a trace.
    pub(super) asked: Asked,
}
