//! A machine with a clock, and a server that says what a test wants.

use std::time::Duration;

use super::super::*;
use crate::session::{Failure, Probed};
use crate::wire::codec::Writer;

pub(super) const S: Duration = Duration::from_secs(12);

pub(super) fn settings(servers: usize) -> Settings {
    Settings {
        servers,
        session_timeout: S,
        backoff: Backoff::Fixed {
            delay: Duration::from_millis(100),
            retries: None,
        },
        auth: Vec::new(),
        confirmation: LeaseConfirmation::Sync,
    }
}

/// A request that was handed to the socket.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) xid: i32,
    pub(super) op: i32,
    pub(super) bytes: Vec<u8>,
}

pub(super) struct Rig {
    pub(super) machine: Machine<u32>,
    pub(super) now: Time,
    /// The connection in use.
    pub(super) dial: DialId,
    dials: Vec<(DialId, usize)>,
    pub(super) hung_up: Vec<DialId>,
    pub(super) probed: bool,
    answer_probes: bool,
    /// Events taken so far.
    pub(super) all_events: Vec<Event<u32>>,
}

impl Rig {
    pub(super) fn new(settings: Settings) -> Rig {
        let mut rig = Rig::asking_versions(settings);
        rig.answer_probes = true;
        rig.look();
        rig
    }

    /// The question for the version is left to the test.
    pub(super) fn asking_versions(settings: Settings) -> Rig {
        let now = Time(1_000_000_000_000);
        Rig {
            machine: Machine::new(settings, 5, now),
            now,
            dial: DialId(0),
            dials: Vec::new(),
            hung_up: Vec::new(),
            probed: false,
            answer_probes: false,
            all_events: Vec::new(),
        }
    }

    /// Session 7 is open on a connection to the only server, and a first answer has brought zxid 90.
    pub(super) fn connected() -> Rig {
        let mut rig = Rig::open(settings(1));
        rig.machine
            .submit(&Request::Sync { path: "/".into() }, 0, 0);
        let sent = rig.transmit();
        rig.receive(rig.dial, &synced(sent[0].xid));
        rig.events();
        rig.all_events.clear();
        rig
    }

    pub(super) fn open(settings: Settings) -> Rig {
        let mut rig = Rig::new(settings);
        let dial = rig.dialed();
        rig.handshake_sent(dial);
        rig.answer_handshake(dial, 7, S);
        assert_eq!(rig.events(), [Event::Connected { new_session: true }]);
        rig
    }

    /// Does what is due, and notes what is asked for.
    pub(super) fn look(&mut self) {
        for _ in 0..100 {
            while let Some(action) = self.machine.poll_action() {
                match action {
                    Action::Dial {
                        dial,
                        server,
                        probe,
                        ..
                    } => {
                        self.dials.push((dial, server));
                        self.probed |= probe;
                        if probe && self.answer_probes {
                            self.machine.probed(Probed::Version(Version(3, 9, 5)));
                        }
                    }
                    Action::HangUp { dial } => self.hung_up.push(dial),
                }
            }
            if self.machine.next_timeout(self.now) > self.now {
                return;
            }
            self.machine.handle_timeout(self.now);
        }
        panic!("the machine spins");
    }

