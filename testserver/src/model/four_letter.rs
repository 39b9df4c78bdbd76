//! The four-letter words that a client may send in place of a handshake.

use super::server::Role;
use super::{Cluster, ConnectionId};

const LENGTH: usize = 4;

/// What it says of itself where a server names its version and build.
const VERSION: &str = "3.9.5-zoolock-testserver, for development and tests only";

impl Cluster {
    /// Answers and closes the connection.
    pub(super) fn four_letter_word(&mut self, id: ConnectionId, word: [u8; LENGTH]) {
        let Some(connection) = self.connections.get(&id) else {
            return;
        };
        let text = match &word {
            b"ruok" => "imok".to_owned(),
            b"srvr" => self.status(connection.server, ""),
            b"stat" => {
                let clients = self.clients(connection.server);
                self.status(connection.server, &clients)
            }
            b"isro" if self.servers[connection.server].is_serving() => "rw".to_owned(),
            b"isro" => "null".to_owned(),
            word => {
                let word = String::from_utf8_lossy(word);
                format!("{word} is not executed because it is not in the whitelist.\n")
            }
        };
        self.send(id, text.into_bytes());
        self.close(id);
    }

    fn status(&self, server: usize, clients: &str) -> String {
        let server = &self.servers[server];
        let mode = match &server.role {
            Role::Leading(_) if self.settings.servers == 1 => "standalone",
            Role::Leading(_) => "leader",
            Role::Following(_) => "follower",
            Role::Looking { .. } | Role::Stopped => {
                return "This ZooKeeper instance is not currently serving requests\n".to_owned();
            }
        };
        format!(
            "Zookeeper version: {VERSION}\n{clients}Latency min/avg/max: 0/0.0/0\nReceived: 0\nSent: 0\n\
             Connections: {}\nOutstanding: 0\nZxid: 0x{:x}\nMode: {mode}\nNode count: {}\n",
            server.attached.len(),
            server.database.zxid,
            server.database.node_count(),
        )
    }

    fn clients(&self, server: usize) -> String {
        let sessions = self.servers[server].attached.keys();
        let lines = sessions.map(|session| format!(" session 0x{session:x}\n"));
        format!("Clients:\n{}\n", lines.collect::<String>())
    }
}

pub(super) fn is_four_letter_word(word: [u8; LENGTH]) -> bool {
    const WORDS: [&[u8; LENGTH]; 18] = [
        b"conf", b"cons", b"crst", b"dirs", b"dump", b"envi", b"gtmk", b"hash", b"isro", b"mntr",
        b"ruok", b"srst", b"srvr", b"stat", b"stmk", b"wchc", b"wchp", b"wchs",
    ];
    WORDS.contains(&&word)
}
