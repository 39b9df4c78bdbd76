//! Links that a test can disturb: every client's way to a server, and every server's way to another.
//!
//! One thread carries all links of an ensemble with `poll`. Faults are changed under the lock it works under, so a call
//! that has returned has taken effect: after `freeze` not one more byte gets through.

mod connection;
mod cut;
mod election;
mod faults;
mod frames;
mod link;
mod run;
pub(crate) mod socket;
mod state;
mod way;

pub use cut::{Action, Cut, Message, Moment};
pub use faults::{Direction, Fault, Scope};
pub use link::Link;
pub(crate) use run::Proxy;
pub(crate) use state::{Kind, LinkState};
