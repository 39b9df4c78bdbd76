//! ZooKeeper locks: a mutex, a re-entrant mutex and a read-write lock that processes in Rust, C, Python and Node share, in one
//! queue with each other, with Curator and with kazoo.
//!
//! - [`Session`] is a handle on a ZooKeeper ensemble; [`Session::mutex`], [`Session::reentrant_mutex`] and [`Session::rwlock`]
//!   make lock objects on paths.
//! - A lock object's `lock`, `lock_timeout` and `try_lock` give a [`Guard`]: it knows its
//!   [fencing token](Guard::fencing_token) and [whether it still holds](Guard::is_held), tells of its [loss](Guard::lost), and
//!   [releases](Guard::release).
//! - [`blocking`] has the same nouns and verbs without `async`.
//!
//! What a lock promises is written as numbered rules, R1 to R20, in the project's `DESIGN.md`. Documentation here names the
//! rule that an item implements.
//!
//! # Quick start
//!
//! ```
//! use std::time::Duration;
//! use zoolock::{ErrorKind, Session};
//!
//! # async fn work() {}
//! # #[tokio::main]
//! # async fn main() -> zoolock::Result<()> {
//! # let server = zoolock::testing::Server::start()?;
//! # let hosts = server.hosts();
//! // let hosts = "zk1:2181,zk2:2181,zk3:2181/chroot";
//! let session = Session::connect(&hosts).await?;
//! let mutex = session.mutex("/locks/order/user-123")?;
//!
//! match mutex.lock_timeout(Duration::from_secs(3)).await {
//!     Ok(guard) => {
//!         println!("fencing token {}", guard.fencing_token());
//!         tokio::select! {
//!             () = work() => guard.release().await?,
//!             () = guard.lost() => eprintln!("stop: somebody else may have the lock"),
//!         }
//!     }
//!     Err(error) if error.kind() == ErrorKind::Timeout => println!("order in progress"),
//!     Err(error) => return Err(error),
//! }
//! session.close().await
//! # }
//! ```
//!
//! The same, blocking:
//!
//! ```
//! use zoolock::blocking::Session;
//!
//! # fn main() -> zoolock::Result<()> {
//! # let server = zoolock::testing::Server::start()?;
//! # let hosts = server.hosts();
//! let session = Session::connect(&hosts)?;
//! let guard = session.mutex("/locks/order/user-123")?.lock()?;
//! println!("fencing token {}", guard.fencing_token());
//! guard.release()?;
//! session.close()
//! # }
//! ```
//!
//! # What a lock promises, and what not
//! - **Exclusion** (R1): at no moment do guards of two owners on one path both believe that they hold. It rests on clocks that
//!   *run* within 10 % of each other (what they show never matters), on a session timeout of at least two server ticks, and on
//!   nobody else deleting contenders.
//! - **Leases** (R3): a guard whose session was not confirmed by the ensemble's leader in time is lost, by the clock, before the
//!   ensemble can give the lock to anybody else. [`Guard::is_held`] compares the clock at the call, so a process that was
//!   stopped for an hour sees the loss at its first look.
//! - **Fencing** (R2): no lock can stop a request that is on its way already. Send [`Guard::fencing_token`] along, and let the
//!   resource refuse a token below the highest that it has seen. Tokens rise from grant to grant.
//! - **Loss is told** (R4), once, and is final: by [`Guard::lost`], [`Guard::on_lost`], [`Guard::wait_lost`]. Every
//!   [`LockLost`](ErrorKind::LockLost) error has its reason as its [source](Error::cause).
//! - **No orphan** (R5): an attempt that ends without a guard, in whatever way, leaves no contender behind.
//! - **Time** (R6): a call with a time-out returns within it plus 50 ms, whatever servers and network do. A call without one
//!   waits through outages and changes of session (R9).
//! - **Order** (R7): first come, first served, between all processes; a release wakes one waiter (R8).
//!
//! A lock costs a quorum write to take and one to release. A process that is killed frees its locks when its session times out
//! (15 s by default); one that exits normally, within 1 s (R17).
//!
//! # Executors and threads
//! Every call returns a [`Pending`]: a future that works under any executor, or that blocks by [`Pending::wait`]. The call
//! runs whether or not it is polled, and needs no runtime of yours: one background thread of the process serves all its
//! sessions, and another runs callbacks, so that a slow callback delays no lock. Handles, locks and guards are [`Send`] and
//! [`Sync`], and may be used and dropped on any thread.
//!
//! # Cancellation
//! Dropping any future is safe at any point. A dropped attempt is withdrawn; if it had been granted just then, it is
//! released in the background (R5). A [`Cancel`] ends calls from another thread. A release or a close that is dropped goes on
//! in the background.
//!
//! # Sharing
//! Sessions opened in one process with the same servers and options share one ZooKeeper session (R16), unless they are
//! [`exclusive`](SessionBuilder::exclusive). Locks of one process exclude each other like those of different processes.
//!
//! # Forks
//! In a forked child inherited guards are lost, and inherited sessions and locks open a session of the child's own on first
//! use (R18). Nothing of the parent's is touched, and nothing hangs.
//!
//! # Logs and statistics
//! Events go to [`tracing`](https://docs.rs/tracing), with targets that begin with `zoolock`; what follows is not promised.
//! Levels: `error` for what needs somebody, `warn` for lost leases and sessions, `info` for connections, `debug` for single
//! attempts to connect. No credentials are in them (R19). Each lock object [counts](Mutex::statistics) grants, waits, time-outs
//! and losses.
//!
//! # Features
//! - `testing` (off by default): [`testing::Server`](testing/struct.Server.html), a ZooKeeper server inside the program, to try zoolock
//!   with and to test what uses it. The examples here run on it.
//!
//! # Requirements
//! Rust 1.88 or newer (a newer one is asked for in a minor version only); ZooKeeper 3.5.5 or newer; Linux, or another Unix
//! system. TLS is rustls, with no OpenSSL.

#![deny(missing_docs)]

mod cancel;
mod clock;
mod command;
mod config;
mod connect_string;
mod contender;
mod engine;
mod error;
mod follow;
#[cfg(not(zoolock_loom))]
mod fork;
#[cfg(zoolock_fuzz)]
pub mod fuzz;
mod guard;
mod handle;
mod kept;
mod lease_term;
mod link;
mod lock;
mod loss;
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
mod signals;
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
