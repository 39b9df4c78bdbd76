//! Accepts connections, unless it is told to refuse them.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::reader;
use super::state::Shared;

/// After a failure, of which a lack of descriptors and a port that is taken are the likely ones, so long passes.
const RETRY: Duration = Duration::from_millis(50);

/// Whether the port is to be open, and whether it is.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    wanted: Wanted,
    is_closed: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    #[default]
    Open,
    Closed,
    /// For good.
    Stopped,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let result = self.changed.wait(state);
        result.unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open(&self) {
        let mut state = self.lock();
        if state.wanted == Wanted::Closed {
            state.wanted = Wanted::Open;
            self.changed.notify_all();
        }
        while state.is_closed && state.wanted == Wanted::Open {
            state = self.wait(state);
        }
    }

    pub(super) fn close(&self, address: SocketAddr) {
        let mut state = self.lock();
        if state.wanted != Wanted::Open {
            return;
        }
        state.wanted = Wanted::Closed;
        drop(state);
        wake(address);
        state = self.lock();
        while !state.is_closed && state.wanted == Wanted::Closed {
            state = self.wait(state);
        }
    }

    pub(super) fn stop(&self, address: SocketAddr) {
        self.lock().wanted = Wanted::Stopped;
        self.changed.notify_all();
        wake(address);
    }

    fn set_closed(&self, closed: bool) {
        self.lock().is_closed = closed;
        self.changed.notify_all();
    }

    /// Blocks while the port is to be closed. False at the end.
    fn wait_until_wanted(&self) -> bool {
        let mut state = self.lock();
        while state.wanted == Wanted::Closed {
            state = self.wait(state);
        }
        state.wanted == Wanted::Open
    }

    fn pause(&self) {
        let state = self.lock();
        let result = self.changed.wait_timeout(state, RETRY);
        drop(result.unwrap_or_else(PoisonError::into_inner));
    }

    fn is_wanted(&self) -> bool {
        self.lock().wanted == Wanted::Open
    }
}

/// Makes the blocked accept return. A port that is closed already refuses, and there is none to wake.
fn wake(address: SocketAddr) {
    let _woken = TcpStream::connect_timeout(&address, Duration::from_secs(1));
}

pub(super) fn run(shared: &Arc<Shared>, address: SocketAddr, first: TcpListener) {
    let gate = &shared.gate;
    let mut listener = Some(first);
    loop {
        if !gate.is_wanted() {
            listener = None;
            gate.set_closed(true);
            if !gate.wait_until_wanted() {
                return;
            }
        }
        let Some(open) = listener.take().or_else(|| TcpListener::bind(address).ok()) else {
            gate.pause();
            continue;
        };
        gate.set_closed(false);
        let accepted = open.accept();
        listener = Some(open);
        // What wakes this thread is no client.
        if gate.is_wanted() {
            let attached = accepted.and_then(|(socket, _)| reader::attach(shared, socket));
            if attached.is_err() {
                gate.pause();
            }
        }
    }
}
