//! A ZooKeeper server inside the program, for development and tests.

use std::ffi::{CString, c_char};

use zoolock_core::Result;
use zoolock_core::testing::Server;

use crate::boundary::{boundary, call};
use crate::error::zoolock_error;
use crate::milliseconds::milliseconds;
use crate::pointer::{self, Lent, Place};
use crate::status::zoolock_status;
use crate::test_server_options::zoolock_test_server_options;
use crate::test_sessions::zoolock_test_sessions;
use crate::text::c_string;

/// A ZooKeeper server inside the program, for development and tests only: it keeps everything in
/// memory, does not replicate, knows no TLS and no SASL, and lets everybody in who reaches its port,
/// by default those on the same machine. Any ZooKeeper client can connect. For any thread.
///
/// No function waits for a client. All but `…_hosts`, `…_stop` and `…_free` are `ZOOLOCK_CLOSED`
/// after `…_stop`, and in a forked child: the server belongs to the process that started it.
///
/// Libraries built without the feature `testing` do not have the `zoolock_test_*` functions.
pub struct zoolock_test_server {
    server: Server,
    hosts: CString,
}

/// The body of the functions that give the server an order.
///
/// # Safety
/// The pointers are NULL or what their types say.
unsafe fn order(
    operation: &'static str,
    server: *const zoolock_test_server,
    err: *mut *mut zoolock_error,
    give: impl FnOnce(&Server) -> Result<()>,
) -> zoolock_status {
    call(operation, err, || {
        // SAFETY: as promised by the caller.
        let server = unsafe { Lent::new(operation, "server", server) }?;
        give(&server.server)?;
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// The same for those that answer something; `answer` may be NULL.
///
/// # Safety
/// The pointers are NULL or what their types say.
unsafe fn ask<T: Default>(
    operation: &'static str,
    server: *const zoolock_test_server,
    answer: *mut T,
    err: *mut *mut zoolock_error,
    give: impl FnOnce(&Server) -> Result<T>,
) -> zoolock_status {
    let write = |value: T| {
        if !answer.is_null() {
            // SAFETY: not NULL, hence writable.
            unsafe { answer.write(value) };
        }
    };
    write(T::default());
    // SAFETY: as promised by the caller.
    unsafe { order(operation, server, err, |server| give(server).map(write)) }
}

/// Starts a server. `options` may be NULL for the defaults. Clients can connect when it returns, some
/// milliseconds later. `*server` is the caller's to free.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`; `ZOOLOCK_UNAVAILABLE` if the address or port cannot be bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_start(
    options: *const zoolock_test_server_options,
    server: *mut *mut zoolock_test_server,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("start", err, || {
        // SAFETY: the caller vouches for its pointers.
        let place = unsafe { Place::new("start", "server", server) }?;
        // SAFETY: as above.
        let server = match unsafe { Lent::optional(options) } {
            Some(options) => options.start()?,
            None => Server::start()?,
        };
        let hosts = c_string(&server.hosts());
        place.put(zoolock_test_server { server, hosts });
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// The connect string, for `zoolock_session_connect`. Lives as long as the handle. NULL if `server`
/// is NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_hosts(
    server: *const zoolock_test_server,
) -> *const c_char {
    boundary("hosts", || {
        // SAFETY: as above.
        let server = unsafe { Lent::new("hosts", "server", server) }?;
        Ok(server.get().hosts.as_ptr())
    })
    .unwrap_or(std::ptr::null())
}

/// The sessions that have not ended. `*sessions` is the caller's to free.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_sessions(
    server: *const zoolock_test_server,
    sessions: *mut *mut zoolock_test_sessions,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    call("sessions", err, || {
        // SAFETY: as above.
        let place = unsafe { Place::new("sessions", "sessions", sessions) }?;
        // SAFETY: as above.
        let server = unsafe { Lent::new("sessions", "server", server) }?;
        place.put(zoolock_test_sessions::new(&server.server.sessions()?));
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

/// Ends a session at once, as if it had been silent for its timeout: its locks are free, and its
/// connection ends. `*found` is whether there was such a session; `found` may be NULL.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_expire_session(
    server: *const zoolock_test_server,
    session_id: i64,
    found: *mut bool,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        ask("expire_session", server, found, err, |server| {
            server.expire_session(session_id)
        })
    }
}

/// Ends all sessions. `*count` is how many there were; `count` may be NULL.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_expire_all(
    server: *const zoolock_test_server,
    count: *mut usize,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { ask("expire_all", server, count, err, Server::expire_all) }
}

/// Ends the connection of a session. The session stays, and its client may come back at once.
/// `*found` is whether it had one; `found` may be NULL.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_cut_session(
    server: *const zoolock_test_server,
    session_id: i64,
    found: *mut bool,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        ask("cut_session", server, found, err, |server| {
            server.cut_session(session_id)
        })
    }
}

/// Ends all connections. Sessions stay, and clients may come back at once. `*count` is how many
/// connections there were; `count` may be NULL.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_cut_all(
    server: *const zoolock_test_server,
    count: *mut usize,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { ask("cut_all", server, count, err, Server::cut_all) }
}

