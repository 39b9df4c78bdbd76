//! What every blocking call for a lock shares.

use zoolock_core::{Cancel, Guard, Pending, Result, Wait};

use crate::boundary::call;
use crate::cancel::zoolock_cancel;
use crate::error::zoolock_error;
use crate::guard::zoolock_guard;
use crate::pointer::{Lent, Place};
use crate::status::zoolock_status;

/// What every call for a lock has.
pub(crate) struct Terms {
    /// What errors call it.
    pub(crate) operation: &'static str,
    pub(crate) timeout_ms: i64,
    pub(crate) cancel: *const zoolock_cancel,
}

/// A lock object of the core's, of whichever kind, together with the owner that asks.
pub(crate) trait Asked {
    fn path(&self) -> &str;
    fn start(&self, wait: Wait, cancel: Option<&Cancel>) -> Pending<Option<Guard>>;
}

impl Terms {
    /// Starts the call.
    ///
    /// # Safety
    /// `cancel` is NULL or a live handle.
    pub(crate) unsafe fn start(&self, asked: &impl Asked) -> Result<Pending<Option<Guard>>> {
        let wait = Wait::from_millis(self.operation, self.timeout_ms)
            .map_err(|error| error.with_path(asked.path()))?;
        // SAFETY: as promised by the caller.
        let cancel = unsafe { Lent::optional(self.cancel) };
        Ok(asked.start(wait, cancel.as_ref().map(|cancel| &cancel.0)))
    }
}

/// Blocks until the lock that `find` names is granted, or not.
///
/// # Safety
/// The pointers are NULL or what their types say.
pub(crate) unsafe fn lock<A: Asked>(
    terms: &Terms,
    guard: *mut *mut zoolock_guard,
    err: *mut *mut zoolock_error,
    find: impl FnOnce() -> Result<A>,
) -> zoolock_status {
    let operation = terms.operation;
    call(operation, err, || {
        // SAFETY: as promised by the caller.
        let place = unsafe { Place::new(operation, "guard", guard) }?;
        let asked = find()?;
        // SAFETY: as above.
        match unsafe { terms.start(&asked) }?.wait()? {
            Some(granted) => {
                place.put(zoolock_guard::new(granted));
                Ok(zoolock_status::ZOOLOCK_OK)
            }
            None => Ok(zoolock_status::ZOOLOCK_NOT_ACQUIRED),
        }
    })
}
