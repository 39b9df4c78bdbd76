//! Which server to try when: rounds over all servers, overlapping attempts, pauses (R16).

use std::collections::VecDeque;
use std::time::Duration;

use crate::clock::Time;
use crate::config::Backoff;

/// One attempt to connect to a server; later the connection that came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DialId(pub(crate) u64);

/// A server's version, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u32, pub(crate) u32, pub(crate) u32);

/// What came of asking a server for its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probed {
    Version(Version),
    /// It answered, but not with a version.
    Untold,
    /// It took the connection and said nothing.
    Nothing,
    /// It could not be asked.
    Unreached,
}

/// Pauses after a full round that failed never exceed this, nor a tenth of the session timeout.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// How one attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server took the connection and closed it instead of answering the handshake: what a
    /// server does that is behind our last zxid (Z14), among other reasons.
    ClosedInHandshake,
    /// One side does not accept the other's certificate.
    Untrusted,
    /// One side speaks TLS and the other does not, or they find no version in common.
    NotTls,
    Other,
}

#[derive(Debug)]
pub(crate) struct Dial {
    pub(crate) id: DialId,
    pub(crate) server: usize,
    pub(crate) deadline: Time,
    pub(crate) started: Time,
    /// Asks for a new session and tells no zxid: for an ensemble that refuses what we have.
    pub(crate) fresh: bool,
    pub(crate) handshake: Handshake,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// The connection is not up yet.
    Dialing,
    /// To be sent.
    Due,
    Sent(Time),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Dialer {
    servers: usize,
    /// Servers of this round that have not been tried.
    round: VecDeque<usize>,
    open: Vec<Dial>,
    failed_rounds: u32,
    resume_at: Time,
    active: bool,
    last_failures: Vec<Option<Failure>>,
    refused_since: Option<Time>,
    fresh_next: bool,
    next_id: u64,
}

/// What the dialer has to know about the session at the moment.
pub(crate) struct Situation<'a> {
    pub(crate) now: Time,
    pub(crate) session_timeout: Duration,
    pub(crate) believing: bool,
    /// Whether a server has something to refuse: a session or a zxid.
    pub(crate) refusable: bool,
    /// Governs the pauses until the first connection.
    pub(crate) first_connect: Option<&'a Backoff>,
}

/// What a step asks for.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) dial: Vec<(DialId, usize, Time)>,
    pub(crate) give_up: Vec<DialId>,
    /// Told at the end of each full round that failed.
    pub(crate) round_failed: Option<FailedRound>,
}

/// A full round of servers that brought no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FailedRound {
    /// How many there were in a row, with this one.
    pub(crate) rounds: u32,
    /// How every server failed, if all did so alike.
    pub(crate) all: Option<Failure>,
}

impl Dialer {
    pub(crate) fn new(servers: usize) -> Dialer {
        Dialer {
            servers,
            round: VecDeque::new(),
            open: Vec::new(),
            failed_rounds: 0,
            resume_at: Time::default(),
            active: false,
            last_failures: vec![None; servers],
            refused_since: None,
            fresh_next: false,
            next_id: 1,
        }
    }

    /// Begins to look for a server: the others first, the one just lost at the end.
    pub(crate) fn start(
        &mut self,
        not_before: Time,
        lost: Option<usize>,
        random: &mut fastrand::Rng,
    ) {
        self.active = true;
        self.failed_rounds = 0;
        self.resume_at = not_before;
        self.fill_round(lost, random);
    }

    fn fill_round(&mut self, last: Option<usize>, random: &mut fastrand::Rng) {
        let mut order: Vec<usize> = (0..self.servers)
            .filter(|server| Some(*server) != last)
            .collect();
        random.shuffle(&mut order);
        order.extend(last);
        self.round = order.into();
    }

    /// A server has been found: gives the other attempts up.
    pub(crate) fn stop(&mut self) -> Vec<DialId> {
        self.active = false;
        self.refused_since = None;
        self.fresh_next = false;
        self.last_failures.fill(None);
        self.round.clear();
        self.open.drain(..).map(|dial| dial.id).collect()
    }

    pub(crate) fn get_mut(&mut self, id: DialId) -> Option<&mut Dial> {
        self.open.iter_mut().find(|dial| dial.id == id)
    }

    pub(crate) fn open_mut(&mut self) -> impl Iterator<Item = &mut Dial> {
        self.open.iter_mut()
    }

