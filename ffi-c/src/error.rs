//! The error handle.

use std::error::Error as _;
use std::ffi::{CString, c_char};

use zoolock_core::Error;

use crate::boundary::boundary;
use crate::pointer::{self, Lent, hand_out};
use crate::status::zoolock_status;
use crate::text::c_string;

/// What went wrong in a call that answered with a positive status. Never holds credentials (R19).
pub struct zoolock_error {
    status: zoolock_status,
    operation: CString,
    path: Option<CString>,
    message: CString,
    cause: Option<Box<zoolock_error>>,
}

impl zoolock_error {
    pub(crate) fn new(error: &Error) -> zoolock_error {
        // A cause of our own kind has a message of its own.
        let message = match (error.cause(), error.source()) {
            (None, Some(source)) => format!("{error}; cause: {source}"),
            _ => error.to_string(),
        };
        zoolock_error {
            status: zoolock_status::of(error.kind()),
            operation: c_string(error.operation()),
            path: error.path().map(c_string),
            message: c_string(&message),
            cause: error
                .cause()
                .map(|cause| Box::new(zoolock_error::new(cause))),
        }
    }

    pub(crate) fn status(&self) -> zoolock_status {
        self.status
    }
}

/// Leaves the error with the caller, if it wants it, and gives its status.
///
/// # Safety
/// `place` is NULL or writable.
pub(crate) unsafe fn report(place: *mut *mut zoolock_error, error: &Error) -> zoolock_status {
    if !place.is_null() {
        // SAFETY: not NULL, hence writable.
        unsafe { place.write(hand_out(zoolock_error::new(error))) };
    }
    zoolock_status::of(error.kind())
}

/// The status that the failed call answered. `ZOOLOCK_INVALID_ARGUMENT` if `err` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_error_status(err: *const zoolock_error) -> zoolock_status {
    // SAFETY: the caller vouches for its handles.
    unsafe { read(err, |error| error.status) }.unwrap_or(zoolock_status::ZOOLOCK_INVALID_ARGUMENT)
}

/// One line that says which operation on which path failed, and why: for logs. Lives as long as
/// `err`. Empty if `err` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_error_message(err: *const zoolock_error) -> *const c_char {
    // SAFETY: as above.
    unsafe { read(err, |error| error.message.as_ptr()) }.unwrap_or(c"".as_ptr())
}

/// The lock path that the operation was about. Lives as long as `err`. NULL if it was about none,
/// or `err` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_error_path(err: *const zoolock_error) -> *const c_char {
    // SAFETY: as above.
    unsafe { read(err, |error| error.path.as_ref().map(|path| path.as_ptr())) }
        .flatten()
        .unwrap_or(std::ptr::null())
}

/// The operation that failed, such as `"lock"` or `"connect"`. Lives as long as `err`. Empty if
/// `err` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_error_operation(err: *const zoolock_error) -> *const c_char {
    // SAFETY: as above.
    unsafe { read(err, |error| error.operation.as_ptr()) }.unwrap_or(c"".as_ptr())
}

/// The failure that caused this one: a `ZOOLOCK_TIMEOUT` is caused by a `ZOOLOCK_UNAVAILABLE` if no
/// server could be reached in that time. Lives as long as `err`: not to be freed. NULL if there is
/// none, or `err` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_error_cause(err: *const zoolock_error) -> *const zoolock_error {
    // SAFETY: as above.
    unsafe { read(err, |error| error.cause.as_deref().map(std::ptr::from_ref)) }
        .flatten()
        .unwrap_or(std::ptr::null())
}

/// Frees an error, and its cause with it. NULL is ignored. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_error_free(err: *mut zoolock_error) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(err) }
}

unsafe fn read<R>(err: *const zoolock_error, get: impl FnOnce(&zoolock_error) -> R) -> Option<R> {
    // SAFETY: as above.
    boundary("error", || {
        Ok(unsafe { Lent::optional(err) }.map(|error| get(&error)))
    })
    .ok()
    .flatten()
}
