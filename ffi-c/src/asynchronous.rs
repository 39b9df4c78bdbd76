//! What every asynchronous call for a lock shares.

use std::ffi::c_void;

use zoolock_core::{Guard, Result, binding};

use crate::acquire::{Asked, Terms};
use crate::boundary::call;
use crate::callback::{Callback, zoolock_lock_callback};
use crate::status::zoolock_status;

/// Starts the call for the lock that `find` names; its outcome, a bad time-out too, goes to the
/// callback. A NULL is answered at once, by the status: without a callback there is no other way.
///
/// # Safety
/// The pointers are NULL or what their types say.
pub(crate) unsafe fn lock<A: Asked>(
    terms: &Terms,
    callback: zoolock_lock_callback,
    userdata: *mut c_void,
    find: impl FnOnce() -> Result<A>,
) -> zoolock_status {
    let operation = terms.operation;
    call(operation, std::ptr::null_mut(), || {
        let callback = Callback::new(operation, callback, userdata)?;
        let asked = find()?;
        // The callback thread has to be there for the outcome.
        binding::start()?;
        let tell = move |outcome: Result<Option<Guard>>| {
            binding::post_callback(move || match outcome {
                Ok(Some(guard)) => callback.granted(guard),
                Ok(None) => callback.busy(),
                Err(error) => callback.failed(&error.with_operation(operation)),
            });
        };
        // SAFETY: as promised by the caller.
        match unsafe { terms.start(&asked) } {
            Ok(pending) => binding::follow(pending, tell),
            Err(error) => tell(Err(error)),
        }
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}
