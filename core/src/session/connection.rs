//! One connection of a session: requests in order, a bounded number in flight, replies matched.

use std::collections::VecDeque;
use std::time::Duration;

use super::dialer::DialId;
use crate::clock::Time;
use crate::wire::frames::{FrameBuffer, MAX_FRAME};
use crate::wire::request::{Operation, Request, set_xid};

/// At most this many requests and bytes of expected replies are unanswered at a time (R16).
const MOST_IN_FLIGHT: usize = 256;
const MOST_EXPECTED: usize = 8 << 20;
/// What a reply that is no listing is expected to take.
pub(crate) const SMALL_REPLY: usize = 256;
/// How much one write hands to the socket at most, but for a single larger frame.
const LARGEST_WRITE: usize = 128 << 10;

/// A request that waits for a free place.
struct Queued<T> {
    frame: Vec<u8>,
    operation: Operation,
    /// The path that a data watch is set on, or removed from.
    watch: Option<WatchChange>,
    tag: T,
    expected: usize,
}

/// What a request does to the set of watches once it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WatchChange {
    Set(String),
    Remove(String),
}

/// A request that was handed to the socket.
pub(crate) struct InFlight<T> {
    pub(crate) xid: i32,
    pub(crate) operation: Operation,
    pub(crate) watch: Option<WatchChange>,
    pub(crate) tag: T,
    pub(crate) sent: Time,
    expected: usize,
}

/// See the module.
pub(crate) struct Connection<T> {
    pub(crate) dial: DialId,
    pub(crate) server: usize,
    pub(crate) frames: FrameBuffer,
    /// Lease traffic, credentials and watches to re-arm: takes the next free place.
    urgent: VecDeque<Queued<T>>,
    normal: VecDeque<Queued<T>>,
    in_flight: VecDeque<InFlight<T>>,
    in_flight_bytes: usize,
    next_xid: i32,
    /// When the handshake was answered.
    pub(crate) adopted: Time,
    pub(crate) last_sent: Time,
    pub(crate) last_received: Time,
    /// When the last request was sent that only the leader can answer.
    pub(crate) last_confirming: Time,
}

impl<T> Connection<T> {
    pub(crate) fn new(dial: DialId, server: usize, handshake_sent: Time, now: Time) -> Self {
        Connection {
            dial,
            server,
            frames: FrameBuffer::new(MAX_FRAME),
            urgent: VecDeque::new(),
            normal: VecDeque::new(),
            in_flight: VecDeque::new(),
            in_flight_bytes: 0,
            next_xid: 1,
            adopted: now,
            last_sent: handshake_sent,
            last_received: now,
            last_confirming: handshake_sent,
        }
    }

    pub(crate) fn submit(&mut self, request: &Request, tag: T, expected: usize, urgent: bool) {
        let watch = match request {
            Request::GetData { path, watch: true } => Some(WatchChange::Set(path.clone())),
            Request::RemoveDataWatches { path } => Some(WatchChange::Remove(path.clone())),
            _ => None,
        };
        let queued = Queued {
            frame: request.encode(),
            operation: request.operation(),
            watch,
            tag,
            expected,
        };
        if urgent {
            self.urgent.push_back(queued);
        } else {
            self.normal.push_back(queued);
        }
    }

    /// Bytes for the socket, as many requests as may be in flight; `now` was read just before.
    pub(crate) fn transmit(&mut self, now: Time, mut sent: impl FnMut(&WatchChange)) -> Vec<u8> {
        let mut out = Vec::new();
        while self.in_flight.len() < MOST_IN_FLIGHT && out.len() < LARGEST_WRITE {
            let queue = if self.urgent.is_empty() {
                &mut self.normal
            } else {
                &mut self.urgent
            };
            // One reply may be larger than the bound, if nothing else is under way.
            let fits = |queued: &Queued<T>| {
                self.in_flight_bytes == 0 || self.in_flight_bytes + queued.expected <= MOST_EXPECTED
            };
            if !queue.front().is_some_and(fits) {
                break;
            }
            let Some(mut queued) = queue.pop_front() else {
                break;
            };
            let behind = queue.len();
            let xid = self.number(queued.operation);
            set_xid(&mut queued.frame, xid);
            if out.is_empty() {
                out = queued.frame;
                // What follows is of about the same length, as a rule.
                out.reserve(out.len() * behind.min(MOST_IN_FLIGHT));
            } else {
                out.extend_from_slice(&queued.frame);
            }
            if let Some(watch) = &queued.watch {
                sent(watch);
            }
            self.last_sent = now;
            if queued.operation.is_confirming() {
                self.last_confirming = now;
            }
            self.in_flight_bytes += queued.expected;
            self.in_flight.push_back(InFlight {
                xid,
                operation: queued.operation,
                watch: queued.watch,
                tag: queued.tag,
                sent: now,
                expected: queued.expected,
            });
        }
        out
    }

    fn number(&mut self, operation: Operation) -> i32 {
        operation.reserved_xid().unwrap_or_else(|| {
            let xid = self.next_xid;
            // Negative xids are reserved (Z14).
            self.next_xid = xid.checked_add(1).unwrap_or(1);
            xid
        })
    }

    /// As if so many requests had been sent before.
    #[cfg(test)]
    pub(crate) fn number_from(&mut self, xid: i32) {
        self.next_xid = xid;
    }

    /// The request that a reply answers: the oldest with a running xid, or the oldest with this
    /// reserved one. `None` if the server answers what was not asked.
    pub(crate) fn answered(&mut self, xid: i32) -> Option<InFlight<T>> {
        let at = if xid < 0 {
            self.in_flight.iter().position(|known| known.xid == xid)?
        } else {
            let at = self.in_flight.iter().position(|known| known.xid >= 0)?;
            (self.in_flight.get(at)?.xid == xid).then_some(at)?
        };
        let answered = self.in_flight.remove(at)?;
        self.in_flight_bytes -= answered.expected;
        Some(answered)
    }

    /// Takes an answer as none: its request counts as unanswered again.
    pub(crate) fn put_back(&mut self, request: InFlight<T>) {
        self.in_flight_bytes += request.expected;
        self.in_flight.push_front(request);
    }

    /// When the server will be given up, should nothing arrive: a request to the leader unanswered
    /// for `confirm_limit`, or any unanswered and nothing received for `silence_limit`.
    pub(crate) fn stuck_at(&self, confirm_limit: Duration, silence_limit: Duration) -> Time {
        let confirming = self
            .in_flight
            .iter()
            .find(|request| request.operation.is_confirming())
            .map(|request| request.sent + confirm_limit);
        let any = self
            .in_flight
            .front()
            .map(|request| request.sent.max(self.last_received) + silence_limit);
        confirming
            .into_iter()
            .chain(any)
            .min()
            .unwrap_or(Time::NEVER)
    }

    /// How many requests are unanswered.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Whether a lease request or a ping waits for a free place already.
    pub(crate) fn has_urgent(&self) -> bool {
        !self.urgent.is_empty()
    }

    /// Forgets requests that wait for a place: they are returned.
    pub(crate) fn withdraw_queued(&mut self) -> Vec<T> {
        self.normal.drain(..).map(|queued| queued.tag).collect()
    }

    /// Ends the connection: what was sent and is in doubt, and what was never sent.
    pub(crate) fn into_unanswered(self) -> (Vec<InFlight<T>>, Vec<T>) {
        let unsent = self.urgent.into_iter().chain(self.normal);
        (
            self.in_flight.into(),
            unsent.map(|queued| queued.tag).collect(),
        )
    }
}
