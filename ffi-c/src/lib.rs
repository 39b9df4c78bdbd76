//! The C interface of zoolock. It decides nothing: it checks pointers, converts arguments, holds
//! handles, moves completions to callbacks and maps errors to statuses; the rest is the core's.
//!
//! The doc comments here are the documentation in `include/zoolock.h`, which is generated from
//! this crate. What every pointer has to be is said once, in the head of that header.

#![allow(non_camel_case_types, reason = "the types' names are C's")]
#![allow(
    clippy::missing_safety_doc,
    reason = "said once in the head of the header"
)]

mod acl;
mod acquire;
mod asynchronous;
mod boundary;
mod callback;
mod cancel;
mod contenders;
mod error;
mod guard;
mod holds;
mod lock_options;
mod log;
mod log_line;
mod milliseconds;
mod mistakes;
mod mutex;
mod owner;
pub mod permissions;
mod pointer;
mod reentrant;
mod rwlock;
mod session;
mod session_options;
mod session_tls;
mod state;
mod statistics;
mod status;
#[cfg(feature = "testing")]
mod test_server;
#[cfg(feature = "testing")]
mod test_server_options;
#[cfg(feature = "testing")]
mod test_sessions;
mod text;
mod version;
