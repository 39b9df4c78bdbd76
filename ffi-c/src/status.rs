//! What a call answers.

use std::ffi::{CStr, c_char};

use zoolock_core::ErrorKind;

use crate::boundary::boundary;

/// What a call answers. 0 is success; a positive status is an error, which `*err` describes; a
/// negative one is an answer other than success, and `*err` is untouched. Values are append-only.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum zoolock_status {
    /// Somebody else is before us: the answer to a try. Not an error.
    ZOOLOCK_NOT_ACQUIRED = -1,
    /// Success.
    ZOOLOCK_OK = 0,
    /// An argument is malformed, or NULL (R20). The message names it. Fix the call; nothing was
    /// sent.
    ZOOLOCK_INVALID_ARGUMENT = 1,
    /// No server could be reached in time. Try again later, or raise the connect timeout.
    ZOOLOCK_UNAVAILABLE = 2,
    /// The lock was not granted within the time given. Give up, or try later. Somebody else holds
    /// it, or no server could be reached in that time: `zoolock_error_cause` tells the two apart.
    ZOOLOCK_TIMEOUT = 3,
    /// The caller cancelled the call. No contender is left behind (R5).
    ZOOLOCK_CANCELLED = 4,
    /// The lock was held and is no longer. Stop the protected work; somebody else may be in it.
    ZOOLOCK_LOCK_LOST = 5,
    /// The caller does not hold what it tries to release (R10). A bug in the caller.
    ZOOLOCK_NOT_HELD = 6,
    /// The owner of a read lock asked for the write lock (R12). Release the read lock first.
    ZOOLOCK_WOULD_DEADLOCK = 7,
    /// The path's 32-bit sequence is used up (R14). Let the path empty, or use another.
    ZOOLOCK_SEQUENCE_EXHAUSTED = 8,
    /// The server denies it: the message names the path and the missing right (R20).
    ZOOLOCK_NO_AUTH = 9,
    /// The server does not accept the credentials. Trying again does not help.
    ZOOLOCK_AUTH_FAILED = 10,
    /// The session ended before the call could finish.
    ZOOLOCK_SESSION_EXPIRED = 11,
    /// The session handle is closed. Open another one.
    ZOOLOCK_CLOSED = 12,
    /// The server, or this build, does not offer what was asked for.
    ZOOLOCK_UNSUPPORTED = 13,
    /// Something that should not happen; please report it with its message.
    ZOOLOCK_INTERNAL = 14,
}

use zoolock_status::*;

impl zoolock_status {
    pub(crate) const fn of(kind: ErrorKind) -> zoolock_status {
        match kind {
            ErrorKind::InvalidArgument => ZOOLOCK_INVALID_ARGUMENT,
            ErrorKind::Unavailable => ZOOLOCK_UNAVAILABLE,
            ErrorKind::Timeout => ZOOLOCK_TIMEOUT,
            ErrorKind::Cancelled => ZOOLOCK_CANCELLED,
            ErrorKind::LockLost => ZOOLOCK_LOCK_LOST,
            ErrorKind::NotHeld => ZOOLOCK_NOT_HELD,
            ErrorKind::WouldDeadlock => ZOOLOCK_WOULD_DEADLOCK,
            ErrorKind::SequenceExhausted => ZOOLOCK_SEQUENCE_EXHAUSTED,
            ErrorKind::NoAuth => ZOOLOCK_NO_AUTH,
            ErrorKind::AuthFailed => ZOOLOCK_AUTH_FAILED,
            ErrorKind::SessionExpired => ZOOLOCK_SESSION_EXPIRED,
            ErrorKind::Closed => ZOOLOCK_CLOSED,
            ErrorKind::Unsupported => ZOOLOCK_UNSUPPORTED,
            _ => ZOOLOCK_INTERNAL,
        }
    }
}

const fn name(status: i32) -> Option<&'static CStr> {
    Some(match status {
        -1 => c"ZOOLOCK_NOT_ACQUIRED",
        0 => c"ZOOLOCK_OK",
        1 => c"ZOOLOCK_INVALID_ARGUMENT",
        2 => c"ZOOLOCK_UNAVAILABLE",
        3 => c"ZOOLOCK_TIMEOUT",
        4 => c"ZOOLOCK_CANCELLED",
        5 => c"ZOOLOCK_LOCK_LOST",
        6 => c"ZOOLOCK_NOT_HELD",
        7 => c"ZOOLOCK_WOULD_DEADLOCK",
        8 => c"ZOOLOCK_SEQUENCE_EXHAUSTED",
        9 => c"ZOOLOCK_NO_AUTH",
        10 => c"ZOOLOCK_AUTH_FAILED",
        11 => c"ZOOLOCK_SESSION_EXPIRED",
        12 => c"ZOOLOCK_CLOSED",
        13 => c"ZOOLOCK_UNSUPPORTED",
        14 => c"ZOOLOCK_INTERNAL",
        _ => return None,
    })
}

/// The name of a status, such as `"ZOOLOCK_TIMEOUT"`; `"unknown"` for a number that is none. The
/// text lives as long as the program. Never blocks.
#[unsafe(no_mangle)]
pub extern "C" fn zoolock_status_name(status: i32) -> *const c_char {
    boundary("status_name", || Ok(name(status)))
        .ok()
        .flatten()
        .unwrap_or(c"unknown")
        .as_ptr()
}

// A kind that the core gains, and this list does not, must not compile.
const _: () = {
    let mut index = 0;
    while index < ErrorKind::ALL.len() {
        let kind = ErrorKind::ALL[index];
        let status = zoolock_status::of(kind) as i32;
        assert!(
            status == kind.code(),
            "a status differs from its kind's code"
        );
        match name(status) {
            Some(name) => assert!(is_named(name.to_bytes(), kind.name().as_bytes())),
            None => panic!("a status has no name"),
        }
        index += 1;
    }
};

const fn is_named(name: &[u8], kind: &[u8]) -> bool {
    let prefix = b"ZOOLOCK_";
    if name.len() != prefix.len() + kind.len() {
        return false;
    }
    let mut index = 0;
    while index < name.len() {
        let expected = if index < prefix.len() {
            prefix[index]
        } else {
            kind[index - prefix.len()]
        };
        if name[index] != expected {
            return false;
        }
        index += 1;
    }
    true
}
