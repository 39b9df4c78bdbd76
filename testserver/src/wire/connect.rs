//! The handshake that opens a connection.

use super::reader::{Reader, Result};
use super::writer::Writer;

pub(crate) struct ConnectRequest {
    pub(crate) last_zxid: i64,
    pub(crate) timeout_ms: i32,
    /// 0 for a new session.
    pub(crate) session: i64,
    pub(crate) password: Vec<u8>,
    /// Whether reading alone will do. Old clients do not say, and must not be told.
    pub(crate) read_only: Option<bool>,
}

impl ConnectRequest {
    pub(crate) fn decode(frame: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(frame);
        let _protocol_version = reader.i32()?;
        Ok(ConnectRequest {
            last_zxid: reader.i64()?,
            timeout_ms: reader.i32()?,
            session: reader.i64()?,
            password: reader.buffer()?.unwrap_or_default().to_vec(),
            read_only: reader.bool().ok(),
        })
    }
}

/// A timeout of 0 says that the session is over, or that its password is wrong.
pub(crate) fn response(
    timeout_ms: i32,
    session: i64,
    password: &[u8],
    read_only: Option<bool>,
) -> Vec<u8> {
    let mut writer = Writer::frame();
    writer
        .i32(0)
        .i32(timeout_ms)
        .i64(session)
        .buffer(Some(password));
    if let Some(read_only) = read_only {
        writer.bool(read_only);
    }
    writer.finish()
}
