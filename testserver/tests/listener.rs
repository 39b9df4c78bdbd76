//! The listener, with an independent client: the `zookeeper` crate.
mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::decode::{Message, frames, message, session};
use common::encode::*;
use zookeeper::{Acl, CreateMode, WatchedEvent, WatchedEventType, ZkError, ZooKeeper};
use zoolock_testserver::server::{AcceptError, Gone, Server};

const PATIENCE: Duration = Duration::from_secs(20);

fn client(hosts: &str) -> ZooKeeper {
    ZooKeeper::connect(hosts, Duration::from_secs(5), |_: WatchedEvent| {}).unwrap()
}

#[test]
fn an_independent_client_can_do_what_locks_do() {
    let server = Server::builder().start().unwrap();
    let a = client(&server.hosts());
    let b = client(&server.hosts());
    let acl = || Acl::open_unsafe().clone();
    a.create("/locks", Vec::new(), acl(), CreateMode::Container)
        .unwrap();
    let mode = CreateMode::EphemeralSequential;
    let first = a
        .create("/locks/x-lock-", b"a".to_vec(), acl(), mode)
        .unwrap();
    let second = b
        .create("/locks/x-lock-", b"b".to_vec(), acl(), mode)
        .unwrap();
    assert_eq!(first, "/locks/x-lock-0000000000");
    assert_eq!(second, "/locks/x-lock-0000000001");
    let (told, gone) = mpsc::channel();
    b.get_data_w(&first, move |event: WatchedEvent| told.send(event).unwrap())
        .unwrap();
    a.delete(&first, None).unwrap();
    let event = gone.recv_timeout(PATIENCE).unwrap();
    assert_eq!(event.event_type, WatchedEventType::NodeDeleted);
    assert_eq!(
        a.get_children("/locks", false).unwrap(),
        ["x-lock-0000000001"]
    );
    assert_eq!(a.get_data("/none", false).unwrap_err(), ZkError::NoNode);
    b.close().unwrap();
    assert!(a.get_children("/locks", false).unwrap().is_empty());
    assert_eq!(server.sessions().unwrap().len(), 1);
}

