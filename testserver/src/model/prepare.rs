//! How a leader turns a request into a transaction, or into the code that refuses it. The order of the checks is the
//! server's: it decides which of several errors a client sees.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::acl::{self, Acl, Id, permission};
use super::database::{CONTAINER, Database};
use super::path;
use super::txn::{NewNode, Txn};
use crate::wire::code::Code;
use crate::wire::op;
use crate::wire::request::{Create, Request};

/// Who asks.
pub(crate) struct Author<'a> {
    pub(crate) session: i64,
    pub(crate) ids: &'a [Id],
    /// Whether the leader knew the session when the request reached it.
    pub(crate) standing: Result<(), Code>,
}

/// What the checks need to know of a node, with the changes of earlier parts of the same transaction.
#[derive(Debug, Clone)]
struct Record {
    acl: Arc<[Acl]>,
    owner: i64,
    version: i32,
    aversion: i32,
    sequence: i32,
    children: usize,
}

struct Preparation<'a> {
    database: &'a Database,
    author: &'a Author<'a>,
    changes: BTreeMap<String, Option<Record>>,
}

pub(crate) fn prepare(database: &Database, author: &Author<'_>, request: &Request) -> Txn {
    let mut preparation = Preparation {
        database,
        author,
        changes: BTreeMap::new(),
    };
    match request {
        Request::Multi(parts) => preparation.multi(parts),
        Request::CloseSession => Txn::CloseSession {
            ephemerals: database.ephemerals(author.session).cloned().collect(),
        },
        request => preparation.one(request).unwrap_or_else(Txn::Error),
    }
}

