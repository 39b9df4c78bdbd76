//! A connection to a real server.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::common::decode::{self, Message, Reply, Session, frames, message};
use crate::common::encode::{Record, connect, request};

pub struct Client {
    socket: TcpStream,
    stream: Vec<u8>,
    frames: Vec<Vec<u8>>,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        Client {
            socket,
            stream: Vec::new(),
            frames: Vec::new(),
        }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        // A server that has closed is noticed when its answer is read.
        match self.socket.write_all(bytes) {
            Err(error) if is_end(error.kind()) => {}
            other => other.unwrap(),
        }
    }

    /// `None` at the connection's end.
    pub fn frame(&mut self) -> Option<Vec<u8>> {
        self.try_frame().expect("an answer in time")
    }

    pub fn try_message(&mut self) -> std::io::Result<Option<Message>> {
        Ok(self.try_frame()?.map(|frame| message(&frame)))
    }

    fn try_frame(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let mut buffer = [0; 65536];
        while self.frames.is_empty() {
            let count = match self.socket.read(&mut buffer) {
                Err(error) if is_end(error.kind()) => 0,
                other => other?,
            };
            if count == 0 {
                return Ok(None);
            }
            self.stream.extend(&buffer[..count]);
            self.frames = frames(&mut self.stream);
        }
        Ok(Some(self.frames.remove(0)))
    }

    pub fn message(&mut self) -> Option<Message> {
        self.frame().map(|frame| message(&frame))
    }

    pub fn handshake(&mut self, zxid: i64, old: Option<&Session>) -> Option<Session> {
        let (id, password) = old.map_or((0, vec![0; 16]), |old| (old.id, old.password.clone()));
        self.send(&connect(zxid, 60_000, id, &password));
        self.frame().map(|frame| decode::session(&frame))
    }

    /// The reply behind any events; `None` at the connection's end.
    pub fn ask_past_events(&mut self, xid: i32, op: i32, body: &Record) -> Option<Reply> {
        self.send(&request(xid, op, body));
        loop {
            match self.message()? {
                Message::Reply(reply) => return Some(reply),
                Message::Event(_) => {}
            }
        }
    }

    pub fn ask(&mut self, xid: i32, op: i32, body: &Record) -> Reply {
        self.send(&request(xid, op, body));
        match self.message() {
            Some(Message::Reply(reply)) => reply,
            other => panic!("{other:?} instead of a reply"),
        }
    }
}

fn is_end(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted
    )
}
