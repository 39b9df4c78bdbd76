//! One unbroken run of a session's lease, as guards on any thread see it.

use crate::clock::Time;
use crate::loss::Loss;
use crate::sync::primitive::atomic::{AtomicU64, Ordering};

/// Broken is a moment that has always passed.
const BROKEN: u64 = 0;
/// And so is this one: broken by the end of the session, not by the clock.
const OVER: u64 = 1;

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
            if until <= OVER {
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
        let mut until = self.0.load(Ordering::Acquire);
        // Why it ended stays what it was.
        while until > OVER {
            match self
                .0
                .compare_exchange(until, OVER, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return,
                Err(other) => until = other,
            }
        }
    }

    /// Why it ended, if it has.
    pub(crate) fn loss(&self) -> Option<Loss> {
        match self.0.load(Ordering::Acquire) {
            BROKEN => Some(Loss::LeaseRanOut),
            OVER => Some(Loss::SessionOver),
            _ => None,
        }
    }

    /// When it ends as things stand; if it is broken, a moment that has always passed.
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
    fn r04_why_a_term_ended_is_final_too() {
        let term = LeaseTerm::new(Time(100));
        assert_eq!(term.loss(), None);
        assert!(!term.is_running(Time(100)));
        term.break_now();
        assert_eq!(term.loss(), Some(Loss::LeaseRanOut));
        let term = LeaseTerm::new(Time(100));
        term.break_now();
        assert!(!term.is_running(Time(0)));
        assert!(!term.renew(Time(50), Time(200)));
        assert_eq!(term.loss(), Some(Loss::SessionOver));
    }

    #[test]
    fn renewing_extends_and_never_shortens() {
        let term = LeaseTerm::new(Time(100));
        assert!(term.renew(Time(10), Time(200)));
        assert!(term.renew(Time(10), Time(150)));
        assert!(term.is_running(Time(199)));
    }
}
