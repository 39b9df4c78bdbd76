//! What all connections share: the resources, the history, and the orders for the workers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use zoolock_ensemble::eventually;

use crate::clock;
use crate::history::{Entry, History, Job, Process};
use crate::language::Language;
use crate::message::{HoldId, Message};
use crate::random;
use crate::recipe::Resource;
use crate::register::{Access, Register};

/// Jobs, from the newest back, among which everything that goes on now is.
const RECENT: usize = 2_000;
/// A section that is not over before a signal arrives.
const LONG_MS: u64 = 100;

/// See the module.
#[derive(Debug)]
pub(crate) struct Board {
    seed: u64,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    history: History,
    registers: BTreeMap<Resource, Register>,
    /// Threads that are at work, and those that were told to stop.
    threads: BTreeSet<Speaker>,
    stopped: BTreeSet<Speaker>,
    stopping: bool,
    connections: usize,
    problems: Vec<String>,
}

/// At the other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Speaker {
    pub(crate) process: usize,
    pub(crate) part: String,
}

/// What the resources ended with.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) history: History,
    /// Lines that were not understood, or did not fit.
    pub(crate) problems: Vec<String>,
}

impl Board {
    pub(crate) fn new(seed: u64) -> Board {
        Board {
            seed,
            inner: Mutex::default(),
        }
    }

    /// Announces a process that is about to be started, and names it.
    pub(crate) fn add_process(&self, language: Language) -> (usize, String) {
        let mut inner = self.lock();
        let processes = &mut inner.history.processes;
        let number = 1 + processes.iter().filter(|p| p.language == language).count();
        let name = format!("{language}-{number}");
        processes.push(Process {
            name: name.clone(),
            language,
            killed: None,
            stops: Vec::new(),
        });
        (processes.len() - 1, name)
    }

    pub(crate) fn killed(&self, process: usize, at: u64) {
        let mut inner = self.lock();
        inner.history.processes[process].killed = Some(at);
        let alive = |speaker: &Speaker| speaker.process != process;
        inner.threads.retain(alive);
        inner.stopped.retain(alive);
    }

    pub(crate) fn stopped(&self, process: usize, from: u64, to: u64) {
        self.lock().history.processes[process]
            .stops
            .push((from, to));
    }

    /// The speaker who said hello, with the orders that the seed has for it.
    pub(crate) fn hello(&self, worker: &str, part: &str) -> Result<(Speaker, Rng), String> {
        let mut inner = self.lock();
        let processes = &inner.history.processes;
        let process = processes.iter().position(|process| process.name == worker);
        let process = process.ok_or_else(|| format!("nobody is called {worker}"))?;
        let speaker = Speaker {
            process,
            part: part.to_owned(),
        };
        if inner.history.processes[process].killed.is_none() {
            inner.threads.insert(speaker.clone());
        }
        let rng = random::stream(self.seed, &format!("{worker}/{part}"));
        Ok((speaker, rng))
    }

    /// Takes a line in, and gives the answer to what is a question.
    pub(crate) fn hear(&self, speaker: &Speaker, rng: &mut Rng, line: &str) -> Option<String> {
        let mut inner = self.lock();
        match Message::parse(line) {
            Ok(Message::Next) => Some(inner.next_order(speaker, rng)),
            Ok(message) => match inner.access(&message) {
                Some(access) => Some(access.answer()),
                None => {
                    if let Err(problem) = inner.history.report(message) {
                        inner.problem(speaker, &problem);
                    }
                    None
                }
            },
            Err(problem) => {
                inner.problem(speaker, &problem);
                None
            }
        }
    }

    /// A connection was opened, or closed.
    pub(crate) fn connected(&self, open: bool) {
        let connections = &mut self.lock().connections;
        *connections = if open {
            *connections + 1
        } else {
            *connections - 1
        };
    }

    /// Waits until everything that was said has been heard; how many connections are open still.
    pub(crate) fn wait_disconnected(&self, limit: Duration) -> usize {
        eventually(limit, || self.lock().connections == 0);
        self.lock().connections
    }

