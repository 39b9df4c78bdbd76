//! The session handle.

use std::ffi::{c_char, c_void};

use zoolock_core::{Result, Session, SessionBuilder, Wait};

use crate::boundary::{boundary, call};
use crate::callback::{Callback, Freed, zoolock_free_callback, zoolock_state_callback};
use crate::error::zoolock_error;
use crate::pointer::{self, Lent, Place};
use crate::session_options::zoolock_session_options;
use crate::state::zoolock_session_state_t;
use crate::status::zoolock_status;
use crate::text::text;

/// A handle on a session with a ZooKeeper ensemble. Handles with the same servers and options share
/// one ZooKeeper session (R16). For any thread. In a forked child it opens a session of the child's
/// own on first use (R18).
pub struct zoolock_session(Session);

/// The session inside.
///
/// # Safety
/// `session` is NULL or a live handle that outlives `'a`.
pub(crate) unsafe fn inner<'a>(
    operation: &'static str,
    session: *const zoolock_session,
) -> Result<&'a Session> {
    // SAFETY: as promised by the caller.
    unsafe { Lent::new(operation, "session", session) }.map(|session| &session.get().0)
}

/// Connects to `hosts`, ZooKeeper's `host:port,host:port/chroot`. If `hosts` is NULL, they come from
/// the environment variable `ZOOLOCK_HOSTS`, else it is `127.0.0.1:2181`. `options` may be NULL for
/// the defaults.
///
/// Blocks until connected, at most for the connect timeout. `*session` is the caller's to free.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT` before anything is sent (R20), `ZOOLOCK_UNAVAILABLE` at the
/// connect timeout or when the retries are used up, `ZOOLOCK_AUTH_FAILED` at once,
/// `ZOOLOCK_UNSUPPORTED` for a server older than 3.5.5.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_connect(
    hosts: *const c_char,
    options: *const zoolock_session_options,
    session: *mut *mut zoolock_session,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("connect", err, || {
        // SAFETY: the caller vouches for its pointers.
        let place = unsafe { Place::new("connect", "session", session) }?;
        // SAFETY: as above.
        let builder = match unsafe { Lent::optional(options) } {
            Some(options) => options.builder()?,
            None => SessionBuilder::default(),
        };
        let connecting = if hosts.is_null() {
            builder.connect_default()
        } else {
            // SAFETY: as above.
            builder.connect(unsafe { text("connect", "hosts", hosts) }?)
        };
        place.put(zoolock_session(connecting.wait()?));
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Closes the session (R17): its guards are lost and told so, its waiting calls end with
/// `ZOOLOCK_CLOSED`, its contenders are freed. Blocks at most `timeout_ms`, -1 being the default of
/// 5000; the freeing goes on in the background. Closing again is `ZOOLOCK_OK`. The handle has to be
/// freed all the same.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`; the session is open still then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_close(
    session: *const zoolock_session,
    timeout_ms: i64,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("close", err, || {
        // SAFETY: as above.
        let session = unsafe { inner("close", session) }?;
        let closing = match Wait::from_millis("close", timeout_ms)? {
            Wait::Forever => session.close(),
            Wait::Try => session.close_timeout(std::time::Duration::ZERO),
            Wait::UpTo(timeout) => session.close_timeout(timeout),
        };
        closing.wait()?;
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Frees the handle. A session that was not closed closes in the background once its last lock and
/// guard is freed too. NULL is ignored. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_free(session: *mut zoolock_session) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(session) }
}

/// The state at this moment; `ZOOLOCK_SESSION_STATE_INVALID` if `session` is NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_state(
    session: *const zoolock_session,
) -> zoolock_session_state_t {
    // SAFETY: as above.
    boundary("state", || {
        Ok(unsafe { inner("state", session) }?.state().into())
    })
    .unwrap_or(zoolock_session_state_t::ZOOLOCK_SESSION_STATE_INVALID)
}

/// The id that the ensemble knows the session by; 0 before the first connect, or if `session` is
/// NULL. Changes when a new session follows an expired one. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_id(session: *const zoolock_session) -> i64 {
    // SAFETY: as above.
    boundary("id", || Ok(unsafe { inner("id", session) }?.session_id())).unwrap_or(0)
}

/// The session timeout that the ensemble has granted, in milliseconds; 0 before the first connect,
/// or if `session` is NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_negotiated_timeout_ms(
    session: *const zoolock_session,
) -> i64 {
    boundary("negotiated_timeout", || {
        // SAFETY: as above.
        let timeout = unsafe { inner("negotiated_timeout", session) }?.negotiated_timeout();
        Ok(i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX))
    })
    .unwrap_or(0)
}

/// Calls `callback` with every change of state from now on; may be called several times.
/// `userdata` has to live until `ZOOLOCK_SESSION_STATE_CLOSED`, which comes last, was told. Never blocks.
///
/// Errors: `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_on_state(
    session: *const zoolock_session,
    callback: zoolock_state_callback,
    userdata: *mut c_void,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("on_state", err, || {
        // SAFETY: as above.
        let session = unsafe { inner("on_state", session) }?;
        let callback = Callback::new("on_state", callback, userdata)?;
        session.on_state(move |state| callback.call(state.into()))?;
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// `zoolock_session_on_state` for a `userdata` that is to be freed: `free_userdata` is called once,
/// after `ZOOLOCK_SESSION_STATE_CLOSED` was told, and also if this fails. It may be NULL. Never blocks.
///
/// Errors: `ZOOLOCK_CLOSED`, `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_session_on_state_and_free(
    session: *const zoolock_session,
    callback: zoolock_state_callback,
    userdata: *mut c_void,
    free_userdata: zoolock_free_callback,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("on_state", err, || {
        let freed = Freed::new(free_userdata, userdata);
        // SAFETY: as above.
        let session = unsafe { inner("on_state", session) }?;
        let callback = Callback::new("on_state", callback, userdata)?;
        session.on_state(move |state| {
            // Part of the callback, to go when it goes.
            let _part = &freed;
            callback.call(state.into());
        })?;
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}
