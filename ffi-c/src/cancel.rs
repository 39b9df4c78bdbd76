//! The handle that ends waits from another thread.

use zoolock_core::{Cancel, Result};

use crate::boundary::{boundary, call};
use crate::pointer::{self, Lent, hand_out};
use crate::status::zoolock_status;

/// Cancels the calls that it was given to: they end with `ZOOLOCK_CANCELLED` and leave no contender
/// (R5). One handle may serve many calls; once fired, it stays fired, and a later call given it
/// fails at once.
pub struct zoolock_cancel(pub(crate) Cancel);

/// A cancel handle that has not fired. Never blocks. NULL only if zoolock itself fails,
/// which is a bug to report.
#[unsafe(no_mangle)]
pub extern "C" fn zoolock_cancel_new() -> *mut zoolock_cancel {
    boundary("cancel_new", || Ok(hand_out(zoolock_cancel(Cancel::new()))))
        .unwrap_or(std::ptr::null_mut())
}

/// Cancels every call that waits with this handle, and every later one. From any thread, also from
/// a callback; never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_cancel_cancel(cancel: *const zoolock_cancel) -> zoolock_status {
    call("cancel", std::ptr::null_mut(), || {
        // SAFETY: the caller vouches for its handles.
        unsafe { lent("cancel", cancel) }?.0.cancel();
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Whether it has fired; false if `cancel` is NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_cancel_is_cancelled(cancel: *const zoolock_cancel) -> bool {
    // SAFETY: as above.
    boundary("is_cancelled", || {
        Ok(unsafe { lent("is_cancelled", cancel) }?.0.is_cancelled())
    })
    .unwrap_or(false)
}

/// Frees a cancel handle; the asynchronous calls that were given it go on. NULL is ignored. Never
/// blocks. Not while a blocking call on another thread has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_cancel_free(cancel: *mut zoolock_cancel) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(cancel) }
}

unsafe fn lent<'a>(
    operation: &'static str,
    cancel: *const zoolock_cancel,
) -> Result<Lent<'a, zoolock_cancel>> {
    // SAFETY: as promised by the caller.
    unsafe { Lent::new(operation, "cancel", cancel) }
}
