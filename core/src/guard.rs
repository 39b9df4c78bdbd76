//! The held lock: token, state, loss, release.

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::clock::{self, Time};
use crate::command::{Command, GuardId, LockTarget};
use crate::error::{Error, ErrorKind, Result};
use crate::handle::Session;
use crate::kept::{GivenBack, KeptSlot};
use crate::lease_term::LeaseTerm;
use crate::link::Link;
use crate::loss::Loss;
use crate::mutant::{Mutant, broken};
use crate::pending::Pending;
use crate::state::GuardState;
use crate::sync::Latch;
use crate::sync::primitive::atomic::{AtomicU8, Ordering};

const ACTIVE: u8 = 0;
const RELEASED: u8 = 1;
/// And the place of the cause in [`Loss::KEPT`].
const LOST: u8 = 2;

fn lost_by(loss: Loss) -> u8 {
    let place = Loss::KEPT.iter().position(|kept| *kept == loss);
    LOST + place
        .and_then(|place| u8::try_from(place).ok())
        .unwrap_or(0)
}

/// What guard and network thread share.
pub(crate) struct GuardCell {
    pub(crate) id: GuardId,
    pub(crate) token: i64,
    /// Of the grants of its contender, this is the how manieth.
    pub(crate) count: u64,
    pub(crate) node_path: Arc<str>,
    pub(crate) target: Arc<LockTarget>,
    pub(crate) granted: Time,
    pub(crate) term: Arc<LeaseTerm>,
    pub(crate) link: Arc<Link>,
    pub(crate) lost: Latch,
    /// Where a contender was taken that had been kept.
    kept: Option<Arc<KeptSlot>>,
    status: AtomicU8,
}

/// What a guard is granted with.
pub(crate) struct Grant {
    pub(crate) token: i64,
    pub(crate) count: u64,
    pub(crate) node_path: Arc<str>,
    pub(crate) granted: Time,
    pub(crate) term: Arc<LeaseTerm>,
    pub(crate) kept: Option<Arc<KeptSlot>>,
}

impl GuardCell {
    pub(crate) fn new(
        id: GuardId,
        grant: Grant,
        target: Arc<LockTarget>,
        link: Arc<Link>,
    ) -> Arc<GuardCell> {
        Arc::new(GuardCell {
            id,
            token: grant.token,
            count: grant.count,
            node_path: grant.node_path,
            target,
            granted: grant.granted,
            term: grant.term,
            link,
            lost: Latch::default(),
            kept: grant.kept,
            status: AtomicU8::new(ACTIVE),
        })
    }

    /// Marks the guard lost and tells everyone registered; false if it had ended before. Why is what
    /// ended the lease, if that was seen before `loss`.
    pub(crate) fn lose(&self, now: Time, loss: Loss) -> bool {
        let won = self.end(lost_by(self.term.loss().unwrap_or(loss)));
        if won {
            self.target
                .stats
                .ended(now.saturating_since(self.granted), true);
        }
        // Also when a reader of the clock saw the loss first: the telling is done here only.
        if self.status.load(Ordering::Acquire) >= LOST && !broken(Mutant::LossNotTold) {
            self.lost
                .fire(|callback| self.link.callbacks.post(callback));
        }
        won
    }

    /// What a release that has just ended the belief asks of the engine: nothing, if the contender is
    /// kept.
    fn give_back(&self, now: Time) -> GivenBack {
        match &self.kept {
            Some(slot) => slot.give_back(self.id, now),
            None => GivenBack::Over,
        }
    }

    /// Tells the engine that a kept contender, which an attempt waits for, is free.
    fn hand_over(&self) {
        if let Some(slot) = &self.kept {
            self.link.send(Command::KeptFreed {
                slot: Arc::clone(slot),
            });
        }
    }

