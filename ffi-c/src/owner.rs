//! Who re-entrancy counts for.

use zoolock_core::{Owner, Result};

use crate::boundary::boundary;
use crate::pointer::{self, Lent, hand_out};

/// An owner of re-entrant and read-write locks (R11): for work that moves between threads, or for
/// several pieces of work on one thread. Every one is different from every other, and from every
/// thread.
pub struct zoolock_owner(Owner);

impl zoolock_owner {
    /// # Safety
    /// `owner` is NULL or a live handle.
    pub(crate) unsafe fn copy(owner: *const zoolock_owner) -> Result<Owner> {
        // SAFETY: as promised by the caller.
        Ok(unsafe { Lent::new("lock", "owner", owner) }?.0.clone())
    }
}

/// A new owner. Never blocks. NULL only if zoolock itself fails,
/// which is a bug to report.
#[unsafe(no_mangle)]
pub extern "C" fn zoolock_owner_new() -> *mut zoolock_owner {
    boundary("owner_new", || Ok(hand_out(zoolock_owner(Owner::new()))))
        .unwrap_or(std::ptr::null_mut())
}

/// Frees an owner; what it holds stays held until released. NULL is ignored. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_owner_free(owner: *mut zoolock_owner) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(owner) }
}
