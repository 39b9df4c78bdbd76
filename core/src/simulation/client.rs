//! One process: the real engine, a clock of its own rate, and what its callers do.

use std::sync::Arc;
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::time::Duration;

use crate::clock::Time;
use crate::command::{AttemptId, Command, Deadline, GrantTo, HandleId, LockRequest, LockTarget};
use crate::config::{SessionConfig, SessionOptions};
use crate::engine::Engine;
use crate::error::Result;
use crate::guard::Guard;
use crate::handle::Session;
use crate::link::Link;
use crate::owner::Owner;
use crate::pending::Pending;
use crate::queue::names::{Family, Kind, Naming};
use crate::runtime::{Callbacks, Job};
use crate::stats::LockStats;
use crate::sync::{Receiver, completion};

/// Later than any reading of the real clock, so that code that reads it finds every lease running.
pub(super) const EPOCH: u64 = 1 << 60;

/// A call that has not been answered.
pub(super) struct Call {
    pub(super) attempt: AttemptId,
    pub(super) path: usize,
    pub(super) kind: Kind,
    pub(super) owner: Option<u64>,
    pub(super) deadline: Option<u64>,
    pub(super) cancelled: bool,
    pub(super) receiver: Receiver<Result<Option<Guard>>>,
}

/// A lock that was granted.
pub(super) struct Held {
    pub(super) guard: Guard,
    pub(super) path: usize,
    pub(super) kind: Kind,
    pub(super) owner: Option<u64>,
    /// Once seen lost, it must never believe again.
    pub(super) seen_lost: bool,
}

pub(super) struct Client {
    pub(super) engine: Engine,
    pub(super) link: Arc<Link>,
    pub(super) handle: HandleId,
    pub(super) jobs: mpsc::Receiver<Job>,
    pub(super) calls: Vec<Call>,
    pub(super) held: Vec<Held>,
    pub(super) releases: Vec<(u64, Pending<()>)>,
    pub(super) paused_until: Option<u64>,
    session: Session,
    targets: Vec<Arc<LockTarget>>,
    /// Nanoseconds of its clock for each 1,000 true ones.
    rate: u64,
    offset: u64,
}

impl Client {
    pub(super) fn new(
        hosts: &str,
        session_timeout: Duration,
        paths: &[(&str, Family)],
        seed: u64,
        rate: u64,
    ) -> Client {
        let options = SessionOptions {
            session_timeout,
            ..SessionOptions::default()
        };
        let config = SessionConfig::new(Some(hosts), &options).expect("a good configuration");
        let (callbacks, jobs) = Callbacks::collected();
        let link = Link::new(callbacks);
        let offset = EPOCH + seed % 1_000_000_007;
        let handle = HandleId::next();
        let session = Session::detached(config.clone());
        let mut engine = Engine::new(config, Arc::clone(&link), seed, Time(offset));
        engine.commands(Time(offset), std::iter::once(Command::Open { handle }));
        Client {
            engine,
            link,
            handle,
            jobs,
            calls: Vec::new(),
            held: Vec::new(),
            releases: Vec::new(),
            paused_until: None,
            session,
            targets: paths
                .iter()
                .map(|(path, family)| {
                    Arc::new(LockTarget {
                        path: (*path).into(),
                        family: *family,
                        naming: Naming::Curator,
                        data: None,
                        acl: None,
                        stats: LockStats::default(),
                    })
                })
                .collect(),
            rate,
            offset,
        }
    }

    /// Its clock at a true moment.
    pub(super) fn clock(&self, now: u64) -> Time {
        Time(self.offset + now / 1000 * self.rate + now % 1000)
    }

    /// The true moment at which its clock shows `time`.
    pub(super) fn moment(&self, time: Time) -> Option<u64> {
        if time == Time::NEVER {
            return None;
        }
        let local = time.0.saturating_sub(self.offset);
        Some((local / self.rate + 1) * 1000)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused_until.is_some()
    }

    pub(super) fn lock(
        &mut self,
        now: u64,
        path: usize,
        kind: Kind,
        owner: Option<u64>,
        wait: Option<Duration>,
    ) {
        let (completer, receiver) = completion();
        let attempt = AttemptId::next();
        let called = self.clock(now);
        let deadline = match wait {
            None => Deadline::Never,
            Some(wait) if wait.is_zero() => Deadline::Try(called + Duration::from_secs(10)),
            Some(wait) => Deadline::At(called + wait),
        };
        self.calls.push(Call {
            attempt,
            path,
            kind,
            owner,
            deadline: match deadline {
                Deadline::Never => None,
                Deadline::At(at) | Deadline::Try(at) => self.moment(at),
            },
            cancelled: false,
            receiver,
        });
        self.link.send(Command::Lock(LockRequest {
            attempt,
            handle: self.handle,
            session: Some(self.session.clone()),
            target: Arc::clone(&self.targets[path]),
            kind,
            owner: owner.map(Owner),
            called,
            deadline,
            to: GrantTo::Try(completer),
        }));
    }

    /// Hands the engine what its callers asked for.
    pub(super) fn take_letters(&mut self, now: u64) {
        let mut letters = Vec::new();
        let mut context = Context::from_waker(Waker::noop());
        self.link.mailbox().poll_take(&mut letters, &mut context);
        if !letters.is_empty() {
            let time = self.clock(now);
            self.engine.commands(time, letters.into_iter());
        }
        for job in self.jobs.try_iter() {
            job();
        }
    }
}
