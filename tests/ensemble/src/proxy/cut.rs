//! Faults at an exact message: the n-th request or reply of a kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::eventually::eventually;
use crate::op::Op;

/// Which messages count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// Requests of the kind, `None` for any.
    Request(Option<Op>),
    /// Replies to requests of the kind, `None` for any. Watch events do not count.
    Reply(Option<Op>),
}

/// Whether the message itself still gets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It does not.
    Before,
    /// It does.
    After,
}

/// What happens to its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The client gets a reset (RST).
    Reset,
    /// The client gets an orderly close (FIN).
    Close,
    /// Both ways freeze, the message in hand if the moment is [`Moment::Before`]. Thawing forwards it.
    Hold,
}

/// A cut that was ordered and fires once.
#[derive(Clone, Debug)]
pub struct Cut {
    pub(crate) fired: Arc<AtomicBool>,
    pub(crate) what: String,
}

impl Cut {
    /// Whether it has happened.
    pub fn fired(&self) -> bool {
        self.fired.load(Ordering::SeqCst)
    }

    /// Waits until it has happened.
    pub fn wait(&self, deadline: Duration) -> Result<()> {
        if eventually(deadline, || self.fired()) {
            Ok(())
        } else {
            Err(Error::new(format!(
                "the cut {} did not happen within {} ms",
                self.what,
                deadline.as_millis()
            )))
        }
    }
}

/// A cut that waits for its message.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) message: Message,
    pub(crate) remaining: u32,
    pub(crate) moment: Moment,
    pub(crate) action: Action,
    pub(crate) then_refuse: bool,
    pub(crate) fired: Arc<AtomicBool>,
}

impl Rule {
    /// Counts a message; true when it is the one.
    pub(crate) fn counts(&mut self, seen: Message) -> bool {
        let matches = match (self.message, seen) {
            (Message::Request(wanted), Message::Request(op))
            | (Message::Reply(wanted), Message::Reply(op)) => wanted.is_none() || wanted == op,
            _ => false,
        };
        if matches {
            self.remaining = self.remaining.saturating_sub(1);
        }
        matches && self.remaining == 0
    }
}
