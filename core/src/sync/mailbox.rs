//! Commands from any thread to whoever drives a session; the network thread's task sleeps on it.

use std::task::{Context, Waker};

use super::primitive::Mutex;

struct Inner<T> {
    letters: Vec<T>,
    waker: Option<Waker>,
    closed: bool,
}

/// See the module.
pub(crate) struct Mailbox<T>(Mutex<Inner<T>>);

impl<T> Mailbox<T> {
    pub(crate) fn new() -> Mailbox<T> {
        Mailbox(Mutex::new(Inner {
            letters: Vec::new(),
            waker: None,
            closed: false,
        }))
    }

    /// Leaves a letter, which nobody is woken for; gives it back if the mailbox is closed.
    pub(crate) fn leave(&self, letter: T) -> Result<(), T> {
        let mut inner = self.0.lock();
        if inner.closed {
            return Err(letter);
        }
        inner.letters.push(letter);
        Ok(())
    }

    /// Wakes the reader, once for all that has been left since it looked.
    pub(crate) fn wake(&self) {
        let waker = self.0.lock().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Moves all letters into `into`.
    pub(crate) fn take(&self, into: &mut Vec<T>) {
        into.append(&mut self.0.lock().letters);
    }

    /// Moves all letters into `into`; if there are none, the reader's waker is kept for the next.
    pub(crate) fn poll_take(&self, into: &mut Vec<T>, context: &mut Context<'_>) {
        let mut inner = self.0.lock();
        if inner.letters.is_empty() {
            match &mut inner.waker {
                Some(known) if known.will_wake(context.waker()) => {}
                slot => *slot = Some(context.waker().clone()),
            }
        } else {
            into.append(&mut inner.letters);
        }
    }

    /// Whether every letter has been taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().letters.is_empty()
    }

    /// Refuses all further letters and returns those not read yet.
    pub(crate) fn close(&self) -> Vec<T> {
        let mut inner = self.0.lock();
        inner.closed = true;
        inner.waker = None;
        std::mem::take(&mut inner.letters)
    }
}
