//! What each lock counts about itself, from the start.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters of one lock object.
#[derive(Default)]
pub(crate) struct LockStats {
    acquisitions: AtomicU64,
    contended: AtomicU64,
    timeouts: AtomicU64,
    losses: AtomicU64,
    waited_nanos: AtomicU64,
    held_nanos: AtomicU64,
}

/// A reading of a lock object's counters, which count from when it was made.
///
/// ```
/// # fn main() -> zoolock::Result<()> {
/// # let server = zoolock::testing::Server::start()?;
/// # let session = zoolock::blocking::Session::connect(&server.hosts())?;
/// let mutex = session.mutex("/locks/report")?;
/// mutex.lock()?.release()?;
/// let statistics = mutex.statistics();
/// assert_eq!((statistics.acquisitions, statistics.contended), (1, 0));
/// println!("held for {:?} in all", statistics.held);
/// # session.close()
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockStatistics {
    /// Grants, re-entrant ones included.
    pub acquisitions: u64,
    /// Grants that had to wait for another contender.
    pub contended: u64,
    /// Attempts that ended at their time-out.
    pub timeouts: u64,
    /// Guards that were lost.
    pub losses: u64,
    /// Sum of the time from call to grant.
    pub waited: Duration,
    /// Sum of the time from grant to release or loss.
    pub held: Duration,
}

impl LockStats {
    pub(crate) fn granted(&self, waited: Duration, contended: bool) {
        self.acquisitions.fetch_add(1, Ordering::Relaxed);
        self.contended
            .fetch_add(u64::from(contended), Ordering::Relaxed);
        add(&self.waited_nanos, waited);
    }

    pub(crate) fn timed_out(&self) {
        self.timeouts.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self, held: Duration, lost: bool) {
        self.losses.fetch_add(u64::from(lost), Ordering::Relaxed);
        add(&self.held_nanos, held);
    }

    pub(crate) fn read(&self) -> LockStatistics {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LockStatistics {
            acquisitions: get(&self.acquisitions),
            contended: get(&self.contended),
            timeouts: get(&self.timeouts),
            losses: get(&self.losses),
            waited: Duration::from_nanos(get(&self.waited_nanos)),
            held: Duration::from_nanos(get(&self.held_nanos)),
        }
    }
}

fn add(counter: &AtomicU64, time: Duration) {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    counter.fetch_add(nanos, Ordering::Relaxed);
}
