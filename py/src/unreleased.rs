//! The `ResourceWarning` for a lock that nothing refers to any more while it is held.
//!
//! It is released in the background all the same; but a program that means to release it does not
//! leave that to the garbage collector.

use std::ffi::CString;

use pyo3::ffi::{PyErr_ResourceWarning, c_str};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// An object allocated where a hold was taken, so that `tracemalloc` can say where that was: when
/// the warning is given, the object that goes away can no longer be shown to Python.
pub(crate) struct Origin(Py<PyBytes>);

impl Origin {
    pub(crate) fn here(py: Python<'_>) -> Origin {
        // Of a type without a list of free objects: what comes from there has no trace of its own.
        Origin(PyBytes::new(py, b"here").unbind())
    }
}

/// Warns of what is being deallocated; `origin` is what tells where it came from.
pub(crate) fn warn(what: &str, origin: Option<&Origin>) {
    // Not attached means that the interpreter is going away, and nobody is left to be warned.
    Python::try_attach(|py| {
        let Ok(text) = CString::new(format!("unreleased {what}")) else {
            return;
        };
        let source = origin.map_or(std::ptr::null_mut(), |origin| origin.0.as_ptr());
        // Destructors run at any time, also while an exception is on its way.
        let underway = PyErr::take(py);
        // SAFETY: attached; `source` is null or a live object, and the format takes one string.
        let status =
            unsafe { PyErr_ResourceWarning(source, 1, c_str!("%s").as_ptr(), text.as_ptr()) };
        if status < 0
            && let Some(error) = PyErr::take(py)
        {
            error.write_unraisable(py, None);
        }
        if let Some(underway) = underway {
            underway.restore(py);
        }
    });
}
