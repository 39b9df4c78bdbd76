//! Answers in a form in which those of both must be equal: sessions by number, zxids counted from the same start,
//! without times.

use std::collections::BTreeMap;

use zoolock_testserver::model::Stat;

use crate::common::decode::{Event, Part, Reply};
use crate::common::encode::*;

/// How one side counts.
#[derive(Default)]
pub struct View {
    /// What to take from its zxids.
    pub zxid_offset: i64,
    pub sessions: BTreeMap<i64, usize>,
    /// Whether the zxid in a reply's header is certain.
    pub tells_last_zxid: bool,
}

impl View {
    pub fn zxid(&self, zxid: i64) -> i64 {
        if zxid <= 0 {
            zxid
        } else {
            zxid - self.zxid_offset
        }
    }

    fn stat(&self, stat: Stat) -> String {
        let owner = match self.sessions.get(&stat.ephemeral_owner) {
            Some(session) => format!("session {session}"),
            None => format!("{:x}", stat.ephemeral_owner),
        };
        format!(
            "c{} m{} p{} v{} cv{} av{} {owner} {} bytes, {} children",
            self.zxid(stat.czxid),
            self.zxid(stat.mzxid),
            self.zxid(stat.pzxid),
            stat.version,
            stat.cversion,
            stat.aversion,
            stat.data_length,
            stat.num_children,
        )
    }

    fn part(&self, part: Part) -> String {
        match part {
            Part::Created(path, stat) => {
                format!("created {path} {:?}", stat.map(|stat| self.stat(stat)))
            }
            Part::Set(stat) => format!("set {}", self.stat(stat)),
            other => format!("{other:?}"),
        }
    }

    pub fn event(&self, event: &Event) -> String {
        let zxid = self.zxid(event.zxid);
        format!("event {} {} at {zxid}", event.kind, event.path)
    }

    pub fn reply(&self, op: i32, reply: &Reply) -> String {
        let zxid = self.tells_last_zxid.then(|| self.zxid(reply.zxid));
        let header = format!("{} {} at {zxid:?}", reply.xid, reply.code);
        if reply.code != 0 {
            return format!("{header} {:x?}", reply.body);
        }
        let mut fields = reply.fields();
        let body = match op {
            CREATE => fields.string(),
            CREATE2 | CREATE_CONTAINER => {
                let path = fields.string();
                format!("{path} {}", self.stat(fields.stat()))
            }
            EXISTS | SET_DATA | SET_ACL => self.stat(fields.stat()),
            GET_DATA => {
                let data = fields.bytes();
                format!("{data:?} {}", self.stat(fields.stat()))
            }
            GET_CHILDREN | GET_CHILDREN2 => {
                let mut names = fields.strings();
                names.sort();
                let stat = (op == GET_CHILDREN2).then(|| self.stat(fields.stat()));
                format!("{names:?} {stat:?}")
            }
            GET_ACL => {
                let mut acl = fields.acl();
                acl.sort();
                format!("{acl:?} {}", self.stat(fields.stat()))
            }
            GET_EPHEMERALS => {
                let mut paths = fields.strings();
                paths.sort();
                format!("{paths:?}")
            }
            GET_ALL_CHILDREN_NUMBER => fields.i32().to_string(),
            WHO_AM_I => {
                let mut identities = fields.identities();
                identities.sort();
                format!("{identities:?}")
            }
            SYNC => format!("{:?}", fields.bytes()),
            MULTI => {
                let parts = fields.multi().into_iter();
                format!(
                    "{:?}",
                    parts.map(|part| self.part(part)).collect::<Vec<_>>()
                )
            }
            _ => String::new(),
        };
        format!("{header} {body} and {} bytes", fields.0.len())
    }
}
