//! One unbroken run of a session's lease, as guards on any thread see it.

use crate::clock::Time;
use crate::sync::primitive::atomic::{AtomicU64, Ordering};

/// Broken is a moment that has always passed.
const BROKEN: u64 = 0;

/// Until when guards granted under it may believe (R3). Once it has run out for one reader it has
/// run out for all, for ever (R4): reading and renewing agree by compare-and-swap.
#[derive(Debug)]
pub(crate) struct LeaseTerm(AtomicU64);

impl LeaseTerm {
    pub(crate) fn new(until: Time) -> LeaseTerm {
        LeaseTerm(AtomicU64::new(until.0))
    }

    /// Whether the lease runs at `now`. Called with the clock read just before.
    pub(crate) fn is_running(&self, now: Time) -> bool {
        let mut until = self.0.load(Ordering::Acquire);
        loop {
            if until == BROKEN {
                return false;
            }
            if now.0 < until {
                return true;
            }
            match self
                .0
                .compare_exchange(until, BROKEN, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return false,
                Err(renewed) => until = renewed,
            }
        }
    }

    /// Extends the lease; false if it had run out before.
    pub(crate) fn renew(&self, now: Time, until: Time) -> bool {
        let mut known = self.0.load(Ordering::Acquire);
        loop {
            if !self.is_running(now) {
                return false;
            }
            if until.0 <= known {
                return true;
            }
            match self
                .0
                .compare_exchange(known, until.0, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return true,
                Err(other) => known = other,
            }
        }
    }

    /// Ends it at once: the session is over.
    pub(crate) fn break_now(&self) {
        // Exchanged like all other changes, so that their order is one that a model checker can follow.
        self.0.swap(BROKEN, Ordering::AcqRel);
    }

    /// When it ends as things stand; the beginning of time if it is broken.
    pub(crate) fn until(&self) -> Time {
        Time(self.0.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r04_a_term_seen_to_end_stays_ended() {
        let term = LeaseTerm::new(Time(100));
        assert!(term.is_running(Time(99)));
        assert!(!term.is_running(Time(100)));
        assert!(!term.is_running(Time(50)));
        assert!(!term.renew(Time(50), Time(200)));
    }

    #[test]
    fn renewing_extends_and_never_shortens() {
        let term = LeaseTerm::new(Time(100));
        assert!(term.renew(Time(10), Time(200)));
        assert!(term.renew(Time(10), Time(150)));
        assert!(term.is_running(Time(199)));
    }
}
