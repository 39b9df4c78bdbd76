//! What a server answers from its own state.

use std::sync::Arc;

use super::acl::{self, Id, permission};
use super::connection::Waiting;
use super::database::Node;
use super::server::Body;
use super::watches::{EventKind, WatcherType};
use super::{Cluster, ConnectionId, Version};
use crate::wire::code::Code;
use crate::wire::op;
use crate::wire::request::{Request, SetWatches};
use crate::wire::writer::Writer;

/// In events that no transaction fired, and before 3.9 in all.
pub(super) const NO_ZXID: i64 = -1;

impl Cluster {
    /// Answers from the head of the queue what needs no leader.
    pub(super) fn drain(&mut self, id: ConnectionId) {
        while let Some(connection) = self.connections.get_mut(&id) {
            let arrived = match connection.queue.front() {
                None | Some(Waiting::Forwarded) => return,
                Some(Waiting::Local { arrived, .. } | Waiting::Throttled { arrived, .. }) => {
                    *arrived
                }
            };
            if self.servers[connection.server].is_occupied(connection.session, arrived) {
                return;
            }
            match connection.queue.pop_front() {
                Some(Waiting::Local {
                    xid, ids, request, ..
                }) => {
                    self.answer_locally(id, xid, &ids, request);
                }
                Some(Waiting::Throttled { xid, .. }) => self.refuse(id, xid, Code::THROTTLED_OP),
                None | Some(Waiting::Forwarded) => return,
            }
        }
    }

    fn answer_locally(&mut self, id: ConnectionId, xid: i32, ids: &Arc<[Id]>, request: Body) {
        let Some(connection) = self.connections.get(&id) else {
            return;
        };
        let (server, session) = (connection.server, connection.session);
        let xid = match request {
            Ok(Request::Ping) => op::PING_XID,
            _ => xid,
        };
        // A follower does not ask whether the session still lives: Z2.
        if let Some(leading) = self.servers[server].leading_mut() {
            match leading.tracker.check(session, server) {
                Ok(()) => {}
                Err(Code::SESSION_MOVED) => return self.close(id),
                Err(code) => return self.refuse(id, xid, code),
            }
        }
        let zxid = self.servers[server].database.zxid;
        let mut reply = Writer::reply(xid, zxid, Code::OK);
        let request = request.map_err(|_| Code::MARSHALLING_ERROR);
        match request.and_then(|request| self.read(id, server, ids, request, &mut reply)) {
            Ok(()) => self.send(id, reply.finish()),
            Err(code) => self.refuse(id, xid, code),
        }
    }

    pub(super) fn refuse(&mut self, id: ConnectionId, xid: i32, code: Code) {
        if let Some(connection) = self.connections.get(&id) {
            let zxid = self.servers[connection.server].database.zxid;
            self.send(id, Writer::reply(xid, zxid, code).finish());
        }
    }

