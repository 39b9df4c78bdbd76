//! Hand-offs between the network thread and callers. Everything that crosses threads goes through
//! here, or through the primitives underneath, which a model checker swaps (`tests/threads`).

mod completion;
mod latch;
mod loan;
mod mailbox;
#[cfg(not(zoolock_loom))]
pub(crate) mod primitive;
#[cfg(zoolock_loom)]
#[path = "primitive_modelled.rs"]
pub(crate) mod primitive;
mod seat;
pub(crate) mod sleeper;
pub(crate) mod wakers;

pub(crate) use completion::{Completer, Disconnected, Receiver, completion};
pub(crate) use latch::Latch;
pub(crate) use loan::{Awaited, Loan};
pub(crate) use mailbox::Mailbox;
pub(crate) use primitive::{Blocked, Limit};
pub(crate) use seat::{Borrowed, Glance, Pass, Pilot, Reading, Seat};
