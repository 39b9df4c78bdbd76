//! The seat that a session is driven from. Whoever has it, one thread at a time, works with the
//! session's engine and sockets: the network thread, which reads and keeps the time, or a caller,
//! which sends what it asks for itself, so that no other thread has to be woken for it.
//!
//! What a caller's thread may do there is bounded: it never waits for the seat, does not block in
//! it, is interrupted by no signal, and wakes nobody before it has left.

use std::task::{Context, Poll};

use super::mailbox::Mailbox;
use super::primitive::{Mutex, without_signals};
use super::wakers;

/// How the network thread's pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Something was done; there may be more.
    Busy,
    /// There is nothing to do, and the context's waker will be called when there is.
    Idle,
    /// The session has ended.
    Finished,
}

/// Who is sat in the seat for: a session's engine and sockets.
pub(crate) trait Pilot<L>: Send {
    /// Does what there is to do, on the network thread.
    fn pass(&mut self, mailbox: &Mailbox<L>, context: &mut Context<'_>) -> Pass;

    /// Takes the letters and sends what comes of them, on a caller's thread. False if the network
    /// thread has to do something: with the letters, left where they are, or after them.
    fn serve(&mut self, mailbox: &Mailbox<L>) -> bool;
}

type Seated<L> = Option<Box<dyn Pilot<L>>>;

/// See the module.
pub(crate) struct Seat<L>(Mutex<Seated<L>>);

impl<L> Seat<L> {
    pub(crate) fn new() -> Seat<L> {
        Seat(Mutex::new(None))
    }

    /// From now on there is something to drive.
    pub(crate) fn occupy(&self, pilot: Box<dyn Pilot<L>>) {
        *self.0.lock() = Some(pilot);
    }

    /// Nothing is driven any more.
    pub(crate) fn vacate(&self) {
        let pilot = self.0.lock().take();
        // Outside the lock: with it goes whatever still waited.
        drop(pilot);
    }

    /// Drives on the network thread, until the session's end.
    pub(crate) fn poll(&self, mailbox: &Mailbox<L>, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let pass = wakers::woken_after(|| {
                seated(&mut self.0.lock(), |pilot| pilot.pass(mailbox, context))
            });
            match pass {
                None | Some(Pass::Finished) => return Poll::Ready(()),
                // Who left one meanwhile found the seat taken, and relies on this look.
                Some(Pass::Idle) if mailbox.is_empty() => return Poll::Pending,
                Some(Pass::Idle | Pass::Busy) => {}
            }
        }
    }

    /// Has the letters of `mailbox` taken, one of the caller's among them: by the caller, by
    /// whoever has the seat, or by the network thread.
    pub(crate) fn serve(&self, mailbox: &Mailbox<L>) {
        let _told = ToldOfPanics(mailbox);
        wakers::woken_after(|| {
            without_signals(|| {
                // Who has it looks at the letters again after leaving it.
                while let Some(mut seat) = self.0.try_lock() {
                    let served = seated(&mut seat, |pilot| pilot.serve(mailbox));
                    drop(seat);
                    if served != Some(true) {
                        return mailbox.wake();
                    }
                    if mailbox.is_empty() {
                        return;
                    }
                }
            });
        });
    }
}

/// Drives, if there is something to drive. After a panic there is not: half-done work is not gone
/// on with.
fn seated<L, R>(seat: &mut Seated<L>, drive: impl FnOnce(&mut dyn Pilot<L>) -> R) -> Option<R> {
    let mut pilot = seat.take()?;
    let result = drive(&mut *pilot);
    *seat = Some(pilot);
    Some(result)
}

/// A caller that panics has emptied the seat: the network thread has to end the session.
struct ToldOfPanics<'a, L>(&'a Mailbox<L>);

impl<L> Drop for ToldOfPanics<'_, L> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.wake();
        }
    }
}
