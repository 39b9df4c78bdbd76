//! ZooKeeper locks: a mutex, a re-entrant mutex and a read-write lock over one session manager.
//!
//! What a lock promises is written as numbered rules, R1 to R20, in `DESIGN.md`; the items here
//! name the rule they implement. In short: at no moment do two owners both believe that they hold
//! one lock (R1), given clocks that run at like rates; beyond that, every grant carries a fencing
//! token (R2) for the protected resource to compare.
//!
//! The API is asynchronous under any executor, and synchronous in [`blocking`]. One background
//! thread of a process serves all its sessions, another runs users' callbacks.
//!
//! With the feature `testing` there is `testing::Server`: a ZooKeeper server inside the program, to
//! try zoolock with, and to test what uses it.

#![warn(missing_docs)]

mod cancel;
mod clock;
mod command;
mod config;
mod connect_string;
mod contender;
mod engine;
mod error;
#[cfg(not(zoolock_loom))]
mod fork;
#[cfg(zoolock_fuzz)]
pub mod fuzz;
mod guard;
mod handle;
mod lease_term;
mod link;
mod lock;
mod manager;
#[cfg(zoolock_loom)]
pub mod models;
mod mutant;
mod mutex;
mod owner;
mod path;
mod pending;
mod process;
mod queue;
mod quoted;
mod reentrant;
mod runtime;
mod rwlock;
mod session;
#[cfg(test)]
mod simulation;
mod state;
mod stats;
mod sync;
mod taken;
mod trust;
mod wire;

#[doc(hidden)]
pub mod binding;
pub mod blocking;
#[cfg(feature = "testing")]
pub mod testing;

pub use cancel::Cancel;
pub use config::{Acl, AclEntry, Backoff, LeaseConfirmation, LockOptions, Tls, Wait};
pub use contender::Contender;
pub use error::{Error, ErrorKind, Result};
pub use guard::{Guard, Lost};
pub use handle::{Session, SessionBuilder};
pub use mutex::Mutex;
pub use owner::Owner;
pub use pending::Pending;
pub use queue::names::Naming;
pub use reentrant::ReentrantMutex;
pub use rwlock::{RwLock, RwLockSide};
pub use state::{GuardState, SessionState, StateWatch};
pub use stats::LockStatistics;

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Its programs run.
#[cfg(all(doctest, feature = "testing"))]
#[doc = include_str!("../../README.md")]
struct Readme;
