//! Asking a server for its version, on a connection of its own.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::dialer::{Probed, Version};
use super::tcp::Connector;
use crate::connect_string::Server;

/// A four-letter command is answered at once, or not at all.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
const COMMAND: &[u8] = b"srvr";
const LONGEST_ANSWER: u64 = 256;

/// Asks a server for its version: servers answer `srvr`, unless told not to, with a line at least.
pub(crate) async fn probe<C: Connector>(connector: Arc<C>, server: Server) -> Probed {
    let connecting = connector.connect(server, 0);
    let Ok(Ok(stream)) = tokio::time::timeout(PROBE_TIMEOUT, connecting).await else {
        return Probed::Unreached;
    };
    let mut answer = Vec::new();
    // What counts is what came, however it ended: a server of TLS waits for more.
    let _ended = tokio::time::timeout(PROBE_TIMEOUT, ask(stream, &mut answer)).await;
    if answer.is_empty() {
        return Probed::Nothing;
    }
    parse_version(&String::from_utf8_lossy(&answer)).map_or(Probed::Untold, Probed::Version)
}

async fn ask(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: &mut Vec<u8>,
) -> io::Result<()> {
    stream.write_all(COMMAND).await?;
    stream.flush().await?;
    stream.take(LONGEST_ANSWER).read_to_end(answer).await?;
    Ok(())
}

/// From the first line of the answer: `Zookeeper version: 3.9.5-<build>, built on …`.
fn parse_version(answer: &str) -> Option<Version> {
    let (_, rest) = answer.split_once("ookeeper version: ")?;
    let number = rest
        .split(|c: char| c != '.' && !c.is_ascii_digit())
        .next()?;
    let mut parts = number.split('.').map(str::parse::<u32>);
    Some(Version(
        parts.next()?.ok()?,
        parts.next()?.ok()?,
        parts.next()?.ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_from_the_first_line() {
        for (answer, version) in [
            (
                "Zookeeper version: 3.9.5-8b1a, built on 2025-01-01\nLatency",
                Some(Version(3, 9, 5)),
            ),
            (
                "Zookeeper version: 3.5.4-beta-7f51e5b, built",
                Some(Version(3, 5, 4)),
            ),
            ("Zookeeper version: 3.5", None),
            (
                "srvr is not executed because it is not in the whitelist.",
                None,
            ),
            ("", None),
        ] {
            assert_eq!(parse_version(answer), version, "{answer}");
        }
    }
}
