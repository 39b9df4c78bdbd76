//! The one place where a panic stops: nothing unwinds into C.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use zoolock_core::{Error, ErrorKind, Result};

use crate::error::{self, zoolock_error};
use crate::status::zoolock_status;

/// Runs the body of a C function; a panic becomes an `Internal` error.
pub(crate) fn boundary<R>(operation: &'static str, body: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        let error = Error::new(
            ErrorKind::Internal,
            operation,
            format!("panicked: {}", reason(payload.as_ref())),
        );
        // Dropping a payload may panic again.
        std::mem::forget(payload);
        Err(error)
    })
}

/// [`boundary`] for functions that answer with a status and take a place for an error, which then is
/// the failure of `operation`, whatever inside found it.
pub(crate) fn call(
    operation: &'static str,
    err: *mut *mut zoolock_error,
    body: impl FnOnce() -> Result<zoolock_status>,
) -> zoolock_status {
    match boundary(operation, body) {
        Ok(status) => status,
        // SAFETY: the caller of the C function vouches for `err`.
        Err(error) => unsafe { error::report(err, &error.with_operation(operation)) },
    }
}

fn reason(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
