//! ZooKeeper's four-letter words: one word in, a text out, the connection closed.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::error::{Context, Result};

/// Long enough for a busy machine; short enough to see a stopped server.
const TIMEOUT: Duration = Duration::from_secs(3);

/// What the server at `address` answers to `word`, for example `srvr`.
pub fn ask(address: SocketAddr, word: &str) -> Result<String> {
    let doing = || format!("`{word}` to {address}");
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).context(doing)?;
    stream.set_read_timeout(Some(TIMEOUT)).context(doing)?;
    stream.write_all(word.as_bytes()).context(doing)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).context(doing)?;
    Ok(answer)
}

/// The rest of the line that starts with `label`.
pub(crate) fn field<'a>(answer: &'a str, label: &str) -> Option<&'a str> {
    answer
        .lines()
        .find_map(|line| line.strip_prefix(label))
        .map(str::trim)
}
