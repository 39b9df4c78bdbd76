//! The native half of `zoolock.aio`: calls that an event loop waits for.
//!
//! A call of the core is polled, not waited for. Its waker runs on the network thread, where it
//! notes the call's number and rings a socket of the loop, once for all that has ended since the
//! loop looked last; nothing there needs the GIL, and no thread stands between. The Python side
//! then takes the outcome inside the coroutine that asked for it, so that one that is cancelled in
//! that very moment leaves its outcome to be dropped: a lock granted is released (R5).

mod call;
mod inbox;
mod port;
mod start;

pub(crate) use call::Call;
pub(crate) use port::Port;
pub(crate) use start::*;
