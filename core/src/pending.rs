//! A call under way: await it, block for it, or drop it.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::cancel::Registration;
use crate::command::{AttemptId, Command};
use crate::error::{Error, ErrorKind, Result};
use crate::link::Link;
use crate::sync::{Completer, Receiver, completion};

/// The outcome of a call that has been started.
///
/// The call runs whether or not it is polled. As a future it works under any executor; [`wait`]
/// and [`wait_for`] block instead. Dropping it is cancel-safe: an attempt to get a lock is
/// withdrawn and leaves no contender, and a lock already granted is released in the background
/// (R5). A release or a close goes on in the background.
///
/// In a forked child it fails with `Closed` (R18): the call is the parent's.
///
/// [`wait`]: Pending::wait
/// [`wait_for`]: Pending::wait_for
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// # fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let session = zoolock::Session::connect(&server.hosts()).wait()?;
/// let mutex = session.mutex("/locks/report")?;
/// let held = mutex.lock().wait()?;
/// let mut queued = mutex.lock();                               // has its place from now on
/// assert!(queued.wait_for(Duration::from_millis(20)).is_none());
/// held.release().wait()?;
/// let next = queued.wait()?;
/// # next.release().wait()?;
/// # session.close().wait()
/// # }
/// ```
#[must_use = "dropping it cancels an attempt to get a lock"]
pub struct Pending<T> {
    // Left alone in a forked child, where its lock may be held by a thread that is not there.
    receiver: ManuallyDrop<Receiver<Result<T>>>,
    process: u64,
    operation: &'static str,
    /// Whose answer it is, where one can read it oneself.
    link: Option<Arc<Link>>,
    withdraw: Option<AttemptId>,
    _registration: Option<Registration>,
}

impl<T> Pending<T> {
    pub(crate) fn new(operation: &'static str) -> (Completer<Result<T>>, Pending<T>) {
        let (completer, receiver) = completion();
        let pending = Pending {
            receiver: ManuallyDrop::new(receiver),
            process: crate::process::id(),
            operation,
            link: None,
            withdraw: None,
            _registration: None,
        };
        (completer, pending)
    }

    /// An outcome that is known already.
    pub(crate) fn ready(operation: &'static str, outcome: Result<T>) -> Pending<T> {
        let (completer, pending) = Pending::new(operation);
        // The receiver is at hand, so it takes the value.
        drop(completer.complete(outcome));
        pending
    }

    /// Withdraw this attempt when the call is dropped.
    pub(crate) fn withdrawing(
        mut self,
        link: Arc<Link>,
        attempt: AttemptId,
        registration: Option<Registration>,
    ) -> Pending<T> {
        self.withdraw = Some(attempt);
        self._registration = registration;
        self.on(link)
    }

    /// The outcome comes from this session's server.
    pub(crate) fn on(mut self, link: Arc<Link>) -> Pending<T> {
        self.link = Some(link);
        self
    }

    /// Blocks the calling thread until the outcome is there. Not for asynchronous tasks: await it there.
    ///
    /// # Errors
    /// Those of the call.
    pub fn wait(mut self) -> Result<T> {
        match self.wait_within(None) {
            Some(outcome) => outcome,
            None => Err(self.forked()),
        }
    }

    /// Blocks the calling thread for at most `limit`. `None`: the call goes on, wait again.
    /// After an outcome was returned the call is over; waiting again is `Internal`.
    ///
    /// # Errors
    /// Those of the call.
    pub fn wait_for(&mut self, limit: Duration) -> Option<Result<T>> {
        self.wait_within(Some(limit))
    }

    fn wait_within(&mut self, limit: Option<Duration>) -> Option<Result<T>> {
        if self.process != crate::process::id() {
            return Some(Err(self.forked()));
        }
        let received = match &self.link {
            Some(link) => link.wait(&self.receiver, limit),
            None => self.receiver.wait(limit),
        };
        if self.process != crate::process::id() {
            // By a handler of a signal, within the wait.
            return Some(Err(self.forked()));
        }
        let received = received?;
        self.withdraw = None;
        Some(received.unwrap_or_else(|_| Err(self.gone())))
    }

    fn forked(&self) -> Error {
        Error::new(
            ErrorKind::Closed,
            self.operation,
            "the call belongs to the process that forked",
        )
    }

    fn gone(&self) -> Error {
        Error::new(
            ErrorKind::Internal,
            self.operation,
            "the outcome was taken before, or the network thread ended",
        )
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.process != crate::process::id() {
            return Poll::Ready(Err(self.forked()));
        }
        match Pin::new(&mut *self.receiver).poll(context) {
            Poll::Ready(received) => {
                self.withdraw = None;
                Poll::Ready(received.unwrap_or_else(|_| Err(self.gone())))
            }
            Poll::Pending => {
                if let Some(link) = &self.link {
                    link.attend();
                }
                Poll::Pending
            }
        }
    }
}

// Nothing in it is pinned.
impl<T> Unpin for Pending<T> {}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        if self.process != crate::process::id() {
            std::mem::forget(self.link.take());
            return;
        }
        // SAFETY: dropped here only, once.
        unsafe { ManuallyDrop::drop(&mut self.receiver) };
        if let (Some(link), Some(attempt)) = (self.link.take(), self.withdraw.take()) {
            link.send(Command::Cancel { attempt });
        }
    }
}

impl<T> std::fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending")
            .field("operation", &self.operation)
            .finish_non_exhaustive()
    }
}
