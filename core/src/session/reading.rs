//! What a caller that reads a session's socket itself sleeps on.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

use crate::sync::{Blocked, Limit, Reading};

/// Sleeps until a socket can be read, or somebody wakes it.
pub(crate) struct SocketReading {
    /// Only asked about. If it is closed meanwhile whoever closed it wakes the caller, who then
    /// finds that the reading is not lent any more.
    socket: RawFd,
    woken: UnixStream,
    wake: UnixStream,
}

impl SocketReading {
    /// On the socket that `step_aside` takes out of the event loop: it does so only if all else is
    /// there.
    pub(crate) fn new(step_aside: impl FnOnce() -> Option<RawFd>) -> Option<SocketReading> {
        let (woken, wake) = UnixStream::pair().ok()?;
        woken.set_nonblocking(true).ok()?;
        wake.set_nonblocking(true).ok()?;
        Some(SocketReading {
            socket: step_aside()?,
            woken,
            wake,
        })
    }

    /// Takes all that was written to wake.
    fn forget_calls(&self) {
        let mut calls = [0; 64];
        loop {
            match (&self.woken).read(&mut calls) {
                Ok(1..) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
            }
        }
    }
}

impl Reading for SocketReading {
    fn sleep(&self, limit: &Limit, signals: &Blocked) -> Option<()> {
        let left = limit.left();
        if left.is_some_and(|left| left.is_zero()) {
            return None;
        }
        let asked = |fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let mut polled = [asked(self.socket), asked(self.woken.as_raw_fd())];
        // A failure is a wake-up for no reason.
        let ready = signals.sleep_on(&mut polled, left);
        if ready > 0 && polled.last().is_some_and(|woken| woken.revents != 0) {
            self.forget_calls();
        }
        Some(())
    }

    fn wake(&self) {
        // Full is woken as well.
        let _written = (&self.wake).write(&[0]);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn rig() -> (UnixStream, UnixStream, SocketReading) {
        let (server, socket) = UnixStream::pair().unwrap();
        let reading = SocketReading::new(|| Some(socket.as_raw_fd())).unwrap();
        (server, socket, reading)
    }

    fn sleep(reading: &SocketReading, limit: Duration) -> bool {
        let limit = Limit::starting_now(Some(limit));
        reading.sleep(&limit, &Blocked::new()).is_some()
    }

    #[test]
    fn what_comes_ends_the_sleep() {
        let (mut server, _socket, reading) = rig();
        server.write_all(b"reply").unwrap();
        assert!(sleep(&reading, Duration::from_secs(60)));
    }

    #[test]
    fn a_call_ends_the_sleep_once_before_it_too() {
        let (_server, _socket, reading) = rig();
        reading.wake();
        reading.wake();
        let limit = Duration::from_secs(60);
        let started = Instant::now();
        assert!(sleep(&reading, limit));
        assert!(started.elapsed() < limit);
        let limit = Limit::starting_now(Some(Duration::from_millis(2)));
        assert!(
            reading.sleep(&limit, &Blocked::new()).is_some(),
            "the limit is looked at first"
        );
        assert!(reading.sleep(&limit, &Blocked::new()).is_none());
    }
}
