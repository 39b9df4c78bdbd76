//! A client that does what R3 tells it to, with its own clock, and stops at any point.

use std::collections::VecDeque;
use std::time::Duration;

use super::super::Lease;
use super::model::{Event, Kind, World};
use super::plan::Nanos;
use super::rule::{self, MISTAKES, Noted, R3, Rule};
use crate::clock::Time;

/// The client's clock does not begin at 0, where saturating arithmetic would hide mistakes.
const EPOCH: u64 = 1_000_000_000_000;

#[derive(Debug)]
struct Sent {
    kind: Kind,
    at: Time,
}

/// Whether a lease runs: the real one, and those of `MISTAKES`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Running {
    pub(super) really: bool,
    /// The real lease is longer than R3 lets it be.
    pub(super) beyond: bool,
    pub(super) mistakenly: [bool; MISTAKES.len()],
}

impl Running {
    /// Adds what runs in `other`.
    pub(super) fn or(&mut self, other: Running) {
        self.really |= other.really;
        self.beyond |= other.beyond;
        for (runs, also) in self.mistakenly.iter_mut().zip(other.mistakenly) {
            *runs |= also;
        }
    }
}

pub(super) struct Client {
    lease: Lease,
    history: Vec<Noted>,
    session_timeout: Duration,
    connection: u32,
    /// The handshake of this connection is answered.
    open: bool,
    unanswered: VecDeque<Sent>,
    /// Received and not noted yet.
    received: VecDeque<Noted>,
    last_sent: Time,
    last_confirming: Time,
    timer: u32,
    stopped_until: Nanos,
}

impl Client {
    pub(super) fn start(world: &mut World) -> Client {
        let session_timeout = world.plan.session_timeout();
        let mut client = Client {
            lease: Lease::new(session_timeout),
            history: Vec::new(),
            session_timeout,
            connection: 0,
            open: false,
            unanswered: VecDeque::new(),
            received: VecDeque::new(),
            last_sent: Time::default(),
            last_confirming: Time::default(),
            timer: 0,
            stopped_until: 0,
        };
        client.reconnect(world);
        client.set_timer(world);
        client
    }

    /// Does what `event` calls for, or puts it off while stopped; true if an answer was noted.
    pub(super) fn happen(&mut self, world: &mut World, event: Event) -> bool {
        if let Some((from, to)) = world.plan.stop
            && (from..to).contains(&world.now)
        {
            self.stopped_until = self.stopped_until.max(to);
        }
        if world.now < self.stopped_until {
            world.schedule(self.stopped_until, event);
            return false;
        }
        match event {
            Event::Wake { timer } if timer == self.timer => self.wake(world),
            Event::Hand { connection, kind } => world.send(connection, kind),
            Event::Answer { connection } if connection == self.connection => self.receive(world),
            Event::Note => return self.note(world),
            _ => {}
        }
        false
    }

    /// Whether the lease runs now, really and by each mistaken rule.
    pub(super) fn running(&self, world: &World) -> Running {
        let now = clock(world);
        let until = |rule: &Rule| rule.until(&self.history, self.session_timeout);
        Running {
            really: now < self.lease.until(),
            beyond: until(&R3) < self.lease.until(),
            mistakenly: std::array::from_fn(|index| now < until(&MISTAKES[index])),
        }
    }

    pub(super) fn lapsed(&self, world: &World) -> bool {
        !self.history.is_empty() && self.lease.until() <= clock(world)
    }

    fn wake(&mut self, world: &mut World) {
        let now = clock(world);
        let wanted = world.now >= world.plan.idle_until;
        let sixth = self.session_timeout / 6;
        if self.is_overdue(now) {
            self.reconnect(world);
        } else if self.open {
            if self.last_sent + sixth <= now || by_chance(world) {
                self.send(world, Kind::Ping);
            }
            if wanted && (self.last_confirming + sixth <= now || by_chance(world)) {
                self.send(world, Kind::Sync);
            }
        }
        self.set_timer(world);
    }

    fn is_overdue(&self, now: Time) -> bool {
        self.deadline(now).is_some_and(|deadline| deadline <= now)
    }

    /// When the connection is given up, unless what the leader owes is answered before.
    fn deadline(&self, now: Time) -> Option<Time> {
        let owed = self
            .unanswered
            .iter()
            .find(|sent| sent.kind != Kind::Ping)?;
        let share = match (now < self.lease.until(), self.open) {
            (true, true) => 6,
            (true, false) => 12,
            (false, _) => 3,
        };
        Some(owed.at + self.session_timeout / share)
    }

    fn reconnect(&mut self, world: &mut World) {
        self.connection = world.connect();
        self.open = false;
        self.unanswered.clear();
        self.send(world, Kind::Handshake);
    }

    /// Reads the clock, and hands the request to the socket, if not stopped in between.
    fn send(&mut self, world: &mut World, kind: Kind) {
        let at = clock(world);
        self.last_sent = at;
        if kind != Kind::Ping {
            self.last_confirming = at;
        }
        self.unanswered.push_back(Sent { kind, at });
        self.maybe_stop(world);
        let connection = self.connection;
        world.schedule(
            world.now.max(self.stopped_until),
            Event::Hand { connection, kind },
        );
    }

    fn receive(&mut self, world: &mut World) {
        let at = clock(world);
        self.maybe_stop(world);
        if let Some(sent) = self.unanswered.pop_front() {
            self.received.push_back(Noted {
                connection: self.connection,
                kind: sent.kind,
                sent: sent.at,
                at,
            });
            world.schedule(world.now.max(self.stopped_until), Event::Note);
        }
    }

    fn note(&mut self, world: &mut World) -> bool {
        let Some(noted) = self.received.pop_front() else {
            return false;
        };
        if noted.connection != self.connection {
            return false;
        }
        self.open = true;
        rule::tell(&mut self.lease, &noted, self.session_timeout);
        self.history.push(noted);
        self.maybe_stop(world);
        self.set_timer(world);
        true
    }

    fn maybe_stop(&mut self, world: &mut World) {
        let one_in = world.plan.pause_one_in;
        if one_in > 0 && world.rng.u32(..one_in) == 0 {
            let longest = world.plan.session / [1, 1, 4, 20][world.rng.usize(..4)];
            let pause = world.rng.u64(..longest * 11 / 10);
            self.stopped_until = self.stopped_until.max(world.now) + pause;
        }
    }

    fn set_timer(&mut self, world: &mut World) {
        let now = clock(world);
        let sixth = self.session_timeout / 6;
        let mut due = self.last_sent + sixth;
        if world.now >= world.plan.idle_until {
            due = due.min(self.last_confirming + sixth);
        }
        if let Some(deadline) = self.deadline(now) {
            due = if self.open {
                due.min(deadline)
            } else {
                deadline
            };
        }
        if self.open && by_chance(world) {
            due = due.min(now + Duration::from_nanos(world.rng.u64(..world.plan.session / 6)));
        }
        self.timer += 1;
        let timer = self.timer;
        world.schedule(true_time(world, due).max(world.now), Event::Wake { timer });
    }
}

/// Something to say at a time of its own.
fn by_chance(world: &mut World) -> bool {
    world.rng.u32(..world.plan.chatter_one_in) == 0
}

fn clock(world: &World) -> Time {
    Time(EPOCH + world.now * world.plan.rate / 1_000)
}

/// The first moment at which the clock shows `time`.
fn true_time(world: &World, time: Time) -> Nanos {
    (time.0.saturating_sub(EPOCH) * 1_000).div_ceil(world.plan.rate)
}
