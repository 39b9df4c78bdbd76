//! The seat that a session is driven from. Whoever has it, one thread at a time, works with the
//! session's engine and sockets: the network thread, which reads and keeps the time, or a caller,
//! which sends what it asks for itself, and may read the answer, so that no other thread has to be
//! woken for it.
//!
//! What a caller's thread may do there is bounded: it does not wait for the seat to send, does not
//! block in it, is interrupted by no signal, and wakes nobody before it has left. It sleeps for its
//! answer outside.

use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use super::completion::{Disconnected, Receiver};
use super::mailbox::Mailbox;
use super::primitive::atomic::{AtomicBool, Ordering};
use super::primitive::{Blocked, Limit, Mutex, process_id, without_signals};
use super::wakers;

/// How often somebody looks for more before others have their turn: the event loop, which alone tells that a
/// socket can be read, or a caller's own work.
const MOST_ROUNDS: usize = 8;

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

/// What a caller that reads sleeps on, outside the seat.
pub(crate) trait Reading: Send + Sync {
    /// Sleeps until there may be something to read, or [`wake`](Reading::wake) was called since the
    /// last time, or for no reason, a signal among them; `None` at the limit.
    fn sleep(&self, limit: &Limit, signals: &Blocked) -> Option<()>;

    fn wake(&self);
}

/// What a borrower's look at the socket has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glance {
    /// It waits on.
    Unanswered,
    /// It has its answer, and has given the reading back.
    Answered,
    /// The reading was taken back before.
    TakenBack,
}

/// The reading, lent to a caller.
pub(crate) struct Borrowed {
    pub(crate) by: u64,
    pub(crate) reading: Arc<dyn Reading>,
}

/// Who is sat in the seat for: a session's engine and sockets.
pub(crate) trait Pilot<L>: Send {
    /// Does what there is to do, on the network thread.
    fn pass(&mut self, mailbox: &Mailbox<L>, context: &mut Context<'_>) -> Pass;

    /// Takes the letters and sends what comes of them, on a caller's thread. False if the network
    /// thread has to do something: with the letters, left where they are, or after them.
    fn serve(&mut self, mailbox: &Mailbox<L>) -> bool;

    /// Lends the reading to a caller that is about to wait, if it can do without the network thread;
    /// and whether that has nothing to do.
    fn lend(&mut self, mailbox: &Mailbox<L>) -> (Option<Borrowed>, bool);

    /// Reads what there is for a borrower, which gives the reading back if `answered` says then that it
    /// waits no more; and whether the network thread has nothing to do.
    fn read(
        &mut self,
        borrower: u64,
        mailbox: &Mailbox<L>,
        answered: &dyn Fn() -> bool,
    ) -> (Glance, bool);

    /// A borrower waits no more; whether the network thread has nothing to do.
    fn give_back(&mut self, borrower: u64, mailbox: &Mailbox<L>) -> bool;

    /// Somebody waits who does not read: the network thread is to do so from its next pass on.
    /// Whether it does anyhow.
    fn reclaim(&mut self) -> bool;

    /// Whether the network thread does not read, with a borrower there or without.
    fn is_lent(&self) -> bool;
}

type Seated<L> = Option<Box<dyn Pilot<L>>>;

/// See the module.
pub(crate) struct Seat<L> {
    pilot: Mutex<Seated<L>>,
    /// The process that made it. In a child, where a handler of a signal forks, nobody sits down (R18).
    process: u64,
    /// The network thread waits for it. Callers that come by then leave it their letters: they might take the
    /// seat again and again before it wakes.
    network_waits: AtomicBool,
    /// Whether the network thread is to read from its next pass on, for some time: without that it
    /// would for the moment only, and the reading go to and fro.
    reading_wanted: AtomicBool,
    /// What the pilot said last of its reading, for those who have no reason to sit down then.
    is_lent: AtomicBool,
}

impl<L> Seat<L> {
    pub(crate) fn new() -> Seat<L> {
        Seat {
            pilot: Mutex::new(None),
            process: process_id(),
            network_waits: AtomicBool::new(false),
            reading_wanted: AtomicBool::new(false),
            is_lent: AtomicBool::new(false),
        }
    }

    /// From now on there is something to drive.
    pub(crate) fn occupy(&self, pilot: Box<dyn Pilot<L>>) {
        *self.pilot.lock() = Some(pilot);
    }

    /// Nothing is driven any more.
    pub(crate) fn vacate(&self) {
        let pilot = self.pilot.lock().take();
        // Outside the lock: with it goes whatever still waited.
        drop(pilot);
    }

