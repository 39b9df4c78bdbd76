//! The plain mutex.

use std::ffi::{c_char, c_void};

use zoolock_core::{Cancel, Guard, Mutex, Pending, Result, Wait};

use crate::acquire::{self, Asked, Terms};
use crate::asynchronous;
use crate::boundary::call;
use crate::callback::zoolock_lock_callback;
use crate::cancel::zoolock_cancel;
use crate::contenders::{self, zoolock_contenders};
use crate::error::zoolock_error;
use crate::guard::zoolock_guard;
use crate::lock_options::{self, zoolock_lock_options};
use crate::pointer::{self, Lent, Place};
use crate::session::{self, zoolock_session};
use crate::statistics::{self, zoolock_statistics};
use crate::status::zoolock_status;
use crate::text::text;

/// A mutex on a lock path: one guard at a time among all processes and languages (R1), granted in
/// the order of arrival (R7). For any thread. **Not re-entrant**: a thread that holds it and locks it
/// again waits for itself, until its time-out; see `zoolock_reentrant`.
pub struct zoolock_mutex(Mutex);

impl Asked for Mutex {
    fn path(&self) -> &str {
        Mutex::path(self)
    }

    fn start(&self, wait: Wait, cancel: Option<&Cancel>) -> Pending<Option<Guard>> {
        self.acquire(wait, cancel)
    }
}

/// A mutex on `path`, an absolute path below the session's chroot. `options` may be NULL for the
/// defaults. Nothing is sent; never blocks. `*mutex` is the caller's to free; it keeps the session
/// open until then.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT` (R20), `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_mutex_new(
    session: *const zoolock_session,
    path: *const c_char,
    options: *const zoolock_lock_options,
    mutex: *mut *mut zoolock_mutex,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("mutex", err, || {
        // SAFETY: the caller vouches for its pointers.
        let (place, session, path, options) = unsafe {
            (
                Place::new("mutex", "mutex", mutex)?,
                session::inner("mutex", session)?,
                text("mutex", "path", path)?,
                lock_options::inner("mutex", options)?,
            )
        };
        place.put(zoolock_mutex(session.mutex_with(path, options)?));
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Locks the mutex. Blocks at most `timeout_ms` plus 50 ms, whatever servers and network do (R6); -1
/// waits for ever, through outages and session changes; 0 is a try, which does not wait for a holder
/// and is bounded by the connect timeout. `cancel` may be NULL. `*guard` is the caller's to free.
///
/// Answers `ZOOLOCK_OK`, or `ZOOLOCK_NOT_ACQUIRED` for a try that finds the mutex busy. Errors:
/// `ZOOLOCK_TIMEOUT`, `ZOOLOCK_CANCELLED`, `ZOOLOCK_CLOSED`, `ZOOLOCK_NO_AUTH`,
/// `ZOOLOCK_UNAVAILABLE` (a try), `ZOOLOCK_SEQUENCE_EXHAUSTED`, `ZOOLOCK_INVALID_ARGUMENT`. Whatever
/// it is, an attempt without a guard leaves no contender behind (R5).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_mutex_lock(
    mutex: *const zoolock_mutex,
    timeout_ms: i64,
    cancel: *const zoolock_cancel,
    guard: *mut *mut zoolock_guard,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    let terms = Terms {
        operation: "lock",
        timeout_ms,
        cancel,
    };
    // SAFETY: as above.
    unsafe { acquire::lock(&terms, guard, err, || Ok(inner("lock", mutex)?.clone())) }
}

/// Locks the mutex without blocking: `callback` gets the outcome, on the callback thread, exactly
/// once, which may be before this returns. The terms are those of `zoolock_mutex_lock`; `mutex` and
/// `cancel` may be freed at once.
///
/// Answers `ZOOLOCK_OK` if the callback will be called; else it never is: `ZOOLOCK_INVALID_ARGUMENT`
/// if `mutex` or `callback` is NULL, `ZOOLOCK_INTERNAL` if there can be no callback thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_mutex_lock_async(
    mutex: *const zoolock_mutex,
    timeout_ms: i64,
    cancel: *const zoolock_cancel,
    callback: zoolock_lock_callback,
    userdata: *mut c_void,
) -> zoolock_status {
    let terms = Terms {
        operation: "lock",
        timeout_ms,
        cancel,
    };
    // SAFETY: as above.
    unsafe {
        asynchronous::lock(&terms, callback, userdata, || {
            Ok(inner("lock", mutex)?.clone())
        })
    }
}

/// Who queues on the path, in order, asked from a server. Blocks at most for the connect timeout.
/// `*contenders` is the caller's to free.
///
/// Errors: `ZOOLOCK_UNAVAILABLE`, `ZOOLOCK_NO_AUTH`, `ZOOLOCK_CLOSED`, `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_mutex_contenders(
    mutex: *const zoolock_mutex,
    contenders: *mut *mut zoolock_contenders,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        contenders::ask(contenders, err, || {
            Ok(inner("contenders", mutex)?.contenders())
        })
    }
}

/// What this mutex object has counted. Never blocks.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_mutex_statistics(
    mutex: *const zoolock_mutex,
    statistics: *mut zoolock_statistics,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        statistics::read(statistics, err, || {
            Ok(inner("statistics", mutex)?.statistics())
        })
    }
}

/// Frees the mutex object; its guards stay held, its asynchronous calls go on. NULL is ignored. Never
/// blocks. Not while a blocking call on another thread has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_mutex_free(mutex: *mut zoolock_mutex) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(mutex) }
}

unsafe fn inner<'a>(operation: &'static str, mutex: *const zoolock_mutex) -> Result<&'a Mutex> {
    // SAFETY: as promised by the caller.
    unsafe { Lent::new(operation, "mutex", mutex) }.map(|mutex| &mutex.get().0)
}
