//! One process: the real engine, a clock of its own rate, and what its callers do.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::time::Duration;

use super::workload::{MUTEX, PATHS};
use crate::clock::Time;
use crate::command::{AttemptId, Command, Deadline, GrantTo, HandleId, LockRequest, LockTarget};
use crate::config::{LeaseConfirmation, SessionConfig, SessionOptions};
use crate::engine::Engine;
use crate::error::Result;
use crate::guard::Guard;
use crate::handle::Session;
use crate::kept::{self, Asked};
use crate::link::Link;
use crate::owner::Owner;
use crate::pending::Pending;
use crate::queue::names::{Family, Kind, Naming};
use crate::runtime::{Callbacks, Job};
use crate::state::GuardState;
use crate::stats::LockStats;
use crate::sync::{Receiver, completion};

/// Later than any reading of the real clock, so that code that reads it finds every lease running.
pub(super) const EPOCH: u64 = 1 << 60;

/// A call that has not been answered.
pub(super) struct Call {
    pub(super) attempt: AttemptId,
    /// Its number among the client's calls, the same in every run.
    pub(super) number: u64,
    pub(super) path: usize,
    pub(super) kind: Kind,
    pub(super) owner: Option<u64>,
    pub(super) deadline: Option<u64>,
    pub(super) cancelled: bool,
    pub(super) handle: HandleId,
    /// Its handle was closed.
    pub(super) closed: bool,
    pub(super) receiver: Receiver<Result<Option<Guard>>>,
}

/// A lock that was granted.
pub(super) struct Held {
    pub(super) guard: Guard,
    pub(super) path: usize,
    pub(super) kind: Kind,
    pub(super) owner: Option<u64>,
    /// The session that it was granted in.
    pub(super) session: i64,
    /// Once seen lost, it must never believe again.
    pub(super) seen_lost: bool,
    /// Somebody else took its contender away, or ended its session: nobody has promised what it
    /// believes then (R1).
    pub(super) meddled: bool,
    pub(super) handle: HandleId,
    /// Its handle was closed (R17).
    pub(super) closed: bool,
    /// How often its loss was told.
    told: Arc<AtomicU32>,
}

impl Held {
    pub(super) fn new(guard: Guard, call: &Call, session: i64) -> Held {
        let told = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&told);
        guard.on_lost(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        Held {
            guard,
            path: call.path,
            kind: call.kind,
            owner: call.owner,
            session,
            seen_lost: false,
            meddled: false,
            handle: call.handle,
            closed: call.closed,
            told,
        }
    }

    /// The last part of its contender's path.
    pub(super) fn name(&self) -> &str {
        self.guard.node_path().rsplit('/').next().unwrap_or("")
    }

    pub(super) fn told(&self) -> u32 {
        self.told.load(Ordering::Relaxed)
    }
}

/// A release that has not been answered.
pub(super) struct Releasing {
    /// When its lease ends.
    pub(super) until: Time,
    pub(super) due: u64,
    pub(super) path: usize,
    pub(super) name: String,
    pub(super) session: i64,
    /// Its contender was kept at the call, so it stays.
    pub(super) kept: bool,
    pub(super) pending: Pending<()>,
}

/// A close that has not been answered.
pub(super) struct Closing {
    pub(super) until: Time,
    pub(super) due: u64,
    /// The contenders of its guards, by path.
    pub(super) names: Vec<(usize, String)>,
    pub(super) session: i64,
    pub(super) receiver: Receiver<Result<()>>,
}

/// How a client is set up.
pub(super) struct Setup<'a> {
    pub(super) hosts: &'a str,
    pub(super) session_timeout: Duration,
    /// In front of the paths, which are behind the session's chroot already.
    pub(super) prefix: &'a str,
    pub(super) naming: Naming,
    pub(super) by_write: bool,
    /// How long what it keeps may be idle, if it keeps anything.
    pub(super) keep: Option<Duration>,
    pub(super) seed: u64,
    /// Nanoseconds of its clock for each 1,000 true ones.
    pub(super) rate: u64,
    /// When its process starts.
    pub(super) now: u64,
}

pub(super) struct Client {
    pub(super) engine: Engine,
    pub(super) link: Arc<Link>,
    pub(super) handles: Vec<HandleId>,
    /// Its session ends, or has ended, since no handle is left.
    pub(super) retired: bool,
    pub(super) callbacks: Callbacks,
    pub(super) config: SessionConfig,
    pub(super) jobs: mpsc::Receiver<Job>,
    pub(super) calls: Vec<Call>,
    pub(super) held: Vec<Held>,
    pub(super) releases: Vec<Releasing>,
    pub(super) closing: Vec<Closing>,
    pub(super) paused_until: Option<u64>,
    /// How many calls there have been.
    called: u64,
    /// Calls that waited when their session ended, in the order that they have to keep (R9).
    pub(super) former: Vec<AttemptId>,
    /// The contenders of others that were there when a change of the children was told, and the grants
    /// of what is kept since then, by path.
    pub(super) since_told: [(BTreeSet<String>, u32); PATHS.len()],
    /// The ends of its own contenders that it was told of.
    pub(super) ends_told: BTreeSet<String>,
    /// Contenders that it kept and that were not there when it was told that something had changed.
    pub(super) kept_in_vain: BTreeSet<String>,
    pub(super) keeps: bool,
    /// It has just been told that a contender of its own is gone, and its callers may be quick.
    pub(super) asks_soon: bool,
    /// The state of a guard that was no good when it was taken from what is kept.
    pub(super) wrongly_granted: Option<GuardState>,
    session: Session,
    targets: Vec<Arc<LockTarget>>,
    /// Nanoseconds of its clock for each 1,000 true ones.
    rate: u64,
    offset: u64,
}

