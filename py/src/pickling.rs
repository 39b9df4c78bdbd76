//! Why handles cannot be pickled.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The `TypeError` for pickling or copying an object that stands for something in this process.
pub(crate) fn refuse<T>(class: &str) -> PyResult<T> {
    Err(PyTypeError::new_err(format!(
        "cannot pickle 'zoolock.{class}' object: it belongs to this process; \
         open a session in the other one"
    )))
}
