//! A server applies a transaction, tells its watchers, and then answers if the request came through it.

use std::sync::Arc;

use super::acl::{self, permission};
use super::connection::Waiting;
use super::database::Outcome;
use super::local::NO_ZXID;
use super::server::Role;
use super::txn::{Entry, Origin, Txn};
use super::watches::Trigger;
use super::{Cluster, ConnectionId, Version};
use crate::wire::code::Code;
use crate::wire::op;
use crate::wire::writer::Writer;

impl Cluster {
    pub(super) fn apply(&mut self, server: usize, entry: &Arc<Entry>) -> Outcome {
        let now = self.now;
        let here = &mut self.servers[server];
        let (outcome, triggers) = here.database.apply(entry);
        for trigger in &triggers {
            self.fire(server, entry.zxid, trigger);
        }
        let origin = entry.origin.map(|origin| origin.connection);
        match (&entry.txn, &mut self.servers[server].role) {
            (Txn::CreateSession { timeout_ms }, Role::Following(following)) => {
                following.touched.insert(entry.session, *timeout_ms);
            }
            (Txn::CreateSession { timeout_ms }, Role::Leading(leading)) => {
                let tracker = &mut leading.tracker;
                tracker.track_if_unknown(entry.session, *timeout_ms, now);
            }
            (Txn::CloseSession { .. }, role) => {
                if let Role::Leading(leading) = role {
                    leading.tracker.remove(entry.session);
                }
                if let Some(other) = self.attached_besides(server, entry.session, origin) {
                    self.close(other);
                }
            }
            _ => {}
        }
        if let Some(origin) = entry.origin
            && let Some(connection) = self.connections.get(&origin.connection)
            && connection.server == server
        {
            self.answer(server, origin, &outcome);
        } else if let Some(origin) = entry.origin {
            self.done_for_nobody(server, origin.connection);
        }
        outcome
    }

    fn fire(&mut self, server: usize, zxid: i64, trigger: &Trigger) {
        let zxid = match self.settings.version {
            Version::V3_8 => NO_ZXID,
            Version::V3_9 => zxid,
        };
        for connection in self.servers[server].watches.fire(trigger) {
            let may_read = self.connections.get(&connection).is_some_and(|connection| {
                acl::check(&trigger.acl, permission::READ, &connection.ids).is_ok()
            });
            if may_read {
                let event = Writer::event(zxid, trigger.kind as i32, &trigger.path);
                self.send(connection, event);
            }
        }
    }

    fn answer(&mut self, server: usize, origin: Origin, outcome: &Outcome) {
        let Origin {
            connection: id,
            xid,
        } = origin;
        if matches!(outcome, Outcome::SessionCreated) {
            return self.finish_session(id, true);
        }
        self.take_forwarded(id);
        if has_moved(outcome) {
            // The server cannot tell a stale connection from a misled one.
            return self.close(id);
        }
        let code = match outcome {
            Outcome::Error(code) => *code,
            _ => Code::OK,
        };
        let mut reply = Writer::reply(xid, self.servers[server].database.zxid, code);
        encode(&mut reply, outcome);
        self.send(id, reply.finish());
        if matches!(outcome, Outcome::SessionClosed) {
            self.close(id);
        }
        self.drain(id);
    }

    /// A request is done whose connection is gone: what the session asked for since may go on.
    pub(super) fn done_for_nobody(&mut self, server: usize, id: ConnectionId) {
        let here = &mut self.servers[server];
        let Some((session, left)) = here.abandoned.get_mut(&id) else {
            return;
        };
        let session = *session;
        *left -= 1;
        if *left == 0 {
            here.abandoned.remove(&id);
        }
        if let Some(attached) = here.attached.get(&session).copied() {
            self.drain(attached);
        }
    }

    /// The request that is answered now leaves the head of its queue.
    pub(super) fn take_forwarded(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(&id) {
            let head = connection.queue.pop_front();
            debug_assert!(matches!(head, Some(Waiting::Forwarded)), "{head:?}");
        }
    }
}

fn has_moved(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Error(code) => *code == Code::SESSION_MOVED,
        Outcome::Multi(parts) => parts.iter().any(has_moved),
        _ => false,
    }
}

fn encode(reply: &mut Writer, outcome: &Outcome) {
    match outcome {
        Outcome::Created { path } => {
            reply.string(path);
        }
        Outcome::Created2 { path, stat } => {
            reply.string(path).stat(stat);
        }
        Outcome::DataSet(stat) | Outcome::AclSet(stat) => {
            reply.stat(stat);
        }
        Outcome::Multi(parts) => encode_multi(reply, parts),
        Outcome::Deleted
        | Outcome::Checked
        | Outcome::SessionCreated
        | Outcome::SessionClosed
        | Outcome::Error(_) => {}
    }
}

/// A transaction that failed has an error for every part, and none in its header.
fn encode_multi(reply: &mut Writer, parts: &[Outcome]) {
    for part in parts {
        let (op, code) = match part {
            Outcome::Created { .. } => (op::CREATE, Code::OK),
            Outcome::Created2 { .. } => (op::CREATE2, Code::OK),
            Outcome::Deleted => (op::DELETE, Code::OK),
            Outcome::DataSet(_) | Outcome::AclSet(_) => (op::SET_DATA, Code::OK),
            Outcome::Error(code) => (op::ERROR, *code),
            _ => (op::CHECK, Code::OK),
        };
        reply.i32(op).bool(false).i32(code.0);
        match part {
            Outcome::Error(code) => {
                reply.i32(code.0);
            }
            part => encode(reply, part),
        }
    }
    reply.i32(-1).bool(true).i32(-1);
}
