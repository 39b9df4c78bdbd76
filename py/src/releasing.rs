//! How holds end: by a call, and at the end of a `with` block.

use pyo3::prelude::*;
use zoolock::Guard;

use crate::errors::{OrRaise, to_python};
use crate::wait;

/// Releases, and waits for the outcome (R10).
pub(crate) fn release(py: Python<'_>, guard: &Guard) -> PyResult<()> {
    wait::for_outcome(py, guard.release_shared())?.or_raise(py)
}

/// Releases at the end of a block. What the body raised is never hidden: a failure of the release
/// then becomes a note on it (Python 3.11 and later), not an exception of its own.
pub(crate) fn leave_block(
    py: Python<'_>,
    guard: &Guard,
    raised: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    match (wait::for_outcome(py, guard.release_shared())?, raised) {
        (Ok(()), _) => Ok(()),
        (Err(error), None) => Err(to_python(py, &error)),
        (Err(error), Some(raised)) => {
            if raised.hasattr("add_note")? {
                raised.call_method1("add_note", (format!("leaving the block: {error}"),))?;
            }
            Ok(())
        }
    }
}