impl Client {
    pub(super) fn new(setup: &Setup<'_>) -> Client {
        let Setup { seed, rate, .. } = *setup;
        let options = SessionOptions {
            session_timeout: setup.session_timeout,
            lease_confirmation: if setup.by_write {
                LeaseConfirmation::Write
            } else {
                LeaseConfirmation::Sync
            },
            ..SessionOptions::default()
        };
        let config = SessionConfig::new(Some(setup.hosts), &options).expect("a good configuration");
        let (callbacks, jobs) = Callbacks::collected();
        let link = Link::new(callbacks.clone());
        let offset = EPOCH + seed % 1_000_000_007;
        let handle = HandleId::next();
        let session = Session::detached(config.clone());
        let started = local(offset, rate, setup.now);
        let mut engine = Engine::new(config.clone(), Arc::clone(&link), seed, started);
        engine.commands(started, std::iter::once(Command::Open { handle }));
        Client {
            engine,
            link,
            handles: vec![handle],
            retired: false,
            callbacks,
            config,
            jobs,
            calls: Vec::new(),
            held: Vec::new(),
            releases: Vec::new(),
            closing: Vec::new(),
            paused_until: None,
            called: 0,
            former: Vec::new(),
            since_told: Default::default(),
            ends_told: BTreeSet::new(),
            kept_in_vain: BTreeSet::new(),
            keeps: setup.keep.is_some(),
            asks_soon: false,
            wrongly_granted: None,
            session,
            targets: PATHS
                .iter()
                .map(|(path, family)| {
                    Arc::new(LockTarget {
                        path: format!("{}{path}", setup.prefix).into(),
                        family: *family,
                        naming: setup.naming,
                        data: None,
                        acl: None,
                        keep: setup.keep.filter(|_| *family == Family::Mutex),
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
        local(self.offset, self.rate, now)
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
    ) -> u64 {
        let handles = self.handles.len() as u64;
        let at = self.called.checked_rem(handles).unwrap_or(0);
        let Some(handle) = self.handles.get(usize::try_from(at).unwrap_or(0)).copied() else {
            return self.called;
        };
        let (completer, receiver) = completion();
        let attempt = AttemptId::next();
        let called = self.clock(now);
        let deadline = match wait {
            None => Deadline::Never,
            Some(wait) if wait.is_zero() => Deadline::Try(called + Duration::from_secs(10)),
            Some(wait) => Deadline::At(called + wait),
        };
        self.called += 1;
        let target = Arc::clone(&self.targets[path]);
        let to = GrantTo::Try(completer);
        // No call begins beside the close of its handle here.
        let is_closed = || false;
        let owned = owner.is_some();
        let past = match kept::ask(&self.link, &target, owned, handle, is_closed, called) {
            Asked::Granted(cell) => {
                let state = cell.state(called);
                self.wrongly_granted = (state != GuardState::Held).then_some(state);
                to.grant(Guard::new(cell, Some(self.session.clone())));
                None
            }
            Asked::Queue(past) => Some((past, to)),
        };
        self.calls.push(Call {
            attempt,
            number: self.called,
            path,
            kind,
            owner,
            deadline: match deadline {
                Deadline::Never => None,
                Deadline::At(at) | Deadline::Try(at) => self.moment(at),
            },
            cancelled: false,
            handle,
            closed: false,
            receiver,
        });
        let Some((past, to)) = past else {
            return self.called;
        };
        self.link.send(Command::Lock(LockRequest {
            attempt,
            handle,
            session: Some(self.session.clone()),
            target,
            kind,
            owner: owner.map(Owner),
            called,
            deadline,
            past,
            to,
        }));
        self.called
    }

    /// The contenders that it keeps now: full lock path, and name.
    pub(super) fn kept(&self) -> impl Iterator<Item = (String, String)> {
        let handles = self.handles.iter();
        handles.flat_map(|handle| self.engine.kept_by(*handle))
    }

    /// The calls that wait for the mutex, in the order of their contenders, where there are several.
    pub(super) fn places(&self) -> Vec<AttemptId> {
        if self.calls.iter().filter(|call| call.path == MUTEX).count() < 2 {
            return Vec::new();
        }
        self.engine.places(&self.targets[MUTEX].path)
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
        self.retire(now);
    }

    /// What its callback thread would do.
    pub(super) fn run_jobs(&mut self) {
        for job in self.jobs.try_iter() {
            job();
        }
    }
}

fn local(offset: u64, rate: u64, now: u64) -> Time {
    Time(offset + now / 1000 * rate + now % 1000)
}
