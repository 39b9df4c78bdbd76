//! The model with clients that talk to it in bytes, on a clock that only tests move.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use zoolock_testserver::model::{Cluster, ConnectionId, Output, Settings};

use super::decode::{Event, Message, Reply, Session, frames, message, session};
use super::encode::{Record, connect, request};

pub struct Simulation {
    pub cluster: Cluster,
    pub now: u64,
    clients: BTreeMap<ConnectionId, Client>,
}

#[derive(Default)]
struct Client {
    stream: Vec<u8>,
    frames: VecDeque<Vec<u8>>,
    closed: bool,
    xid: i32,
}

pub const SECOND: u64 = 1_000_000_000;

pub fn one_server() -> Simulation {
    Simulation::new(Settings::default(), 1)
}

/// Server 0 leads.
pub fn three_servers() -> Simulation {
    let settings = Settings {
        servers: 3,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings, 1);
    simulation.cluster.elect(0, 0);
    simulation
}

impl Simulation {
    pub fn new(settings: Settings, seed: u64) -> Self {
        Simulation {
            cluster: Cluster::new(settings, seed),
            now: 0,
            clients: BTreeMap::new(),
        }
    }

    pub fn open(&mut self, server: usize) -> ConnectionId {
        let id = self
            .cluster
            .open(self.now, server)
            .expect("a server that runs");
        self.clients.insert(id, Client::default());
        id
    }

    pub fn send(&mut self, id: ConnectionId, bytes: &[u8]) {
        self.cluster.receive(self.now, id, bytes);
        self.collect();
    }

    /// Lets time pass, timer by timer.
    pub fn pass(&mut self, time: Duration) {
        let until = self.now + time.as_nanos() as u64;
        while let Some(at) = self.cluster.next_timeout()
            && at <= until
        {
            self.now = self.now.max(at);
            self.cluster.handle_timeout(self.now);
            self.collect();
        }
        self.now = until;
    }

    pub fn pass_ms(&mut self, ms: u64) {
        self.pass(Duration::from_millis(ms));
    }

    pub fn collect(&mut self) {
        while let Some(output) = self.cluster.poll_output() {
            match output {
                Output::Bytes { connection, bytes } => {
                    let client = self
                        .clients
                        .get_mut(&connection)
                        .expect("a known connection");
                    assert!(!client.closed, "bytes after the end of {connection}");
                    client.stream.extend(bytes);
                    client.frames.extend(frames(&mut client.stream));
                }
                Output::Close { connection } => {
                    let client = self
                        .clients
                        .get_mut(&connection)
                        .expect("a known connection");
                    assert!(!client.closed, "{connection} closed twice");
                    client.closed = true;
                }
            }
        }
    }

    /// What is there that is no whole frame.
    pub fn raw(&mut self, id: ConnectionId) -> Vec<u8> {
        self.collect();
        std::mem::take(&mut self.clients.get_mut(&id).unwrap().stream)
    }

    pub fn is_closed(&mut self, id: ConnectionId) -> bool {
        self.collect();
        self.clients[&id].closed
    }

    pub fn frame(&mut self, id: ConnectionId) -> Option<Vec<u8>> {
        self.collect();
        self.clients.get_mut(&id).unwrap().frames.pop_front()
    }

    pub fn message(&mut self, id: ConnectionId) -> Option<Message> {
        self.frame(id).map(|frame| message(&frame))
    }

    pub fn event(&mut self, id: ConnectionId) -> Event {
        match self.message(id) {
            Some(Message::Event(event)) => event,
            other => panic!("{other:?} instead of an event"),
        }
    }

    pub fn reply(&mut self, id: ConnectionId) -> Reply {
        match self.message(id) {
            Some(Message::Reply(reply)) => reply,
            other => panic!("{other:?} instead of a reply"),
        }
    }

    pub fn post(&mut self, id: ConnectionId, op: i32, body: &Record) -> i32 {
        let client = self.clients.get_mut(&id).unwrap();
        client.xid += 1;
        let xid = client.xid;
        self.send(id, &request(xid, op, body));
        xid
    }

    /// Asks, and takes the answer, which must come at once and first.
    pub fn ask(&mut self, id: ConnectionId, op: i32, body: &Record) -> Reply {
        let xid = self.post(id, op, body);
        let reply = self.reply(id);
        assert_eq!(reply.xid, xid);
        reply
    }

    pub fn handshake(
        &mut self,
        server: usize,
        zxid: i64,
        timeout_ms: i32,
        old: Option<&Session>,
    ) -> (ConnectionId, Option<Session>) {
        let id = self.open(server);
        let (number, password) = old.map_or((0, vec![0; 16]), |old| (old.id, old.password.clone()));
        self.send(id, &connect(zxid, timeout_ms, number, &password));
        let session = self.frame(id).map(|frame| session(&frame));
        (id, session)
    }

    pub fn connect(&mut self, server: usize, timeout_ms: i32) -> (ConnectionId, Session) {
        let (id, session) = self.handshake(server, 0, timeout_ms, None);
        (id, session.expect("a session"))
    }
}
