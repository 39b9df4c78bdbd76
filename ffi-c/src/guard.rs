//! The held lock.

use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;
use std::time::Duration;

use zoolock_core::{Guard, Result, Wait};

use crate::boundary::{boundary, call};
use crate::callback::{Callback, Freed, zoolock_free_callback, zoolock_lost_callback};
use crate::error::zoolock_error;
use crate::pointer::{self, Lent};
use crate::state::zoolock_guard_state_t;
use crate::status::zoolock_status;
use crate::text::c_string;

/// A lock that was granted. For any thread. In a forked child an inherited guard is lost (R18).
pub struct zoolock_guard {
    // Shared with the holds of a lock object, if it is among them.
    guard: Arc<Guard>,
    // Made at the grant: made on demand they would need a lock, which may be held at a fork.
    node_path: CString,
    path: CString,
}

impl zoolock_guard {
    pub(crate) fn new(guard: Guard) -> zoolock_guard {
        zoolock_guard::sharing(Arc::new(guard))
    }

    /// Another handle on a guard.
    pub(crate) fn sharing(guard: Arc<Guard>) -> zoolock_guard {
        zoolock_guard {
            node_path: c_string(guard.node_path()),
            path: c_string(guard.path()),
            guard,
        }
    }

    /// # Safety
    /// `guard` is NULL or a live handle.
    pub(crate) unsafe fn shared(
        operation: &'static str,
        guard: *const zoolock_guard,
    ) -> Result<Arc<Guard>> {
        // SAFETY: as promised by the caller.
        unsafe { Lent::new(operation, "guard", guard) }.map(|guard| Arc::clone(&guard.guard))
    }
}

/// The fencing token: positive, unique in the ensemble, rising from grant to grant on a path (R2). A
/// re-entrant grant and a downgraded read repeat it. What the lock protects should refuse a token
/// lower than one it has seen. -1 if `guard` is NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_fencing_token(guard: *const zoolock_guard) -> i64 {
    // SAFETY: the caller vouches for its handles.
    boundary("fencing_token", || {
        Ok(unsafe { inner("fencing_token", guard) }?.fencing_token())
    })
    .unwrap_or(-1)
}

/// The second part of the token of a lock that keeps its contenders: of the grants of this contender,
/// which this is, from 1. The pair with the fencing token rises from grant to grant on a path, and has to
/// be compared whole (R2). Without `zoolock_lock_options_set_keep_ms` it is 1. 0 if `guard` is NULL. Never
/// blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_grant_count(guard: *const zoolock_guard) -> u64 {
    // SAFETY: the caller vouches for its handles.
    boundary("grant_count", || {
        Ok(unsafe { inner("grant_count", guard) }?.grant_count())
    })
    .unwrap_or(0)
}

/// Whether the lock may still be believed in: true in the states held and suspended. Compares the
/// clock at the call (R3). False if `guard` is NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_is_held(guard: *const zoolock_guard) -> bool {
    // SAFETY: as above.
    boundary("is_held", || {
        Ok(unsafe { inner("is_held", guard) }?.is_held())
    })
    .unwrap_or(false)
}

/// The state at this moment; `ZOOLOCK_GUARD_STATE_INVALID` if `guard` is NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_state(guard: *const zoolock_guard) -> zoolock_guard_state_t {
    // SAFETY: as above.
    boundary("state", || {
        Ok(unsafe { inner("state", guard) }?.state().into())
    })
    .unwrap_or(zoolock_guard_state_t::ZOOLOCK_GUARD_STATE_INVALID)
}

/// The contender's node, without the session's chroot. Lives as long as `guard`. NULL if `guard` is
/// NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_node_path(guard: *const zoolock_guard) -> *const c_char {
    boundary("node_path", || {
        // SAFETY: as above.
        Ok(unsafe { Lent::new("node_path", "guard", guard) }?
            .node_path
            .as_ptr())
    })
    .unwrap_or(std::ptr::null())
}

