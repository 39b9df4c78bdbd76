//! Takes apart what clients send.

use super::acl::Id;
use super::connection::{Phase, Waiting};
use super::digest;
use super::four_letter::is_four_letter_word;
use super::server::{Role, Task, ToLeader, Work};
use super::txn::Origin;
use super::{Cluster, ConnectionId, Version};
use crate::wire::code::Code;
use crate::wire::op;
use crate::wire::reader::Reader;
use crate::wire::request::Request;
use crate::wire::writer::Writer;

const LENGTH: usize = 4;

impl Cluster {
    /// Reads as many whole frames as there are.
    pub(super) fn feed(&mut self, id: ConnectionId) {
        loop {
            let Some(connection) = self.connections.get_mut(&id) else {
                return;
            };
            let Some(length) = connection.input.first_chunk::<LENGTH>().copied() else {
                return;
            };
            let (server, phase) = (connection.server, connection.phase);
            let serving = self.servers[server].is_serving() || self.only_reads(server);
            match phase {
                Phase::Handshaking => return,
                Phase::Fresh if is_four_letter_word(length) => {
                    return self.four_letter_word(id, length);
                }
                Phase::Fresh | Phase::Active => {}
            }
            let announced = usize::try_from(i32::from_be_bytes(length));
            let Ok(length) = announced else {
                return self.close(id);
            };
            if length > self.settings.max_frame || !serving {
                return self.close(id);
            }
            let Some(connection) = self.connections.get_mut(&id) else {
                return;
            };
            if connection.input.len() < LENGTH + length {
                return;
            }
            let rest = connection.input.split_off(LENGTH + length);
            let frame = std::mem::replace(&mut connection.input, rest);
            let frame = &frame[LENGTH..];
            if phase == Phase::Fresh {
                self.handshake(id, frame);
            } else {
                self.request(id, frame);
            }
        }
    }

    fn request(&mut self, id: ConnectionId, frame: &[u8]) {
        let mut reader = Reader::new(frame);
        let (Ok(xid), Ok(op)) = (reader.i32(), reader.i32()) else {
            return self.close(id);
        };
        if op == op::AUTH {
            return self.authenticate(id, xid, &mut reader);
        }
        if !self.touch(id) {
            return;
        }
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        if !op::is_known(op) {
            // Not in its turn: the server does not even queue it.
            let reply = Writer::reply(xid, -1, Code::UNIMPLEMENTED).finish();
            self.send(id, reply);
            return self.close(id);
        }
        let server = &mut self.servers[connection.server];
        if server.throttle > 0 && op::is_throttlable(op) {
            server.throttle -= 1;
            let arrived = server.leading().map_or(0, |leading| leading.arrived);
            let throttled = Waiting::Throttled { xid, arrived };
            connection.queue.push_back(throttled);
            return self.drain(id);
        }
        let task = match Request::decode(self.settings.version, op, reader.rest()) {
            Ok(Request::Sync { path }) if matches!(server.role, Role::Following(_)) => Task::Sync {
                connection: id,
                xid,
                path,
            },
            Ok(request) if op::is_write(op) => Task::Write(request),
            Err(_) if op::is_write(op) => Task::Malformed {
                uses_zxid: op == op::MULTI || self.settings.version == Version::V3_8,
            },
            request => {
                let ids = connection.ids.clone();
                let local = Waiting::Local {
                    xid,
                    ids,
                    request,
                    arrived: server.leading().map_or(0, |leading| leading.arrived),
                };
                connection.queue.push_back(local);
                return self.drain(id);
            }
        };
        connection.queue.push_back(Waiting::Forwarded);
        let through = connection.server;
        let work = Work {
            through: Some(through),
            origin: Some(Origin {
                connection: id,
                xid,
            }),
            session: connection.session,
            ids: connection.ids.clone(),
            task,
            standing: Ok(()),
            number: 0,
        };
        self.tell_leader(through, ToLeader::Work(work));
    }

    /// Every request keeps the session alive; a follower reports that to the leader later. False if the server knows
    /// that the session is over: then it drops the request.
    fn touch(&mut self, id: ConnectionId) -> bool {
        let now = self.now;
        let Some(connection) = self.connections.get(&id) else {
            return false;
        };
        match &mut self.servers[connection.server].role {
            Role::Leading(leading) => {
                let tracker = &mut leading.tracker;
                tracker.touch(connection.session, connection.timeout_ms, now)
            }
            Role::Following(following) => {
                let touched = &mut following.touched;
                touched.insert(connection.session, connection.timeout_ms);
                true
            }
            Role::Looking { .. } | Role::Stopped => false,
        }
    }

    fn authenticate(&mut self, id: ConnectionId, xid: i32, reader: &mut Reader<'_>) {
        let packet = (|| {
            let _kind = reader.i32()?;
            Ok::<_, crate::wire::reader::Malformed>((reader.string()?, reader.buffer()?))
        })();
        let Ok((scheme, credentials)) = packet else {
            return self.close(id);
        };
        let code = match (scheme.as_deref(), self.connections.get_mut(&id)) {
            (Some("digest"), Some(connection)) => {
                let identity = digest::identity(credentials.unwrap_or_default());
                if self.settings.super_digest.as_ref() == Some(&identity.id) {
                    connection.add_id(Id::new("super", ""));
                }
                connection.add_id(identity);
                Code::OK
            }
            // Known already from the address.
            (Some("ip"), _) => Code::OK,
            _ => Code::AUTH_FAILED,
        };
        let reply = Writer::reply(xid, 0, code).finish();
        self.send(id, reply);
        if code != Code::OK {
            self.close(id);
        }
    }
}
