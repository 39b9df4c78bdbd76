//! The faults of a link, and where they apply.

use std::time::Duration;

/// Which way bytes travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the server the link is named after.
    ToServer,
    /// Away from it.
    ToClient,
    /// Both ways.
    Both,
}

impl Direction {
    /// Whether this covers the way towards the server, and the way from it.
    pub(crate) fn ways(self, flipped: bool) -> [bool; 2] {
        let ways = [self != Direction::ToClient, self != Direction::ToServer];
        if flipped { [ways[1], ways[0]] } else { ways }
    }
}

/// Which connections of a link a fault concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those that are open and those to come.
    All,
    /// Those that are open now.
    Existing,
    /// Those to come.
    New,
}

/// A fault that stays until it is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Neither read nor forward; the connection stays open. Taking it back forwards what was held.
    Freeze,
    /// Read and throw away.
    Drop,
    /// Forward this much later. Zero takes it back.
    Delay(Duration),
}

/// The faults on one way of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WayFaults {
    pub(crate) frozen: bool,
    pub(crate) dropping: bool,
    pub(crate) delay: Duration,
}

impl WayFaults {
    pub(crate) fn apply(&mut self, fault: Fault, on: bool) {
        match fault {
            Fault::Freeze => self.frozen = on,
            Fault::Drop => self.dropping = on,
            Fault::Delay(delay) => self.delay = if on { delay } else { Duration::ZERO },
        }
    }
}
