//! What a lock object has counted, as Python's `LockStatistics`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use zoolock::LockStatistics;

/// The instance of the Python class.
pub(crate) fn to_python(py: Python<'_>, counted: LockStatistics) -> PyResult<Py<PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLASS
        .import(py, "zoolock._statistics", "LockStatistics")?
        .call1((
            counted.acquisitions,
            counted.contended,
            counted.timeouts,
            counted.losses,
            counted.waited.as_secs_f64(),
            counted.held.as_secs_f64(),
        ))
        .map(Bound::unbind)
}