impl Preparation<'_> {
    fn multi(&mut self, parts: &[Request]) -> Txn {
        let mut txns = Vec::new();
        for part in parts {
            match self.one(part) {
                Ok(txn) => txns.push(txn),
                // A null path throws outside of what is caught for one part.
                Err(Code::MARSHALLING_ERROR) => return Txn::Error(Code::MARSHALLING_ERROR),
                Err(code) => {
                    let mut codes = vec![Code::OK; txns.len()];
                    codes.push(code);
                    codes.resize(parts.len(), Code::RUNTIME_INCONSISTENCY);
                    return Txn::FailedMulti(codes);
                }
            }
        }
        Txn::Multi(txns)
    }

    fn one(&mut self, request: &Request) -> Result<Txn, Code> {
        match request {
            Request::Create(create) => self.create(create),
            Request::Delete { path, version } => self.delete(path.as_deref(), *version),
            Request::SetData {
                path,
                data,
                version,
            } => self.set_data(path.as_deref(), data.as_ref(), *version),
            Request::SetAcl { path, acl, version } => {
                self.set_acl(path.as_deref(), acl.as_deref(), *version)
            }
            Request::Check { path, version } => self.check(path.as_deref(), *version),
            _ => Err(Code::UNIMPLEMENTED),
        }
    }

    fn record(&self, path: &str) -> Result<Record, Code> {
        let path = if path == "/" { "" } else { path };
        if let Some(change) = self.changes.get(path) {
            return change.clone().ok_or(Code::NO_NODE);
        }
        let node = self.database.node(path).ok_or(Code::NO_NODE)?;
        let stat = node.stat();
        Ok(Record {
            acl: node.acl.clone(),
            owner: node.owner(),
            version: stat.version,
            aversion: stat.aversion,
            sequence: node.sequence(),
            children: node.children.len(),
        })
    }

    fn change(&mut self, path: &str, record: Option<Record>) {
        let path = if path == "/" { "" } else { path };
        self.changes.insert(path.to_owned(), record);
    }

    fn permit(&self, record: &Record, wanted: i32) -> Result<(), Code> {
        acl::check(&record.acl, wanted, self.author.ids)
    }

    fn create(&mut self, create: &Create) -> Result<Txn, Code> {
        let mode = Mode::from_flags(create.flags)?;
        if mode == Mode::Ttl {
            return Err(Code::UNIMPLEMENTED);
        }
        if create.op == op::CREATE_TTL {
            return Err(Code::BAD_ARGUMENTS);
        }
        self.author.standing?;
        let path = create.path.as_deref().ok_or(Code::MARSHALLING_ERROR)?;
        let (parent_path, _) = path::split(path).ok_or(Code::BAD_ARGUMENTS)?;
        let acl = acl::fix_up(create.acl.as_deref(), self.author.ids)?;
        let mut parent = self.record(parent_path)?;
        self.permit(&parent, permission::CREATE)?;
        let path = if mode.is_sequential() {
            format!("{path}{:010}", parent.sequence)
        } else {
            path.to_owned()
        };
        if !path::is_valid(&path) {
            return Err(Code::BAD_ARGUMENTS);
        }
        if self.record(&path).is_ok() {
            return Err(Code::NODE_EXISTS);
        }
        if !matches!(parent.owner, 0 | CONTAINER) {
            return Err(Code::NO_CHILDREN_FOR_EPHEMERALS);
        }
        parent.sequence = parent.sequence.wrapping_add(1);
        parent.children += 1;
        let owner = match create.op {
            op::CREATE_CONTAINER => CONTAINER,
            _ if mode.is_ephemeral() => self.author.session,
            _ => 0,
        };
        let txn = Txn::Create(NewNode {
            path: path.clone(),
            data: create.data.clone(),
            acl: acl.clone(),
            owner,
            parent_cversion: parent.sequence,
            with_stat: create.op != op::CREATE,
        });
        self.change(parent_path, Some(parent));
        let record = Record {
            acl,
            owner,
            version: 0,
            aversion: 0,
            sequence: 0,
            children: 0,
        };
        self.change(&path, Some(record));
        Ok(txn)
    }

    fn delete(&mut self, path: Option<&str>, version: i32) -> Result<Txn, Code> {
        self.author.standing?;
        let path = path.ok_or(Code::MARSHALLING_ERROR)?;
        let (parent_path, _) = path::split(path)
            .filter(|_| !path::is_special(path))
            .ok_or(Code::BAD_ARGUMENTS)?;
        let mut parent = self.record(parent_path)?;
        self.permit(&parent, permission::DELETE)?;
        let node = self.record(path)?;
        next_version(node.version, version)?;
        if node.children > 0 {
            return Err(Code::NOT_EMPTY);
        }
        parent.children = parent.children.saturating_sub(1);
        self.change(parent_path, Some(parent));
        self.change(path, None);
        Ok(Txn::Delete {
            path: path.to_owned(),
        })
    }

    fn set_data(
        &mut self,
        path: Option<&str>,
        data: Option<&Vec<u8>>,
        version: i32,
    ) -> Result<Txn, Code> {
        let (path, mut node) = self.existing(path)?;
        self.permit(&node, permission::WRITE)?;
        node.version = next_version(node.version, version)?;
        let version = node.version;
        self.change(&path, Some(node));
        Ok(Txn::SetData {
            path,
            data: data.cloned(),
            version,
        })
    }

    fn set_acl(
        &mut self,
        path: Option<&str>,
        acl: Option<&[Acl]>,
        version: i32,
    ) -> Result<Txn, Code> {
        self.author.standing?;
        let path = valid(path)?;
        let acl = acl::fix_up(acl, self.author.ids)?;
        let mut node = self.record(path)?;
        self.permit(&node, permission::ADMIN)?;
        node.aversion = next_version(node.aversion, version)?;
        let version = node.aversion;
        self.change(path, Some(node));
        Ok(Txn::SetAcl {
            path: path.to_owned(),
            acl,
            version,
        })
    }

    fn check(&mut self, path: Option<&str>, version: i32) -> Result<Txn, Code> {
        let (_, node) = self.existing(path)?;
        self.permit(&node, permission::READ)?;
        next_version(node.version, version)?;
        Ok(Txn::Check)
    }

    fn existing(&self, path: Option<&str>) -> Result<(String, Record), Code> {
        self.author.standing?;
        let path = valid(path)?;
        Ok((path.to_owned(), self.record(path)?))
    }
}

fn valid(path: Option<&str>) -> Result<&str, Code> {
    path.filter(|path| path::is_valid(path))
        .ok_or(Code::BAD_ARGUMENTS)
}

fn next_version(current: i32, expected: i32) -> Result<i32, Code> {
    if expected != -1 && expected != current {
        return Err(Code::BAD_VERSION);
    }
    Ok(current.wrapping_add(1))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Persistent,
    Ephemeral,
    PersistentSequential,
    EphemeralSequential,
    Container,
    Ttl,
}

impl Mode {
    fn from_flags(flags: i32) -> Result<Self, Code> {
        Ok(match flags {
            0 => Mode::Persistent,
            1 => Mode::Ephemeral,
            2 => Mode::PersistentSequential,
            3 => Mode::EphemeralSequential,
            4 => Mode::Container,
            5 | 6 => Mode::Ttl,
            _ => return Err(Code::BAD_ARGUMENTS),
        })
    }

    fn is_sequential(self) -> bool {
        matches!(self, Mode::PersistentSequential | Mode::EphemeralSequential)
    }

    fn is_ephemeral(self) -> bool {
        matches!(self, Mode::Ephemeral | Mode::EphemeralSequential)
    }
}
