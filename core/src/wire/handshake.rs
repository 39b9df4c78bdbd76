//! Opening and resuming a session: the one exchange without xids.

use std::fmt;

use super::codec::{Reader, WireError, Writer};

/// What proves to a server that a session is ours. Shows itself in no log (R19).
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionPassword(Vec<u8>);

impl SessionPassword {
    /// What a client sends that has no session yet.
    pub(crate) fn none() -> Self {
        SessionPassword(vec![0; 16])
    }
}

impl fmt::Debug for SessionPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// The first message of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConnectRequest {
    /// A server that has not seen this transaction yet closes the connection (Z14).
    pub(crate) last_zxid_seen: i64,
    pub(crate) timeout_ms: i32,
    /// 0 opens a new session.
    pub(crate) session_id: i64,
    pub(crate) password: SessionPassword,
}

impl ConnectRequest {
    /// The whole frame. Never asks for a read-only server: that one cannot lock.
    pub(crate) fn encode(&self) -> Vec<u8> {
        const PROTOCOL_VERSION: i32 = 0;
        let mut writer = Writer::frame();
        writer
            .i32(PROTOCOL_VERSION)
            .i64(self.last_zxid_seen)
            .i32(self.timeout_ms)
            .i64(self.session_id)
            .buffer(&self.password.0)
            .bool(false);
        writer.finish()
    }
}

/// The answer to [`ConnectRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConnectResponse {
    /// The timeout that the server grants.
    pub(crate) timeout_ms: i32,
    pub(crate) session_id: i64,
    pub(crate) password: SessionPassword,
    /// Lacking in answers of servers whose protocol is older than the read-only mode.
    pub(crate) read_only: Option<bool>,
}

impl ConnectResponse {
    pub(crate) fn decode(frame: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(frame);
        let _protocol_version = reader.i32()?;
        Ok(ConnectResponse {
            timeout_ms: reader.i32()?,
            session_id: reader.i64()?,
            password: SessionPassword(reader.buffer()?.to_vec()),
            read_only: reader.bool().ok(),
        })
    }

    /// Whether the session that we asked for has expired, or never was ours: the server does not say which (Z14).
    pub(crate) fn session_is_over(&self) -> bool {
        self.timeout_ms <= 0
    }
}
