//! Just enough of ZooKeeper's protocol to take and give back a lock that nobody else wants.

use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;

const DELETE: i32 = 2;
const CREATE: i32 = 1;
const GET_CHILDREN2: i32 = 12;
const CREATE2: i32 = 15;
const CLOSE: i32 = -11;
const NODE_EXISTS: i32 = -110;
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

    /// Creates a contender and lists all, in one flight; the lock is ours if there is no other.
    pub(crate) fn acquire(&mut self, parent: &str, prefix: &str, data: &[u8]) -> io::Result<Node> {
        self.put_create(CREATE2, prefix, data, EPHEMERAL_SEQUENTIAL);
        let mut list = self.request(GET_CHILDREN2);
        put_string(&mut list, parent);
        list.push(0); // no watch
        self.put_frame(&list);
        self.send()?;

        let created = self.receive()?;
        let (error, mut body) = self.header(&created)?;
        if error != 0 {
            return Err(io::Error::other(format!("create2: error {error}")));
        }
        let path = take_string(&mut body)?;
        let czxid = take_long(&mut body)?;

        let listed = self.receive()?;
        let (error, mut body) = self.header(&listed)?;
        if error != 0 {
            return Err(io::Error::other(format!("getChildren2: error {error}")));
        }
        let count = take_int(&mut body)?;
        let first = take_string(&mut body)?;
        if count != 1 || !path.ends_with(&first) {
            return Err(io::Error::other(format!("{count} contenders at {parent}")));
        }
        Ok(Node { path, czxid })
    }

    pub(crate) fn release(&mut self, node: &Node) -> io::Result<()> {
        let mut delete = self.request(DELETE);
        put_string(&mut delete, &node.path);
        put_int(&mut delete, -1); // any version
        self.put_frame(&delete);
        self.send()?;
        let reply = self.receive()?;
        match self.header(&reply)? {
            (0, _) => Ok(()),
            (error, _) => Err(io::Error::other(format!("delete: error {error}"))),
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

    fn send(&mut self) -> io::Result<()> {
        self.stream.get_mut().write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let length = usize::try_from(i32::from_be_bytes(length)).map_err(io::Error::other)?;
        let mut frame = vec![0; length];
        self.stream.read_exact(&mut frame)?;
        Ok(frame)
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

fn put_int(out: &mut Vec<u8>, value: i32) {
    out.extend(value.to_be_bytes());
}

fn put_long(out: &mut Vec<u8>, value: i64) {
    out.extend(value.to_be_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(bytes);
}

fn put_string(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

fn take<const N: usize>(from: &mut &[u8]) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn take_int(from: &mut &[u8]) -> io::Result<i32> {
    take(from).map(i32::from_be_bytes)
}

fn take_long(from: &mut &[u8]) -> io::Result<i64> {
    take(from).map(i64::from_be_bytes)
}

fn take_string(from: &mut &[u8]) -> io::Result<String> {
    let length = usize::try_from(take_int(from)?).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}
