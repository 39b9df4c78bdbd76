//! The model, its clock, and its connections.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::ServerSession;
use super::gate::Gate;
use super::link::Link;
use super::outbox::Outbox;
use crate::model::{Cluster, ConnectionId, Output};

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// Wakes the clock.
    changed: Condvar,
    pub(super) gate: Gate,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Held while threads are joined.
    ending: Mutex<()>,
    start: Instant,
}

#[derive(Debug)]
struct State {
    model: Cluster,
    links: BTreeMap<ConnectionId, Link>,
    /// Also those whose connection the model has closed and that still have something to write.
    outboxes: Vec<Weak<Outbox>>,
    delay: Duration,
    all_frozen: bool,
    frozen_sessions: BTreeSet<i64>,
    /// When the clock looks again, in the model's time; `None` for not at all.
    alarm: Option<u64>,
    stopped: bool,
}

/// The model has one server.
const SERVER: usize = 0;

impl Shared {
    pub(super) fn new(model: Cluster, gate: Gate) -> Self {
        Shared {
            state: Mutex::new(State {
                model,
                links: BTreeMap::new(),
                outboxes: Vec::new(),
                delay: Duration::ZERO,
                all_frozen: false,
                frozen_sessions: BTreeSet::new(),
                alarm: None,
                stopped: false,
            }),
            changed: Condvar::new(),
            gate,
            threads: Mutex::new(Vec::new()),
            ending: Mutex::new(()),
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

    pub(super) fn is_stopped(&self) -> bool {
        self.lock().stopped
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
        let outbox = Arc::new(Outbox::new(socket, state.all_frozen));
        state.links.insert(id, Link::new(outbox.clone()));
        state.outboxes.retain(|outbox| outbox.strong_count() > 0);
        state.outboxes.push(Arc::downgrade(&outbox));
        Some((id, outbox))
    }

    /// The client has sent something.
    pub(super) fn receive(&self, id: ConnectionId, bytes: &[u8]) {
        let mut state = self.lock();
        let Some(link) = state.links.get_mut(&id) else {
            return;
        };
        link.look_at(bytes);
        let outbox = link.outbox.clone();
        if state.is_frozen(&outbox) {
            // Of a session that has come on a new connection.
            outbox.set_frozen(true);
            state.keep(id, Some(bytes.to_vec()));
            return;
        }
        let now = Instant::now();
        let time = self.time(now);
        state.model.receive(time, id, bytes);
        if outbox.session().is_none()
            && let Some(session) = state.model.session_of(id)
        {
            outbox.set_session(session);
        }
        self.work(&mut state, now);
    }

    /// The client's end is gone.
    pub(super) fn closed(&self, id: ConnectionId) {
        let mut state = self.lock();
        let Some(link) = state.links.get(&id) else {
            return;
        };
        let outbox = link.outbox.clone();
        if state.is_frozen(&outbox) {
            state.keep(id, None);
            return;
        }
        let now = Instant::now();
        state.client_closed(self.time(now), id);
        self.work(&mut state, now);
    }

    /// Brings the model up to date, and sends what it says.
    fn work(&self, state: &mut State, now: Instant) {
        state.model.handle_timeout(self.time(now));
        let at = now + state.delay;
        while let Some(output) = state.model.poll_output() {
            match output {
                Output::Bytes { connection, bytes } => {
                    if let Some(link) = state.links.get(&connection) {
                        link.outbox.push(at, bytes);
                    }
                }
                Output::Close { connection } => {
                    if let Some(link) = state.links.remove(&connection) {
                        link.outbox.end();
                    }
                }
            }
        }
        let next = state.model.next_timeout();
        if next.is_some_and(|next| state.alarm.is_none_or(|alarm| next < alarm)) {
            self.changed.notify_all();
        }
    }

    /// Does what is due, until the end.
    pub(super) fn run_clock(&self) {
        let mut state = self.lock();
        while !state.stopped {
            let now = Instant::now();
            let time = self.time(now);
            state.alarm = state.model.next_timeout();
            state = match state.alarm {
                Some(at) if at <= time => {
                    self.work(&mut state, now);
                    state
                }
                Some(at) => {
                    let ahead = Duration::from_nanos(at - time);
                    let result = self.changed.wait_timeout(state, ahead);
                    result.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let result = self.changed.wait(state);
                    result.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }

    pub(super) fn sessions(&self) -> Vec<ServerSession> {
        self.with_model(|_, _| ());
        let state = self.lock();
        let sessions = state.model.sessions();
        let is_open = |id| {
            let mut links = state.links.values();
            links.any(|link| link.outbox.session() == Some(id))
        };
        sessions
            .into_iter()
            .map(|session| ServerSession {
                id: session.id,
                timeout: session.timeout,
                connected: is_open(session.id),
                ephemerals: session.ephemerals,
            })
            .collect()
    }

    pub(super) fn expire(&self, session: i64) -> bool {
        self.with_model(|model, now| model.expire_session(now, session))
    }

    pub(super) fn expire_all(&self) -> usize {
        self.with_model(|model, now| {
            let sessions = model.sessions();
            let ended = sessions
                .iter()
                .filter(|session| model.expire_session(now, session.id));
            ended.count()
        })
    }

    /// Ends the connections of a session, or all, and answers how many there were. What was under way on them is lost.
    pub(super) fn cut(&self, session: Option<i64>) -> usize {
        let mut state = self.lock();
        let now = Instant::now();
        let is_meant = |outbox: &Outbox| session.is_none() || outbox.session() == session;
        let links = state.links.iter();
        let cut: Vec<ConnectionId> = links
            .filter(|(_, link)| is_meant(&link.outbox))
            .map(|(id, _)| *id)
            .collect();
        for id in &cut {
            state.client_closed(self.time(now), *id);
        }
        for outbox in state.living_outboxes() {
            if is_meant(&outbox) {
                outbox.cut();
            }
        }
        self.work(&mut state, now);
        cut.len()
    }

    pub(super) fn freeze_session(&self, session: i64) -> bool {
        let mut state = self.lock();
        let mut sessions = state.model.sessions().into_iter();
        if !sessions.any(|known| known.id == session) {
            return false;
        }
        state.frozen_sessions.insert(session);
        state.show_frozen();
        true
    }

    pub(super) fn freeze_all(&self) {
        let mut state = self.lock();
        state.all_frozen = true;
        state.show_frozen();
    }

    pub(super) fn thaw_session(&self, session: i64) -> bool {
        let mut state = self.lock();
        let was_frozen = state.frozen_sessions.remove(&session);
        self.thaw(&mut state);
        was_frozen
    }

    pub(super) fn thaw_all(&self) {
        let mut state = self.lock();
        state.all_frozen = false;
        state.frozen_sessions.clear();
        self.thaw(&mut state);
    }

    /// Lets through what was kept of connections that are frozen no longer, the older ones' first.
    fn thaw(&self, state: &mut State) {
        state.show_frozen();
        let now = Instant::now();
        let time = self.time(now);
        // What should have happened meanwhile comes first.
        self.work(state, now);
        for id in state.links.keys().copied().collect::<Vec<_>>() {
            let Some(link) = state.links.get(&id) else {
                continue;
            };
            let outbox = link.outbox.clone();
            if state.is_frozen(&outbox) {
                continue;
            }
            while let Some(piece) = state.next_kept(id) {
                match piece {
                    Some(bytes) => state.model.receive(time, id, &bytes),
                    None => state.client_closed(time, id),
                }
            }
            if outbox.session().is_none()
                && let Some(session) = state.model.session_of(id)
            {
                outbox.set_session(session);
            }
        }
        self.work(state, now);
    }

    pub(super) fn set_delay(&self, delay: Duration) {
        self.lock().delay = delay;
    }

    /// Ends all connections and threads. Whoever calls it while it is under way waits for the end, too.
    pub(super) fn stop(&self) {
        let _ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        self.lock().stopped = true;
        self.changed.notify_all();
        self.gate.stop();
        // The acceptor may have begun one more connection.
        loop {
            self.cut(None);
            let threads = {
                let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut *threads)
            };
            if threads.is_empty() {
                break;
            }
            for thread in threads {
                // A panic in it has been printed; there is nothing to clean up after it.
                let _ended = thread.join();
            }
        }
    }
}

impl State {
    fn is_frozen(&self, outbox: &Outbox) -> bool {
        let session = outbox.session();
        self.all_frozen || session.is_some_and(|session| self.frozen_sessions.contains(&session))
    }

    fn show_frozen(&self) {
        for outbox in self.living_outboxes() {
            outbox.set_frozen(self.is_frozen(&outbox));
        }
    }

    fn living_outboxes(&self) -> Vec<Arc<Outbox>> {
        self.outboxes.iter().filter_map(Weak::upgrade).collect()
    }

    fn keep(&mut self, id: ConnectionId, piece: Option<Vec<u8>>) {
        if let Some(link) = self.links.get_mut(&id) {
            link.kept.push_back(piece);
        }
    }

    fn next_kept(&mut self, id: ConnectionId) -> Option<Option<Vec<u8>>> {
        self.links.get_mut(&id)?.kept.pop_front()
    }

    fn client_closed(&mut self, time: u64, id: ConnectionId) {
        self.model.client_closed(time, id);
        if let Some(link) = self.links.remove(&id) {
            link.outbox.end();
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