    pub(super) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        // Timers fire when they are due, not when the test looks.
        loop {
            self.look();
            let next = self.machine.next_timeout(self.now);
            if next > end {
                break;
            }
            self.now = next;
        }
        self.now = end;
        self.look();
    }

    /// Lets time pass until the machine has something to do, and lets it.
    pub(super) fn wait_for_timer(&mut self) {
        let next = self.machine.next_timeout(self.now);
        assert_ne!(next, Time::NEVER);
        self.now = self.now.max(next);
        self.look();
    }

    /// The next connection that the machine asks for; it is up.
    #[track_caller]
    pub(super) fn dialed(&mut self) -> DialId {
        for _ in 0..100 {
            self.look();
            if let Some((dial, _)) = self.open_dials_with_servers().first().copied() {
                self.machine.dialed(dial);
                return dial;
            }
            self.wait_for_timer();
        }
        panic!("no server is tried");
    }

    fn open_dials_with_servers(&self) -> Vec<(DialId, usize)> {
        let gone = |dial: &DialId| self.hung_up.contains(dial) || *dial == self.dial;
        self.dials
            .iter()
            .filter(|(dial, _)| !gone(dial))
            .copied()
            .collect()
    }

    /// Attempts under way.
    pub(super) fn open_dials(&mut self) -> Vec<DialId> {
        self.look();
        let open = self.open_dials_with_servers();
        open.into_iter()
            .map(|(dial, _)| dial)
            .filter(|dial| self.machine.dialer.get_mut(*dial).is_some())
            .collect()
    }

    pub(super) fn server(&self, dial: DialId) -> usize {
        let known = self.dials.iter().find(|(known, _)| *known == dial);
        known.expect("it was asked for").1
    }

    /// The body of the handshake sent on a connection.
    #[track_caller]
    pub(super) fn handshake_sent(&mut self, dial: DialId) -> Vec<u8> {
        let (to, bytes) = self.machine.poll_transmit(self.now).expect("a handshake");
        assert_eq!(to, dial);
        bytes[4..].to_vec()
    }

    pub(super) fn answer_handshake(&mut self, dial: DialId, session: i64, timeout: Duration) {
        self.receive(dial, &handshake(session, millis(timeout)));
        self.dial = dial;
    }

    pub(super) fn receive(&mut self, dial: DialId, bytes: &[u8]) {
        self.machine.received(self.now, dial, bytes);
        self.look();
    }

    pub(super) fn lose_connection(&mut self) {
        self.machine
            .disconnected(self.now, self.dial, Failure::Other, "reset");
        self.hung_up.push(self.dial);
        self.look();
    }

    /// What the machine has for the socket: requests only.
    pub(super) fn transmit(&mut self) -> Vec<Sent> {
        let mut sent = Vec::new();
        while let Some((dial, bytes)) = self.machine.poll_transmit(self.now) {
            if dial != self.dial {
                continue;
            }
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let int = |at: usize| i32::from_be_bytes(rest[at..at + 4].try_into().unwrap());
                let len = 4 + usize::try_from(int(0)).unwrap();
                let (xid, op) = (int(4), int(8));
                let bytes = rest[..len].to_vec();
                sent.push(Sent { xid, op, bytes });
                rest = &rest[len..];
            }
        }
        self.look();
        sent
    }

    /// The events since the last call.
    pub(super) fn events(&mut self) -> Vec<Event<u32>> {
        let mut events = Vec::new();
        while let Some(event) = self.machine.poll_event() {
            events.push(event);
        }
        events
    }
}

pub(super) fn millis(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap()
}

pub(super) fn frame(body: &[u8]) -> Vec<u8> {
    let mut bytes = i32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend(body);
    bytes
}

pub(super) fn handshake(session: i64, timeout_ms: i32) -> Vec<u8> {
    answer(session, timeout_ms, false)
}

pub(super) fn read_only_handshake(session: i64, timeout_ms: i32) -> Vec<u8> {
    answer(session, timeout_ms, true)
}

fn answer(session: i64, timeout_ms: i32, read_only: bool) -> Vec<u8> {
    let mut writer = Writer::frame();
    writer.i32(0).i32(timeout_ms).i64(session);
    writer.buffer(&[5; 16]).bool(read_only);
    writer.finish()
}

pub(super) fn header(xid: i32, code: Code) -> Vec<u8> {
    let mut bytes = xid.to_be_bytes().to_vec();
    bytes.extend(90_i64.to_be_bytes());
    bytes.extend(code.0.to_be_bytes());
    bytes
}

pub(super) fn reply(xid: i32, code: Code, body: &[u8]) -> Vec<u8> {
    let mut bytes = header(xid, code);
    bytes.extend(body);
    frame(&bytes)
}

pub(super) fn synced(xid: i32) -> Vec<u8> {
    reply(xid, Code::OK, &[0, 0, 0, 1, b'/'])
}

/// The body of a read: no data, and a `Stat`.
pub(super) fn data() -> Vec<u8> {
    vec![0; 4 + 68]
}

pub(super) fn event_frame(kind: i32, path: &str) -> Vec<u8> {
    let mut writer = Writer::frame();
    writer.i32(-1).i64(91).i32(0);
    writer.i32(kind).i32(3).string(path);
    writer.finish()
}
