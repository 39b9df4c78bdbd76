//! A client that says exactly what a test wants to see on the wire.

#![allow(dead_code)] // each test uses a part

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use zoolock_ensemble::{Ensemble, eventually};

/// Longer than anything here takes on a busy machine.
pub const LONG: Duration = Duration::from_secs(30);
/// Long enough to see that nothing comes.
pub const SHORT: Duration = Duration::from_millis(200);

pub const CREATE2: i32 = 15;
pub const GET_DATA: i32 = 4;
pub const PING: i32 = 11;

pub struct Client {
    pub stream: TcpStream,
    pub session: i64,
    xid: i32,
}

/// A reply's header, and what follows it.
#[derive(Debug)]
pub struct Reply {
    pub xid: i32,
    pub err: i32,
    pub body: Vec<u8>,
}

impl Client {
    pub fn connect(host: &str, timeout_ms: i32) -> io::Result<Client> {
        let mut stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LONG))?;
        let mut body = Vec::new();
        body.extend(0i32.to_be_bytes());
        body.extend(0i64.to_be_bytes());
        body.extend(timeout_ms.to_be_bytes());
        body.extend(0i64.to_be_bytes());
        body.extend(16i32.to_be_bytes());
        body.extend([0; 17]);
        send(&mut stream, &body)?;
        let answer = receive(&mut stream)?;
        let session = i64::from_be_bytes(answer[8..16].try_into().expect("eight bytes"));
        Ok(Client {
            stream,
            session,
            xid: 0,
        })
    }

    pub fn to(ensemble: &Ensemble) -> Client {
        let host = ensemble.host(1).expect("host");
        Client::connect(&host, 10_000).expect("connect")
    }

    pub fn send(&mut self, op: i32, body: &[u8]) -> i32 {
        self.xid += 1;
        let xid = if op == PING { -2 } else { self.xid };
        let mut frame = xid.to_be_bytes().to_vec();
        frame.extend(op.to_be_bytes());
        frame.extend(body);
        send(&mut self.stream, &frame).expect("send");
        xid
    }

    pub fn send_create(&mut self, path: &str, flags: i32) -> i32 {
        let mut body = string(path);
        body.extend(0i32.to_be_bytes()); // no data
        body.extend(1i32.to_be_bytes()); // one ACL: all for everybody
        body.extend(31i32.to_be_bytes());
        body.extend(string("world"));
        body.extend(string("anyone"));
        body.extend(flags.to_be_bytes());
        self.send(CREATE2, &body)
    }

    pub fn receive(&mut self) -> io::Result<Reply> {
        let frame = receive(&mut self.stream)?;
        let int = |at: usize| i32::from_be_bytes(frame[at..at + 4].try_into().expect("four bytes"));
        Ok(Reply {
            xid: int(0),
            err: int(12),
            body: frame[16..].to_vec(),
        })
    }

    pub fn create(&mut self, path: &str) -> io::Result<Reply> {
        self.send_create(path, 0);
        self.receive()
    }

    pub fn ping(&mut self) -> io::Result<Reply> {
        self.send(PING, &[]);
        self.receive()
    }

    /// Whether nothing arrives for a while.
    pub fn is_silent(&mut self) -> bool {
        self.stream.set_read_timeout(Some(SHORT)).expect("timeout");
        let silent = matches!(self.stream.peek(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        self.stream.set_read_timeout(Some(LONG)).expect("timeout");
        silent
    }
}

pub fn string(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as i32).to_be_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes
}

fn send(stream: &mut TcpStream, frame: &[u8]) -> io::Result<()> {
    let mut bytes = (frame.len() as i32).to_be_bytes().to_vec();
    bytes.extend(frame);
    stream.write_all(&bytes)
}

fn receive(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut frame = vec![0; i32::from_be_bytes(length) as usize];
    stream.read_exact(&mut frame)?;
    Ok(frame)
}

/// Waits until `condition` holds.
#[track_caller]
pub fn wait(what: &str, condition: impl FnMut() -> bool) {
    assert!(eventually(LONG, condition), "not within {LONG:?}: {what}");
}
