//! A whole client, sessions and queues, with a server that answers what it likes.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Time;
use crate::command::{AttemptId, Command, Deadline, GrantTo, HandleId, LockRequest, LockTarget};
use crate::config::{SessionConfig, SessionOptions};
use crate::engine::Engine;
use crate::guard::Guard;
use crate::link::Link;
use crate::owner::Owner;
use crate::pending::Pending;
use crate::queue::names::{Family, Kind, Naming};
use crate::runtime::{Callbacks, Job};
use crate::session::{Action, DialId, Failure, Probed, Version};
use crate::stats::LockStats;
use crate::wire::codec::Writer;

/// So many steps at most: what takes long finds little.
const STEPS: usize = 64;
const PATHS: [&str; 2] = ["/l", "/a/b"];
const HANDLE: HandleId = HandleId(1);
const SESSION: i64 = 7;

/// A program for client and server: a byte that chooses a step, then the step's own bytes.
pub(super) fn run(input: &[u8]) {
    let mut rig = Rig::new();
    let mut script = Script(input);
    for _ in 0..STEPS {
        if script.0.is_empty() {
            break;
        }
        rig.step(&mut script);
        rig.pump();
        rig.check();
    }
    rig.end();
}

struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    /// 0 at the end, so that a step cut short is still one.
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((byte, rest)) => {
                self.0 = rest;
                *byte
            }
            None => 0,
        }
    }

    fn bytes(&mut self) -> &'a [u8] {
        let len = usize::from(self.byte()).min(self.0.len());
        let (bytes, rest) = self.0.split_at(len);
        self.0 = rest;
        bytes
    }
}

/// A request that waits for its answer.
struct Asked {
    xid: i32,
    op: i32,
    path: String,
}

struct Rig {
    engine: Engine,
    now: Time,
    dial: Option<DialId>,
    asked: Vec<Asked>,
    zxid: i64,
    /// Names that the server has given out, one list for all paths.
    names: Vec<String>,
    calls: Vec<(AttemptId, Pending<Guard>)>,
    guards: Vec<Guard>,
    attempts: u64,
    link: Arc<Link>,
    jobs: std::sync::mpsc::Receiver<Job>,
}

impl Rig {
    fn new() -> Rig {
        let now = Time(1_000_000_000_000);
        let config = SessionConfig::new(Some("h:1,i:1/c"), &SessionOptions::default());
        let config = config.expect("a good connect string");
        let (callbacks, jobs) = Callbacks::collected();
        let link = Link::new(callbacks);
        let engine = Engine::new(config, Arc::clone(&link), 5, now);
        let mut rig = Rig {
            engine,
            now,
            dial: None,
            asked: Vec::new(),
            zxid: 100,
            names: Vec::new(),
            calls: Vec::new(),
            guards: Vec::new(),
            attempts: 0,
            link,
            jobs,
        };
        rig.command(Command::Open { handle: HANDLE });
        rig.engine.handle_timeout(now);
        rig.engine.probed(now, Probed::Version(Version(3, 9, 5)));
        rig.pump();
        rig.handshake(15_000, SESSION);
        rig.pump();
        rig
    }

    fn command(&mut self, command: Command) {
        self.engine.commands(self.now, std::iter::once(command));
    }

    /// What the driver does between two waits.
    fn pump(&mut self) {
        while let Some(action) = self.engine.poll_action() {
            match action {
                Action::Dial { dial, .. } => {
                    self.dial = Some(dial);
                    self.asked.clear();
                    self.engine.dialed(self.now, dial);
                }
                Action::HangUp { dial } if self.dial == Some(dial) => self.dial = None,
                Action::HangUp { .. } => {}
            }
        }
        while let Some((dial, bytes)) = self.engine.poll_transmit(self.now) {
            if self.dial == Some(dial) {
                self.note(&bytes);
            }
        }
        let mut letters = Vec::new();
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        self.link.mailbox().poll_take(&mut letters, &mut context);
        if !letters.is_empty() {
            self.engine.commands(self.now, letters.into_iter());
            self.pump();
        }
    }