    /// Drives on the network thread, until the session's end.
    pub(crate) fn poll(&self, mailbox: &Mailbox<L>, context: &mut Context<'_>) -> Poll<()> {
        for _ in 0..MOST_ROUNDS {
            let pass = wakers::woken_after(|| {
                self.network_waits.store(true, Ordering::SeqCst);
                let mut seat = self.pilot.lock();
                self.network_waits.store(false, Ordering::SeqCst);
                self.seated(&mut seat, |pilot| {
                    if self.reading_wanted.swap(false, Ordering::SeqCst) {
                        pilot.reclaim();
                    }
                    pilot.pass(mailbox, context)
                })
            });
            match pass {
                None | Some(Pass::Finished) => return Poll::Ready(()),
                // Who left one meanwhile found the seat taken, and relies on this look.
                Some(Pass::Idle) if mailbox.is_empty() => return Poll::Pending,
                Some(Pass::Idle | Pass::Busy) => {}
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Has the letters of `mailbox` taken, one of the caller's among them: by the caller, by
    /// whoever has the seat, or by the network thread.
    pub(crate) fn serve(&self, mailbox: &Mailbox<L>) {
        let _told = ToldOfPanics(mailbox);
        let signals = Blocked::new();
        for _ in 0..MOST_ROUNDS {
            // The pass that it waits for takes the letters.
            if self.is_inherited() || self.network_waits.load(Ordering::SeqCst) {
                return;
            }
            let mut taken = false;
            let mut served = None;
            wakers::woken_by(
                |wake| signals.lifted(wake),
                || match self.pilot.try_lock() {
                    Some(mut seat) => {
                        served = self.seated(&mut seat, |pilot| pilot.serve(mailbox));
                    }
                    None => taken = true,
                },
            );
            // Who has it looks at the letters again after leaving it.
            if taken || self.is_inherited() {
                return;
            }
            if served != Some(true) {
                return mailbox.wake();
            }
            if mailbox.is_empty() {
                return;
            }
        }
        // Others leave letters as fast as they are taken.
        mailbox.wake();
    }

    /// Whether this is a child of the process that made it: whatever is in it is the parent's.
    fn is_inherited(&self) -> bool {
        self.process != process_id()
    }
}

impl<L> Seat<L> {
    /// Waits for an outcome, and reads it itself if nobody else waits.
    pub(crate) fn wait<T>(
        &self,
        mailbox: &Mailbox<L>,
        receiver: &Receiver<T>,
        limit: &Limit,
    ) -> Option<Result<T, Disconnected>> {
        receiver
            .take_now()
            .or_else(|| match self.read_for(mailbox, receiver, limit) {
                Read::Outcome(outcome) => Some(outcome),
                Read::NotYet => None,
                Read::BySomebodyElse => receiver.wait_until(limit),
            })
    }

    fn read_for<T>(&self, mailbox: &Mailbox<L>, receiver: &Receiver<T>, limit: &Limit) -> Read<T> {
        let signals = Blocked::new();
        let Some(borrowed) = self.lend(mailbox, &signals) else {
            return Read::BySomebodyElse;
        };
        let reading = &borrowed.reading;
        let waker = Waker::from(Arc::new(Reader(Arc::clone(reading))));
        let process = process_id();
        loop {
            if process_id() != process {
                return Read::NotYet;
            }
            // One who was woken by somebody else has the reading still.
            if let Poll::Ready(outcome) = receiver.look(&waker) {
                self.give_back(mailbox, borrowed.by, &signals);
                return Read::Outcome(outcome);
            }
            let slept = reading.sleep(limit, &signals);
            if process_id() != process {
                // A handler forked, and this is the child: all of it is the parent's (R18).
                return Read::NotYet;
            }
            if slept.is_none() {
                self.give_back(mailbox, borrowed.by, &signals);
                return Read::NotYet;
            }
            // It would wake itself.
            receiver.wake_nobody();
            match self.read(mailbox, borrowed.by, &signals, &|| receiver.has_ended()) {
                Glance::Unanswered => {}
                Glance::TakenBack => return Read::BySomebodyElse,
                Glance::Answered => {
                    if let Some(outcome) = receiver.take_now() {
                        return Read::Outcome(outcome);
                    }
                }
            }
        }
    }

    /// Somebody waits for an outcome who does not read: an asynchronous task.
    pub(crate) fn attend(&self, mailbox: &Mailbox<L>) {
        // Whoever borrows after this look finds what this task waits for under way.
        if !self.is_lent.load(Ordering::SeqCst) || self.is_inherited() {
            return;
        }
        let read = without_signals(|| {
            let mut seat = self.pilot.try_lock()?;
            self.seated(&mut seat, |pilot| pilot.reclaim())
        });
        match read {
            Some(true) => {}
            Some(false) => mailbox.wake(),
            None => self.want_reading(mailbox),
        }
        if !mailbox.is_empty() {
            self.serve(mailbox);
        }
    }

    fn lend(&self, mailbox: &Mailbox<L>, signals: &Blocked) -> Option<Borrowed> {
        let _told = ToldOfPanics(mailbox);
        let mut lent = None;
        wakers::woken_by(
            |wake| signals.lifted(wake),
            || {
                let Some(mut seat) = self.pilot.try_lock() else {
                    return;
                };
                lent = self.seated(&mut seat, |pilot| pilot.lend(mailbox));
            },
        );
        if self.is_inherited() {
            return None;
        }
        match &lent {
            Some((_, true)) => {}
            Some((_, false)) => mailbox.wake(),
            None => self.want_reading(mailbox),
        }
        self.take_left(mailbox, signals);
        lent?.0
    }

    /// Whoever has the seat may be a caller that does not know of this wait.
    fn want_reading(&self, mailbox: &Mailbox<L>) {
        self.reading_wanted.store(true, Ordering::SeqCst);
        mailbox.wake();
    }

    fn read(
        &self,
        mailbox: &Mailbox<L>,
        borrower: u64,
        signals: &Blocked,
        answered: &dyn Fn() -> bool,
    ) -> Glance {
        let mut glance = Glance::TakenBack;
        self.visit(mailbox, signals, |pilot| {
            let (seen, done) = pilot.read(borrower, mailbox, answered);
            glance = seen;
            done
        });
        glance
    }

    fn give_back(&self, mailbox: &Mailbox<L>, borrower: u64, signals: &Blocked) {
        self.visit(mailbox, signals, |pilot| pilot.give_back(borrower, mailbox));
    }

    /// A borrower's turn in the seat, which it waits for; `turn` says whether the network thread has
    /// nothing to do.
    fn visit(
        &self,
        mailbox: &Mailbox<L>,
        signals: &Blocked,
        turn: impl FnOnce(&mut dyn Pilot<L>) -> bool,
    ) {
        let _told = ToldOfPanics(mailbox);
        let done = wakers::woken_by(
            |wake| signals.lifted(wake),
            || self.seated(&mut self.pilot.lock(), turn).unwrap_or(true),
        );
        if self.is_inherited() {
            return;
        }
        if !done {
            mailbox.wake();
        }
        self.take_left(mailbox, signals);
    }

    /// Takes the letters of those that found the seat taken.
    fn take_left(&self, mailbox: &Mailbox<L>, signals: &Blocked) {
        if !mailbox.is_empty() {
            signals.lifted(|| self.serve(mailbox));
        }
    }

    /// Drives, if there is something to drive. After a panic there is not: half-done work is not gone
    /// on with.
    fn seated<R>(
        &self,
        seat: &mut Seated<L>,
        drive: impl FnOnce(&mut dyn Pilot<L>) -> R,
    ) -> Option<R> {
        let mut pilot = seat.take()?;
        let result = drive(&mut *pilot);
        let is_lent = pilot.is_lent();
        if is_lent != self.is_lent.load(Ordering::SeqCst) {
            self.is_lent.store(is_lent, Ordering::SeqCst);
        }
        *seat = Some(pilot);
        Some(result)
    }
}

/// What came of reading oneself.
enum Read<T> {
    Outcome(Result<T, Disconnected>),
    /// The limit has passed, or this is a forked child.
    NotYet,
    /// The network thread reads, or another caller.
    BySomebodyElse,
}

/// Wakes a caller that reads.
struct Reader(Arc<dyn Reading>);

impl Wake for Reader {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }
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

#[cfg(all(test, not(zoolock_loom)))]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::sync::wakers::tests::Woken;
    use crate::sync::{Completer, completion};

    static TOUCHED: AtomicUsize = AtomicUsize::new(0);

    /// Sleeps until a handler has forked.
    struct ForkingSleep(Mutex<Option<libc::pid_t>>);

    impl Reading for ForkingSleep {
        fn sleep(&self, _: &Limit, _: &Blocked) -> Option<()> {
            // SAFETY: the child reads atomics and takes no lock that another thread may have.
            *self.0.lock() = Some(unsafe { libc::fork() });
            Some(())
        }

        fn wake(&self) {}
    }

    struct Answering {
        sleep: Arc<ForkingSleep>,
        to: Option<Completer<u8>>,
    }

    impl Pilot<()> for Answering {
        fn pass(&mut self, _: &Mailbox<()>, _: &mut Context<'_>) -> Pass {
            Pass::Finished
        }

        fn serve(&mut self, _: &Mailbox<()>) -> bool {
            true
        }

        fn lend(&mut self, _: &Mailbox<()>) -> (Option<Borrowed>, bool) {
            let reading = Arc::clone(&self.sleep) as Arc<dyn Reading>;
            (Some(Borrowed { by: 1, reading }), true)
        }

        fn read(&mut self, _: u64, _: &Mailbox<()>, answered: &dyn Fn() -> bool) -> (Glance, bool) {
            TOUCHED.fetch_add(1, Ordering::SeqCst);
            let told = self.to.take().map(|to| to.complete(7));
            assert!(told == Some(Ok(())) && answered());
            (Glance::Answered, true)
        }

        fn give_back(&mut self, _: u64, _: &Mailbox<()>) -> bool {
            TOUCHED.fetch_add(1, Ordering::SeqCst);
            true
        }

        fn reclaim(&mut self) -> bool {
            true
        }

        fn is_lent(&self) -> bool {
            false
        }
    }

    #[test]
    fn r18_a_child_that_a_handler_forks_in_the_sleep_reads_nothing() {
        let sleep = Arc::new(ForkingSleep(Mutex::new(None)));
        let (completer, receiver) = completion();
        let (seat, mailbox) = (Seat::new(), Mailbox::new());
        seat.occupy(Box::new(Answering {
            sleep: Arc::clone(&sleep),
            to: Some(completer),
        }));
        let outcome = seat.wait(&mailbox, &receiver, &Limit::starting_now(None));
        let child = sleep.0.lock().take();
        if child == Some(0) {
            let alone = outcome.is_none() && TOUCHED.load(Ordering::SeqCst) == 0;
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(i32::from(!alone)) }
        }
        assert_eq!(outcome, Some(Ok(7)));
        let (child, mut status) = (child.unwrap_or(-1), 0);
        // SAFETY: `child` is ours, and `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    }

    /// Always finds something to do.
    struct Busy;

    static SERVED: AtomicUsize = AtomicUsize::new(0);

    impl Pilot<()> for Busy {
        fn pass(&mut self, _: &Mailbox<()>, _: &mut Context<'_>) -> Pass {
            Pass::Busy
        }

        fn serve(&mut self, _: &Mailbox<()>) -> bool {
            SERVED.fetch_add(1, Ordering::SeqCst);
            true
        }

        fn lend(&mut self, _: &Mailbox<()>) -> (Option<Borrowed>, bool) {
            (None, true)
        }

        fn read(&mut self, _: u64, _: &Mailbox<()>, _: &dyn Fn() -> bool) -> (Glance, bool) {
            (Glance::Unanswered, true)
        }

        fn give_back(&mut self, _: u64, _: &Mailbox<()>) -> bool {
            true
        }

        fn reclaim(&mut self) -> bool {
            true
        }

        fn is_lent(&self) -> bool {
            false
        }
    }

    /// Only the event loop tells that a socket can be read, and drives the other sessions.
    #[test]
    fn the_event_loop_has_its_turn_however_much_there_is_to_do() {
        let (seat, mailbox) = (Seat::new(), Mailbox::new());
        seat.occupy(Box::new(Busy));
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let polled = seat.poll(&mailbox, &mut Context::from_waker(&waker));
        assert_eq!(polled, Poll::Pending);
        assert_eq!(woken.0.load(Ordering::SeqCst), 1, "it goes on later");
    }

    /// A caller whose letters are never all taken is not kept for ever.
    #[test]
    fn a_caller_serves_for_some_rounds_only_and_no_parents_session() {
        let (seat, mailbox) = (Seat::new(), Mailbox::new());
        seat.occupy(Box::new(Busy));
        assert_eq!(mailbox.leave(()), Ok(()));
        seat.serve(&mailbox);
        assert_eq!(SERVED.swap(0, Ordering::SeqCst), MOST_ROUNDS);
        // SAFETY: the child touches atomics only.
        let child = unsafe { libc::fork() };
        if child == 0 {
            seat.serve(&mailbox);
            seat.attend(&mailbox);
            let touched = SERVED.load(Ordering::SeqCst) != 0;
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(i32::from(touched)) }
        }
        let mut status = 0;
        // SAFETY: `child` is ours, and `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    }
}
