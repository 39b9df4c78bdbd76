//! The arithmetic of the lease (R3): until when guards may believe without news from the leader.

use std::collections::VecDeque;
use std::time::Duration;

use crate::clock::Time;
use crate::mutant::{Mutant, broken};

/// Answers closer together than this fraction of `S` are kept as one, the earlier; that only
/// shortens the lease, and bounds the memory at any rate of requests.
const SPACING: u32 = 64;
/// More than enough to reach back `3S/10` at that spacing; dropping older ones shortens the lease.
const KEPT: usize = 64;

/// Two moments bound the lease. `t`: when the last confirmed request was sent, which proves that
/// the leader was reachable then. `u`: when the last request was sent of those answered by
/// `t − 3S/10`, which proves that the leader had learnt of us by `t`, for followers report their
/// clients only every half tick (Z3). That is up to `S/4` by the leader's clock, up to `11S/40` by
/// ours, and the rest is for pings between servers that take their time. The lease runs until the
/// earlier of `t + S/2` and `u + 9S/10`.
#[derive(Debug)]
pub(crate) struct Lease {
    session_timeout: Duration,
    confirmed: Option<Time>,
    learnt: Option<Time>,
    answered: VecDeque<Answered>,
}

#[derive(Debug)]
struct Answered {
    sent: Time,
    at: Time,
}

impl Lease {
    pub(crate) fn new(session_timeout: Duration) -> Lease {
        Lease {
            session_timeout,
            confirmed: None,
            learnt: None,
            answered: VecDeque::new(),
        }
    }

    /// A handshake that was sent at `sent` has opened or resumed the session. It counts at once as
    /// both moments; what was sent on earlier connections counts no more.
    pub(crate) fn handshake(&mut self, sent: Time, session_timeout: Duration) {
        self.session_timeout = session_timeout;
        self.confirmed = Some(sent);
        self.learnt = Some(sent);
        self.answered.clear();
    }

    /// A handshake has resumed the session where only a quorum's word renews the lease: a leader cut
    /// off together with us answers handshakes until it steps down.
    pub(crate) fn moved(&mut self, sent: Time, session_timeout: Duration) {
        self.session_timeout = session_timeout;
        self.learnt = Some(sent);
        self.answered.clear();
    }

    /// A request sent at `sent` was answered at `at`; `confirmed` if the answer can only have come
    /// from the leader. `sent` is read before the system call that sends, `at` after the one that
    /// receives.
    pub(crate) fn answered(&mut self, sent: Time, at: Time, confirmed: bool) {
        let sent = if broken(Mutant::LeaseFromAnswer) {
            at
        } else {
            sent
        };
        if confirmed && self.confirmed.is_none_or(|known| known < sent) {
            self.confirmed = Some(sent);
            let by = sent.minus(self.session_timeout * 3 / 10);
            while self.answered.front().is_some_and(|answer| answer.at <= by) {
                if let Some(answer) = self.answered.pop_front() {
                    self.learnt = self.learnt.max(Some(answer.sent));
                }
            }
        }
        let spacing = self.session_timeout / SPACING;
        if self
            .answered
            .back()
            .is_none_or(|last| last.at + spacing <= at)
        {
            if self.answered.len() == KEPT {
                self.answered.pop_front();
            }
            self.answered.push_back(Answered { sent, at });
        }
    }

    /// The session is over.
    pub(crate) fn end(&mut self) {
        self.confirmed = None;
        self.learnt = None;
        self.answered.clear();
    }

    /// Until when the lease runs; the beginning of time if there is none.
    pub(crate) fn until(&self) -> Time {
        match (self.confirmed, self.learnt) {
            (Some(confirmed), Some(_)) if broken(Mutant::LeaseWithoutLearnt) => {
                confirmed + self.session_timeout / 2
            }
            (Some(confirmed), Some(_)) if broken(Mutant::LeaseOfSession) => {
                confirmed + self.session_timeout
            }
            (Some(confirmed), Some(learnt)) => {
                (confirmed + self.session_timeout / 2).min(learnt + self.session_timeout * 9 / 10)
            }
            _ => Time::default(),
        }
    }
}

#[cfg(test)]
#[path = "lease_tests.rs"]
mod tests;
