//! What a server tells about a node.

/// The `Stat` of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Stat {
    pub czxid: i64,
    pub mzxid: i64,
    /// Milliseconds since 1970.
    pub ctime: i64,
    pub mtime: i64,
    pub version: i32,
    /// Creations and deletions of children: unlike the counter behind sequential names, which counts creations only.
    pub cversion: i32,
    pub aversion: i32,
    /// The session of an ephemeral node, else 0.
    pub ephemeral_owner: i64,
    pub data_length: i32,
    pub num_children: i32,
    pub pzxid: i64,
}
