//! Who queues on a lock path.

/// A contender as the server shows it: holder or waiter, of this library or another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contender {
    /// Its node, without the session's chroot.
    pub node_path: String,
    /// The number that the server gave it.
    pub sequence: i64,
    /// The node's data as text: zoolock writes the holder's identity there.
    pub identity: String,
    /// The session that owns the node.
    pub session_id: i64,
    /// Whether the lock is its own by the order of the queue.
    pub holds: bool,
}
