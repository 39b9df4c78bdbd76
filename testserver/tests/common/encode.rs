//! Requests as bytes.

use zoolock_testserver::model::{Acl, Id, permission};

pub const CREATE: i32 = 1;
pub const DELETE: i32 = 2;
pub const EXISTS: i32 = 3;
pub const GET_DATA: i32 = 4;
pub const SET_DATA: i32 = 5;
pub const GET_ACL: i32 = 6;
pub const SET_ACL: i32 = 7;
pub const GET_CHILDREN: i32 = 8;
pub const SYNC: i32 = 9;
pub const PING: i32 = 11;
pub const GET_CHILDREN2: i32 = 12;
pub const CHECK: i32 = 13;
pub const MULTI: i32 = 14;
pub const CREATE2: i32 = 15;
pub const CHECK_WATCHES: i32 = 17;
pub const REMOVE_WATCHES: i32 = 18;
pub const CREATE_CONTAINER: i32 = 19;
pub const AUTH: i32 = 100;
pub const SET_WATCHES: i32 = 101;
pub const GET_EPHEMERALS: i32 = 103;
pub const GET_ALL_CHILDREN_NUMBER: i32 = 104;
pub const WHO_AM_I: i32 = 107;
pub const CLOSE: i32 = -11;

pub const PERSISTENT: i32 = 0;
pub const EPHEMERAL: i32 = 1;
pub const SEQUENTIAL: i32 = 2;
pub const EPHEMERAL_SEQUENTIAL: i32 = 3;
pub const CONTAINER: i32 = 4;

/// A record under construction.
#[derive(Default, Clone)]
pub struct Record(pub Vec<u8>);

impl Record {
    pub fn bool(mut self, value: bool) -> Self {
        self.0.push(u8::from(value));
        self
    }

    pub fn i32(mut self, value: i32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn i64(mut self, value: i64) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn bytes(self, value: &[u8]) -> Self {
        let mut record = self.i32(value.len() as i32);
        record.0.extend(value);
        record
    }

    pub fn string(self, value: &str) -> Self {
        self.bytes(value.as_bytes())
    }

    pub fn strings(self, values: &[&str]) -> Self {
        let record = self.i32(values.len() as i32);
        values
            .iter()
            .fold(record, |record, value| record.string(value))
    }

    pub fn acl(self, acl: &[Acl]) -> Self {
        let record = self.i32(acl.len() as i32);
        acl.iter().fold(record, |record, entry| {
            record
                .i32(entry.permissions)
                .string(&entry.id.scheme)
                .string(&entry.id.id)
        })
    }

    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    /// With its length in front.
    pub fn framed(self) -> Vec<u8> {
        Record::default().bytes(&self.0).0
    }
}

pub fn record() -> Record {
    Record::default()
}

pub fn open() -> Vec<Acl> {
    acl("world", "anyone", permission::ALL)
}

pub fn acl(scheme: &str, id: &str, permissions: i32) -> Vec<Acl> {
    let id = Id::new(scheme, id);
    vec![Acl { permissions, id }]
}

pub fn connect(last_zxid: i64, timeout_ms: i32, session: i64, password: &[u8]) -> Vec<u8> {
    connect_to(last_zxid, timeout_ms, session, password, false)
}

/// `read_only`: whether a server that only reads will do.
pub fn connect_to(
    last_zxid: i64,
    timeout_ms: i32,
    session: i64,
    password: &[u8],
    read_only: bool,
) -> Vec<u8> {
    record()
        .i32(0)
        .i64(last_zxid)
        .i32(timeout_ms)
        .i64(session)
        .bytes(password)
        .bool(read_only)
        .framed()
}

pub fn request(xid: i32, op: i32, body: &Record) -> Vec<u8> {
    record().i32(xid).i32(op).raw(&body.0).framed()
}

pub fn create(path: &str, data: &[u8], acl: &[Acl], flags: i32) -> Record {
    record().string(path).bytes(data).acl(acl).i32(flags)
}

pub fn path_and_flag(path: &str, watch: bool) -> Record {
    record().string(path).bool(watch)
}

pub fn path_and_number(path: &str, number: i32) -> Record {
    record().string(path).i32(number)
}

pub fn set_data(path: &str, data: &[u8], version: i32) -> Record {
    record().string(path).bytes(data).i32(version)
}

pub fn set_acl(path: &str, acl: &[Acl], version: i32) -> Record {
    record().string(path).acl(acl).i32(version)
}

pub fn auth(scheme: &str, credentials: &[u8]) -> Record {
    record().i32(0).string(scheme).bytes(credentials)
}

pub fn set_watches(zxid: i64, data: &[&str], exist: &[&str], child: &[&str]) -> Record {
    record()
        .i64(zxid)
        .strings(data)
        .strings(exist)
        .strings(child)
}

pub fn multi(parts: &[(i32, Record)]) -> Record {
    let body = parts.iter().fold(record(), |body, (op, part)| {
        body.i32(*op).bool(false).i32(-1).raw(&part.0)
    });
    body.i32(-1).bool(true).i32(-1)
}
