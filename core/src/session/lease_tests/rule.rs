//! R3's rule, and mistaken ones that look as good, worked out from a client's whole history.

use super::super::Lease;
use super::model::Kind;
use crate::clock::Time;
use std::time::Duration;

/// One answer as the client noted it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noted {
    pub(super) connection: u32,
    pub(super) kind: Kind,
    pub(super) sent: Time,
    pub(super) at: Time,
}

/// The lease as a function of `t` and `u`, with the choices that R3 makes left open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    /// Percent of `S` after `t`.
    pub(super) after_confirmed: u32,
    /// Percent of `S` after `u`; without it `u` does not bound the lease.
    pub(super) after_learnt: Option<u32>,
    /// For how many percent of `S` a request must have been answered to count as learnt.
    pub(super) learning: u32,
    pub(super) pings_confirm: bool,
    pub(super) from_arrival: bool,
}

pub(super) const R3: Rule = Rule {
    name: "R3",
    after_confirmed: 50,
    after_learnt: Some(90),
    learning: 30,
    pings_confirm: false,
    from_arrival: false,
};

/// Each of these lets two clients hold one lock.
pub(super) const MISTAKES: [Rule; 6] = [
    Rule {
        name: "the earlier silence does not count",
        after_learnt: None,
        ..R3
    },
    Rule {
        name: "a ping confirms",
        pings_confirm: true,
        ..R3
    },
    Rule {
        name: "the lease is S",
        after_confirmed: 100,
        after_learnt: Some(100),
        ..R3
    },
    Rule {
        name: "what is answered is learnt",
        learning: 0,
        ..R3
    },
    Rule {
        name: "half a tick is as long by every clock",
        learning: 25,
        ..R3
    },
    Rule {
        name: "a request counts from its answer",
        from_arrival: true,
        ..R3
    },
];

impl Rule {
    /// Until when the lease would run. Slow and plain, so that it can be believed.
    pub(super) fn until(&self, history: &[Noted], session_timeout: Duration) -> Time {
        let percent = |share: u32| session_timeout * share / 100;
        let Some(confirmed) = self.confirmed(history) else {
            return Time::default();
        };
        let by_confirmed = confirmed + percent(self.after_confirmed);
        let Some(after_learnt) = self.after_learnt else {
            return by_confirmed;
        };
        let by = confirmed.minus(percent(self.learning));
        match self.learnt(history, by) {
            Some(learnt) => by_confirmed.min(learnt + percent(after_learnt)),
            None => Time::default(),
        }
    }

    fn confirmed(&self, history: &[Noted]) -> Option<Time> {
        history
            .iter()
            .filter(|noted| self.pings_confirm || noted.kind != Kind::Ping)
            .map(|noted| self.moment(noted))
            .max()
    }

    fn learnt(&self, history: &[Noted], by: Time) -> Option<Time> {
        let connection = history.last().map(|noted| noted.connection);
        history
            .iter()
            .filter(|noted| Some(noted.connection) == connection)
            .filter(|noted| noted.kind == Kind::Handshake || noted.at <= by)
            .map(|noted| self.moment(noted))
            .max()
    }

    fn moment(&self, noted: &Noted) -> Time {
        if self.from_arrival {
            noted.at
        } else {
            noted.sent
        }
    }
}

/// Tells the real lease what the rules are computed from.
pub(super) fn tell(lease: &mut Lease, noted: &Noted, session_timeout: Duration) {
    match noted.kind {
        Kind::Handshake => lease.handshake(noted.sent, session_timeout),
        Kind::Ping => lease.answered(noted.sent, noted.at, false),
        Kind::Sync => lease.answered(noted.sent, noted.at, true),
    }
}
