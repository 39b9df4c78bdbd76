//! What we ask a server.

use std::fmt;
use std::sync::Arc;

use super::acl::Acl;
use super::codec::Writer;

/// The xid of a watch event; no request has it.
pub(crate) const NOTIFICATION_XID: i32 = -1;
pub(crate) const PING_XID: i32 = -2;
pub(crate) const AUTH_XID: i32 = -4;
pub(crate) const SET_WATCHES_XID: i32 = -8;

/// The largest `setWatches` frame sent. A server closes a connection on any frame over its buffer limit, often 1 MiB,
/// and would do so after every reconnect (Z7).
pub(crate) const SET_WATCHES_FRAME: usize = 128 * 1024;

/// About what an entry of an access control list takes.
const USUAL_ACL: usize = 32;

/// The operations that we use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    Create2,
    CreateContainer,
    Delete,
    GetData,
    GetChildren2,
    Sync,
    Multi,
    SetWatches,
    RemoveWatches,
    Auth,
    Ping,
    CloseSession,
}

impl Operation {
    pub(crate) fn code(self) -> i32 {
        match self {
            Operation::Delete => 2,
            Operation::GetData => 4,
            Operation::Sync => 9,
            Operation::Ping => 11,
            Operation::GetChildren2 => 12,
            Operation::Multi => 14,
            Operation::Create2 => 15,
            Operation::RemoveWatches => 18,
            Operation::CreateContainer => 19,
            Operation::Auth => 100,
            Operation::SetWatches => 101,
            Operation::CloseSession => -11,
        }
    }

    /// Whether a reply can prove that the leader knew our session (R3). Pings and reads are answered by a follower
    /// that has lost its leader (Z2).
    pub(crate) fn is_confirming(self) -> bool {
        matches!(
            self,
            Operation::Create2
                | Operation::CreateContainer
                | Operation::Delete
                | Operation::Sync
                | Operation::Multi
        )
    }

    /// The reserved xid of an operation that has one; all others are numbered by the session.
    pub(crate) fn reserved_xid(self) -> Option<i32> {
        match self {
            Operation::Ping => Some(PING_XID),
            Operation::Auth => Some(AUTH_XID),
            Operation::SetWatches => Some(SET_WATCHES_XID),
            _ => None,
        }
    }
}

/// The flags of a create. Containers have a request of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CreateMode {
    Persistent = 0,
    Ephemeral = 1,
    EphemeralSequential = 3,
}

const CONTAINER_FLAGS: i32 = 4;

/// The watcher type of `removeWatches`; the data watch is the only one that we set.
const DATA_WATCHER: i32 = 2;

/// The operation code of a check, which exists only inside a transaction.
pub(super) const CHECK: i32 = 13;

/// Ends the list of a transaction's parts, in requests and replies.
pub(super) const MULTI_END: i32 = -1;

/// One request, with everything but its xid.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Request {
    Create2 {
        path: String,
        data: Vec<u8>,
        acl: Arc<[Acl]>,
        mode: CreateMode,
    },
    CreateContainer {
        path: String,
        data: Vec<u8>,
        acl: Arc<[Acl]>,
    },
    Delete {
        path: String,
        /// -1 for any.
        version: i32,
    },
    GetData {
        path: String,
        watch: bool,
    },
    GetChildren2 {
        path: String,
        watch: bool,
    },
    Sync {
        path: String,
    },
    Multi(Vec<MultiOperation>),
    SetWatches {
        /// Watches on nodes that have changed since this transaction fire at once.
        relative_zxid: i64,
        data_paths: Vec<String>,
    },
    RemoveDataWatches {
        path: String,
    },
    Auth {
        scheme: String,
        credentials: Vec<u8>,
    },
    Ping,
    CloseSession,
}

/// One part of a transaction.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum MultiOperation {
    Check {
        path: String,
        version: i32,
    },
    Create {
        path: String,
        data: Vec<u8>,
        acl: Arc<[Acl]>,
        mode: CreateMode,
    },
}

impl Request {
    pub(crate) fn operation(&self) -> Operation {
        match self {
            Request::Create2 { .. } => Operation::Create2,
            Request::CreateContainer { .. } => Operation::CreateContainer,
            Request::Delete { .. } => Operation::Delete,
            Request::GetData { .. } => Operation::GetData,
            Request::GetChildren2 { .. } => Operation::GetChildren2,
            Request::Sync { .. } => Operation::Sync,
            Request::Multi(_) => Operation::Multi,
            Request::SetWatches { .. } => Operation::SetWatches,
            Request::RemoveDataWatches { .. } => Operation::RemoveWatches,
            Request::Auth { .. } => Operation::Auth,
            Request::Ping => Operation::Ping,
            Request::CloseSession => Operation::CloseSession,
        }
    }

