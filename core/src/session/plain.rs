//! A TCP stream that can leave the event loop and come back.

use std::io::{self, Read, Write};
use std::net::TcpStream as StdTcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::tcp::Lendable;

/// See the module.
pub(crate) struct Plain(Place);

enum Place {
    Within(TcpStream),
    /// Nobody is woken for it: whoever wants to know has to ask.
    Apart(StdTcpStream),
    /// Why it could not be moved.
    Stuck(io::ErrorKind),
}

impl Plain {
    pub(super) fn new(stream: TcpStream) -> Plain {
        Plain(Place::Within(stream))
    }

    fn move_by(&mut self, to: impl FnOnce(Place) -> io::Result<Place>) {
        let place = std::mem::replace(&mut self.0, Place::Stuck(io::ErrorKind::Other));
        self.0 = to(place).unwrap_or_else(|error| Place::Stuck(error.kind()));
    }
}

impl Lendable for Plain {
    fn step_aside(&mut self) -> Option<RawFd> {
        self.move_by(|place| match place {
            Place::Within(stream) => stream.into_std().map(Place::Apart),
            place => Ok(place),
        });
        match &self.0 {
            Place::Apart(stream) => Some(stream.as_raw_fd()),
            Place::Within(_) | Place::Stuck(_) => None,
        }
    }

    fn come_back(&mut self) {
        self.move_by(|place| match place {
            Place::Apart(stream) => TcpStream::from_std(stream).map(Place::Within),
            place => Ok(place),
        });
    }
}

/// Without a wake-up: one who stays asleep over it has asked for that.
fn now<T>(result: io::Result<T>) -> Poll<io::Result<T>> {
    match result {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            ) =>
        {
            Poll::Pending
        }
        result => Poll::Ready(result),
    }
}

impl AsyncRead for Plain {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Place::Within(stream) => Pin::new(stream).poll_read(context, buffer),
            Place::Apart(stream) => {
                let read = ready!(now(stream.read(buffer.initialize_unfilled())))?;
                buffer.advance(read);
                Poll::Ready(Ok(()))
            }
            Place::Stuck(kind) => Poll::Ready(Err((*kind).into())),
        }
    }
}

impl AsyncWrite for Plain {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            Place::Within(stream) => Pin::new(stream).poll_write(context, bytes),
            Place::Apart(stream) => now(stream.write(bytes)),
            Place::Stuck(kind) => Poll::Ready(Err((*kind).into())),
        }
    }

    /// TCP holds nothing back.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Place::Within(stream) => Pin::new(stream).poll_shutdown(context),
            Place::Apart(stream) => Poll::Ready(stream.shutdown(std::net::Shutdown::Write)),
            Place::Stuck(kind) => Poll::Ready(Err((*kind).into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn what_comes_while_it_is_away_is_found_there_and_after_it_came_back() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let connecting = TcpStream::connect(listener.local_addr().unwrap());
        let (connected, accepted) = tokio::join!(connecting, listener.accept());
        let (mut plain, mut peer) = (Plain::new(connected.unwrap()), accepted.unwrap().0);

        let socket = plain.step_aside().unwrap();
        assert_eq!(plain.step_aside(), Some(socket), "it is away already");
        plain.write_all(b"?").await.unwrap();
        assert_eq!(peer.read_u8().await.unwrap(), b'?');
        peer.write_all(b"!").await.unwrap();
        peer.shutdown().await.unwrap();

        plain.come_back();
        let mut answer = Vec::new();
        plain.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, b"!");
    }
}
