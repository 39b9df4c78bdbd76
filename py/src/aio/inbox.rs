//! Numbers of calls that have ended, on their way from the network thread to one event loop.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

/// A socket rather than `call_soon_threadsafe`: the network thread must not wait for the GIL.
pub(crate) struct Inbox {
    ended: Mutex<Vec<u64>>,
    ring: UnixStream,
    rung: UnixStream,
}

impl Inbox {
    pub(crate) fn new() -> std::io::Result<Inbox> {
        let (ring, rung) = UnixStream::pair()?;
        ring.set_nonblocking(true)?;
        rung.set_nonblocking(true)?;
        Ok(Inbox {
            ended: Mutex::default(),
            ring,
            rung,
        })
    }

    /// What becomes readable when there is something to take.
    pub(crate) fn fileno(&self) -> RawFd {
        self.rung.as_raw_fd()
    }

    fn push(&self, key: u64) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let first = ended.is_empty();
        ended.push(key);
        drop(ended);
        if first {
            // A full socket has rung; a closed one has nobody to hear it.
            let _rung = (&self.ring).write(&[1]);
        }
    }

    /// Takes what has ended. The socket is emptied first: who pushes afterwards rings again, or is
    /// taken here.
    pub(crate) fn take(&self) -> Vec<u64> {
        let mut heard = [0; 64];
        loop {
            match (&self.rung).read(&mut heard) {
                Ok(length) if length == heard.len() => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *ended)
    }
}

/// Wakes the loop for one call.
pub(crate) struct Ringer {
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) key: u64,
}

impl Wake for Ringer {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.inbox.push(self.key);
    }
}