    /// An attempt has ended without a session.
    pub(crate) fn failed(&mut self, now: Time, id: DialId, failure: Failure) {
        let Some(at) = self.open.iter().position(|dial| dial.id == id) else {
            return;
        };
        let dial = self.open.swap_remove(at);
        if let Some(last) = self.last_failures.get_mut(dial.server) {
            *last = Some(failure);
        }
        let all_refuse = self.common_failure() == Some(Failure::ClosedInHandshake);
        self.refused_since = match (all_refuse, self.refused_since) {
            (true, since) => Some(since.unwrap_or(now)),
            (false, _) => None,
        };
    }

    /// How every server failed last, if all did so alike.
    fn common_failure(&self) -> Option<Failure> {
        let (first, others) = self.last_failures.split_first()?;
        others
            .iter()
            .all(|failure| failure == first)
            .then_some(*first)?
    }

    /// Ends the pause before the next round.
    pub(crate) fn hurry(&mut self, now: Time) {
        self.resume_at = self.resume_at.min(now);
    }

    /// Waits longer before the next round, e.g. since the credentials were refused.
    pub(crate) fn hold_off(&mut self, until: Time) {
        self.resume_at = self.resume_at.max(until);
    }

    /// Does what is due.
    pub(crate) fn step(&mut self, at: &Situation<'_>, random: &mut fastrand::Rng) -> Step {
        let mut step = Step::default();
        if !self.active {
            return step;
        }
        let overdue: Vec<DialId> = self
            .open
            .iter()
            .filter(|dial| dial.deadline <= at.now)
            .map(|dial| dial.id)
            .collect();
        for id in overdue {
            self.failed(at.now, id, Failure::Other);
            step.give_up.push(id);
        }
        if self.open.is_empty() && self.round.is_empty() {
            self.failed_rounds = self.failed_rounds.saturating_add(1);
            step.round_failed = Some(FailedRound {
                rounds: self.failed_rounds,
                all: self.common_failure(),
            });
            self.resume_at = self.resume_at.max(at.now + self.pause(at, random));
            self.fill_round(None, random);
        }
        while at.now >= self.resume_at && self.may_dial(at) {
            let Some(server) = self.round.pop_front() else {
                break;
            };
            step.dial.push(self.dial(at, server));
        }
        step
    }

    fn may_dial(&self, at: &Situation<'_>) -> bool {
        match self.open.iter().map(|dial| dial.started).max() {
            None => true,
            Some(latest) => at.believing && latest + at.session_timeout / 24 <= at.now,
        }
    }

    fn dial(&mut self, at: &Situation<'_>, server: usize) -> (DialId, usize, Time) {
        let limit = at.session_timeout / if at.believing { 12 } else { 3 };
        let id = DialId(self.next_id);
        self.next_id += 1;
        // Refused everywhere for longer than the ensemble keeps a session: ask for a new one, in
        // turns with the old one, since servers without a quorum close connections too.
        let outlived = at.session_timeout * 4 / 3;
        let refused = at.refusable
            && self
                .refused_since
                .is_some_and(|since| since + outlived <= at.now);
        let fresh = refused && self.fresh_next;
        self.fresh_next = refused && !fresh;
        let deadline = at.now + limit;
        self.open.push(Dial {
            id,
            server,
            deadline,
            started: at.now,
            fresh,
            handshake: Handshake::Dialing,
        });
        (id, server, deadline)
    }

    fn pause(&self, at: &Situation<'_>, random: &mut fastrand::Rng) -> Duration {
        if let Some(backoff) = at.first_connect {
            return backoff.pause(self.failed_rounds);
        }
        // However short the time-out that a server grants, no storm of connections.
        let cap = LONGEST_PAUSE.min(at.session_timeout / 10).max(FIRST_PAUSE);
        let growing = FIRST_PAUSE.saturating_mul(1 << self.failed_rounds.min(10));
        // Half to all of it: many clients lose one server at the same moment (Z12).
        growing.min(cap).mul_f64(random.f64().mul_add(0.5, 0.5))
    }

    /// When [`step`](Dialer::step) has something to do again.
    pub(crate) fn next_timeout(&self, at: &Situation<'_>) -> Time {
        if !self.active {
            return Time::NEVER;
        }
        let deadlines = self.open.iter().map(|dial| dial.deadline).min();
        let next_dial = if self.round.is_empty() {
            None
        } else {
            match self.open.iter().map(|dial| dial.started).max() {
                None => Some(self.resume_at),
                Some(latest) if at.believing => {
                    Some((latest + at.session_timeout / 24).max(self.resume_at))
                }
                Some(_) => None,
            }
        };
        let idle = (self.open.is_empty() && self.round.is_empty()).then_some(at.now);
        [deadlines, next_dial, idle]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
#[path = "dialer_tests.rs"]
mod tests;
