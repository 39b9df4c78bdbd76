//! `zoolock.Cancel`.

use pyo3::prelude::*;

use crate::pickling;

/// Cancels calls that wait for a lock, from another thread.
///
/// Give it to `lock(cancel=…)` or `hold(cancel=…)`; those calls raise `zoolock.Cancelled` and leave
/// no contender. One object may serve many calls; once fired it stays fired, and a later call given
/// it fails at once.
///
/// >>> cancel = zoolock.Cancel()
/// >>> threading.Timer(3, cancel.cancel).start()
/// >>> guard = lock.lock(cancel=cancel)
#[pyclass(module = "zoolock", frozen)]
pub(crate) struct Cancel(pub(crate) zoolock::Cancel);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Cancel {
        Cancel(zoolock::Cancel::new())
    }

    /// Cancel every call that waits with this object, and every later one. Never blocks.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it has fired.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    fn __repr__(&self) -> String {
        let cancelled = if self.cancelled() { "" } else { "not " };
        format!("<zoolock.Cancel {cancelled}cancelled>")
    }

    fn __reduce__(&self) -> PyResult<()> {
        pickling::refuse("Cancel")
    }
}
