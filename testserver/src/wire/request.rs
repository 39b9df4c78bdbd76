//! What clients ask.

use super::op;
use super::reader::{Malformed, Reader, Result};
use crate::model::{Acl, Version};

/// A request without its header. Paths may be null on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Request {
    Create(Create),
    Delete {
        path: Option<String>,
        version: i32,
    },
    Exists {
        path: Option<String>,
        watch: bool,
    },
    GetData {
        path: Option<String>,
        watch: bool,
    },
    SetData {
        path: Option<String>,
        data: Option<Vec<u8>>,
        version: i32,
    },
    GetAcl {
        path: Option<String>,
    },
    SetAcl {
        path: Option<String>,
        acl: Option<Vec<Acl>>,
        version: i32,
    },
    GetChildren {
        path: Option<String>,
        watch: bool,
        with_stat: bool,
    },
    Sync {
        path: Option<String>,
    },
    Ping,
    Check {
        path: Option<String>,
        version: i32,
    },
    Multi(Vec<Request>),
    CheckWatches {
        path: Option<String>,
        kind: i32,
    },
    RemoveWatches {
        path: Option<String>,
        kind: i32,
    },
    SetWatches(SetWatches),
    GetEphemerals {
        prefix: Option<String>,
    },
    GetAllChildrenNumber {
        path: Option<String>,
    },
    WhoAmI,
    CloseSession,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Create {
    /// Which of the four operations: it decides the kind of node and of answer, together with the flags.
    pub(crate) op: i32,
    pub(crate) path: Option<String>,
    pub(crate) data: Option<Vec<u8>>,
    pub(crate) acl: Option<Vec<Acl>>,
    pub(crate) flags: i32,
    pub(crate) ttl: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetWatches {
    pub(crate) relative_zxid: i64,
    pub(crate) data: Vec<String>,
    pub(crate) exist: Vec<String>,
    pub(crate) child: Vec<String>,
}

impl Request {
    pub(crate) fn decode(version: Version, op: i32, body: &[u8]) -> Result<Self> {
        Request::read(version, op, &mut Reader::new(body))
    }

    fn read(version: Version, op: i32, reader: &mut Reader<'_>) -> Result<Self> {
        Ok(match op {
            op::CREATE | op::CREATE2 | op::CREATE_CONTAINER | op::CREATE_TTL => {
                Request::Create(Create {
                    op,
                    path: reader.string()?,
                    data: reader.buffer()?.map(<[u8]>::to_vec),
                    acl: reader.acl()?,
                    flags: reader.i32()?,
                    ttl: if op == op::CREATE_TTL {
                        reader.i64()?
                    } else {
                        -1
                    },
                })
            }
            op::DELETE => Request::Delete {
                path: reader.string()?,
                version: reader.i32()?,
            },
            op::EXISTS => Request::Exists {
                path: reader.string()?,
                watch: reader.bool()?,
            },
            op::GET_DATA => Request::GetData {
                path: reader.string()?,
                watch: reader.bool()?,
            },
            op::SET_DATA => Request::SetData {
                path: reader.string()?,
                data: reader.buffer()?.map(<[u8]>::to_vec),
                version: reader.i32()?,
            },
            op::GET_ACL => Request::GetAcl {
                path: reader.string()?,
            },
            op::SET_ACL => Request::SetAcl {
                path: reader.string()?,
                acl: reader.acl()?,
                version: reader.i32()?,
            },
            op::GET_CHILDREN | op::GET_CHILDREN2 => Request::GetChildren {
                path: reader.string()?,
                watch: reader.bool()?,
                with_stat: op == op::GET_CHILDREN2,
            },
            op::SYNC => Request::Sync {
                path: reader.string()?,
            },
            op::PING => Request::Ping,
            op::CHECK => Request::Check {
                path: reader.string()?,
                version: reader.i32()?,
            },
            op::MULTI => Request::Multi(read_multi(version, reader)?),
            op::CHECK_WATCHES => Request::CheckWatches {
                path: reader.string()?,
                kind: reader.i32()?,
            },
            op::REMOVE_WATCHES => Request::RemoveWatches {
                path: reader.string()?,
                kind: reader.i32()?,
            },
            op::SET_WATCHES => Request::SetWatches(SetWatches {
                relative_zxid: reader.i64()?,
                data: reader.strings()?.ok_or(Malformed)?,
                exist: reader.strings()?.ok_or(Malformed)?,
                child: reader.strings()?.ok_or(Malformed)?,
            }),
            op::GET_EPHEMERALS => Request::GetEphemerals {
                prefix: reader.string()?,
            },
            op::GET_ALL_CHILDREN_NUMBER => Request::GetAllChildrenNumber {
                path: reader.string()?,
            },
            op::WHO_AM_I => Request::WhoAmI,
            op::CLOSE_SESSION => Request::CloseSession,
            _ => return Err(Malformed),
        })
    }
}

fn read_multi(version: Version, reader: &mut Reader<'_>) -> Result<Vec<Request>> {
    let mut parts = Vec::new();
    loop {
        let op = reader.i32()?;
        let done = reader.bool()?;
        let _error = reader.i32()?;
        if done {
            return Ok(parts);
        }
        match op {
            op::CREATE
            | op::CREATE2
            | op::CREATE_CONTAINER
            | op::CREATE_TTL
            | op::DELETE
            | op::SET_DATA
            | op::CHECK => parts.push(match Request::read(version, op, reader)? {
                Request::Create(create) => Request::Create(create_in_multi(version, create)?),
                part => part,
            }),
            _ => return Err(Malformed),
        }
    }
}

/// Inside a transaction the server looks at the flags while it reads, since 3.9: time-to-live nodes need a time, and the flag of a
/// container is enough to make one. Before it took every create for the oldest kind, whose answer has no stat.
fn create_in_multi(version: Version, mut create: Create) -> Result<Create> {
    const CONTAINER: i32 = 4;
    let takes_flags = version == Version::V3_8 || (0..=CONTAINER).contains(&create.flags);
    if !takes_flags || create.acl.is_none() {
        return Err(Malformed);
    }
    if create.flags == CONTAINER {
        create.op = op::CREATE_CONTAINER;
    } else if version == Version::V3_8 {
        create.op = op::CREATE;
    }
    Ok(create)
}
