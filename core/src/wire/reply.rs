//! What a server answers.

use super::code::Code;
use super::codec::{Reader, WireError};
use super::request::{CHECK, Operation};
use super::stat::Stat;

/// The front of every message after the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReplyHeader {
    pub(crate) xid: i32,
    /// The last transaction that the server had applied; in a watch event the one that fired it, or -1 (before 3.9).
    /// 0 in the reply to Auth.
    pub(crate) zxid: i64,
    pub(crate) code: Code,
}

impl ReplyHeader {
    /// The header, and the body behind it. The body is that of the operation only if the code is Ok.
    pub(crate) fn decode(frame: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let mut reader = Reader::new(frame);
        let header = ReplyHeader {
            xid: reader.i32()?,
            zxid: reader.i64()?,
            code: Code(reader.i32()?),
        };
        Ok((header, reader.remaining()))
    }
}

/// The body of a successful reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Created {
        /// Within the chroot if we have one; a sequential node's number is at its end.
        path: String,
        stat: Stat,
    },
    Data {
        data: Vec<u8>,
        stat: Stat,
    },
    Children {
        /// As bytes, since anyone may have made them, in any encoding (R13).
        names: Vec<Vec<u8>>,
        stat: Stat,
    },
    Synced,
    Multi(Vec<MultiResult>),
    Empty,
}

/// What became of one part of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MultiResult {
    Checked,
    Created {
        path: String,
        /// `None` before 3.9, which answers as to the oldest kind of create.
        stat: Option<Stat>,
    },
    /// The transaction was not applied. Ok for the parts in front of the one that failed, RuntimeInconsistency for
    /// those behind it.
    Error(Code),
}

impl Reply {
    /// Decodes the body of a reply whose code is Ok.
    ///
    /// A failed transaction is told in either of two forms: by the code of the header, or by a header that says Ok and
    /// [`MultiResult::Error`] for every part: see [`multi_failure`].
    pub(crate) fn decode(operation: Operation, body: &[u8]) -> Result<Reply, WireError> {
        let mut reader = Reader::new(body);
        let reader = &mut reader;
        Ok(match operation {
            Operation::Create2 | Operation::CreateContainer => Reply::Created {
                path: reader.string()?.to_owned(),
                stat: Stat::decode(reader)?,
            },
            Operation::GetData => Reply::Data {
                data: reader.buffer()?.to_vec(),
                stat: Stat::decode(reader)?,
            },
            Operation::GetChildren2 => Reply::Children {
                names: decode_names(reader)?,
                stat: Stat::decode(reader)?,
            },
            Operation::Sync => {
                reader.buffer()?;
                Reply::Synced
            }
            Operation::Multi => Reply::Multi(decode_multi(reader)?),
            Operation::Delete
            | Operation::SetWatches
            | Operation::RemoveWatches
            | Operation::Auth
            | Operation::Ping
            | Operation::CloseSession => Reply::Empty,
        })
    }
}

fn decode_names(reader: &mut Reader<'_>) -> Result<Vec<Vec<u8>>, WireError> {
    let count = reader.count(4)?;
    let mut names = Vec::with_capacity(count);
    for _ in 0..count {
        names.push(reader.buffer()?.to_vec());
    }
    Ok(names)
}

fn decode_multi(reader: &mut Reader<'_>) -> Result<Vec<MultiResult>, WireError> {
    const ERROR: i32 = -1;
    const CREATE: i32 = 1;
    let create2 = Operation::Create2.code();

    let mut results = Vec::new();
    loop {
        let kind = reader.i32()?;
        let done = reader.bool()?;
        let _code_repeated_in_the_record = reader.i32()?;
        if done {
            return Ok(results);
        }
        results.push(match kind {
            CHECK => MultiResult::Checked,
            ERROR => MultiResult::Error(Code(reader.i32()?)),
            CREATE => MultiResult::Created {
                path: reader.string()?.to_owned(),
                stat: None,
            },
            kind if kind == create2 => MultiResult::Created {
                path: reader.string()?.to_owned(),
                stat: Some(Stat::decode(reader)?),
            },
            kind => return Err(WireError::UnknownOperation(kind)),
        });
    }
}

/// The part of a transaction that made it fail, and why. `None` if it was applied.
pub(crate) fn multi_failure(results: &[MultiResult]) -> Option<(usize, Code)> {
    let mut errors = results
        .iter()
        .enumerate()
        .filter_map(|(part, result)| match result {
            MultiResult::Error(code) => Some((part, *code)),
            _ => None,
        });
    let first = errors.clone().next();
    errors.find(|(_, code)| *code != Code::OK).or(first)
}

/// A change that a watch was set on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchEvent {
    pub(crate) kind: WatchEventKind,
    /// ZooKeeper's `KeeperState`; 3 is connected.
    pub(crate) state: i32,
    pub(crate) path: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchEventKind {
    Created,
    Deleted,
    DataChanged,
    ChildrenChanged,
    /// A change of the session's state, a watch that was removed, or a kind of the future.
    Other(i32),
}

impl WatchEvent {
    /// Decodes the body of a message whose xid is that of a notification.
    pub(crate) fn decode(body: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(body);
        Ok(WatchEvent {
            kind: match reader.i32()? {
                1 => WatchEventKind::Created,
                2 => WatchEventKind::Deleted,
                3 => WatchEventKind::DataChanged,
                4 => WatchEventKind::ChildrenChanged,
                other => WatchEventKind::Other(other),
            },
            state: reader.i32()?,
            path: reader.string()?.to_owned(),
        })
    }
}
