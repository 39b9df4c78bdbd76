//! The sessions of a test server.

use std::ffi::{CString, c_char};

use zoolock_core::testing::ServerSession;

use crate::boundary::boundary;
use crate::pointer::{self, Lent};
use crate::text::c_string;

/// A session that a test server has. Everything in it lives as long as the list.
#[repr(C)]
pub struct zoolock_test_session {
    /// Its id, as `zoolock_session_id` tells it.
    id: i64,
    /// The session timeout, as negotiated.
    timeout_ms: i64,
    /// Whether it has an open connection.
    connected: bool,
    /// The paths of its ephemeral nodes, sorted.
    ephemerals: *const *const c_char,
    /// How many there are.
    ephemeral_count: usize,
}

/// A list of sessions, sorted by id. For any thread.
pub struct zoolock_test_sessions {
    rows: Vec<zoolock_test_session>,
    _paths: Vec<Paths>,
}

struct Paths {
    pointers: Vec<*const c_char>,
    _texts: Vec<CString>,
}

impl Paths {
    fn new(paths: &[String]) -> Paths {
        let texts: Vec<CString> = paths.iter().map(|path| c_string(path)).collect();
        Paths {
            // A string's bytes stay where they are when the string itself moves.
            pointers: texts.iter().map(|text| text.as_ptr()).collect(),
            _texts: texts,
        }
    }
}

impl zoolock_test_sessions {
    pub(crate) fn new(sessions: &[ServerSession]) -> zoolock_test_sessions {
        let row = |session: &ServerSession| {
            let paths = Paths::new(&session.ephemerals);
            let row = zoolock_test_session {
                id: session.id,
                timeout_ms: i64::try_from(session.timeout.as_millis()).unwrap_or(i64::MAX),
                connected: session.connected,
                ephemerals: paths.pointers.as_ptr(),
                ephemeral_count: paths.pointers.len(),
            };
            (row, paths)
        };
        let (rows, paths) = sessions.iter().map(row).unzip();
        zoolock_test_sessions {
            rows,
            _paths: paths,
        }
    }
}

/// How many there are; 0 if `sessions` is NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_sessions_count(
    sessions: *const zoolock_test_sessions,
) -> usize {
    // SAFETY: the caller vouches for its handles.
    boundary("test_sessions_count", || {
        Ok(unsafe { Lent::optional(sessions) }.map_or(0, |sessions| sessions.rows.len()))
    })
    .unwrap_or(0)
}

/// The session at `index`, counted from 0; it lives as long as the list. NULL if there is none, or
/// `sessions` is NULL. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_sessions_get(
    sessions: *const zoolock_test_sessions,
    index: usize,
) -> *const zoolock_test_session {
    boundary("test_sessions_get", || {
        // SAFETY: as above.
        let sessions = unsafe { Lent::new("test_sessions_get", "sessions", sessions) }?;
        Ok(sessions.get().rows.get(index).map(std::ptr::from_ref))
    })
    .ok()
    .flatten()
    .unwrap_or(std::ptr::null())
}

/// Frees a list. NULL is ignored. Never blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zoolock_test_sessions_free(sessions: *mut zoolock_test_sessions) {
    // SAFETY: the caller vouches for its handles.
    unsafe { pointer::free(sessions) }
}
