//! Callbacks of the application, with the pointer that belongs to each.

use std::ffi::c_void;

use zoolock_core::{Error, Guard, Result, binding};

use crate::error::zoolock_error;
use crate::guard::zoolock_guard;
use crate::pointer::{hand_out, null};
use crate::state::zoolock_session_state_t;
use crate::status::zoolock_status;

// "C-unwind": a C++ exception that a callback lets out ends the program with a message instead of
// being undefined.

/// Gets the outcome of an asynchronous call for a lock, on the callback thread.
///
/// `guard` is not NULL if and only if `status` is `ZOOLOCK_OK`; it is the callback's to free. `err`
/// is not NULL if and only if `status` is positive; it lives until the callback returns. Must not
/// throw, and should not block: it delays every other callback, but no lock.
pub type zoolock_lock_callback = Option<
    unsafe extern "C-unwind" fn(
        status: zoolock_status,
        guard: *mut zoolock_guard,
        err: *const zoolock_error,
        userdata: *mut c_void,
    ),
>;

/// Gets told, on the callback thread, that a lock is lost. Must not throw, and should not block.
pub type zoolock_lost_callback = Option<unsafe extern "C-unwind" fn(userdata: *mut c_void)>;

/// Gets every change of a session's state, in order, on the callback thread. Must not throw, and
/// should not block.
pub type zoolock_state_callback =
    Option<unsafe extern "C-unwind" fn(state: zoolock_session_state_t, userdata: *mut c_void)>;

/// Frees what `userdata` points to. Called once, on the callback thread, when the callback that it
/// belongs to will not be called any more; never in a forked child. Must not throw.
pub type zoolock_free_callback = Option<unsafe extern "C-unwind" fn(userdata: *mut c_void)>;

/// The application's pointer. What is behind it, and which threads may use it, is its affair.
#[derive(Clone, Copy)]
pub(crate) struct Userdata(pub(crate) *mut c_void);

// SAFETY: only ever handed back to the application, which was told on which thread that happens.
unsafe impl Send for Userdata {}
// SAFETY: as above.
unsafe impl Sync for Userdata {}

/// Frees a callback's userdata when it is dropped, together with the callback.
pub(crate) struct Freed {
    free: unsafe extern "C-unwind" fn(*mut c_void),
    userdata: Userdata,
    // A child has copies of what its parent frees (R18).
    process: u64,
}

impl Freed {
    /// None if the application frees it itself.
    pub(crate) fn new(free: zoolock_free_callback, userdata: *mut c_void) -> Option<Freed> {
        free.map(|free| Freed {
            free,
            userdata: Userdata(userdata),
            process: binding::process(),
        })
    }
}

impl Drop for Freed {
    fn drop(&mut self) {
        if binding::process() != self.process {
            return;
        }
        let (free, userdata) = (self.free, self.userdata);
        // Often the network thread drops it, where the application's code may not run.
        binding::post_callback(move || {
            // Whole, and not its field: the pointer alone cannot be sent.
            let userdata = userdata;
            // SAFETY: the application gave both for each other, and this is the only call.
            unsafe { free(userdata.0) }
        });
    }
}

/// A callback and its pointer.
#[derive(Clone, Copy)]
pub(crate) struct Callback<F> {
    function: F,
    userdata: Userdata,
}

impl<F> Callback<F> {
    pub(crate) fn new(
        operation: &'static str,
        function: Option<F>,
        userdata: *mut c_void,
    ) -> Result<Callback<F>> {
        Ok(Callback {
            function: function.ok_or_else(|| null(operation, "callback"))?,
            userdata: Userdata(userdata),
        })
    }
}

pub(crate) type LockCallback = Callback<
    unsafe extern "C-unwind" fn(
        zoolock_status,
        *mut zoolock_guard,
        *const zoolock_error,
        *mut c_void,
    ),
>;
pub(crate) type LostCallback = Callback<unsafe extern "C-unwind" fn(*mut c_void)>;
pub(crate) type StateCallback =
    Callback<unsafe extern "C-unwind" fn(zoolock_session_state_t, *mut c_void)>;

impl LockCallback {
    pub(crate) fn granted(self, guard: Guard) {
        let guard = hand_out(zoolock_guard::new(guard));
        self.call(zoolock_status::ZOOLOCK_OK, guard, std::ptr::null());
    }

    pub(crate) fn busy(self) {
        self.call(
            zoolock_status::ZOOLOCK_NOT_ACQUIRED,
            std::ptr::null_mut(),
            std::ptr::null(),
        );
    }

    pub(crate) fn failed(self, error: &Error) {
        let error = zoolock_error::new(error);
        self.call(error.status(), std::ptr::null_mut(), &raw const error);
    }

    fn call(self, status: zoolock_status, guard: *mut zoolock_guard, err: *const zoolock_error) {
        // SAFETY: the application gave the function with this signature and this pointer.
        unsafe { (self.function)(status, guard, err, self.userdata.0) }
    }
}

impl LostCallback {
    pub(crate) fn call(self) {
        // SAFETY: as above.
        unsafe { (self.function)(self.userdata.0) }
    }
}

impl StateCallback {
    pub(crate) fn call(self, state: zoolock_session_state_t) {
        // SAFETY: as above.
        unsafe { (self.function)(state, self.userdata.0) }
    }
}
