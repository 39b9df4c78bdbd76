//! The one place where the binding blocks.
//!
//! The GIL is released meanwhile, and the wait is cut into slices between which signals are
//! checked: a condition variable is not interrupted by a signal, and only Python code running on
//! the main thread can raise `KeyboardInterrupt`.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use zoolock::{Guard, GuardState, Pending};

/// How late Ctrl-C may be noticed: not felt by a person, and cheap for one thread.
const MAIN_THREAD_SLICE: Duration = Duration::from_millis(20);
/// Other threads never run signal handlers; there may be thousands, and each slice takes the GIL.
const OTHER_THREAD_SLICE: Duration = Duration::from_millis(500);

/// Waits for a call of the core. The outer error is what a signal handler raised; the call is then
/// dropped, which withdraws an attempt to get a lock (R5).
pub(crate) fn for_outcome<T: Send>(
    py: Python<'_>,
    mut pending: Pending<T>,
) -> PyResult<zoolock::Result<T>> {
    in_slices(py, move |slice| pending.wait_for(slice))
}

/// Waits until the guard is lost: true; false at the limit, or when it is released.
pub(crate) fn for_loss(py: Python<'_>, guard: &Guard, limit: Option<Duration>) -> PyResult<bool> {
    let until = limit.map(|limit| Instant::now() + limit);
    in_slices(py, |slice| {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if guard.wait_lost(Some(left.map_or(slice, |left| left.min(slice)))) {
            return Some(true);
        }
        let over = until.is_some_and(|until| Instant::now() >= until);
        (over || guard.state() == GuardState::Released).then_some(false)
    })
}

fn in_slices<T: Send>(
    py: Python<'_>,
    mut wait: impl FnMut(Duration) -> Option<T> + Send,
) -> PyResult<T> {
    // Most calls are over by then, and need not ask which thread this is.
    if let Some(outcome) = py.detach(|| wait(MAIN_THREAD_SLICE)) {
        return Ok(outcome);
    }
    let slice = if on_main_thread(py)? {
        MAIN_THREAD_SLICE
    } else {
        OTHER_THREAD_SLICE
    };
    loop {
        py.check_signals()?;
        if let Some(outcome) = py.detach(|| wait(slice)) {
            return Ok(outcome);
        }
    }
}

fn on_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let here = threading.call_method0("get_ident")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    here.eq(main)
}
