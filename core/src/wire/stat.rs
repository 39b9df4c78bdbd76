//! What a server knows about a znode.

use super::codec::{Reader, WireError};

/// ZooKeeper's `Stat`, field by field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    /// The transaction that created the node: the fencing token (Z9).
    pub(crate) czxid: i64,
    pub(crate) mzxid: i64,
    /// Milliseconds since 1970, by the leader's clock.
    pub(crate) ctime: i64,
    pub(crate) mtime: i64,
    pub(crate) version: i32,
    pub(crate) cversion: i32,
    pub(crate) aversion: i32,
    /// The session that the node lives with; 0 for a node that is not ephemeral.
    pub(crate) ephemeral_owner: i64,
    pub(crate) data_length: i32,
    pub(crate) num_children: i32,
    pub(crate) pzxid: i64,
}

impl Stat {
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(Stat {
            czxid: reader.i64()?,
            mzxid: reader.i64()?,
            ctime: reader.i64()?,
            mtime: reader.i64()?,
            version: reader.i32()?,
            cversion: reader.i32()?,
            aversion: reader.i32()?,
            ephemeral_owner: reader.i64()?,
            data_length: reader.i32()?,
            num_children: reader.i32()?,
            pzxid: reader.i64()?,
        })
    }
}
