//! States of sessions and guards.

use zoolock_core::{GuardState, SessionState};

/// State of a session (R16). Values are append-only.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum zoolock_session_state_t {
    /// Not a state: the session given was NULL.
    ZOOLOCK_SESSION_STATE_INVALID = -1,
    /// No ZooKeeper session yet: the first connect, or one after an expiry.
    ZOOLOCK_SESSION_STATE_CONNECTING = 0,
    /// Connected to a server.
    ZOOLOCK_SESSION_STATE_CONNECTED = 1,
    /// The connection is lost; the ZooKeeper session may live on and is being moved to another
    /// server.
    ZOOLOCK_SESSION_STATE_SUSPENDED = 2,
    /// The ZooKeeper session is over; a new one is being started.
    ZOOLOCK_SESSION_STATE_EXPIRED = 3,
    /// The handle is closed. Final.
    ZOOLOCK_SESSION_STATE_CLOSED = 4,
}

/// State of a guard (R4). Values are append-only.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum zoolock_guard_state_t {
    /// Not a state: the guard given was NULL.
    ZOOLOCK_GUARD_STATE_INVALID = -1,
    /// Held.
    ZOOLOCK_GUARD_STATE_HELD = 0,
    /// Held, but the connection is in doubt; the lease still runs.
    ZOOLOCK_GUARD_STATE_SUSPENDED = 1,
    /// Lost. Final.
    ZOOLOCK_GUARD_STATE_LOST = 2,
    /// Released. Final.
    ZOOLOCK_GUARD_STATE_RELEASED = 3,
}

impl From<SessionState> for zoolock_session_state_t {
    fn from(state: SessionState) -> Self {
        match state {
            SessionState::Connecting => zoolock_session_state_t::ZOOLOCK_SESSION_STATE_CONNECTING,
            SessionState::Connected => zoolock_session_state_t::ZOOLOCK_SESSION_STATE_CONNECTED,
            SessionState::Suspended => zoolock_session_state_t::ZOOLOCK_SESSION_STATE_SUSPENDED,
            SessionState::Expired => zoolock_session_state_t::ZOOLOCK_SESSION_STATE_EXPIRED,
            SessionState::Closed => zoolock_session_state_t::ZOOLOCK_SESSION_STATE_CLOSED,
            _ => zoolock_session_state_t::ZOOLOCK_SESSION_STATE_INVALID,
        }
    }
}

impl From<GuardState> for zoolock_guard_state_t {
    fn from(state: GuardState) -> Self {
        match state {
            GuardState::Held => zoolock_guard_state_t::ZOOLOCK_GUARD_STATE_HELD,
            GuardState::Suspended => zoolock_guard_state_t::ZOOLOCK_GUARD_STATE_SUSPENDED,
            GuardState::Lost => zoolock_guard_state_t::ZOOLOCK_GUARD_STATE_LOST,
            GuardState::Released => zoolock_guard_state_t::ZOOLOCK_GUARD_STATE_RELEASED,
            _ => zoolock_guard_state_t::ZOOLOCK_GUARD_STATE_INVALID,
        }
    }
}
