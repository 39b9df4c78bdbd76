//! The read-write lock.

use std::ffi::{c_char, c_void};

use zoolock_core::{Cancel, Guard, Owner, Pending, Result, RwLock, RwLockSide, Wait};

use crate::acquire::{self, Asked, Terms};
use crate::asynchronous;
use crate::boundary::call;
use crate::callback::zoolock_lock_callback;
use crate::cancel::zoolock_cancel;
use crate::contenders::{self, zoolock_contenders};
use crate::error::zoolock_error;
use crate::guard::zoolock_guard;
use crate::lock_options::{self, zoolock_lock_options};
use crate::owner::zoolock_owner;
use crate::pointer::{self, Lent, Place};
use crate::session::{self, zoolock_session};
use crate::statistics::{self, zoolock_statistics};
use crate::status::zoolock_status;
use crate::text::text;

/// A read-write lock on a lock path: many readers or one writer, in the order of arrival (R7, R12).
/// Re-entrant per side for one owner. The owner of the write lock may take the read lock and then
/// release the write lock, with no writer in between (a downgrade). It does not exclude a mutex on
/// the same path. For any thread.
pub struct zoolock_rwlock(RwLock);

/// One side of a lock and who asks for it.
struct OwnerAsks {
    side: RwLockSide,
    owner: Owner,
}

impl Asked for OwnerAsks {
    fn path(&self) -> &str {
        self.side.path()
    }

    fn start(&self, wait: Wait, cancel: Option<&Cancel>) -> Pending<Option<Guard>> {
        self.side.acquire(&self.owner, wait, cancel)
    }
}

/// A read-write lock on `path`; otherwise as `zoolock_mutex_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_rwlock_new(
    session: *const zoolock_session,
    path: *const c_char,
    options: *const zoolock_lock_options,
    rwlock: *mut *mut zoolock_rwlock,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("rwlock", err, || {
        // SAFETY: the caller vouches for its pointers.
        let (place, session, path, options) = unsafe {
            (
                Place::new("rwlock", "rwlock", rwlock)?,
                session::inner("rwlock", session)?,
                text("rwlock", "path", path)?,
                lock_options::inner("rwlock", options)?,
            )
        };
        place.put(zoolock_rwlock(session.rwlock_with(path, options)?));
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Takes the read side for the calling thread, in a callback the callback thread. Waits for earlier
/// writers only. Otherwise as `zoolock_mutex_lock`; and `ZOOLOCK_LOCK_LOST` if the thread holds
/// either side and lost it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_rwlock_read(
    rwlock: *const zoolock_rwlock,
    timeout_ms: i64,
    cancel: *const zoolock_cancel,
    guard: *mut *mut zoolock_guard,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    let terms = Terms {
        operation: "read",
        timeout_ms,
        cancel,
    };
    // SAFETY: as above.
    unsafe {
        acquire::lock(&terms, guard, err, || {
            asks(RwLock::read, rwlock, Owner::current_thread())
        })
    }
}

/// Takes the read side for `owner`; otherwise as `zoolock_rwlock_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_rwlock_read_owned(
    rwlock: *const zoolock_rwlock,
    owner: *const zoolock_owner,
    timeout_ms: i64,
    cancel: *const zoolock_cancel,
    guard: *mut *mut zoolock_guard,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    let terms = Terms {
        operation: "read",
        timeout_ms,
        cancel,
    };
    // SAFETY: as above.
    unsafe {
        acquire::lock(&terms, guard, err, || {
            asks(RwLock::read, rwlock, zoolock_owner::copy(owner)?)
        })
    }
}

