//! One way of one connection: what was read and waits to be forwarded.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::proxy::cut::Action;
use crate::proxy::faults::WayFaults;

/// Reading pauses while this much waits, as a full socket buffer would make it.
const QUEUE_LIMIT: usize = 4 << 20;

/// What to do when everything queued before it has been forwarded.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) action: Action,
    pub(crate) then_refuse: bool,
    /// Set when it is done.
    pub(crate) fired: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Item {
    Bytes { bytes: Vec<u8>, written: usize },
    Order(Order),
}

#[derive(Debug, Default)]
pub(crate) struct Way {
    pub(crate) faults: WayFaults,
    queue: VecDeque<(Instant, Item)>,
    queued: usize,
    /// The sink takes no more until poll says so.
    pub(crate) blocked: bool,
    /// The source has ended.
    pub(crate) ended: bool,
    /// The end has been passed on.
    pub(crate) shut: bool,
    /// A cut is queued: nothing behind it is of interest.
    pub(crate) stopped: bool,
}

impl Way {
    pub(crate) fn new(faults: WayFaults) -> Self {
        Way {
            faults,
            ..Way::default()
        }
    }

    pub(crate) fn wants_bytes(&self) -> bool {
        !self.faults.frozen && !self.ended && !self.stopped && self.queued < QUEUE_LIMIT
    }

    pub(crate) fn push(&mut self, bytes: Vec<u8>, now: Instant) {
        self.queued += bytes.len();
        let item = Item::Bytes { bytes, written: 0 };
        self.queue.push_back((self.due(now), item));
    }

    pub(crate) fn order(&mut self, order: Order, now: Instant) {
        self.queue.push_back((self.due(now), Item::Order(order)));
    }

    /// Never earlier than what is queued already, or a shortened delay would overtake.
    fn due(&self, now: Instant) -> Instant {
        let due = now + self.faults.delay;
        self.queue.back().map_or(due, |(last, _)| due.max(*last))
    }

    /// When there is something to do without news from a socket.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        if self.faults.frozen || self.blocked {
            return None;
        }
        self.queue.front().map(|(due, _)| *due)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Forwards what is due, up to the first order.
    pub(crate) fn write(
        &mut self,
        sink: &mut TcpStream,
        now: Instant,
    ) -> io::Result<Option<Order>> {
        while let Some((due, item)) = self.queue.front_mut() {
            if self.faults.frozen || *due > now {
                break;
            }
            match item {
                Item::Order(order) => {
                    let order = order.clone();
                    self.queue.pop_front();
                    return Ok(Some(order));
                }
                Item::Bytes { bytes, written } => match sink.write(&bytes[*written..]) {
                    Ok(count) => {
                        *written += count;
                        self.queued -= count;
                        if *written == bytes.len() {
                            self.queue.pop_front();
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        self.blocked = true;
                        break;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                },
            }
        }
        Ok(None)
    }
}
