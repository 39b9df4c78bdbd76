//! Opens and closes one session: the proof that a server serves, since a session is agreed on by the ensemble.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::error::{Context, Error, Result};

const TIMEOUT: Duration = Duration::from_secs(3);
const SESSION_TIMEOUT_MS: i32 = 10_000;
const CLOSE_SESSION: i32 = -11;

/// Succeeds when the server at `address` opened a session and closed it again.
pub(crate) fn probe(address: SocketAddr) -> Result<()> {
    let doing = || format!("handshake with {address}");
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).context(doing)?;
    stream.set_nodelay(true).context(doing)?;
    stream.set_read_timeout(Some(TIMEOUT)).context(doing)?;

    let mut connect = Vec::new();
    connect.extend(0i32.to_be_bytes()); // protocol version
    connect.extend(0i64.to_be_bytes()); // last zxid seen
    connect.extend(SESSION_TIMEOUT_MS.to_be_bytes());
    connect.extend(0i64.to_be_bytes()); // session id
    connect.extend(16i32.to_be_bytes()); // session password
    connect.extend([0; 16]);
    connect.push(0); // read-only
    send(&mut stream, &connect).context(doing)?;
    let answer = receive(&mut stream).context(doing)?;
    let negotiated = answer.get(4..8).and_then(|bytes| bytes.try_into().ok());
    if negotiated.map_or(0, i32::from_be_bytes) <= 0 {
        return Err(Error::new(format!("{address} refused to open a session")));
    }

    let mut close = Vec::new();
    close.extend(1i32.to_be_bytes()); // xid
    close.extend(CLOSE_SESSION.to_be_bytes());
    send(&mut stream, &close).context(doing)?;
    receive(&mut stream).context(doing)?;
    Ok(())
}

fn send(stream: &mut TcpStream, frame: &[u8]) -> std::io::Result<()> {
    let mut bytes = (frame.len() as i32).to_be_bytes().to_vec();
    bytes.extend(frame);
    stream.write_all(&bytes)
}

fn receive(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = i32::from_be_bytes(length);
    if !(0..=1 << 20).contains(&length) {
        return Err(std::io::Error::other("the answer is no ZooKeeper frame"));
    }
    let mut frame = vec![0; length as usize];
    stream.read_exact(&mut frame)?;
    Ok(frame)
}
