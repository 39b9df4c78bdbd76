//! A leader, its followers and one client, in simulated time.
//!
//! The leader learns of a session from handshakes, and from its followers' replies to the pings
//! that it sends them every half tick; a forwarded request does not count (Z3). It expires the
//! session at the end of the tick in which `S` has passed since then (Z4). A follower that is cut
//! off answers pings, and holds back whatever follows a request that only the leader can answer.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::client::{Client, Running};
use super::plan::{Cut, FOLLOWERS, Nanos, Plan, TICK};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Handshake,
    /// Whatever a follower answers alone.
    Ping,
    /// Whatever only the leader can answer, writes too.
    Sync,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A timer of the client; of several only the newest counts.
    Wake {
        timer: u32,
    },
    /// The client's request gets to the socket.
    Hand {
        connection: u32,
        kind: Kind,
    },
    /// An answer gets to the client's socket.
    Answer {
        connection: u32,
    },
    /// The client comes to note an answer that it has received.
    Note,
    /// A request gets to the follower.
    Request {
        connection: u32,
        kind: Kind,
    },
    /// The leader pings its followers.
    Tick,
    ToFollower {
        follower: usize,
        message: Message,
    },
    ToLeader {
        follower: usize,
        message: Message,
    },
    /// All followers are cut off for ever.
    Cut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Message {
    /// The leader's ping; the reply to it, and whether the client was heard since the last one.
    Ping {
        heard: bool,
    },
    Confirm {
        connection: u32,
        kind: Kind,
    },
}

#[derive(Debug, Default)]
struct Follower {
    heard: bool,
    /// When the last message arrives in each direction: they do not overtake each other.
    to_leader: Nanos,
    to_follower: Nanos,
}

/// The servers' side of a connection of the client.
#[derive(Debug, Default)]
struct Connection {
    follower: usize,
    /// Requests that are not answered yet, with whether they may be as soon as it is their turn.
    waiting: VecDeque<bool>,
    up: Nanos,
    down: Nanos,
}

/// Time, chance and what is to happen, shared by the client and the servers.
pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) rng: fastrand::Rng,
    pub(super) now: Nanos,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    scheduled: u64,
    connections: Vec<Connection>,
}

impl World {
    pub(super) fn schedule(&mut self, at: Nanos, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at, self.scheduled, event)));
    }

    /// Opens a connection to another follower than the last one, and returns its number.
    pub(super) fn connect(&mut self) -> u32 {
        let last = self.connections.last().map_or(0, |last| last.follower);
        self.connections.push(Connection {
            follower: (last + 1) % FOLLOWERS,
            ..Connection::default()
        });
        u32::try_from(self.connections.len() - 1).unwrap_or(u32::MAX)
    }

    /// Sends a request on its way to the follower.
    pub(super) fn send(&mut self, connection: u32, kind: Kind) {
        let arrival = self.now + self.rng.u64(..=self.plan.up);
        let up = &mut self.connections[connection as usize].up;
        *up = arrival.max(*up);
        let arrival = *up;
        self.schedule(arrival, Event::Request { connection, kind });
    }

    fn answer(&mut self, connection: u32) {
        let arrival = self.now + self.rng.u64(..=self.plan.down);
        let down = &mut self.connections[connection as usize].down;
        *down = arrival.max(*down);
        let arrival = *down;
        self.schedule(arrival, Event::Answer { connection });
    }
}

/// What has become of the session and its lease.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) expired: bool,
    /// What ran when the leader had expired the session, or began to run again later.
    pub(super) outlived: Running,
    /// The lease ran out once it had begun.
    pub(super) lapsed: bool,
}

pub(super) struct Model {
    world: World,
    client: Client,
    followers: [Follower; FOLLOWERS],
    /// When the leader expires the session, unless it hears of it before.
    expires: Nanos,
    answered: u32,
    outcome: Outcome,
}

impl Model {
    pub(super) fn run(plan: Plan, rng: fastrand::Rng) -> Outcome {
        let mut world = World {
            now: 0,
            rng,
            events: BinaryHeap::new(),
            scheduled: 0,
            connections: Vec::new(),
            plan,
        };
        world.schedule(world.plan.first_ping, Event::Tick);
        let client = Client::start(&mut world);
        let mut model = Model {
            world,
            client,
            followers: Default::default(),
            expires: Nanos::MAX,
            answered: 0,
            outcome: Outcome::default(),
        };
        model.play();
        model.outcome
    }

    fn play(&mut self) {
        while let Some(Reverse((at, _, event))) = self.world.events.pop() {
            if at >= self.expires && !self.outcome.expired {
                self.expire();
            }
            if at > self.world.plan.end {
                break;
            }
            self.world.now = at;
            self.happen(event);
        }
    }

