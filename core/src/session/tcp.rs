//! Connecting to a server over TCP.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};

use super::plain::Plain;
use crate::connect_string::Server;

/// Makes the byte streams that a driver runs a session over.
pub(crate) trait Connector: Send + Sync + 'static {
    type Stream: AsyncRead + AsyncWrite + Lendable + Unpin + Send + 'static;

    /// Connects to a server, beginning with another of its addresses on each turn. Ends when it is
    /// dropped: the machine sets the limit.
    fn connect(
        &self,
        server: Server,
        turn: usize,
    ) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// A stream that a caller may read from outside the event loop.
pub(crate) trait Lendable {
    /// Leaves the event loop, where that can be done: what to sleep on. From then on nobody is woken
    /// for it, on neither side.
    fn step_aside(&mut self) -> Option<RawFd> {
        None
    }

    /// Returns to the event loop. In the context of the runtime.
    fn come_back(&mut self) {}
}

/// Plain TCP.
pub(crate) struct Tcp;

/// How long one of several addresses of a server may take before the next one is tried.
const ADDRESS_TIMEOUT: Duration = Duration::from_millis(300);

impl Connector for Tcp {
    type Stream = Plain;

    async fn connect(&self, server: Server, turn: usize) -> io::Result<Plain> {
        connect(&server, turn).await.map(Plain::new)
    }
}

/// Connects over TCP.
pub(super) async fn connect(server: &Server, turn: usize) -> io::Result<TcpStream> {
    let connected = match resolve(server).await {
        Ok(addresses) => connect_to_one(addresses, turn).await,
        Err(error) => Err(error),
    };
    // Of several servers one wants to know which.
    connected.map_err(|error| io::Error::new(error.kind(), format!("{server}: {error}")))
}

/// The first of a server's addresses that answers, beginning with another one on each turn.
async fn connect_to_one(mut addresses: Vec<SocketAddr>, turn: usize) -> io::Result<TcpStream> {
    if !addresses.is_empty() {
        let turns = turn % addresses.len();
        addresses.rotate_left(turns);
    }
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let several = addresses.len() > 1;
    for address in addresses {
        let connecting = TcpStream::connect(address);
        let connected = if several {
            tokio::time::timeout(ADDRESS_TIMEOUT, connecting)
                .await
                .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        } else {
            connecting.await
        };
        match connected {
            Ok(stream) => {
                // Without it the second request of a flight waits 40 ms for an answer (Z8).
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn resolve(server: &Server) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = server.host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, server.port)]);
    }
    Ok(lookup_host((server.host.as_str(), server.port))
        .await?
        .collect())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tokio::net::TcpListener;

    use super::*;

    async fn listener(last: u8) -> (TcpListener, SocketAddr) {
        let address = (Ipv4Addr::new(127, 0, 0, last), 0);
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// An address where nobody listens any more.
    async fn refusing(last: u8) -> SocketAddr {
        listener(last).await.1
    }

    #[tokio::test]
    async fn r16_of_a_names_addresses_the_first_that_answers_is_taken() {
        let (_listener, serving) = listener(3).await;
        let addresses = vec![refusing(1).await, refusing(2).await, serving];
        for turn in 0..4 {
            let stream = connect_to_one(addresses.clone(), turn).await.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), serving);
            assert!(stream.nodelay().unwrap(), "Z8");
        }
    }

    #[tokio::test]
    async fn r16_each_turn_begins_with_another_of_a_names_addresses() {
        let (_one, first) = listener(1).await;
        let (_two, second) = listener(2).await;
        for (turn, expected) in [(0, first), (1, second), (2, first)] {
            let stream = connect_to_one(vec![first, second], turn).await.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn a_name_none_of_whose_addresses_answers_is_an_error() {
        let addresses = vec![refusing(1).await, refusing(2).await];
        let error = connect_to_one(addresses, 1).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        let error = connect_to_one(Vec::new(), 1).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
