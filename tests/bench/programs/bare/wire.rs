//! Just enough of ZooKeeper's protocol to take a lock, to wait for it, and to give it back.

use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;

use crate::jute::{put_bytes, put_int, put_long, put_string, take_int, take_long, take_string};

const DELETE: i32 = 2;
const CREATE: i32 = 1;
const GET_DATA: i32 = 4;
const GET_CHILDREN2: i32 = 12;
const CREATE2: i32 = 15;
const CLOSE: i32 = -11;
const NODE_EXISTS: i32 = -110;
const NO_NODE: i32 = -101;
/// What an event has in the place of a request's number.
const EVENT: i32 = -1;
const EPHEMERAL_SEQUENTIAL: i32 = 3;
const ALL_PERMISSIONS: i32 = 31;
/// Long, so that no pings are needed between two blocks of cycles.
const SESSION_TIMEOUT_MS: i32 = 60_000;

/// A session on a blocking socket.
pub(crate) struct Bare {
    stream: BufReader<TcpStream>,
    xid: i32,
    out: Vec<u8>,
}

/// A created node.
pub(crate) struct Node {
    pub(crate) path: String,
    pub(crate) czxid: i64,
}

impl Bare {
    pub(crate) fn connect(address: &str) -> io::Result<Bare> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut bare = Bare {
            stream: BufReader::new(stream),
            xid: 0,
            out: Vec::new(),
        };
        let mut handshake = Vec::new();
        put_int(&mut handshake, 0); // protocol version
        put_long(&mut handshake, 0); // last zxid seen
        put_int(&mut handshake, SESSION_TIMEOUT_MS);
        put_long(&mut handshake, 0); // a new session
        put_bytes(&mut handshake, &[0; 16]);
        handshake.push(0); // not read-only
        bare.put_frame(&handshake);
        bare.send()?;
        let reply = bare.receive()?;
        let mut reply = reply.as_slice();
        take_int(&mut reply)?;
        if take_int(&mut reply)? <= 0 {
            return Err(io::Error::other("the server gave no session"));
        }
        Ok(bare)
    }

    /// Makes a persistent node, if it is not there.
    pub(crate) fn ensure(&mut self, path: &str) -> io::Result<()> {
        self.put_create(CREATE, path, b"", 0);
        self.send()?;
        let reply = self.receive()?;
        let (error, _) = self.header(&reply)?;
        if error != 0 && error != NODE_EXISTS {
            return Err(io::Error::other(format!("create {path}: error {error}")));
        }
        Ok(())
    }

    /// Puts a contender's creation and a listing into the next flight.
    pub(crate) fn put_acquire(&mut self, parent: &str, prefix: &str, data: &[u8]) {
        self.put_create(CREATE2, prefix, data, EPHEMERAL_SEQUENTIAL);
        self.put_list(parent);
    }

    pub(crate) fn put_list(&mut self, parent: &str) {
        let mut list = self.request(GET_CHILDREN2);
        put_string(&mut list, parent);
        list.push(0); // no watch
        self.put_frame(&list);
    }

    pub(crate) fn put_delete(&mut self, path: &str) {
        let mut delete = self.request(DELETE);
        put_string(&mut delete, path);
        put_int(&mut delete, -1); // any version
        self.put_frame(&delete);
    }

    /// The answer to a creation.
    pub(crate) fn created(&mut self) -> io::Result<Node> {
        let reply = self.receive()?;
        let mut body = self.succeeded(&reply, "create2")?;
        Ok(Node {
            path: take_string(&mut body)?,
            czxid: take_long(&mut body)?,
        })
    }

    /// The answer to a listing.
    pub(crate) fn listed(&mut self) -> io::Result<Vec<String>> {
        let reply = self.receive()?;
        let mut body = self.succeeded(&reply, "getChildren2")?;
        let count = take_int(&mut body)?;
        (0..count).map(|_| take_string(&mut body)).collect()
    }

    /// The answer to a delete.
    pub(crate) fn deleted(&mut self) -> io::Result<()> {
        let reply = self.receive()?;
        self.succeeded(&reply, "delete").map(drop)
    }

    pub(crate) fn release(&mut self, node: &Node) -> io::Result<()> {
        self.put_delete(&node.path);
        self.send()?;
        self.deleted()
    }

    /// Lists again.
    pub(crate) fn list(&mut self, parent: &str) -> io::Result<Vec<String>> {
        self.put_list(parent);
        self.send()?;
        self.listed()
    }

    /// Waits until a node is gone; whether it was there to be watched.
    pub(crate) fn wait_gone(&mut self, path: &str) -> io::Result<bool> {
        let mut watch = self.request(GET_DATA);
        put_string(&mut watch, path);
        watch.push(1); // a watch
        self.put_frame(&watch);
        self.send()?;
        let reply = self.receive()?;
        match self.header(&reply)? {
            (NO_NODE, _) => return Ok(false),
            (0, _) => {}
            (error, _) => return Err(io::Error::other(format!("getData: error {error}"))),
        }
        let event = self.receive()?;
        match take_int(&mut event.as_slice())? {
            EVENT => Ok(true),
            xid => Err(io::Error::other(format!("{xid} instead of an event"))),
        }
    }

    pub(crate) fn close(mut self) -> io::Result<()> {
        let close = self.request(CLOSE);
        self.put_frame(&close);
        self.send()?;
        self.receive().map(drop)
    }

    fn request(&mut self, operation: i32) -> Vec<u8> {
        self.xid += 1;
        let mut frame = Vec::with_capacity(128);
        put_int(&mut frame, self.xid);
        put_int(&mut frame, operation);
        frame
    }

    fn put_create(&mut self, operation: i32, path: &str, data: &[u8], flags: i32) {
        let mut create = self.request(operation);
        put_string(&mut create, path);
        put_bytes(&mut create, data);
        put_int(&mut create, 1); // one ACL entry: the world may do anything
        put_int(&mut create, ALL_PERMISSIONS);
        put_string(&mut create, "world");
        put_string(&mut create, "anyone");
        put_int(&mut create, flags);
        self.put_frame(&create);
    }

    fn put_frame(&mut self, frame: &[u8]) {
        put_bytes(&mut self.out, frame);
    }

    pub(crate) fn send(&mut self) -> io::Result<()> {
        self.stream.get_mut().write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    /// Whether more has come than was read.
    pub(crate) fn has_more(&self) -> bool {
        !self.stream.buffer().is_empty()
    }

    fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let length = usize::try_from(i32::from_be_bytes(length)).map_err(io::Error::other)?;
        let mut frame = vec![0; length];
        self.stream.read_exact(&mut frame)?;
        Ok(frame)
    }

    fn succeeded<'a>(&self, reply: &'a [u8], what: &str) -> io::Result<&'a [u8]> {
        match self.header(reply)? {
            (0, body) => Ok(body),
            (error, _) => Err(io::Error::other(format!("{what}: error {error}"))),
        }
    }

    /// A reply's error code and body. Whatever else is in flight was sent after what this answers.
    fn header<'a>(&self, mut reply: &'a [u8]) -> io::Result<(i32, &'a [u8])> {
        let xid = take_int(&mut reply)?;
        if xid > self.xid || xid <= 0 {
            return Err(io::Error::other(format!("a reply to {xid}")));
        }
        take_long(&mut reply)?; // zxid
        let error = take_int(&mut reply)?;
        Ok((error, reply))
    }
}
