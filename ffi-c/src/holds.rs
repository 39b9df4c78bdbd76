//! Which hold an unlock ends that names no guard (R10).

use std::ffi::c_char;

use zoolock_core::binding::TakenHolds;
use zoolock_core::{Owner, Result};

use crate::boundary::call;
use crate::error::zoolock_error;
use crate::guard::zoolock_guard;
use crate::pointer::{self, Lent, Place};
use crate::status::zoolock_status;
use crate::text::text;

/// The unreleased holds of one lock object, each with the thread that took it: for wrappers whose
/// lock objects are unlocked without naming a guard, as C++'s are (R10). For any thread. In a forked
/// child it is empty (R18).
pub struct zoolock_holds {
    taken: TakenHolds,
    path: String,
}

/// No holds yet of an object that locks `path`, which errors name. Never blocks. `*holds` is the
/// caller's to free.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_holds_new(
    path: *const c_char,
    holds: *mut *mut zoolock_holds,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("holds", err, || {
        // SAFETY: the caller vouches for its pointers.
        let (place, path) = unsafe {
            (
                Place::new("holds", "holds", holds)?,
                text("holds", "path", path)?,
            )
        };
        place.put(zoolock_holds {
            taken: TakenHolds::new(),
            path: path.to_owned(),
        });
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Adds a hold that the calling thread has taken. `guard` stays the caller's to free, which releases
/// nothing any more: the hold lives until it is taken from here, or `holds` is freed. Never blocks.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_holds_push(
    holds: *const zoolock_holds,
    guard: *const zoolock_guard,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("push", err, || {
        // SAFETY: as above.
        let (holds, guard) =
            unsafe { (inner("push", holds)?, zoolock_guard::shared("push", guard)?) };
        holds.taken.push(&Owner::current_thread(), guard);
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Another handle on the hold that the calling thread took last; if it took none, on the only one
/// there is, lost ones counted. `*guard` is the caller's to free. Never blocks.
///
/// Errors: `ZOOLOCK_NOT_HELD` if there is none, or several of other threads,
/// `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_holds_current(
    holds: *const zoolock_holds,
    guard: *mut *mut zoolock_guard,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("current", err, || {
        // SAFETY: as above.
        let (place, holds) = unsafe {
            (
                Place::new("current", "guard", guard)?,
                inner("current", holds)?,
            )
        };
        let thread = Owner::current_thread();
        let found = holds.taken.current(&thread, "current", &holds.path)?;
        place.put(zoolock_guard::sharing(found));
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Takes away the hold that `zoolock_holds_current` names, to be released: `*guard` is the caller's,
/// and freeing it alone releases it in the background. Never blocks.
///
/// Errors: as for `zoolock_holds_current`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_holds_take(
    holds: *const zoolock_holds,
    guard: *mut *mut zoolock_guard,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("release", err, || {
        // SAFETY: as above.
        let (place, holds) = unsafe {
            (
                Place::new("release", "guard", guard)?,
                inner("release", holds)?,
            )
        };
        let thread = Owner::current_thread();
        let taken = holds.taken.take(&thread, "release", &holds.path)?;
        place.put(zoolock_guard::sharing(taken));
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Frees it; the holds that are left are released in the background. NULL is ignored. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_holds_free(holds: *mut zoolock_holds) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(holds) }
}

unsafe fn inner<'a>(
    operation: &'static str,
    holds: *const zoolock_holds,
) -> Result<&'a zoolock_holds> {
    // SAFETY: as promised by the caller.
    unsafe { Lent::new(operation, "holds", holds) }.map(|holds| holds.get())
}
