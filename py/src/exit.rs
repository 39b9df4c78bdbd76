//! The ends of an interpreter's life.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use pyo3::prelude::*;

use crate::callbacks;

/// What a callback under way gets to finish. It is parked after that, not interrupted.
const LAST_CALLBACK: Duration = Duration::from_millis(500);

/// The process whose interpreter is exiting: a child forked meanwhile is another.
static EXITING: AtomicU64 = AtomicU64::new(0);

/// Whether Python must not be entered any more by the callback thread.
pub(crate) fn has_begun() -> bool {
    EXITING.load(Ordering::SeqCst) == zoolock::binding::process()
}

/// Called by Python's `atexit`: what was logged or told before is delivered, then no callback starts any
/// more, and the present one may finish.
#[pyfunction]
pub(crate) fn end_callbacks(py: Python<'_>) {
    if callbacks::are_expected() {
        wait_for_those_posted(py);
    }
    EXITING.store(zoolock::binding::process(), Ordering::SeqCst);
    if callbacks::are_expected() {
        wait_for_those_posted(py);
    }
}

fn wait_for_those_posted(py: Python<'_>) {
    let (passed, seen) = channel::<()>();
    // Runs after every callback posted before; dropping the sender is the message.
    zoolock::binding::post_callback(move || drop(passed));
    let _passed_or_too_late = py.detach(move || seen.recv_timeout(LAST_CALLBACK));
}

/// Closes every session of this process, within the second that R17 gives an exit.
///
/// For processes that end without the C library's exit handlers, as `multiprocessing`'s forked
/// children do. Guards are lost; nothing of zoolock works afterwards.
#[pyfunction]
pub(crate) fn close_all_sessions(py: Python<'_>) {
    py.detach(zoolock::binding::close_all_sessions);
}
