//! The re-entrant mutex.

use std::ffi::{c_char, c_void};

use zoolock_core::{Cancel, Guard, Owner, Pending, ReentrantMutex, Result, Wait};

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

/// A mutex that its owner may lock again, at no request and with the same token (R11). Every lock
/// gives a guard; the contender goes when all are released. Re-entrancy counts per session, path,
/// naming and owner, not per object. For any thread.
pub struct zoolock_reentrant(ReentrantMutex);

/// A re-entrant mutex and who asks for it.
struct OwnerAsks {
    mutex: ReentrantMutex,
    owner: Owner,
}

impl Asked for OwnerAsks {
    fn path(&self) -> &str {
        self.mutex.path()
    }

    fn start(&self, wait: Wait, cancel: Option<&Cancel>) -> Pending<Option<Guard>> {
        self.mutex.acquire(&self.owner, wait, cancel)
    }
}

/// A re-entrant mutex on `path`; otherwise as `zoolock_mutex_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_reentrant_new(
    session: *const zoolock_session,
    path: *const c_char,
    options: *const zoolock_lock_options,
    reentrant: *mut *mut zoolock_reentrant,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("reentrant_mutex", err, || {
        // SAFETY: the caller vouches for its pointers.
        let (place, session, path, options) = unsafe {
            (
                Place::new("reentrant_mutex", "reentrant", reentrant)?,
                session::inner("reentrant_mutex", session)?,
                text("reentrant_mutex", "path", path)?,
                lock_options::inner("reentrant_mutex", options)?,
            )
        };
        place.put(zoolock_reentrant(
            session.reentrant_mutex_with(path, options)?,
        ));
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Locks the mutex for the calling thread, which gets it again at once if it holds it. In a callback
/// that is the callback thread. Otherwise as `zoolock_mutex_lock`; and `ZOOLOCK_LOCK_LOST` if the
/// thread holds it and lost it (release that hold first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_reentrant_lock(
    reentrant: *const zoolock_reentrant,
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
    unsafe {
        acquire::lock(&terms, guard, err, || {
            asks(reentrant, Owner::current_thread())
        })
    }
}

/// Locks the mutex for `owner`; otherwise as `zoolock_reentrant_lock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_reentrant_lock_owned(
    reentrant: *const zoolock_reentrant,
    owner: *const zoolock_owner,
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
    unsafe {
        acquire::lock(&terms, guard, err, || {
            asks(reentrant, zoolock_owner::copy(owner)?)
        })
    }
}

/// Locks the mutex for `owner` without blocking; otherwise as `zoolock_mutex_lock_async`. There is no
/// form for the calling thread, since the callback runs on another one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_reentrant_lock_owned_async(
    reentrant: *const zoolock_reentrant,
    owner: *const zoolock_owner,
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
            asks(reentrant, zoolock_owner::copy(owner)?)
        })
    }
}

/// Who queues on the path, as `zoolock_mutex_contenders`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_reentrant_contenders(
    reentrant: *const zoolock_reentrant,
    contenders: *mut *mut zoolock_contenders,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        contenders::ask(contenders, err, || {
            Ok(inner("contenders", reentrant)?.contenders())
        })
    }
}

/// What this object has counted, as `zoolock_mutex_statistics`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_reentrant_statistics(
    reentrant: *const zoolock_reentrant,
    statistics: *mut zoolock_statistics,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        statistics::read(statistics, err, || {
            Ok(inner("statistics", reentrant)?.statistics())
        })
    }
}

/// Frees the object, as `zoolock_mutex_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_reentrant_free(reentrant: *mut zoolock_reentrant) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(reentrant) }
}

unsafe fn asks(reentrant: *const zoolock_reentrant, owner: Owner) -> Result<OwnerAsks> {
    // SAFETY: as promised by the caller.
    let mutex = unsafe { inner("lock", reentrant) }?.clone();
    Ok(OwnerAsks { mutex, owner })
}

unsafe fn inner<'a>(
    operation: &'static str,
    reentrant: *const zoolock_reentrant,
) -> Result<&'a ReentrantMutex> {
    // SAFETY: as promised by the caller.
    unsafe { Lent::new(operation, "reentrant", reentrant) }.map(|reentrant| &reentrant.get().0)
}