/// Cuts a session off: nothing that its client sends is read, nothing is answered, and connections
/// stay open, later ones too. The session's time runs on, so that it expires. `*found` is whether
/// there is such a session; `found` may be NULL.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_freeze_session(
    server: *const zoolock_test_server,
    session_id: i64,
    found: *mut bool,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        ask("freeze_session", server, found, err, |server| {
            server.freeze_session(session_id)
        })
    }
}

/// Ends `zoolock_test_server_freeze_session`; what was kept back goes through. `*found` is whether
/// the session was frozen by that; `found` may be NULL.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_thaw_session(
    server: *const zoolock_test_server,
    session_id: i64,
    found: *mut bool,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        ask("thaw_session", server, found, err, |server| {
            server.thaw_session(session_id)
        })
    }
}

/// Cuts every client off, later ones too: nothing is read and nothing answered, with connections
/// open. Sessions' time runs on.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_freeze_all(
    server: *const zoolock_test_server,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { order("freeze_all", server, err, Server::freeze_all) }
}

/// Ends `zoolock_test_server_freeze_all` and every `…_freeze_session`; what was kept back goes
/// through.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_thaw_all(
    server: *const zoolock_test_server,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe { order("thaw_all", server, err, Server::thaw_all) }
}

/// Holds back every answer and event from now on for so many milliseconds, at most an hour; 0 ends
/// that.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_delay_answers(
    server: *const zoolock_test_server,
    delay_ms: i64,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        order("delay_answers", server, err, |server| {
            server.delay_answers(milliseconds("delay_answers", "delay_ms", delay_ms)?)
        })
    }
}

/// Closes the port: new connections are refused. Open ones stay.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_refuse_connections(
    server: *const zoolock_test_server,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        order(
            "refuse_connections",
            server,
            err,
            Server::refuse_connections,
        )
    }
}

/// Opens the port again: clients can connect when it returns.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`, `ZOOLOCK_CLOSED`; `ZOOLOCK_UNAVAILABLE` if the system has no
/// descriptor left for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_accept_connections(
    server: *const zoolock_test_server,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        order(
            "accept_connections",
            server,
            err,
            Server::accept_connections,
        )
    }
}

/// Ends all connections, frees the port, and returns when the server's threads have ended: some
/// milliseconds. Sessions and data are gone then. Stopping again, or in a forked child, does nothing
/// and is `ZOOLOCK_OK`. The handle has to be freed all the same.
///
/// Errors: `ZOOLOCK_INVALID_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_stop(
    server: *const zoolock_test_server,
    err: *mut *mut zoolock_error,
) -> zoolock_status {
    // SAFETY: as above.
    unsafe {
        order("stop", server, err, |server| {
            server.stop();
            Ok(())
        })
    }
}

/// Stops the server, if it runs, and frees the handle. In a forked child it only frees the handle.
/// NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_server_free(server: *mut zoolock_test_server) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(server) }
}
