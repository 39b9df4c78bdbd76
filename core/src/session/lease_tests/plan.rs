//! What a schedule is drawn from: the clocks, the delays, and the faults to come.

use std::time::Duration;

/// True time, which is also the leader's: nanoseconds since the schedule began.
pub(super) type Nanos = u64;

pub(super) const FOLLOWERS: usize = 2;
pub(super) const TICK: Nanos = 2_000_000_000;

/// A follower and the leader do not hear each other from `from` until `to`; what they sent arrives
/// then, as over TCP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) from: Nanos,
    pub(super) to: Nanos,
}

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) session: Nanos,
    /// How fast the client's clock runs, in thousandths of the leader's.
    pub(super) rate: u64,
    /// What the leader's clock shows, modulo its tick, when the schedule begins.
    pub(super) phase: Nanos,
    /// When the leader first pings its followers, which it does every half tick.
    pub(super) first_ping: Nanos,
    pub(super) up: Nanos,
    pub(super) down: Nanos,
    /// The longest way between two servers.
    pub(super) between: Nanos,
    /// After one of how many of its steps the client is stopped for a while; 0 for none.
    pub(super) pause_one_in: u32,
    /// The client is stopped from the one moment to the other.
    pub(super) stop: Option<(Nanos, Nanos)>,
    /// One of how many times that the client wakes it sends something of its own accord.
    pub(super) chatter_one_in: u32,
    /// Until then nobody wants a lock, and the client only pings.
    pub(super) idle_until: Nanos,
    pub(super) cuts: [Option<Cut>; FOLLOWERS],
    /// All followers are cut off for ever soon after the leader has answered so many requests.
    pub(super) cut_after: Option<u32>,
    pub(super) end: Nanos,
}

impl Plan {
    /// Small delays and no faults.
    pub(super) fn calm(rng: &mut fastrand::Rng) -> Plan {
        let session = session(rng);
        let delay = session / 100;
        Plan {
            session,
            rate: rate(rng),
            phase: rng.u64(..TICK),
            first_ping: rng.u64(..TICK / 2),
            up: delay,
            down: delay,
            between: session / 200,
            pause_one_in: 0,
            stop: None,
            chatter_one_in: 8,
            idle_until: 0,
            cuts: [None; FOLLOWERS],
            cut_after: None,
            end: 6 * session,
        }
    }

    /// Anything that R1 does not assume away.
    fn faulty(rng: &mut fastrand::Rng) -> Plan {
        let calm = Plan::calm(rng);
        let session = calm.session;
        let (cuts, cut_after) = cuts(rng, session);
        let idle_until = if rng.bool() {
            0
        } else {
            rng.u64(..3 * session)
        };
        Plan {
            up: delay(rng, session),
            down: delay(rng, session),
            between: session / pick(rng, &[100_000, 1_000, 200]),
            pause_one_in: pick(rng, &[0, 4, 12, 40]),
            chatter_one_in: pick(rng, &[2, 8, 1_000]),
            idle_until,
            cuts,
            cut_after,
            end: 4 * session,
            ..calm
        }
    }

    /// In step with the leader's pings, where a mistake of a few percent of `S` shows: the client is
    /// stopped until just after one, and its followers are cut off just before another.
    fn in_step(rng: &mut fastrand::Rng) -> Plan {
        let calm = Plan::calm(rng);
        let session = 2 * TICK;
        let half = TICK / 2;
        let moment = session / 40;
        let ping = calm.first_ping + rng.u64(3..8) * half;
        let woken = ping + rng.u64(..moment);
        let cut = Cut {
            from: ping + rng.u64(1..4) * half - rng.u64(..moment),
            to: Nanos::MAX,
        };
        Plan {
            session,
            rate: pick(rng, &[900, 1_100, 1_100]),
            up: session / 10_000,
            down: session / 10_000,
            between: session / pick(rng, &[100_000, 200]),
            chatter_one_in: 2,
            stop: Some((
                woken.saturating_sub(rng.u64(session / 4..session * 5 / 4)),
                woken,
            )),
            cuts: [Some(cut); FOLLOWERS],
            end: 4 * session,
            ..calm
        }
    }

    /// Draws the schedule of a seed.
    pub(super) fn any(rng: &mut fastrand::Rng) -> Plan {
        if rng.bool() {
            Plan::faulty(rng)
        } else {
            Plan::in_step(rng)
        }
    }

    pub(super) fn session_timeout(&self) -> Duration {
        Duration::from_nanos(self.session)
    }
}

/// Two ticks, the least that a server grants by default, are the hardest.
fn session(rng: &mut fastrand::Rng) -> Nanos {
    pick(rng, &[2, 2, 2, 3, 5]) * TICK
}

/// The extremes are the hardest.
fn rate(rng: &mut fastrand::Rng) -> u64 {
    let between = rng.u64(900..=1_100);
    pick(rng, &[900, 1_000, 1_100, between])
}

fn delay(rng: &mut fastrand::Rng, session: Nanos) -> Nanos {
    session / pick(rng, &[10_000, 10_000, 100, 20, 6])
}

fn cuts(rng: &mut fastrand::Rng, session: Nanos) -> ([Option<Cut>; FOLLOWERS], Option<u32>) {
    match rng.u32(..4) {
        0 => ([None; FOLLOWERS], Some(rng.u32(1..12))),
        1 => ([Some(cut(rng, session)); FOLLOWERS], None),
        2 => (
            std::array::from_fn(|_| rng.bool().then(|| cut(rng, session))),
            None,
        ),
        _ => (
            std::array::from_fn(|_| rng.bool().then(|| cut(rng, session))),
            Some(rng.u32(1..12)),
        ),
    }
}

fn cut(rng: &mut fastrand::Rng, session: Nanos) -> Cut {
    let from = rng.u64(..3 * session);
    let to = if rng.bool() {
        from + rng.u64(..session)
    } else {
        Nanos::MAX
    };
    Cut { from, to }
}

pub(super) fn pick<T: Copy>(rng: &mut fastrand::Rng, choices: &[T]) -> T {
    choices[rng.usize(..choices.len())]
}
