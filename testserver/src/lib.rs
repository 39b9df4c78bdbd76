//! ZooKeeper without ZooKeeper, **for development and tests only**.
//!
//! [`model`] is a pure model of an ensemble: raw bytes, faults and the time go in, raw bytes come out. It has no
//! threads, no clock and no randomness but its seed, so a simulation can drive thousands of schedules a second and
//! repeat any of them.
//!
//! [`server`] is a listener on a model of one server, for programs and tests that want something to connect to. It
//! keeps everything in memory, has no security, and forgets all when it stops.
//!
//! The model is compared with a real ZooKeeper 3.9.5 in `tests/compare.rs`.

pub mod model;
pub mod server;
mod wire;

pub use wire::code::Code;