    /// What the client has sent is well-formed, whatever it was told.
    fn note(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((len, behind)) = rest.split_first_chunk::<4>() {
            let len = usize::try_from(i32::from_be_bytes(*len)).expect("not negative");
            let (message, behind) = behind.split_at_checked(len).expect("a whole frame");
            rest = behind;
            let int = |at: usize| {
                let bytes = message.get(at..at + 4)?.first_chunk::<4>();
                bytes.map(|bytes| i32::from_be_bytes(*bytes))
            };
            let (Some(xid), Some(op)) = (int(0), int(4)) else {
                panic!("a message of {len} bytes");
            };
            let path_len = int(8).and_then(|len| usize::try_from(len).ok());
            let path = path_len.and_then(|len| message.get(12..12 + len));
            // The handshake begins with its protocol's version, 0, as a transaction number of 0 does.
            if len == 45 && xid == 0 {
                continue;
            }
            self.asked.push(Asked {
                xid,
                op,
                path: String::from_utf8_lossy(path.unwrap_or_default()).into_owned(),
            });
        }
        assert!(rest.is_empty());
    }

    fn received(&mut self, bytes: &[u8]) {
        if let Some(dial) = self.dial {
            self.engine.received(self.now, dial, bytes);
        }
    }

    fn handshake(&mut self, timeout_ms: i32, session: i64) {
        let mut answer = Writer::frame();
        answer.i32(0).i32(timeout_ms).i64(session);
        answer.buffer(&[5; 16]).bool(false);
        self.received(&answer.finish());
    }

    fn step(&mut self, script: &mut Script<'_>) {
        match script.byte() % 16 {
            0 => self.received(script.bytes()),
            1 => {
                // One frame, with what the script says is in it.
                let mut frame = Vec::new();
                let bytes = script.bytes();
                let len = i32::try_from(bytes.len()).expect("at most 255");
                frame.extend(len.to_be_bytes());
                frame.extend(bytes);
                self.received(&frame);
            }
            2..6 => self.answer_well(),
            6 => self.refuse(script.byte()),
            7 => self.answer_with(script.bytes()),
            8 => self.event(script.byte(), script.byte()),
            9 => {
                self.now = self.now + Duration::from_millis(u64::from(script.byte()) * 50);
                self.engine.handle_timeout(self.now);
            }
            10 | 11 => self.lock(script.byte()),
            12 => {
                let at = usize::from(script.byte());
                if at < self.calls.len() {
                    drop(self.calls.remove(at));
                }
            }
            13 => drop(self.guards.pop()),
            14 => {
                if let Some(dial) = self.dial.take() {
                    self.engine
                        .disconnected(self.now, dial, Failure::Other, "the script says so");
                }
            }
            _ => match script.byte() % 4 {
                0 => self.handshake(0, 0),
                1 => self.handshake(4_000, SESSION),
                2 => self.handshake(15_000, SESSION + 1),
                _ => self
                    .names
                    .push(String::from_utf8_lossy(script.bytes()).into_owned()),
            },
        }
    }

    fn lock(&mut self, choice: u8) {
        self.attempts += 1;
        let attempt = AttemptId(self.attempts);
        let (completer, pending) = Pending::new("lock");
        let family = [Family::Mutex, Family::ReadWrite][usize::from(choice >> 1 & 1)];
        let kind = match (family, choice >> 2 & 1) {
            (Family::Mutex, _) => Kind::Exclusive,
            (Family::ReadWrite, 0) => Kind::Read,
            (Family::ReadWrite, _) => Kind::Write,
        };
        let request = LockRequest {
            attempt,
            handle: HANDLE,
            session: None,
            target: Arc::new(LockTarget {
                path: PATHS[usize::from(choice & 1)].into(),
                family,
                naming: [Naming::Curator, Naming::Kazoo][usize::from(choice >> 3 & 1)],
                data: None,
                acl: None,
                keep: None,
                stats: LockStats::default(),
            }),
            kind,
            owner: (choice >> 4 & 1 == 1).then(|| Owner(u64::from(choice >> 5))),
            called: self.now,
            deadline: Deadline::Never,
            past: None,
            to: GrantTo::Lock(completer),
        };
        self.command(Command::Lock(request));
        self.calls.push((attempt, pending));
    }

