//! What the bindings need beyond the public API. Not for applications: no stability is promised.

pub use crate::config::{millis, seconds};
use crate::quoted::Quoted;
pub use crate::taken::TakenHolds;

/// The calling process, told apart from those it was forked from (R18).
pub fn process() -> u64 {
    crate::process::id()
}

/// Starts the background threads.
///
/// # Errors
/// `Internal` if that is not possible.
pub fn start() -> crate::Result<()> {
    crate::runtime::get().map(|_started| ())
}

/// Runs `then` with the call's outcome: at once if it is there, else on the thread that comes by it,
/// the network thread or another caller's. It must not block.
pub fn follow<T: Send + 'static>(
    call: crate::Pending<T>,
    then: impl FnOnce(crate::Result<T>) + Send + 'static,
) {
    crate::follow::follow(call, then);
}

/// Runs a user's callback on the callback thread.
pub fn post_callback(job: impl FnOnce() + Send + 'static) {
    crate::runtime::post(Box::new(job));
}

/// A path given as bytes.
///
/// # Errors
/// `InvalidArgument` if it is not UTF-8, or no path for a lock (R20).
pub fn path_from_bytes<'a>(operation: &'static str, bytes: &'a [u8]) -> crate::Result<&'a str> {
    crate::path::validate_bytes(bytes).map_err(|why| {
        let shown = String::from_utf8_lossy(bytes);
        let problem = format_args!("{}: {why}", Quoted(&shown));
        crate::Error::invalid_argument(operation, "path", problem)
    })
}

/// Closes every session of this process, as its normal exit does (R17), within 1 s. For processes
/// that end without running the C library's exit handlers. Guards are lost.
pub fn close_all_sessions() {
    crate::runtime::close_all_sessions();
}
