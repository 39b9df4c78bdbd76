//! From the core's errors to Python's exception classes.

use std::error::Error as _;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use zoolock::{Error, ErrorKind};

/// Every error code there is, for the Python side to check that it has a class for each.
pub(crate) fn codes() -> Vec<&'static str> {
    ErrorKind::ALL.iter().map(|kind| kind.name()).collect()
}

/// The exception for an error; if even that cannot be made, what went wrong with it.
pub(crate) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let source = error.source().map(ToString::to_string);
    let made = MAKE.import(py, "zoolock._errors", "make").and_then(|make| {
        make.call1((
            error.kind().name(),
            error.message(),
            error.operation(),
            error.path(),
            source,
        ))
    });
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(failure) => failure,
    }
}

/// Unwraps an outcome of the core.
pub(crate) trait OrRaise<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for zoolock::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| to_python(py, &error))
    }
}
