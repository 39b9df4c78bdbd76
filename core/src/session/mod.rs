//! The session with the ensemble: a pure state machine, and beside it the one driver that owns the
//! sockets. The machine is handed bytes and the time; it hands out bytes, timers and events.

mod certificates;
mod connection;
mod dialer;
pub(crate) mod driver;
pub(crate) mod lease;
pub(crate) mod machine;
mod plain;
mod reading;
mod tcp;
mod tls;
mod version;
mod watches;

pub(crate) use dialer::{DialId, FailedRound, Failure, Probed, Version};
pub(crate) use machine::{Action, Event, Machine, Outcome, Settings};
