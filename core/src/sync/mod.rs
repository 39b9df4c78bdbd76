//! Hand-offs between the network thread and callers. Everything that crosses threads goes through
//! here, or through the primitives underneath, which a model checker swaps (`tests/threads`).

mod completion;
mod latch;
mod mailbox;
#[cfg(not(zoolock_loom))]
pub(crate) mod primitive;
#[cfg(zoolock_loom)]
#[path = "primitive_modelled.rs"]
pub(crate) mod primitive;
mod seat;
mod sleeper;
pub(crate) mod wakers;

#[cfg(zoolock_loom)]
pub(crate) use completion::Disconnected;
pub(crate) use completion::{Completer, Receiver, completion};
pub(crate) use latch::Latch;
pub(crate) use mailbox::Mailbox;
pub(crate) use seat::{Pass, Pilot, Seat};