    /// From now on nobody gets a new job.
    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
    }

    /// How many threads of a process have connected (the one that tells of losses not counted).
    pub(crate) fn threads_of(&self, process: usize) -> usize {
        let inner = self.lock();
        let of = |speaker: &&Speaker| speaker.process == process && speaker.part != "told";
        inner.threads.iter().filter(of).count()
    }

    /// The threads that have not been told to stop yet.
    pub(crate) fn still_busy(&self) -> Vec<String> {
        let inner = self.lock();
        let busy = inner.threads.difference(&inner.stopped);
        busy.filter(|speaker| speaker.part != "told")
            .map(|s| format!("{}/{}", inner.history.processes[s.process].name, s.part))
            .collect()
    }

    /// The processes that hold a lock, and will for a while.
    pub(crate) fn long_holders(&self) -> BTreeSet<usize> {
        let inner = self.lock();
        // A thread has one job at a time, and the newest come last.
        let recent = inner.history.jobs.iter().rev().take(RECENT);
        let holds = |job: &&Job| {
            let mut holds = job.holds.iter();
            job.pause_ms >= LONG_MS
                && holds.any(|hold| hold.grant().is_some() && hold.release.is_none())
        };
        recent.filter(holds).map(|job| job.process).collect()
    }

    /// The calls that have not ended.
    pub(crate) fn waiting(&self) -> Vec<HoldId> {
        self.lock().history.waiting()
    }

    /// Those of `calls` that have still not ended, with who made them.
    pub(crate) fn still_waiting(&self, calls: &[HoldId]) -> Vec<String> {
        let inner = self.lock();
        let history = &inner.history;
        let waits = |id: &&HoldId| {
            history.processes[history.jobs[id.job].process]
                .killed
                .is_none()
                && history
                    .hold(**id)
                    .is_some_and(|hold| hold.outcome.is_none())
        };
        calls
            .iter()
            .filter(waits)
            .map(|id| history.who(*id))
            .collect()
    }

    /// The paths on which nothing has been granted since `at`.
    pub(crate) fn without_grant_since(&self, at: u64) -> Vec<&'static str> {
        let inner = self.lock();
        let granted = |resource: Resource| {
            inner.history.jobs.iter().rev().take(RECENT).any(|job| {
                job.recipe.resource() == resource
                    && job
                        .holds
                        .iter()
                        .any(|hold| hold.grant().is_some_and(|g| g.at > at))
            })
        };
        let without = Resource::ALL.into_iter().filter(|r| !granted(*r));
        without.map(Resource::name).collect()
    }

    pub(crate) fn end(&self) -> End {
        let mut inner = self.lock();
        End {
            history: std::mem::take(&mut inner.history),
            problems: std::mem::take(&mut inner.problems),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn next_order(&mut self, speaker: &Speaker, rng: &mut Rng) -> String {
        if self.stopping {
            self.stopped.insert(speaker.clone());
            return "stop".into();
        }
        let order = random::order(rng);
        let number = self.history.jobs.len();
        self.history.jobs.push(Job {
            recipe: order.recipe,
            timeout_ms: order.timeout_ms,
            pause_ms: order.pause_ms,
            process: speaker.process,
            thread: speaker.part.clone(),
            holds: Vec::new(),
        });
        let (recipe, timeout, pause) = (order.recipe, order.timeout_ms, order.pause_ms);
        format!("job {number} {recipe} {timeout} {pause}")
    }

    /// Does what is asked of a resource, and notes it.
    fn access(&mut self, message: &Message) -> Option<Access> {
        let hold = match *message {
            Message::FencedRead { hold, .. }
            | Message::FencedWrite { hold, .. }
            | Message::Look { hold, .. }
            | Message::Read { hold }
            | Message::Write { hold, .. } => hold,
            _ => return None,
        };
        let resource = self.history.jobs.get(hold.job)?.recipe.resource();
        let access = self
            .registers
            .entry(resource)
            .or_default()
            .access(message)?;
        self.history.accesses.push(Entry {
            resource,
            at: clock::now(),
            hold,
            access,
        });
        Some(access)
    }

    fn problem(&mut self, speaker: &Speaker, problem: &str) {
        let who = &self.history.processes[speaker.process].name;
        let line = format!("{who}/{}: {problem}", speaker.part);
        self.problems.push(line);
    }
}
