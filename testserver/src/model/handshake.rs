//! Opens, resumes and moves sessions.

use super::connection::Phase;
use super::random::Random;
use super::server::{Role, Task, ToLeader, Work};
use super::txn::Origin;
use super::{Cluster, ConnectionId};
use crate::wire::connect::{self, ConnectRequest};

const PASSWORD: usize = 16;

impl Cluster {
    pub(super) fn handshake(&mut self, id: ConnectionId, frame: &[u8]) {
        let Ok(request) = ConnectRequest::decode(frame) else {
            return self.close(id);
        };
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        let server = connection.server;
        if request.last_zxid > self.servers[server].database.zxid {
            return self.close(id);
        }
        let timeout_ms = self.settings.negotiate(request.timeout_ms);
        connection.timeout_ms = timeout_ms;
        connection.read_only = request.read_only;
        if !self.servers[server].is_serving() {
            return self.read_only_handshake(id, request.read_only == Some(true));
        }
        connection.phase = Phase::Handshaking;
        if request.session == 0 {
            self.create_session(id, server, timeout_ms);
        } else {
            self.resume_session(id, server, &request, timeout_ms);
        }
    }

    fn create_session(&mut self, id: ConnectionId, server: usize, timeout_ms: u32) {
        self.next_session += 1;
        let number = i64::try_from(server).unwrap_or(0) + 1;
        let session = number << 56 | self.next_session;
        self.attach(id, server, session);
        let Some(connection) = self.connections.get(&id) else {
            return;
        };
        let work = Work {
            through: Some(server),
            origin: Some(Origin {
                connection: id,
                xid: 0,
            }),
            session,
            ids: connection.ids.clone(),
            task: Task::CreateSession { timeout_ms },
            standing: Ok(()),
            number: 0,
        };
        if let Role::Following(following) = &mut self.servers[server].role {
            following.touched.insert(session, timeout_ms);
        }
        self.tell_leader(server, ToLeader::Work(work));
    }

    fn resume_session(
        &mut self,
        id: ConnectionId,
        server: usize,
        request: &ConnectRequest,
        timeout_ms: u32,
    ) {
        let session = request.session;
        if let Some(old) = self.servers[server].attached.get(&session).copied() {
            self.close(old);
        }
        self.attach(id, server, session);
        if request.password != self.password(session) {
            return self.finish_session(id, false);
        }
        let now = self.now;
        if let Some(leading) = self.servers[server].leading_mut() {
            let valid = leading.tracker.touch(session, timeout_ms, now);
            leading.tracker.set_owner(session, server);
            return self.finish_session(id, valid);
        }
        let question = ToLeader::Revalidate {
            connection: id,
            session,
            timeout_ms,
        };
        self.tell_leader(server, question);
    }

    fn attach(&mut self, id: ConnectionId, server: usize, session: i64) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.session = session;
            self.servers[server].attached.insert(session, id);
        }
    }

    pub(super) fn finish_session(&mut self, id: ConnectionId, valid: bool) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        if connection.phase != Phase::Handshaking {
            return;
        }
        let read_only = connection.read_only.map(|_| false);
        if !valid {
            let refusal = connect::response(0, 0, &[0; PASSWORD], read_only);
            self.send(id, refusal);
            return self.close(id);
        }
        connection.phase = Phase::Active;
        let (session, timeout_ms) = (connection.session, connection.timeout_ms);
        let timeout_ms = i32::try_from(timeout_ms).unwrap_or(i32::MAX);
        let password = self.password(session);
        let response = connect::response(timeout_ms, session, &password, read_only);
        self.send(id, response);
        self.ready.push_back(id);
    }

    /// The same on all servers, as in an ensemble.
    fn password(&self, session: i64) -> [u8; PASSWORD] {
        let mut random = Random::new(self.password_secret ^ session.cast_unsigned());
        let mut password = [0; PASSWORD];
        for chunk in password.chunks_mut(8) {
            chunk.copy_from_slice(&random.next().to_be_bytes());
        }
        password
    }
}