/// The lock path, without the session's chroot. Lives as long as `guard`. NULL if `guard` is NULL.
/// Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_path(guard: *const zoolock_guard) -> *const c_char {
    boundary("path", || {
        // SAFETY: as above.
        Ok(unsafe { Lent::new("path", "guard", guard) }?.path.as_ptr())
    })
    .unwrap_or(std::ptr::null())
}

/// `ZOOLOCK_OK` if the lock may still be believed in, at this moment (R3). Never blocks.
///
/// Errors: `ZOOLOCK_LOCK_LOST`, `ZOOLOCK_NOT_HELD` if it was released, `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_ensure_held(
    guard: *const zoolock_guard,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("ensure_held", err, || {
        // SAFETY: as above.
        unsafe { inner("ensure_held", guard) }?.ensure_held()?;
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Calls `callback` once, on the callback thread, when the lock is lost, soon if it is already (R4);
/// may be called several times. It is never called once a release has answered `ZOOLOCK_OK`; until
/// either, `userdata` has to live. Never blocks.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_on_lost(
    guard: *const zoolock_guard,
    callback: zoolock_lost_callback,
    userdata: *mut c_void,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("on_lost", err, || {
        // SAFETY: as above.
        let guard = unsafe { inner("on_lost", guard) }?;
        let callback = Callback::new("on_lost", callback, userdata)?;
        guard.on_lost(move || callback.call());
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// `zoolock_guard_on_lost` for a `userdata` that is to be freed: `free_userdata` is called once, after
/// `callback`, or when the lock is released and `callback` will not be called, and also if this fails. It
/// may be NULL. Never blocks.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_on_lost_and_free(
    guard: *const zoolock_guard,
    callback: zoolock_lost_callback,
    userdata: *mut c_void,
    free_userdata: zoolock_free_callback,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("on_lost", err, || {
        let freed = Freed::new(free_userdata, userdata);
        // SAFETY: as above.
        let guard = unsafe { inner("on_lost", guard) }?;
        let callback = Callback::new("on_lost", callback, userdata)?;
        guard.on_lost(move || {
            callback.call();
            drop(freed);
        });
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Blocks until the lock is lost, at most `timeout_ms`; -1 waits for ever, 0 only looks. `*lost` says
/// whether it is lost: false at the time-out, or when the lock is released.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_wait_lost(
    guard: *const zoolock_guard,
    timeout_ms: i64,
    lost: *mut bool,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("wait_lost", err, || {
        // SAFETY: as above.
        unsafe { pointer::write("wait_lost", "lost", lost, false) }?;
        // SAFETY: as above.
        let guard = unsafe { inner("wait_lost", guard) }?;
        let limit = match Wait::from_millis("wait_lost", timeout_ms)? {
            Wait::Forever => None,
            Wait::Try => Some(Duration::ZERO),
            Wait::UpTo(limit) => Some(limit),
        };
        // SAFETY: as above.
        unsafe { pointer::write("wait_lost", "lost", lost, guard.wait_lost(limit)) }?;
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Releases the lock (R10). Belief ends at once; blocks until the deletion of the contender is
/// confirmed, the session is over, or the lease would have ended. From any thread. The guard has to
/// be freed all the same.
///
/// Errors: `ZOOLOCK_LOCK_LOST` if the lock was lost before the call, `ZOOLOCK_NOT_HELD` if it was
/// released before, `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_release(
    guard: *const zoolock_guard,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("release", err, || {
        // SAFETY: as above.
        unsafe { inner("release", guard) }?
            .release_shared()
            .wait()?;
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Frees the guard; a lock that was not released is released in the background (R10). NULL is
/// ignored. Never blocks. Not while a blocking call on another thread has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_guard_free(guard: *mut zoolock_guard) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(guard) }
}

unsafe fn inner<'a>(operation: &'static str, guard: *const zoolock_guard) -> Result<&'a Guard> {
    // SAFETY: as promised by the caller.
    unsafe { Lent::new(operation, "guard", guard) }.map(|guard| &*guard.get().guard)
}
