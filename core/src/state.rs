//! States that users observe: of a session and of a guard.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};

use crate::command::HandleId;
use crate::sync::primitive::Mutex;

/// State of a session (R16): `Connecting`, then `Connected` and `Suspended` in turns; `Expired` and
/// then `Connecting` when a session is over; `Closed` at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionState {
    /// No session yet: the first connect, or one after an expiry.
    Connecting,
    /// Connected to a server.
    Connected,
    /// The connection is lost; the session may live on and is being moved to another server.
    Suspended,
    /// The session is over; a new one is being started.
    Expired,
    /// The handle is closed. Final.
    Closed,
}

impl fmt::Display for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl SessionState {
    /// Its name in lower case, as in Python and Node.
    pub const fn name(self) -> &'static str {
        match self {
            SessionState::Connecting => "connecting",
            SessionState::Connected => "connected",
            SessionState::Suspended => "suspended",
            SessionState::Expired => "expired",
            SessionState::Closed => "closed",
        }
    }
}

/// State of a guard (R4). It believes that it holds the lock in `Held` and `Suspended`, between which
/// it may go to and fro; it ends in `Lost` or `Released`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GuardState {
    /// Held.
    Held,
    /// Held, but the connection is in doubt; the lease still runs.
    Suspended,
    /// Lost. Final.
    Lost,
    /// Released. Final.
    Released,
}

impl fmt::Display for GuardState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl GuardState {
    /// Its name in lower case, as in Python and Node.
    pub const fn name(self) -> &'static str {
        match self {
            GuardState::Held => "held",
            GuardState::Suspended => "suspended",
            GuardState::Lost => "lost",
            GuardState::Released => "released",
        }
    }
}

/// A callback for state changes.
pub(crate) type StateCallback = Arc<dyn Fn(SessionState) + Send + Sync>;

enum Listener {
    Callback(StateCallback),
    /// Gone once its watch is dropped.
    Watch(Weak<Mutex<WatchQueue>>),
}

#[derive(Default)]
struct WatchQueue {
    changes: VecDeque<SessionState>,
    waker: Option<Waker>,
}

/// The present state and those who want to hear of changes.
pub(crate) struct StateCell(Mutex<Inner>);

struct Inner {
    state: SessionState,
    listeners: Vec<(HandleId, Listener)>,
}

impl StateCell {
    pub(crate) fn new() -> StateCell {
        StateCell(Mutex::new(Inner {
            state: SessionState::Connecting,
            listeners: Vec::new(),
        }))
    }

    pub(crate) fn get(&self) -> SessionState {
        self.0.lock().state
    }

    /// Publishes a change; `post` brings callbacks to the callback thread.
    pub(crate) fn set(&self, state: SessionState, post: impl Fn(Box<dyn FnOnce() + Send>)) {
        let mut inner = self.0.lock();
        if inner.state == state {
            return;
        }
        inner.state = state;
        let told = inner.listeners.iter();
        let wakers: Vec<Waker> = told
            .filter_map(|(_, listener)| listener.tell(state, &post))
            .collect();
        drop(inner);
        wake(wakers);
    }

    /// Tells the listeners of one handle that it is closed, and forgets them.
    pub(crate) fn close(&self, handle: HandleId, post: impl Fn(Box<dyn FnOnce() + Send>)) {
        let mut inner = self.0.lock();
        let (told, kept) = std::mem::take(&mut inner.listeners)
            .into_iter()
            .partition::<Vec<_>, _>(|(owner, _)| *owner == handle);
        inner.listeners = kept;
        let wakers: Vec<Waker> = told
            .iter()
            .filter_map(|(_, listener)| listener.tell(SessionState::Closed, &post))
            .collect();
        drop(inner);
        if !told.is_empty() {
            // What a callback owns is dropped where it ran: that is the application's code too.
            post(Box::new(move || drop(told)));
        }
        wake(wakers);
    }

    pub(crate) fn on_change(&self, handle: HandleId, callback: StateCallback) {
        self.0
            .lock()
            .listeners
            .push((handle, Listener::Callback(callback)));
    }

    pub(crate) fn watch(&self, handle: HandleId) -> StateWatch {
        let queue = Arc::new(Mutex::new(WatchQueue::default()));
        let mut inner = self.0.lock();
        inner.listeners.retain(|(_, listener)| listener.is_heard());
        inner
            .listeners
            .push((handle, Listener::Watch(Arc::downgrade(&queue))));
        drop(inner);
        StateWatch {
            queue,
            process: crate::process::id(),
            ended: false,
        }
    }
}

impl Listener {
    fn is_heard(&self) -> bool {
        match self {
            Listener::Callback(_) => true,
            Listener::Watch(queue) => queue.strong_count() > 0,
        }
    }

    /// Tells of a change; whom to wake for it.
    fn tell(&self, state: SessionState, post: &impl Fn(Box<dyn FnOnce() + Send>)) -> Option<Waker> {
        match self {
            Listener::Callback(callback) => {
                let callback = Arc::clone(callback);
                post(Box::new(move || callback(state)));
                None
            }
            Listener::Watch(queue) => {
                let queue = queue.upgrade()?;
                let mut queue = queue.lock();
                queue.changes.push_back(state);
                queue.waker.take()
            }
        }
    }
}

/// Outside the locks: a waker may run anything.
fn wake(wakers: Vec<Waker>) {
    for waker in wakers {
        crate::sync::wakers::wake(waker);
    }
}

/// The changes of a session's state from the moment it was made on, every one, in order. In a
/// forked child there are none (R18). Made by [`Session::watch_state`](crate::Session::watch_state).
pub struct StateWatch {
    queue: Arc<Mutex<WatchQueue>>,
    /// No other process may take the queue's lock.
    process: u64,
    ended: bool,
}

impl fmt::Debug for StateWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateWatch")
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl StateWatch {
    /// Waits for the next change; `None` after `Closed`. Cancel-safe: a change that was not returned is
    /// told by the next call. Under any executor.
    pub async fn changed(&mut self) -> Option<SessionState> {
        if self.ended {
            return None;
        }
        let state = std::future::poll_fn(|context| {
            if self.process != crate::process::id() {
                return Poll::Ready(None);
            }
            let mut queue = self.queue.lock();
            match queue.changes.pop_front() {
                Some(state) => Poll::Ready(Some(state)),
                None => {
                    queue.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await?;
        self.ended = state == SessionState::Closed;
        Some(state)
    }

    /// A watch on which the session was closed before it was made.
    pub(crate) fn closed() -> StateWatch {
        StateWatch {
            queue: Arc::default(),
            process: crate::process::id(),
            ended: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r16_watches_that_are_dropped_are_forgotten() {
        let states = StateCell::new();
        let handle = HandleId::next();
        let kept = states.watch(handle);
        for _ in 0..100 {
            drop(states.watch(handle));
        }
        assert!(states.0.lock().listeners.len() <= 2);
        states.set(SessionState::Connected, |_| ());
        assert_eq!(kept.queue.lock().changes, [SessionState::Connected]);
    }
}