    fn reply(&mut self, code: i32, body: impl FnOnce(&mut Writer, &Asked, i64, &mut Vec<String>)) {
        if self.asked.is_empty() {
            return;
        }
        let asked = self.asked.remove(0);
        self.zxid += 1;
        let mut answer = Writer::frame();
        answer.i32(asked.xid).i64(self.zxid).i32(code);
        body(&mut answer, &asked, self.zxid, &mut self.names);
        self.received(&answer.finish());
    }

    fn refuse(&mut self, choice: u8) {
        const CODES: [i32; 12] = [
            -4, -5, -6, -101, -102, -103, -108, -110, -111, -112, -118, -127,
        ];
        self.reply(CODES[usize::from(choice) % CODES.len()], |_, _, _, _| ());
    }

    fn answer_with(&mut self, bytes: &[u8]) {
        self.reply(0, |answer, _, _, _| {
            for byte in bytes {
                answer.bool(*byte != 0);
            }
        });
    }

    /// As a server would that has the names given out, and lists them wherever it is asked.
    fn answer_well(&mut self) {
        self.reply(0, |answer, asked, zxid, names| match asked.op {
            15 | 19 => {
                let mut path = asked.path.clone();
                if path.ends_with('-') || path.ends_with("__") {
                    path.push_str(&format!("{:010}", names.len()));
                    let name = path.rsplit('/').next().unwrap_or_default();
                    names.push(name.to_owned());
                }
                answer.string(&path);
                stat(answer, zxid);
            }
            4 => {
                answer.buffer(b"host/1");
                stat(answer, zxid);
            }
            12 => {
                answer.len(names.len());
                for name in names.iter() {
                    answer.string(name);
                }
                stat(answer, zxid);
            }
            9 => {
                answer.string(&asked.path);
            }
            2 => {
                let name = asked.path.rsplit('/').next().unwrap_or_default();
                names.retain(|known| known != name);
            }
            14 => {
                answer.i32(-1).bool(true).i32(-1);
            }
            _ => {}
        });
    }

    fn event(&mut self, kind: u8, at: u8) {
        let Some(name) = self.names.get(usize::from(at) % self.names.len().max(1)) else {
            return;
        };
        let path = format!("/c{}/{name}", PATHS[usize::from(at & 1)]);
        if kind % 8 == 2 {
            let name = name.clone();
            self.names.retain(|known| *known != name);
        }
        let mut event = Writer::frame();
        event.i32(-1).i64(self.zxid).i32(0);
        event.i32(i32::from(kind % 8)).i32(3).string(&path);
        self.received(&event.finish());
    }

    /// Every call has at most one outcome, and no mutex has two believers.
    fn check(&mut self) {
        let (guards, calls) = (&mut self.guards, &mut self.calls);
        calls.retain_mut(|(_, call)| match call.wait_for(Duration::ZERO) {
            Some(Ok(guard)) => {
                assert!(guard.fencing_token() > 0, "R2");
                guards.push(guard);
                false
            }
            Some(Err(error)) => {
                assert!(!error.to_string().contains(char::is_control), "{error:?}");
                false
            }
            None => true,
        });
        for job in self.jobs.try_iter() {
            job();
        }
    }

    fn end(mut self) {
        self.calls.clear();
        self.guards.clear();
        self.pump();
        self.engine.close(self.now);
        self.pump();
        self.link.close_mailbox();
    }
}

fn stat(answer: &mut Writer, zxid: i64) {
    answer.i64(zxid).i64(zxid).i64(0).i64(0);
    answer
        .i32(0)
        .i32(0)
        .i32(0)
        .i64(SESSION)
        .i32(0)
        .i32(0)
        .i64(zxid);
}