/// Takes the read side for `owner` without blocking; otherwise as
/// `zoolock_reentrant_lock_owned_async`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_rwlock_read_owned_async(
    rwlock: *const zoolock_rwlock,
    owner: *const zoolock_owner,
    timeout_ms: i64,
    cancel: *const zoolock_cancel,
    callback: zoolock_lock_callback,
    userdata: *mut c_void,
) -> zoolock_status {
    let terms = Terms {
        operation: "read",
        timeout_ms,
        cancel,
    };
    // SAFETY: as above.
    unsafe {
        asynchronous::lock(&terms, callback, userdata, || {
            asks(RwLock::read, rwlock, zoolock_owner::copy(owner)?)
        })
    }
}

/// Takes the write side for the calling thread, in a callback the callback thread. Otherwise as
/// `zoolock_mutex_lock`; and at once `ZOOLOCK_WOULD_DEADLOCK` if the thread holds the read side only
/// (R12), `ZOOLOCK_LOCK_LOST` if it holds the write side and lost it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_rwlock_write(
    rwlock: *const zoolock_rwlock,
    timeout_ms: i64,
    cancel: *const zoolock_cancel,
    guard: *mut *mut zoolock_guard,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    let terms = Terms {
        operation: "write",
        timeout_ms,
        cancel,
    };
    // SAFETY: as above.
    unsafe {
        acquire::lock(&terms, guard, err, || {
            asks(RwLock::write, rwlock, Owner::current_thread())
        })
    }
}

/// Takes the write side for `owner`; otherwise as `zoolock_rwlock_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_rwlock_write_owned(
    rwlock: *const zoolock_rwlock,
    owner: *const zoolock_owner,
    timeout_ms: i64,
    cancel: *const zoolock_cancel,
    guard: *mut *mut zoolock_guard,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    let terms = Terms {
        operation: "write",
        timeout_ms,
        cancel,
    };
    // SAFETY: as above.
    unsafe {
        acquire::lock(&terms, guard, err, || {
            asks(RwLock::write, rwlock, zoolock_owner::copy(owner)?)
        })
    }
}

/// Takes the write side for `owner` without blocking; otherwise as
/// `zoolock_reentrant_lock_owned_async`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_rwlock_write_owned_async(
    rwlock: *const zoolock_rwlock,
    owner: *const zoolock_owner,
    timeout_ms: i64,
    cancel: *const zoolock_cancel,
    callback: zoolock_lock_callback,
    userdata: *mut c_void,
) -> zoolock_status {
    let terms = Terms {
        operation: "write",
        timeout_ms,
        cancel,
    };
    // SAFETY: as above.
    unsafe {
        asynchronous::lock(&terms, callback, userdata, || {
            asks(RwLock::write, rwlock, zoolock_owner::copy(owner)?)
        })
    }
}

/// Who queues on the path, on either side, as `zoolock_mutex_contenders`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_rwlock_contenders(
    rwlock: *const zoolock_rwlock,
    contenders: *mut *mut zoolock_contenders,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        contenders::ask(contenders, err, || {
            Ok(inner("contenders", rwlock)?.contenders())
        })
    }
}

/// What this object has counted, both sides together, as `zoolock_mutex_statistics`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_rwlock_statistics(
    rwlock: *const zoolock_rwlock,
    statistics: *mut zoolock_statistics,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        statistics::read(statistics, err, || {
            Ok(inner("statistics", rwlock)?.statistics())
        })
    }
}

/// Frees the object, as `zoolock_mutex_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_rwlock_free(rwlock: *mut zoolock_rwlock) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(rwlock) }
}

unsafe fn asks(
    side: fn(&RwLock) -> RwLockSide,
    rwlock: *const zoolock_rwlock,
    owner: Owner,
) -> Result<OwnerAsks> {
    // SAFETY: as promised by the caller.
    let side = side(unsafe { inner("lock", rwlock) }?);
    Ok(OwnerAsks { side, owner })
}

unsafe fn inner<'a>(operation: &'static str, rwlock: *const zoolock_rwlock) -> Result<&'a RwLock> {
    // SAFETY: as promised by the caller.
    unsafe { Lent::new(operation, "rwlock", rwlock) }.map(|rwlock| &rwlock.get().0)
}
