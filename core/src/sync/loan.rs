//! Who reads a session's socket: the network thread, whose event loop wakes it for each answer, or a
//! caller that waits for one, so that no other thread is woken for it.
//!
//! A caller *borrows* the reading for one wait. The socket then stays out of the event loop from
//! call to call; it comes back as soon as somebody else waits for an answer while nobody reads, or
//! when the calls end or one lasts. Everything here happens in the seat, so there is no race to lose: the
//! times only bound how long a caller that does not run may leave an answer unread.

use std::time::Duration;

use crate::clock::Time;

/// How long an answer may lie unread at most, and twice this how long one caller reads. Less than
/// what deadlines and the telling of losses may take (R4, R6).
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long the network thread reads for several, before one of them may do it again.
const REST: Duration = Duration::from_millis(200);

/// What there is to read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Awaited {
    /// Whether letters are unsent, requests unanswered, or attempts wait for events.
    pub(crate) anything: bool,
    /// Whether that is what one call waits for at most, on a connection that has no need of the
    /// network thread.
    pub(crate) at_most_one_call: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Loan {
    /// Whether the socket is out of the event loop.
    apart: bool,
    /// The borrower at present.
    borrower: Option<u64>,
    last: u64,
    /// Somebody waits for an answer that nobody may be reading.
    wanted: bool,
    /// The last borrower at the last look by the clock.
    seen: u64,
    look_at: Time,
    not_before: Time,
}

impl Default for Loan {
    fn default() -> Loan {
        Loan {
            apart: false,
            borrower: None,
            last: 0,
            wanted: false,
            seen: 0,
            look_at: Time::NEVER,
            not_before: Time(0),
        }
    }
}

impl Loan {
    pub(crate) fn is_apart(&self) -> bool {
        self.apart
    }

    /// A caller begins to wait: its number, if it is to read itself.
    pub(crate) fn borrow(&mut self, now: Time, awaited: Awaited) -> Option<u64> {
        if self.borrower.is_some() || !awaited.at_most_one_call || now < self.not_before {
            return None;
        }
        if !self.apart {
            self.apart = true;
            self.seen = self.last;
            self.look_at = now + LOOK_AGAIN;
        }
        self.last += 1;
        self.borrower = Some(self.last);
        self.borrower
    }

    pub(crate) fn is_lent_to(&self, borrower: u64) -> bool {
        self.borrower == Some(borrower)
    }

    /// The borrower waits no more. False if others do: the network thread has to read for them.
    pub(crate) fn give_back(&mut self, borrower: u64, awaited: Awaited) -> bool {
        if self.is_lent_to(borrower) {
            self.borrower = None;
            if awaited.anything {
                self.reclaim();
            }
        }
        !self.wanted
    }

    /// Somebody is about to sleep who does not read. False if nobody else does either: the network
    /// thread has to.
    pub(crate) fn is_read(&mut self) -> bool {
        if self.borrower.is_none() {
            self.reclaim();
        }
        !self.wanted
    }

    /// The network thread is to read from its next look on. Whether it does anyhow.
    pub(crate) fn reclaim(&mut self) -> bool {
        self.wanted = self.apart;
        !self.apart
    }

    /// When the network thread has to [`look`](Loan::look), whatever happens.
    pub(crate) fn next_look(&self) -> Time {
        match self.apart {
            true => self.look_at,
            false => Time::NEVER,
        }
    }

    /// On the network thread: true if it reads again from now on.
    pub(crate) fn look(&mut self, now: Time, awaited: Awaited) -> bool {
        if !self.apart {
            return false;
        }
        if self.wanted || !awaited.at_most_one_call {
            self.not_before = now + REST;
            self.end();
            return true;
        }
        if self.borrower.is_none() && awaited.anything {
            // It may be that the next caller has just sent, and is about to borrow.
            self.end();
            return true;
        }
        if now < self.look_at {
            return false;
        }
        if self.seen == self.last {
            self.end();
            return true;
        }
        self.seen = self.last;
        self.look_at = now + LOOK_AGAIN;
        false
    }

    /// The network thread reads, or there is nothing to read from.
    pub(crate) fn end(&mut self) {
        self.apart = false;
        self.borrower = None;
        self.wanted = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Awaited = Awaited {
        anything: true,
        at_most_one_call: true,
    };
    const NOTHING: Awaited = Awaited {
        anything: false,
        at_most_one_call: true,
    };
    const SEVERAL: Awaited = Awaited {
        anything: true,
        at_most_one_call: false,
    };

    fn at(millis: u64) -> Time {
        Time(0) + Duration::from_millis(millis)
    }

    #[test]
    fn one_call_after_the_other_reads_itself() {
        let mut loan = Loan::default();
        for cycle in 0..100 {
            let now = at(cycle);
            let borrower = loan.borrow(now, OWN).unwrap();
            assert!(loan.is_lent_to(borrower) && loan.borrow(now, OWN).is_none());
            assert!(loan.give_back(borrower, NOTHING));
            assert!(!loan.look(now, NOTHING) && loan.is_apart());
            assert!(!loan.look(now, NOTHING));
        }
    }

    #[test]
    fn when_calls_end_the_network_thread_reads() {
        let mut loan = Loan::default();
        let borrower = loan.borrow(at(0), OWN).unwrap();
        assert!(loan.give_back(borrower, NOTHING));
        assert!(!loan.look(at(20), NOTHING));
        assert!(loan.next_look() == at(40) && loan.look(at(40), NOTHING));
        assert_eq!(loan.next_look(), Time::NEVER);
    }

    #[test]
    fn r04_who_does_not_run_leaves_an_answer_unread_for_a_bounded_time() {
        let mut loan = Loan::default();
        let borrower = loan.borrow(at(0), OWN).unwrap();
        assert!(!loan.look(at(20), OWN));
        assert!(loan.look(at(40), OWN) && !loan.is_lent_to(borrower));
    }

    #[test]
    fn what_is_left_when_a_reader_leaves_is_read_by_the_network_thread() {
        let mut loan = Loan::default();
        let borrower = loan.borrow(at(0), OWN).unwrap();
        assert!(loan.is_read(), "as long as it is there");
        assert!(!loan.give_back(borrower, SEVERAL) && loan.look(at(1), SEVERAL));
        assert_eq!(loan.borrow(at(2), OWN), None, "it would go to and fro");
        assert!(loan.borrow(at(201), OWN).is_some());
    }

    #[test]
    fn a_look_between_sending_and_borrowing_costs_a_change_and_no_more() {
        let mut loan = Loan::default();
        let borrower = loan.borrow(at(0), OWN).unwrap();
        assert!(loan.give_back(borrower, NOTHING) && loan.look(at(1), OWN));
        assert!(loan.borrow(at(2), OWN).is_some());
    }

    #[test]
    fn who_sleeps_while_nobody_reads_has_the_network_thread_read() {
        let mut loan = Loan::default();
        assert!(loan.is_read(), "it reads anyhow");
        let borrower = loan.borrow(at(0), OWN).unwrap();
        assert!(loan.give_back(borrower, NOTHING));
        assert!(!loan.is_read() && loan.look(at(1), OWN));
        assert!(loan.is_read());
    }

    #[test]
    fn nobody_reads_for_several() {
        assert_eq!(Loan::default().borrow(at(0), SEVERAL), None);
        let mut loan = Loan::default();
        let borrower = loan.borrow(at(0), OWN).unwrap();
        assert!(loan.look(at(1), SEVERAL) && !loan.is_lent_to(borrower));
    }
}