    fn end(&self, status: u8) -> bool {
        self.status
            .compare_exchange(ACTIVE, status, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Why it is lost, where its state says so.
    fn loss(&self) -> Loss {
        let known = self.status.load(Ordering::Acquire).checked_sub(LOST);
        match known.and_then(|place| Loss::KEPT.get(usize::from(place))) {
            Some(loss) => *loss,
            None if !self.link.is_ours() => Loss::Forked,
            // The clock was quicker than the network thread.
            None => self.term.loss().unwrap_or(Loss::LeaseRanOut),
        }
    }

    /// The state at `now`, the clock read just before.
    pub(crate) fn state(&self, now: Time) -> GuardState {
        if !self.link.is_ours() {
            return match self.status.load(Ordering::Acquire) {
                RELEASED => GuardState::Released,
                _ => GuardState::Lost,
            };
        }
        match self.status.load(Ordering::Acquire) {
            RELEASED => GuardState::Released,
            LOST.. => GuardState::Lost,
            _ if !broken(Mutant::BeliefWithoutClock) && !self.term.is_running(now) => {
                GuardState::Lost
            }
            _ if self.link.is_connected() => GuardState::Held,
            _ => GuardState::Suspended,
        }
    }
}

/// A lock that was granted. It is held until it is released, dropped, or lost.
///
/// Dropping it releases the lock in the background (R10). What it protects should check the
/// [`fencing_token`](Guard::fencing_token) (R2), and stop when the guard is [`lost`](Guard::lost).
/// A guard that is lost stays lost, whatever becomes of the session (R4). In a forked child an
/// inherited guard is lost (R18).
///
/// # Examples
/// ```
/// # use std::time::Duration;
/// # #[tokio::main]
/// # async fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let session = zoolock::Session::connect(&server.hosts()).await?;
/// let guard = session.mutex("/locks/report")?.lock().await?;
/// for page in 0..3 {
///     guard.ensure_held()?;                  // stop between two steps if it is lost
///     println!("page {page}, token {}", guard.fencing_token());
/// }
/// guard.release().await?;
/// # session.close().await
/// # }
/// ```
#[must_use = "a guard that is dropped releases its lock"]
pub struct Guard {
    cell: ManuallyDrop<Arc<GuardCell>>,
    /// A handle closes when it is dropped with all guards; held by nobody else, it is held here.
    _session: Option<Session>,
}

impl Guard {
    pub(crate) fn new(cell: Arc<GuardCell>, session: Option<Session>) -> Guard {
        Guard {
            cell: ManuallyDrop::new(cell),
            _session: session,
        }
    }

    /// The fencing token: positive, unique in the ensemble, rising from grant to grant on a path
    /// (R2). A re-entrant grant and a downgraded read repeat it; of a read-write lock only writers'
    /// tokens rise in the order of grants. Where contenders are [kept](crate::LockOptions::keep) the token is
    /// the pair with [`grant_count`](Guard::grant_count).
    ///
    /// Send it along with each write, and let the resource refuse what is below the highest that it
    /// has seen: that stops a holder that has lost the lock and does not know it yet.
    pub fn fencing_token(&self) -> i64 {
        self.cell.token
    }

    /// The second part of the token where contenders are [kept](crate::LockOptions::keep): of the grants
    /// of this contender, which this is, from 1. The pair with [`fencing_token`](Guard::fencing_token) rises
    /// from grant to grant on a path, and a resource has to compare it whole (R2). Without that option it
    /// is 1; a re-entrant grant repeats it.
    pub fn grant_count(&self) -> u64 {
        self.cell.count
    }

    /// What the network thread knows of this guard.
    #[cfg(test)]
    pub(crate) fn cell(&self) -> &Arc<GuardCell> {
        &self.cell
    }

    /// The path of the contender's node, without the session's chroot.
    pub fn node_path(&self) -> &str {
        &self.cell.node_path
    }

    /// The lock path.
    pub fn path(&self) -> &str {
        &self.cell.target.path
    }

    /// Whether the lock may still be believed in: its state is [`Held`](GuardState::Held) or
    /// [`Suspended`](GuardState::Suspended). Compares the clock at the call (R3), so it is right in a
    /// process that was stopped, too. Never blocks, costs no request.
    pub fn is_held(&self) -> bool {
        matches!(self.state(), GuardState::Held | GuardState::Suspended)
    }

    /// The state at this moment, by the clock (R3). Never blocks, costs no request.
    pub fn state(&self) -> GuardState {
        self.cell.state(clock::now())
    }

    /// Checks that the lock may still be believed in, as [`is_held`](Guard::is_held): for use with `?`
    /// between the steps of what is protected. Never blocks.
    ///
    /// # Errors
    /// `LockLost` if the lock was lost, with the reason as its source; `NotHeld` if it was released.
    pub fn ensure_held(&self) -> Result<()> {
        match self.state() {
            GuardState::Held | GuardState::Suspended => Ok(()),
            GuardState::Lost => Err(self.lost_error("ensure_held")),
            GuardState::Released => Err(self.not_held("ensure_held")),
        }
    }

    /// Ends when the lock is lost (R4), at once if it is. Never ends for a lock that is released. The
    /// future owns what it needs, and may be dropped at any time; [`ensure_held`](Guard::ensure_held)
    /// then tells why.
    ///
    /// # Examples
    /// ```
    /// # async fn work() { std::future::pending().await }
    /// # #[tokio::main]
    /// # async fn main() -> zoolock::Result<()> {
    /// # let server = zoolock::testing::Server::start()?;
    /// # let session = zoolock::Session::connect(&server.hosts()).await?;
    /// let guard = session.mutex("/locks/report")?.lock().await?;
    /// # server.expire_all()?;
    /// tokio::select! {
    ///     () = work() => println!("done"),
    ///     () = guard.lost() => println!("stopped: {:?}", guard.ensure_held()),
    /// }
    /// # assert!(!guard.is_held());
    /// # session.close().await
    /// # }
    /// ```
    pub fn lost(&self) -> Lost {
        Lost {
            cell: ManuallyDrop::new(Arc::clone(&self.cell)),
            key: 0,
        }
    }

    /// Calls `callback` once when the lock is lost (R4), soon if it is already; never after a release.
    /// It runs on the thread that runs all callbacks of the process: one that blocks delays the
    /// others, but no lock, and no guard's knowledge of its loss.
    ///
    /// # Examples
    /// ```
    /// # fn main() -> zoolock::Result<()> {
    /// # let server = zoolock::testing::Server::start()?;
    /// # let session = zoolock::blocking::Session::connect(&server.hosts())?;
    /// let (tell, told) = std::sync::mpsc::channel();
    /// let guard = session.mutex("/locks/report")?.lock()?;
    /// guard.on_lost(move || drop(tell.send("lost")));
    /// server.expire_all()?;
    /// assert_eq!(told.recv(), Ok("lost"));
    /// # session.close()
    /// # }
    /// ```
    pub fn on_lost(&self, callback: impl FnOnce() + Send + 'static) {
        let callback: Box<dyn FnOnce() + Send> = Box::new(callback);
        if !self.cell.link.is_ours() {
            crate::runtime::post(callback);
            return;
        }
        if self.cell.state(clock::now()) == GuardState::Lost {
            // Not told before its turn: whoever asks the clock first has to find the same.
            self.cell.lose(clock::now(), Loss::LeaseRanOut);
        }
        if let Some(callback) = self.cell.lost.on_fire(callback) {
            self.cell.link.callbacks.post(callback);
        }
    }

    /// Blocks the calling thread until the lock is lost, at most `limit` (for ever if `None`): true if
    /// it is lost, false at the limit, or as soon as it is released.
    pub fn wait_lost(&self, limit: Option<Duration>) -> bool {
        if self.state() == GuardState::Lost {
            return true;
        }
        self.cell.lost.wait(limit).unwrap_or(false)
    }

    /// Releases the lock (R10): belief ends at once, before the call returns; the outcome comes when
    /// the deletion of the contender is confirmed, the session is over, or the lease would have ended.
    /// Dropping the outcome cancels nothing. From any thread.
    ///
    /// # Errors
    /// `LockLost` if the lock was lost before the call, with the reason as its source: the section did
    /// not end under the lock. `NoAuth` if the server denies the deletion of the contender, which then
    /// stays until the session ends.
    pub fn release(self) -> Pending<()> {
        self.release_shared()
    }

    /// [`release`](Guard::release) for guards that are shared, as by an [`Arc`].
    ///
    /// # Errors
    /// As for `release`; and `NotHeld` if it was released before.
    pub fn release_shared(&self) -> Pending<()> {
        self.release_at(clock::now())
    }

    /// [`release_shared`](Guard::release_shared) with the clock read just before.
    pub(crate) fn release_at(&self, now: Time) -> Pending<()> {
        match self.cell.state(now) {
            GuardState::Released => {
                return Pending::ready("release", Err(self.not_held("release")));
            }
            GuardState::Lost => return self.release_lost(),
            GuardState::Held | GuardState::Suspended => {}
        }
        if !self.cell.end(RELEASED) {
            // Lost or released by another thread since the look above.
            return match self.cell.state(now) {
                GuardState::Released => Pending::ready("release", Err(self.not_held("release"))),
                _ => self.release_lost(),
            };
        }
        self.cell.lost.retire();
        let held = now.saturating_since(self.cell.granted);
        self.cell.target.stats.ended(held, false);
        match self.cell.give_back(now) {
            GivenBack::Kept => return Pending::ready("release", Ok(())),
            GivenBack::Wanted => {
                self.cell.hand_over();
                return Pending::ready("release", Ok(()));
            }
            GivenBack::Over => {}
        }
        let (completer, pending) = Pending::new("release");
        self.cell.link.send(Command::Release {
            guard: self.cell.id,
            then: Some(Box::new(move |outcome| drop(completer.complete(outcome)))),
        });
        pending.on(Arc::clone(&self.cell.link))
    }

    /// Gives up a lost hold: its owner may queue again from now on (R10, R11).
    fn release_lost(&self) -> Pending<()> {
        if self.cell.link.is_ours() {
            self.cell.link.send(Command::Release {
                guard: self.cell.id,
                then: None,
            });
        }
        Pending::ready("release", Err(self.lost_error("release")))
    }

    fn lost_error(&self, operation: &'static str) -> Error {
        self.cell
            .loss()
            .error(operation, self.path(), "the lock was lost")
    }

    fn not_held(&self, operation: &'static str) -> Error {
        Error::new(
            ErrorKind::NotHeld,
            operation,
            "the lock was released before",
        )
        .with_path(self.path())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.cell.link.is_ours() {
            return;
        }
        let now = clock::now();
        let state = self.cell.state(now);
        if state != GuardState::Released {
            let mut given_back = GivenBack::Over;
            // One whose lease has run out is lost, though nobody may have told it yet: that comes with the release (R4).
            if state != GuardState::Lost && self.cell.end(RELEASED) {
                self.cell.lost.retire();
                let held = now.saturating_since(self.cell.granted);
                self.cell.target.stats.ended(held, false);
                given_back = self.cell.give_back(now);
            }
            match given_back {
                GivenBack::Kept => {}
                GivenBack::Wanted => self.cell.hand_over(),
                GivenBack::Over => self.cell.link.send(Command::Release {
                    guard: self.cell.id,
                    then: None,
                }),
            }
        }
        // SAFETY: dropped here only, once.
        unsafe { ManuallyDrop::drop(&mut self.cell) };
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("node_path", &self.node_path())
            .field("fencing_token", &self.fencing_token())
            .field("grant_count", &self.grant_count())
            .field("state", &self.state())
            .finish()
    }
}

/// The future of [`Guard::lost`]: ends when the lock is lost. Owns what it needs, and can be polled
/// and dropped on any thread; dropping it changes nothing.
#[must_use = "futures do nothing unless polled"]
pub struct Lost {
    cell: ManuallyDrop<Arc<GuardCell>>,
    key: u64,
}

impl Future for Lost {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.cell.state(clock::now()) == GuardState::Lost {
            return Poll::Ready(());
        }
        let mut key = self.key;
        let fired = self.cell.lost.poll(&mut key, context.waker());
        self.key = key;
        if fired {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl std::fmt::Debug for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lost")
            .field("node_path", &self.cell.node_path)
            .finish_non_exhaustive()
    }
}

impl Drop for Lost {
    fn drop(&mut self) {
        if self.cell.link.is_ours() {
            self.cell.lost.forget(self.key);
            // SAFETY: dropped here only, once.
            unsafe { ManuallyDrop::drop(&mut self.cell) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::queue::names::{Family, Naming};
    use crate::runtime::Callbacks;
    use crate::stats::LockStats;

    /// After a stop the caller's thread may be quicker than the network thread.
    #[test]
    fn r04_a_guard_that_is_dropped_before_its_loss_was_noticed_is_told() {
        let (callbacks, jobs) = Callbacks::collected();
        let term = Arc::new(LeaseTerm::new(Time::NEVER));
        let target = LockTarget {
            path: "/l".into(),
            family: Family::Mutex,
            naming: Naming::Curator,
            data: None,
            acl: None,
            keep: None,
            stats: LockStats::default(),
        };
        let grant = Grant {
            token: 7,
            count: 1,
            node_path: "/l/n".into(),
            granted: clock::now(),
            term: Arc::clone(&term),
            kept: None,
        };
        let cell = GuardCell::new(
            GuardId::next(),
            grant,
            Arc::new(target),
            Link::new(callbacks),
        );
        let guard = Guard::new(Arc::clone(&cell), None);
        let told = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&told);
        guard.on_lost(move || {
            count.fetch_add(1, Ordering::SeqCst);
        });

        term.break_now();
        let error = guard.release_shared().wait().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LockLost);
        drop(guard);
        // What the network thread does with the release.
        cell.lose(clock::now(), Loss::SessionOver);
        jobs.try_iter().for_each(|job| job());
        assert_eq!(told.load(Ordering::SeqCst), 1);
    }
}