#[test]
fn an_independent_client_learns_that_its_session_is_over() {
    let server = Server::builder().start().unwrap();
    let (a, b) = (client(&server.hosts()), client(&server.hosts()));
    let acl = Acl::open_unsafe().clone();
    let node = a
        .create("/x-lock-", Vec::new(), acl, CreateMode::EphemeralSequential)
        .unwrap();
    let (frees, freed) = mpsc::channel();
    b.get_data_w(&node, move |event: WatchedEvent| frees.send(event).unwrap())
        .unwrap();
    let sessions = server.sessions().unwrap();
    let holder = sessions
        .iter()
        .find(|session| session.ephemerals == [node.clone()]);
    assert_eq!(server.expire_session(holder.unwrap().id), Ok(true));
    let event = freed.recv_timeout(PATIENCE).unwrap();
    assert_eq!(event.event_type, WatchedEventType::NodeDeleted);
    // It loses its connection, and goes on with a new session.
    let start = Instant::now();
    let answer = loop {
        match a.get_data(&node, false) {
            Err(ZkError::ConnectionLoss) => assert!(start.elapsed() < PATIENCE),
            answer => break answer,
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(answer.unwrap_err(), ZkError::NoNode);
    let sessions = server.sessions().unwrap();
    assert!(!sessions.contains(holder.unwrap()));
    assert_eq!(sessions.len(), 2);
    b.close().unwrap();
}

/// A connection of bytes.
struct Raw(TcpStream, Vec<u8>);

impl Raw {
    fn open(server: &Server) -> std::io::Result<Self> {
        let socket = TcpStream::connect(server.address())?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Raw(socket, Vec::new()))
    }

    fn session(server: &Server) -> Self {
        let mut raw = Raw::open(server).unwrap();
        raw.0.write_all(&connect(0, 2_000, 0, &[0; 16])).unwrap();
        assert_eq!(session(&raw.frame().unwrap()).timeout_ms, 2_000);
        raw
    }

    fn frame(&mut self) -> Option<Vec<u8>> {
        let mut buffer = [0; 4096];
        loop {
            let count = self.0.read(&mut buffer).unwrap();
            if count == 0 {
                return None;
            }
            self.1.extend(&buffer[..count]);
            if let Some(frame) = frames(&mut self.1).pop() {
                return Some(frame);
            }
        }
    }

    fn ping(&mut self) {
        self.0.write_all(&request(-2, PING, &record())).unwrap();
    }

    fn pong(&mut self) {
        let frame = self.frame().expect("an answer");
        let Message::Reply(reply) = message(&frame) else {
            panic!("{frame:?}");
        };
        assert_eq!(reply.xid, -2);
    }
}

#[test]
fn an_expired_session_is_over() {
    let server = Server::builder().start().unwrap();
    let mut raw = Raw::open(&server).unwrap();
    raw.0.write_all(&connect(0, 2_000, 0, &[0; 16])).unwrap();
    let old = session(&raw.frame().unwrap());
    assert!(server.expire_session(old.id).unwrap());
    assert!(!server.expire_session(old.id).unwrap());
    assert_eq!(raw.frame(), None);
    let mut raw = Raw::open(&server).unwrap();
    raw.0
        .write_all(&connect(0, 2_000, old.id, &old.password))
        .unwrap();
    assert_eq!(session(&raw.frame().unwrap()).timeout_ms, 0);
    assert_eq!(raw.frame(), None);
}

#[test]
fn sessions_expire_by_themselves() {
    let server = Server::builder()
        .tick(Duration::from_millis(100))
        .start()
        .unwrap();
    let mut raw = Raw::session(&server);
    assert_eq!(server.sessions().unwrap().len(), 1);
    assert_eq!(
        raw.frame(),
        None,
        "closed when the silence has lasted too long"
    );
    assert!(server.sessions().unwrap().is_empty());
}

#[test]
fn frozen_connections_stay_open_and_are_answered_when_thawed() {
    let server = Server::builder().start().unwrap();
    let mut raw = Raw::session(&server);
    server.freeze_all().unwrap();
    raw.ping();
    raw.0
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    assert!(raw.0.read(&mut [0; 1]).is_err());
    raw.0.set_read_timeout(Some(PATIENCE)).unwrap();
    server.thaw_all().unwrap();
    raw.pong();
}

#[test]
fn delayed_answers_come_later() {
    let server = Server::builder().start().unwrap();
    let mut raw = Raw::session(&server);
    server.delay_answers(Duration::from_millis(60)).unwrap();
    let start = Instant::now();
    raw.ping();
    raw.pong();
    assert!(start.elapsed() >= Duration::from_millis(60));
    server.delay_answers(Duration::ZERO).unwrap();
    raw.ping();
    raw.pong();
}

#[test]
fn cut_connections_end_and_refused_ones_do_not_begin() {
    let server = Server::builder().start().unwrap();
    let mut raw = Raw::session(&server);
    server.refuse_connections().unwrap();
    raw.ping();
    raw.pong();
    assert!(Raw::open(&server).is_err());
    assert_eq!(server.cut_all(), Ok(1));
    assert_eq!(raw.frame(), None);
    assert_eq!(server.sessions().unwrap().len(), 1);
    server.accept_connections().unwrap();
    Raw::session(&server);
    assert_eq!(server.sessions().unwrap().len(), 2);
}

#[test]
fn dropping_it_ends_connections_and_frees_the_port() {
    let server = Server::builder().start().unwrap();
    let mut raw = Raw::session(&server);
    let address = server.address();
    drop(server);
    assert_eq!(raw.frame(), None);
    assert!(TcpStream::connect(address).is_err());
    let again = Server::builder().port(address.port()).start().unwrap();
    assert_eq!(again.address(), address);
}

#[test]
fn a_frozen_session_is_cut_off_and_the_others_are_not() {
    let server = Server::builder().start().unwrap();
    let mut raw = Raw::open(&server).unwrap();
    raw.0.write_all(&connect(0, 30_000, 0, &[0; 16])).unwrap();
    let old = session(&raw.frame().unwrap());
    assert_eq!(server.freeze_session(old.id), Ok(true));
    assert_eq!(server.freeze_session(old.id + 1), Ok(false));
    raw.ping();
    // It tries again, one byte at a time.
    let mut again = Raw::open(&server).unwrap();
    for byte in connect(0, 30_000, old.id, &old.password) {
        again.0.write_all(&[byte]).unwrap();
    }
    let mut other = Raw::session(&server);
    other.ping();
    other.pong();
    for silent in [&raw, &again] {
        let soon = Duration::from_millis(100);
        silent.0.set_read_timeout(Some(soon)).unwrap();
        assert!((&silent.0).read(&mut [0; 1]).is_err());
        silent.0.set_read_timeout(Some(PATIENCE)).unwrap();
    }
    assert_eq!(server.thaw_session(old.id), Ok(true));
    assert_eq!(server.thaw_session(old.id), Ok(false));
    raw.pong();
    assert_eq!(session(&again.frame().unwrap()).id, old.id);
    assert_eq!(raw.frame(), None, "the session has moved");
    again.ping();
    again.pong();
}

#[test]
fn a_frozen_session_expires_and_is_told_when_it_is_thawed() {
    let server = Server::builder()
        .tick(Duration::from_millis(50))
        .start()
        .unwrap();
    let mut raw = Raw::open(&server).unwrap();
    raw.0.write_all(&connect(0, 100, 0, &[0; 16])).unwrap();
    let old = session(&raw.frame().unwrap());
    assert_eq!(server.freeze_session(old.id), Ok(true));
    let start = Instant::now();
    while !server.sessions().unwrap().is_empty() {
        assert!(start.elapsed() < PATIENCE);
        raw.ping();
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(server.freeze_session(old.id), Ok(false));
    assert_eq!(server.thaw_session(old.id), Ok(true));
    assert_eq!(raw.frame(), None);
}

#[test]
fn one_session_can_be_cut_and_all_can_be_ended() {
    let server = Server::builder().start().unwrap();
    let (mut first, mut second) = (Raw::session(&server), Raw::session(&server));
    let ids: Vec<i64> = server.sessions().unwrap().iter().map(|s| s.id).collect();
    assert_eq!(server.cut_session(ids[0]), Ok(true));
    assert_eq!(first.frame(), None);
    assert_eq!(server.cut_session(ids[0]), Ok(false));
    second.ping();
    second.pong();
    let connected: Vec<bool> = server
        .sessions()
        .unwrap()
        .iter()
        .map(|session| session.connected)
        .collect();
    assert_eq!(connected, [false, true]);
    assert_eq!(server.expire_all(), Ok(2));
    assert_eq!(second.frame(), None);
    assert_eq!(server.expire_all(), Ok(0));
}

#[test]
fn a_stopped_server_is_gone_and_can_be_stopped_by_several_threads() {
    let server = Server::builder().start().unwrap();
    let mut raw = Raw::session(&server);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                server.stop();
                assert!(TcpStream::connect(server.address()).is_err());
            });
        }
    });
    assert_eq!(raw.frame(), None);
    assert_eq!(server.sessions(), Err(Gone::Stopped));
    assert_eq!(server.freeze_all(), Err(Gone::Stopped));
    assert!(matches!(
        server.accept_connections(),
        Err(AcceptError::Gone(Gone::Stopped))
    ));
    assert!(server.hosts().starts_with("127.0.0.1:"));
}

#[test]
fn a_status_says_what_it_is() {
    let server = Server::builder().start().unwrap();
    let _session = Raw::session(&server);
    for word in ["srvr", "stat"] {
        let said = four_letter_word(&server, word);
        assert!(
            said.starts_with("Zookeeper version: 3.9.5-zoolock-testserver"),
            "{said}"
        );
        assert!(said.contains("for development and tests only"), "{said}");
        assert!(said.contains("\nConnections: 1\n"), "{said}");
        assert!(said.contains("\nMode: standalone\n"), "{said}");
    }
    assert_eq!(four_letter_word(&server, "ruok"), "imok");
    assert_eq!(four_letter_word(&server, "isro"), "rw");
}

fn four_letter_word(server: &Server, word: &str) -> String {
    let mut raw = Raw::open(server).unwrap();
    raw.0.write_all(word.as_bytes()).unwrap();
    let mut said = String::new();
    raw.0.read_to_string(&mut said).unwrap();
    said
}
