//! What is on its way to one client, and the thread that writes it, so that a client that does not read holds up nobody
//! else.

use std::collections::VecDeque;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[derive(Debug)]
pub(super) struct Outbox {
    socket: TcpStream,
    /// 0 while it is unknown.
    session: AtomicI64,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    /// When each piece may go.
    pieces: VecDeque<(Instant, Vec<u8>)>,
    frozen: bool,
    /// The connection ends when all has gone.
    ends: bool,
    /// It ends now.
    cut: bool,
}

impl Outbox {
    pub(super) fn new(socket: TcpStream, frozen: bool) -> Self {
        let queue = Queue {
            frozen,
            ..Queue::default()
        };
        Outbox {
            socket,
            session: AtomicI64::new(0),
            queue: Mutex::new(queue),
            changed: Condvar::new(),
        }
    }

    pub(super) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    pub(super) fn session(&self) -> Option<i64> {
        Some(self.session.load(Ordering::Relaxed)).filter(|session| *session != 0)
    }

    pub(super) fn set_session(&self, session: i64) {
        self.session.store(session, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, at: Instant, bytes: Vec<u8>) {
        self.lock().pieces.push_back((at, bytes));
        self.changed.notify_all();
    }

    pub(super) fn end(&self) {
        self.lock().ends = true;
        self.changed.notify_all();
    }

    pub(super) fn cut(&self) {
        self.lock().cut = true;
        self.changed.notify_all();
        self.shut();
    }

    pub(super) fn set_frozen(&self, frozen: bool) {
        self.lock().frozen = frozen;
        self.changed.notify_all();
    }

    /// Writes until the connection ends, and then makes its reader notice.
    pub(super) fn run(&self) {
        let mut socket = &self.socket;
        while let Some(bytes) = self.next() {
            if socket.write_all(&bytes).is_err() {
                break;
            }
        }
        self.shut();
    }

    fn shut(&self) {
        // It may be closed already, which is what is wanted.
        let _closed = self.socket.shutdown(Shutdown::Both);
    }

    fn next(&self) -> Option<Vec<u8>> {
        let mut queue = self.lock();
        loop {
            if queue.cut {
                return None;
            }
            let now = Instant::now();
            let due = queue.pieces.front().map(|(at, _)| *at);
            queue = match due {
                _ if queue.frozen => self.wait(queue),
                None if queue.ends => return None,
                None => self.wait(queue),
                Some(at) if at <= now => return queue.pieces.pop_front().map(|(_, bytes)| bytes),
                Some(at) => {
                    let result = self.changed.wait_timeout(queue, at - now);
                    result.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    fn wait<'a>(&self, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        let result = self.changed.wait(queue);
        result.unwrap_or_else(PoisonError::into_inner)
    }
}
