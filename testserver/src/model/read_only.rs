//! Servers without a majority in read-only mode. Real ones, asked for a session, answer with the reply of a refused
//! write, which is no answer to a handshake, and then with nothing: whoever wants locks is told to go elsewhere.

use super::connection::Phase;
use super::server::Role;
use super::settings::nanos;
use super::{Cluster, ConnectionId};
use crate::wire::code::Code;

const HANDSHAKE_XID: i32 = 0;

impl Cluster {
    /// Whether a server has looked for a leader so long that it is in read-only mode meanwhile.
    pub(super) fn only_reads(&self, server: usize) -> bool {
        match (&self.servers[server].role, self.settings.read_only_after) {
            (Role::Looking { since, .. }, Some(patience)) => {
                self.now >= since.saturating_add(nanos(patience))
            }
            _ => false,
        }
    }

    /// `asks`: whether the client says that reading alone will do.
    pub(super) fn read_only_handshake(&mut self, id: ConnectionId, asks: bool) {
        if !asks {
            return self.close(id);
        }
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.phase = Phase::Handshaking;
            self.refuse(id, HANDSHAKE_XID, Code::NOT_READ_ONLY);
        }
    }

    /// The server has a leader, or leads: whoever connected meanwhile has to come anew.
    pub(super) fn end_read_only(&mut self, server: usize) {
        let waiting: Vec<ConnectionId> = self
            .connections
            .iter()
            .filter(|(_, one)| one.server == server && one.phase == Phase::Handshaking)
            .map(|(id, _)| *id)
            .collect();
        for connection in waiting {
            self.close(connection);
        }
    }
}