    /// The node that the request is about, if it is one.
    pub(crate) fn path(&self) -> Option<&str> {
        match self {
            Request::Create2 { path, .. }
            | Request::CreateContainer { path, .. }
            | Request::Delete { path, .. }
            | Request::GetData { path, .. }
            | Request::GetChildren2 { path, .. }
            | Request::Sync { path }
            | Request::RemoveDataWatches { path } => Some(path),
            Request::Multi(_)
            | Request::SetWatches { .. }
            | Request::Auth { .. }
            | Request::Ping
            | Request::CloseSession => None,
        }
    }

    /// About what its path and its data take.
    fn room(&self) -> usize {
        let data = match self {
            Request::Create2 { data, acl, .. } | Request::CreateContainer { data, acl, .. } => {
                data.len() + acl.len() * USUAL_ACL
            }
            _ => 0,
        };
        self.path().map_or(0, str::len) + data
    }

    /// The whole frame, its xid 0 until [`set_xid`]: a request is encoded when it is made, and numbered when it is sent.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::frame_for(self.room());
        writer.i32(0).i32(self.operation().code());
        match self {
            Request::Create2 {
                path,
                data,
                acl,
                mode,
            } => encode_create(&mut writer, path, data, acl, *mode as i32),
            Request::CreateContainer { path, data, acl } => {
                encode_create(&mut writer, path, data, acl, CONTAINER_FLAGS);
            }
            Request::Delete { path, version } => {
                writer.string(path).i32(*version);
            }
            Request::GetData { path, watch } | Request::GetChildren2 { path, watch } => {
                writer.string(path).bool(*watch);
            }
            Request::Sync { path } => {
                writer.string(path);
            }
            Request::Multi(operations) => encode_multi(&mut writer, operations),
            Request::SetWatches {
                relative_zxid,
                data_paths,
            } => {
                writer.i64(*relative_zxid).len(data_paths.len());
                for path in data_paths {
                    writer.string(path);
                }
                // No watches on existence, none on children.
                writer.len(0).len(0);
            }
            Request::RemoveDataWatches { path } => {
                writer.string(path).i32(DATA_WATCHER);
            }
            Request::Auth {
                scheme,
                credentials,
            } => {
                writer.i32(0).string(scheme).buffer(credentials);
            }
            Request::Ping | Request::CloseSession => {}
        }
        writer.finish()
    }
}

fn encode_create(writer: &mut Writer, path: &str, data: &[u8], acl: &[Acl], flags: i32) {
    writer.string(path).buffer(data);
    Acl::encode_all(acl, writer);
    writer.i32(flags);
}

fn encode_multi(writer: &mut Writer, operations: &[MultiOperation]) {
    for operation in operations {
        match operation {
            MultiOperation::Check { path, version } => {
                multi_header(writer, CHECK, false);
                writer.string(path).i32(*version);
            }
            MultiOperation::Create {
                path,
                data,
                acl,
                mode,
            } => {
                multi_header(writer, Operation::Create2.code(), false);
                encode_create(writer, path, data, acl, *mode as i32);
            }
        }
    }
    multi_header(writer, MULTI_END, true);
}

fn multi_header(writer: &mut Writer, operation: i32, done: bool) {
    writer.i32(operation).bool(done).i32(-1);
}

/// Numbers an encoded request.
pub(crate) fn set_xid(frame: &mut [u8], xid: i32) {
    if let Some(field) = frame.get_mut(4..8) {
        field.copy_from_slice(&xid.to_be_bytes());
    }
}

/// Re-arms data watches, in frames of at most [`SET_WATCHES_FRAME`] bytes. A path longer than that has a frame to
/// itself.
pub(crate) fn set_watches_batches(
    relative_zxid: i64,
    paths: impl Iterator<Item = String>,
) -> Vec<Request> {
    const FIXED: usize = 4 + 4 + 4 + 8 + 3 * 4;

    let mut batches = Vec::new();
    let mut batch = Vec::new();
    let mut size = FIXED;
    for path in paths {
        let more = 4 + path.len();
        if size + more > SET_WATCHES_FRAME && !batch.is_empty() {
            batches.push(std::mem::take(&mut batch));
            size = FIXED;
        }
        size += more;
        batch.push(path);
    }
    if !batch.is_empty() {
        batches.push(batch);
    }
    batches
        .into_iter()
        .map(|data_paths| Request::SetWatches {
            relative_zxid,
            data_paths,
        })
        .collect()
}

/// Shows operation and path only: neither credentials nor data nor access control lists belong in a log (R19).
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.operation())?;
        match self {
            Request::Multi(operations) => f.debug_list().entries(operations).finish(),
            Request::SetWatches { data_paths, .. } => write!(f, "({} paths)", data_paths.len()),
            Request::Auth { scheme, .. } => write!(f, "({scheme:?})"),
            _ => self.path().map_or(Ok(()), |path| write!(f, "({path:?})")),
        }
    }
}

/// Shows what [`Request`] does.
impl fmt::Debug for MultiOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MultiOperation::Check { path, .. } => write!(f, "Check({path:?})"),
            MultiOperation::Create { path, .. } => write!(f, "Create({path:?})"),
        }
    }
}
