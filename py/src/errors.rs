//! From the core's errors to Python's exception classes.

use std::error::Error as _;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use zoolock::{Error, ErrorKind};

/// Every error code there is, for the Python side to check that it has a class for each.
pub(crate) fn codes() -> Vec<&'static str> {
    ErrorKind::ALL.iter().map(|kind| kind.name()).collect()
}

/// The exception for an error; if even that cannot be made, what went wrong with it.
pub(crate) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let cause = cause(py, error);
    let made = MAKE.import(py, "zoolock._errors", "make").and_then(|make| {
        make.call1((
            error.kind().name(),
            error.message(),
            error.operation(),
            error.path(),
            cause,
        ))
    });
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(failure) => failure,
    }
}

/// What `__cause__` is to be: an exception of ours, or what a lower layer said.
fn cause<'py>(py: Python<'py>, error: &Error) -> Option<Bound<'py, PyAny>> {
    match error.cause() {
        Some(cause) => Some(
            to_python(py, cause)
                .into_value(py)
                .into_bound(py)
                .into_any(),
        ),
        None => error
            .source()
            .map(|source| PyString::new(py, &source.to_string()).into_any()),
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
