//! The listener, with an independent client: the `zookeeper` crate.
mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::decode::{Message, frames, message, session};
use common::encode::*;
use zookeeper::{Acl, CreateMode, WatchedEvent, WatchedEventType, ZkError, ZooKeeper};
use zoolock_testserver::server::Server;

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
