//! One value from the network thread to one caller, who may await it, block for it, or leave.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::primitive::{Limit, Mutex};
use super::sleeper::Sleeper;
use super::wakers;

enum Slot<T> {
    /// Nothing yet, and whom to wake for it.
    Empty(Option<Waker>),
    Full(T),
    /// The value was taken, or one side is gone.
    Closed,
}

struct Shared<T>(Mutex<Slot<T>>);

/// The sending side. Dropping it without a value closes the receiver.
pub(crate) struct Completer<T>(Option<Arc<Shared<T>>>);

/// The receiving side. Dropping it hands a value already sent to that value's own `Drop`.
pub(crate) struct Receiver<T>(Arc<Shared<T>>);

/// The sender went away without a value, or the value was taken before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Disconnected;

pub(crate) fn completion<T>() -> (Completer<T>, Receiver<T>) {
    let shared = Arc::new(Shared(Mutex::new(Slot::Empty(None))));
    (Completer(Some(Arc::clone(&shared))), Receiver(shared))
}

impl<T> Completer<T> {
    /// Hands over the value; gives it back if the receiver has left.
    pub(crate) fn complete(mut self, value: T) -> Result<(), T> {
        match self.0.take() {
            Some(shared) => shared.fill(Slot::Full(value)),
            None => Err(value),
        }
    }
}

impl<T> Shared<T> {
    fn fill(&self, with: Slot<T>) -> Result<(), T> {
        let mut slot = self.0.lock();
        let Slot::Empty(waker) = &mut *slot else {
            return match with {
                Slot::Full(value) => Err(value),
                _ => Ok(()),
            };
        };
        let waker = waker.take();
        *slot = with;
        drop(slot);
        if let Some(waker) = waker {
            wakers::wake(waker);
        }
        Ok(())
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            let _closed = shared.fill(Slot::Closed);
        }
    }
}

impl<T> Receiver<T> {
    /// Blocks until the value is there, at most `limit` (for ever if `None`); `None` if it is not.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> Option<Result<T, Disconnected>> {
        self.wait_until(&Limit::starting_now(limit))
    }

    pub(crate) fn wait_until(&self, limit: &Limit) -> Option<Result<T, Disconnected>> {
        let sleeper = Sleeper::new();
        let waker = Waker::from(Arc::clone(&sleeper));
        loop {
            if let Poll::Ready(outcome) = self.look(&waker) {
                return Some(outcome);
            }
            sleeper.sleep(limit)?;
        }
    }

    /// Takes what is there.
    pub(crate) fn take_now(&self) -> Option<Result<T, Disconnected>> {
        let mut slot = self.0.0.lock();
        match &*slot {
            Slot::Empty(_) => None,
            _ => Some(take(&mut slot)),
        }
    }

    /// Whether there is something to take.
    pub(crate) fn has_ended(&self) -> bool {
        !matches!(&*self.0.0.lock(), Slot::Empty(_))
    }

    /// Wakes nobody for what comes from now on: who waits will look before it sleeps.
    pub(crate) fn wake_nobody(&self) {
        if let Slot::Empty(waker) = &mut *self.0.0.lock() {
            *waker = None;
        }
    }

    /// Takes what is there, or leaves word whom to wake for it.
    pub(crate) fn look(&self, by: &Waker) -> Poll<Result<T, Disconnected>> {
        let mut slot = self.0.0.lock();
        match &mut *slot {
            Slot::Empty(Some(known)) if known.will_wake(by) => Poll::Pending,
            Slot::Empty(waker) => {
                *waker = Some(by.clone());
                Poll::Pending
            }
            _ => Poll::Ready(take(&mut slot)),
        }
    }

    /// Closes the channel; a value sent before is returned so that its owner can dispose of it.
    pub(crate) fn close(&self) -> Option<T> {
        take(&mut self.0.0.lock()).ok()
    }
}

fn take<T>(slot: &mut Slot<T>) -> Result<T, Disconnected> {
    match std::mem::replace(slot, Slot::Closed) {
        Slot::Full(value) => Ok(value),
        _ => Err(Disconnected),
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, Disconnected>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.look(context.waker())
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // Outside the lock: the value's own `Drop` may do anything.
        drop(self.close());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_receiver_is_woken() {
        let (completer, receiver) = completion();
        let thread = std::thread::spawn(move || receiver.wait(None));
        assert_eq!(completer.complete(7), Ok(()));
        assert_eq!(thread.join().unwrap(), Some(Ok(7)));
    }

    #[test]
    fn waiting_ends_at_its_limit_and_the_value_can_still_come() {
        let (completer, receiver) = completion();
        assert_eq!(receiver.wait(Some(Duration::from_millis(1))), None);
        assert_eq!(completer.complete(7), Ok(()));
        assert_eq!(receiver.wait(Some(Duration::ZERO)), Some(Ok(7)));
    }

    #[test]
    fn a_dropped_completer_disconnects() {
        let (completer, receiver) = completion::<u8>();
        drop(completer);
        assert_eq!(receiver.wait(None), Some(Err(Disconnected)));
    }

    #[test]
    fn a_value_for_nobody_comes_back() {
        let (completer, receiver) = completion();
        drop(receiver);
        assert_eq!(completer.complete(7), Err(7));
    }

    #[test]
    fn a_value_not_taken_is_dropped_with_the_receiver() {
        let value = Arc::new(());
        let (completer, receiver) = completion();
        assert!(completer.complete(Arc::clone(&value)).is_ok());
        drop(receiver);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
