//! The native half of the npm package `zoolock`.
//!
//! It decides nothing: it converts arguments, holds the core's handles, and moves outcomes to the
//! JavaScript thread. The public face, with promises, classes and error types, is in `node/lib`.
//!
//! No call waits on libuv's thread pool. A call is a future on the core's network thread, which
//! leaves its outcome in the environment's [`inbox`] and wakes the event loop.

mod calls;
mod event;
mod failure;
mod guard;
mod inbox;
mod lock;
mod logging;
mod options;
mod outcome;
mod owner;
mod session;
mod statistics;
mod testing;
