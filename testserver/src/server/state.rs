//! The model, its clock, and its connections.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::acceptor::Gate;
use super::outbox::Outbox;
use crate::model::{Cluster, ConnectionId, Output};

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// Wakes the clock.
    changed: Condvar,
    pub(super) gate: Gate,
    threads: Mutex<Vec<JoinHandle<()>>>,
    start: Instant,
}

#[derive(Debug)]
struct State {
    model: Cluster,
    outboxes: BTreeMap<ConnectionId, Arc<Outbox>>,
    /// Also those whose connection the model has closed and that still have something to write.
    all: Vec<Weak<Outbox>>,
    /// What clients have sent: when it arrives, and `None` for the end of the connection.
    arriving: VecDeque<(Instant, ConnectionId, Option<Vec<u8>>)>,
    delay: Duration,
    frozen: bool,
    stopped: bool,
}

/// The model has one server.
const SERVER: usize = 0;

impl Shared {
    pub(super) fn new(model: Cluster) -> Self {
        Shared {
            state: Mutex::new(State {
                model,
                outboxes: BTreeMap::new(),
                all: Vec::new(),
                arriving: VecDeque::new(),
                delay: Duration::ZERO,
                frozen: false,
                stopped: false,
            }),
            changed: Condvar::new(),
            gate: Gate::default(),
            threads: Mutex::new(Vec::new()),
            start: Instant::now(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn time(&self, now: Instant) -> u64 {
        let since = now.saturating_duration_since(self.start);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    pub(super) fn with_model<R>(&self, f: impl FnOnce(&mut Cluster, u64) -> R) -> R {
        let mut state = self.lock();
        let now = Instant::now();
        let result = f(&mut state.model, self.time(now));
        self.work(&mut state, now);
        result
    }

    /// A connection of the model, or `None` if it takes none.
    pub(super) fn open(&self, socket: TcpStream) -> Option<(ConnectionId, Arc<Outbox>)> {
        let mut state = self.lock();
        if state.stopped {
            return None;
        }
        let now = self.time(Instant::now());
        let id = state.model.open(now, SERVER)?;
        let outbox = Arc::new(Outbox::new(socket, state.frozen));
        state.outboxes.insert(id, outbox.clone());
        state.all.retain(|outbox| outbox.strong_count() > 0);
        state.all.push(Arc::downgrade(&outbox));
        Some((id, outbox))
    }

    pub(super) fn receive(&self, id: ConnectionId, bytes: Option<Vec<u8>>) {
        let mut state = self.lock();
        let now = Instant::now();
        let at = now + state.delay;
        state.arriving.push_back((at, id, bytes));
        self.work(&mut state, now);
    }

    /// Brings the model up to date, and sends what it says.
    fn work(&self, state: &mut State, now: Instant) {
        let time = self.time(now);
        while !state.frozen
            && let Some((at, id, bytes)) = state.arriving.pop_front()
        {
            if at > now {
                state.arriving.push_front((at, id, bytes));
                break;
            }
            match bytes {
                Some(bytes) => state.model.receive(time, id, &bytes),
                None => {
                    state.model.client_closed(time, id);
                    if let Some(outbox) = state.outboxes.remove(&id) {
                        outbox.end();
                    }
                }
            }
        }
        state.model.handle_timeout(time);
        let at = now + state.delay;
        while let Some(output) = state.model.poll_output() {
            match output {
                Output::Bytes { connection, bytes } => {
                    if let Some(outbox) = state.outboxes.get(&connection) {
                        outbox.push(at, bytes);
                    }
                }
                Output::Close { connection } => {
                    if let Some(outbox) = state.outboxes.remove(&connection) {
                        outbox.end();
                    }
                }
            }
        }
        self.changed.notify_all();
    }

    /// Does what is due, until the end.
    pub(super) fn run_clock(&self) {
        let mut state = self.lock();
        while !state.stopped {
            let now = Instant::now();
            let timer = state.model.next_timeout().map(|at| {
                let ahead = at.saturating_sub(self.time(now));
                now + Duration::from_nanos(ahead)
            });
            let arrival = state.arriving.front().map(|(at, ..)| *at);
            let arrival = arrival.filter(|_| !state.frozen);
            match timer.into_iter().chain(arrival).min() {
                Some(at) if at <= now => self.work(&mut state, now),
                Some(at) => {
                    let result = self.changed.wait_timeout(state, at - now);
                    state = result.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => {
                    let result = self.changed.wait(state);
                    state = result.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// What was under way on the connections is lost.
    pub(super) fn cut(&self) {
        let mut state = self.lock();
        let now = self.time(Instant::now());
        state.arriving.clear();
        for id in std::mem::take(&mut state.outboxes).into_keys() {
            state.model.client_closed(now, id);
        }
        for outbox in state.all.drain(..).filter_map(|outbox| outbox.upgrade()) {
            outbox.cut();
        }
    }

    pub(super) fn set_frozen(&self, frozen: bool) {
        let mut state = self.lock();
        state.frozen = frozen;
        for outbox in state.all.iter().filter_map(Weak::upgrade) {
            outbox.set_frozen(frozen);
        }
        self.work(&mut state, Instant::now());
    }

    pub(super) fn set_delay(&self, delay: Duration) {
        self.lock().delay = delay;
    }

    pub(super) fn stop(&self, address: SocketAddr) {
        self.lock().stopped = true;
        self.changed.notify_all();
        self.gate.stop(address);
        self.cut();
        let threads = || {
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *threads)
        };
        // The acceptor may have begun one more connection.
        loop {
            let ending = threads();
            if ending.is_empty() {
                break;
            }
            for thread in ending {
                if thread.thread().id() != thread::current().id() {
                    // A panic in it has been printed; there is nothing to clean up after it.
                    let _ended = thread.join();
                }
            }
            self.cut();
        }
    }
}

/// Starts a thread that [`Shared::stop`] waits for.
pub(super) fn spawn(
    shared: &Shared,
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run)?;
    let mut threads = shared
        .threads
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    threads.retain(|thread| !thread.is_finished());
    threads.push(thread);
    Ok(())
}