    fn read(
        &mut self,
        id: ConnectionId,
        server: usize,
        ids: &[Id],
        request: Request,
        reply: &mut Writer,
    ) -> Result<(), Code> {
        let here = &mut self.servers[server];
        let readable = |node: Option<&Node>| match node {
            Some(node) => acl::check(&node.acl, permission::READ, ids),
            None => Ok(()),
        };
        match request {
            Request::Ping => {}
            Request::Sync { path } => {
                reply.nullable_string(path.as_deref());
            }
            Request::Exists { path, watch } => {
                let path = path.ok_or(Code::MARSHALLING_ERROR)?;
                if path.contains('\0') {
                    return Err(Code::BAD_ARGUMENTS);
                }
                let node = here.database.node(&path);
                if self.settings.version > Version::V3_8 {
                    readable(node)?;
                }
                if watch {
                    // Also on a missing node: Z10.
                    here.watches.add_data(&path, id);
                }
                reply.stat(&node.ok_or(Code::NO_NODE)?.stat());
            }
            Request::GetData { path, watch } => {
                let path = path.ok_or(Code::MARSHALLING_ERROR)?;
                let node = here.database.node(&path).ok_or(Code::NO_NODE)?;
                readable(Some(node))?;
                if watch {
                    here.watches.add_data(&path, id);
                }
                reply.buffer(node.data.as_deref()).stat(&node.stat());
            }
            Request::GetChildren {
                path,
                watch,
                with_stat,
            } => {
                let path = path.ok_or(Code::MARSHALLING_ERROR)?;
                let node = here.database.node(&path).ok_or(Code::NO_NODE)?;
                readable(Some(node))?;
                if watch {
                    here.watches.add_children(&path, id);
                }
                reply.strings(node.children.iter().map(|name| &**name));
                if with_stat {
                    reply.stat(&node.stat());
                }
            }
            Request::GetAcl { path } => {
                let path = path.ok_or(Code::MARSHALLING_ERROR)?;
                let node = here.database.node(&path).ok_or(Code::NO_NODE)?;
                acl::check(&node.acl, permission::READ | permission::ADMIN, ids)?;
                if acl::check(&node.acl, permission::ADMIN, ids).is_ok() {
                    reply.acl(&node.acl);
                } else {
                    reply.acl(&acl::masked(&node.acl));
                }
                reply.stat(&node.stat());
            }
            Request::CheckWatches { path, kind } => {
                let (path, kind) = watch_arguments(path, kind)?;
                let watches = match self.settings.version {
                    Version::V3_8 if !path.is_empty() && !path.starts_with('/') => {
                        return Err(Code::MARSHALLING_ERROR);
                    }
                    Version::V3_8 => here.watches.contains_any(&path, kind),
                    Version::V3_9 => here.watches.contains(&path, kind, id),
                };
                if !watches {
                    return Err(Code::NO_WATCHER);
                }
            }
            Request::RemoveWatches { path, kind } => {
                let (path, kind) = watch_arguments(path, kind)?;
                if !here.watches.remove(&path, kind, id) {
                    return Err(Code::NO_WATCHER);
                }
            }
            Request::SetWatches(watches) => self.set_watches(id, server, &watches),
            Request::GetEphemerals { prefix } => {
                let prefix = prefix.unwrap_or_default();
                let session = self.connections.get(&id).map_or(0, |client| client.session);
                let owned = here.database.ephemerals(session);
                let wanted: Vec<&str> = owned
                    .map(String::as_str)
                    .filter(|path| path.starts_with(&prefix))
                    .collect();
                reply.strings(wanted.into_iter());
            }
            Request::GetAllChildrenNumber { path } => {
                let path = path.ok_or(Code::MARSHALLING_ERROR)?;
                let node = here.database.node(&path).ok_or(Code::NO_NODE)?;
                readable(Some(node))?;
                reply.i32(here.database.descendants(&path));
            }
            Request::WhoAmI => {
                reply.identities(ids);
            }
            _ => return Err(Code::UNIMPLEMENTED),
        }
        Ok(())
    }

    /// Tells at once what has changed since the client's last zxid, in the order of the request, and watches the rest.
    fn set_watches(&mut self, id: ConnectionId, server: usize, wanted: &SetWatches) {
        let here = &mut self.servers[server];
        let since = wanted.relative_zxid;
        let mut events = Vec::new();
        for path in &wanted.data {
            match here.database.node(path).map(Node::stat) {
                None => events.push((EventKind::Deleted, path)),
                Some(stat) if stat.mzxid > since => events.push((EventKind::DataChanged, path)),
                Some(_) => here.watches.add_data(path, id),
            }
        }
        for path in &wanted.exist {
            match here.database.node(path) {
                Some(_) => events.push((EventKind::Created, path)),
                None => here.watches.add_data(path, id),
            }
        }
        for path in &wanted.child {
            match here.database.node(path).map(Node::stat) {
                None => events.push((EventKind::Deleted, path)),
                Some(stat) if stat.pzxid > since => events.push((EventKind::ChildrenChanged, path)),
                Some(_) => here.watches.add_children(path, id),
            }
        }
        for (kind, path) in events {
            self.send(id, Writer::event(NO_ZXID, kind as i32, path));
        }
    }
}

fn watch_arguments(path: Option<String>, kind: i32) -> Result<(String, WatcherType), Code> {
    path.zip(WatcherType::from_wire(kind))
        .ok_or(Code::MARSHALLING_ERROR)
}
