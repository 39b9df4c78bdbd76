//! Transactions: what the leader decides and every server applies.

use std::sync::Arc;

use super::acl::Acl;
use super::connection::ConnectionId;
use crate::wire::code::Code;

/// One entry of the log.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) zxid: i64,
    pub(crate) time_ms: i64,
    pub(crate) session: i64,
    /// Who is answered, by the server that the request came through.
    pub(crate) origin: Option<Origin>,
    pub(crate) txn: Txn,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) connection: ConnectionId,
    pub(crate) xid: i32,
}

#[derive(Debug, Clone)]
pub(crate) enum Txn {
    Create(NewNode),
    Delete {
        path: String,
    },
    SetData {
        path: String,
        data: Option<Vec<u8>>,
        version: i32,
    },
    SetAcl {
        path: String,
        acl: Arc<[Acl]>,
        version: i32,
    },
    Check,
    Multi(Vec<Txn>),
    /// Nothing is applied, and each part is answered with its code.
    FailedMulti(Vec<Code>),
    CreateSession {
        timeout_ms: u32,
    },
    CloseSession {
        ephemerals: Vec<String>,
    },
    /// Failed requests use up a zxid too.
    Error(Code),
}

#[derive(Debug, Clone)]
pub(crate) struct NewNode {
    pub(crate) path: String,
    pub(crate) data: Option<Vec<u8>>,
    pub(crate) acl: Arc<[Acl]>,
    pub(crate) owner: i64,
    pub(crate) parent_cversion: i32,
    /// Whether the answer has the stat.
    pub(crate) with_stat: bool,
}