    fn expire(&mut self) {
        self.world.now = self.expires;
        self.outcome.expired = true;
        self.outcome.outlived.or(self.client.running(&self.world));
        // Answers under way may still be noted, and must not make the lease run again.
        self.world.plan.end = self.expires + self.world.plan.session;
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Wake { .. } | Event::Hand { .. } | Event::Answer { .. } | Event::Note => {
                self.outcome.lapsed |= self.client.lapsed(&self.world);
                let noted = self.client.happen(&mut self.world, event);
                if noted && self.outcome.expired {
                    self.outcome.outlived.or(self.client.running(&self.world));
                }
            }
            Event::Request { connection, kind } => self.request(connection, kind),
            Event::Tick => self.tick(),
            Event::ToFollower { follower, message } => {
                if self.passes(follower, event, message) {
                    self.at_follower(follower, message);
                }
            }
            Event::ToLeader { follower, message } => {
                if self.passes(follower, event, message) {
                    self.at_leader(follower, message);
                }
            }
            Event::Cut => self.cut(),
        }
    }

    fn request(&mut self, connection: u32, kind: Kind) {
        let state = &mut self.world.connections[connection as usize];
        state.waiting.push_back(kind == Kind::Ping);
        let follower = state.follower;
        self.followers[follower].heard |= kind != Kind::Handshake;
        if kind == Kind::Ping {
            self.answer_ready(connection);
        } else {
            self.tell_leader(follower, Message::Confirm { connection, kind });
        }
    }

    fn answer_ready(&mut self, connection: u32) {
        while let Some(true) = self.world.connections[connection as usize].waiting.front() {
            self.world.connections[connection as usize]
                .waiting
                .pop_front();
            self.world.answer(connection);
        }
    }

    fn tick(&mut self) {
        for follower in 0..FOLLOWERS {
            self.tell_follower(follower, Message::Ping { heard: false });
        }
        self.world.schedule(self.world.now + TICK / 2, Event::Tick);
    }

    fn tell_leader(&mut self, follower: usize, message: Message) {
        let arrival = self.world.now + self.world.rng.u64(..=self.world.plan.between);
        let last = &mut self.followers[follower].to_leader;
        *last = arrival.max(*last);
        self.world
            .schedule(*last, Event::ToLeader { follower, message });
    }

    fn tell_follower(&mut self, follower: usize, message: Message) {
        let arrival = self.world.now + self.world.rng.u64(..=self.world.plan.between);
        let last = &mut self.followers[follower].to_follower;
        *last = arrival.max(*last);
        self.world
            .schedule(*last, Event::ToFollower { follower, message });
    }

    /// Whether a message between servers arrives now; if its way is cut it does later, or never.
    fn passes(&mut self, follower: usize, event: Event, message: Message) -> bool {
        let now = self.world.now;
        let Some(cut) = self.world.plan.cuts[follower] else {
            return true;
        };
        if now < cut.from || cut.to <= now {
            return true;
        }
        if cut.to != Nanos::MAX {
            // R1 assumes that servers exchange pings on time, so these go first.
            let behind = match message {
                Message::Ping { .. } => 0,
                Message::Confirm { .. } => self.world.plan.between + 1,
            };
            self.world.schedule(cut.to + behind, event);
        }
        false
    }

    fn at_follower(&mut self, follower: usize, message: Message) {
        match message {
            Message::Ping { .. } => {
                let heard = std::mem::take(&mut self.followers[follower].heard);
                self.tell_leader(follower, Message::Ping { heard });
            }
            Message::Confirm { connection, .. } => {
                let waiting = &mut self.world.connections[connection as usize].waiting;
                if let Some(ready) = waiting.iter_mut().find(|ready| !**ready) {
                    *ready = true;
                }
                self.answer_ready(connection);
            }
        }
    }

    fn at_leader(&mut self, follower: usize, message: Message) {
        if self.outcome.expired {
            return;
        }
        match message {
            Message::Ping { heard } => {
                if heard {
                    self.touch();
                }
            }
            Message::Confirm { kind, .. } => {
                if kind == Kind::Handshake {
                    self.touch();
                }
                self.tell_follower(follower, message);
                self.count_answered();
            }
        }
    }

    /// Expiry is rounded up to the next tick of the leader's clock.
    fn touch(&mut self) {
        let plan = &self.world.plan;
        let clock = self.world.now + plan.phase + plan.session;
        self.expires = (clock / TICK + 1) * TICK - plan.phase;
    }

    fn count_answered(&mut self) {
        self.answered += 1;
        if self.world.plan.cut_after == Some(self.answered) {
            let soon = self.world.rng.u64(..=self.world.plan.session / 8);
            self.world.schedule(self.world.now + soon, Event::Cut);
        }
    }

    fn cut(&mut self) {
        for cut in &mut self.world.plan.cuts {
            *cut = Some(Cut {
                from: self.world.now,
                to: Nanos::MAX,
            });
        }
    }
}
