//! Everything that happened in a run, as it was reported.

use crate::language::Language;
use crate::message::{HoldId, Message};
use crate::recipe::{Recipe, Resource};
use crate::register::Access;

/// A worker process, from its start to its end; the one started in place of a killed one is another.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) language: Language,
    pub(crate) killed: Option<u64>,
    /// When it was stopped by a signal, and continued.
    pub(crate) stops: Vec<(u64, u64)>,
}

/// What a guard answered to the question whether it is held, asked between two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) held: bool,
    pub(crate) before: u64,
    pub(crate) after: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) token: i64,
    pub(crate) at: u64,
    pub(crate) node: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Granted(Grant),
    Denied {
        kind: String,
        at: u64,
        message: String,
    },
}

impl Outcome {
    pub(crate) fn at(&self) -> u64 {
        match self {
            Outcome::Granted(grant) => grant.at,
            Outcome::Denied { at, .. } => *at,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) outcome: String,
    pub(crate) before: u64,
    pub(crate) after: u64,
}

/// One call for a lock, and the guard that came of it.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    pub(crate) name: char,
    pub(crate) asked: u64,
    /// `None` while it waits, and if its process was killed first.
    pub(crate) outcome: Option<Outcome>,
    pub(crate) checks: Vec<Check>,
    pub(crate) release: Option<Release>,
    /// The notifications of its loss.
    pub(crate) told: Vec<u64>,
}

impl Hold {
    pub(crate) fn new(name: char, asked: u64) -> Hold {
        Hold {
            name,
            asked,
            outcome: None,
            checks: Vec::new(),
            release: None,
            told: Vec::new(),
        }
    }

    pub(crate) fn grant(&self) -> Option<&Grant> {
        match &self.outcome {
            Some(Outcome::Granted(grant)) => Some(grant),
            _ => None,
        }
    }

    /// The intervals in each of which the guard believed at some moment. A release that succeeds shows it too: of a lost
    /// guard it fails (R10).
    pub(crate) fn beliefs(&self) -> impl Iterator<Item = (u64, u64)> {
        let checks = self.checks.iter().filter(|check| check.held);
        let released = self
            .release
            .iter()
            .filter(|release| release.outcome == "OK");
        checks
            .map(|check| (check.before, check.after))
            .chain(released.map(|release| (release.before, release.after)))
    }

    /// It began to believe at the latest then. Of a grant alone nothing follows: the process may have been stopped
    /// before it could look.
    pub(crate) fn believed_from(&self) -> Option<u64> {
        self.beliefs().map(|(_, after)| after).min()
    }

    /// It still believed then, or later.
    pub(crate) fn believed_until(&self) -> Option<u64> {
        self.beliefs().map(|(before, _)| before).max()
    }

    /// Whether the guard said, after `at`, that it was held.
    pub(crate) fn believes_after(&self, at: u64) -> bool {
        self.believed_until().is_some_and(|until| until >= at)
    }

    pub(crate) fn is_reported_lost(&self) -> bool {
        let released = self.release.as_ref();
        self.checks.iter().any(|check| !check.held)
            || released.is_some_and(|release| release.outcome == "LOCK_LOST")
            || !self.told.is_empty()
    }
}

/// What one thread of a worker was given to do.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) recipe: Recipe,
    /// Negative for no time-out, 0 for a try.
    pub(crate) timeout_ms: i64,
    pub(crate) pause_ms: u64,
    /// Index of its process.
    pub(crate) process: usize,
    pub(crate) thread: String,
    pub(crate) holds: Vec<Hold>,
}

/// An access to a resource, in the order in which it took place.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) resource: Resource,
    pub(crate) at: u64,
    pub(crate) hold: HoldId,
    pub(crate) access: Access,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) processes: Vec<Process>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) accesses: Vec<Entry>,
}

/// A hold with the job that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<'a> {
    pub(crate) id: HoldId,
    pub(crate) job: &'a Job,
    pub(crate) hold: &'a Hold,
}

impl Held<'_> {
    pub(crate) fn is_shared(&self) -> bool {
        self.job.recipe.is_shared(self.id.name)
    }
}

impl History {
    /// Every call for a lock.
    pub(crate) fn holds(&self) -> impl Iterator<Item = Held<'_>> {
        self.jobs.iter().enumerate().flat_map(|(number, job)| {
            job.holds.iter().map(move |hold| Held {
                id: HoldId {
                    job: number,
                    name: hold.name,
                },
                job,
                hold,
            })
        })
    }

    /// The granted ones on one path.
    pub(crate) fn granted(&self, resource: Resource) -> impl Iterator<Item = (Held<'_>, &Grant)> {
        self.holds()
            .filter(move |held| held.job.recipe.resource() == resource)
            .filter_map(|held| Some((held, held.hold.grant()?)))
    }

    pub(crate) fn hold(&self, id: HoldId) -> Option<&Hold> {
        let holds = &self.jobs.get(id.job)?.holds;
        holds.iter().find(|hold| hold.name == id.name)
    }

    pub(crate) fn language(&self, id: HoldId) -> Language {
        self.processes[self.jobs[id.job].process].language
    }

    /// Which process and thread, for a person.
    pub(crate) fn who(&self, id: HoldId) -> String {
        let job = &self.jobs[id.job];
        format!(
            "{}/{} {} {}{}",
            self.processes[job.process].name, job.thread, job.recipe, id.job, id.name
        )
    }

    /// Adds a report. `Err` if it does not fit to what was reported before.
    pub(crate) fn report(&mut self, message: Message) -> Result<(), String> {
        let text = format!("{message:?} does not fit to what came before");
        self.add(message).ok_or(text)
    }

    fn add(&mut self, message: Message) -> Option<()> {
        match message {
            Message::Asked { hold, at } => {
                let holds = &mut self.jobs.get_mut(hold.job)?.holds;
                if holds.iter().any(|other| other.name == hold.name) {
                    return None;
                }
                holds.push(Hold::new(hold.name, at));
            }
            Message::Granted {
                hold,
                token,
                at,
                node,
            } => self.end(hold, Outcome::Granted(Grant { token, at, node }))?,
            Message::Denied {
                hold,
                kind,
                at,
                message,
            } => self.end(hold, Outcome::Denied { kind, at, message })?,
            Message::Check {
                hold,
                held,
                before,
                after,
            } => {
                let check = Check {
                    held,
                    before,
                    after,
                };
                self.granted_mut(hold)?.checks.push(check);
            }
            Message::Released {
                hold,
                outcome,
                before,
                after,
            } => {
                let release = Release {
                    outcome,
                    before,
                    after,
                };
                if self.granted_mut(hold)?.release.replace(release).is_some() {
                    return None;
                }
            }
            // It comes over another connection, so maybe before the grant.
            Message::Told { hold, at } => self.hold_mut(hold)?.told.push(at),
            _ => return None,
        }
        Some(())
    }

    fn end(&mut self, id: HoldId, outcome: Outcome) -> Option<()> {
        let hold = self.hold_mut(id)?;
        hold.outcome.replace(outcome).is_none().then_some(())
    }

    fn granted_mut(&mut self, id: HoldId) -> Option<&mut Hold> {
        self.hold_mut(id).filter(|hold| hold.grant().is_some())
    }

    fn hold_mut(&mut self, id: HoldId) -> Option<&mut Hold> {
        let holds = &mut self.jobs.get_mut(id.job)?.holds;
        holds.iter_mut().find(|hold| hold.name == id.name)
    }

    /// The calls for locks that have not ended, without those of killed processes.
    pub(crate) fn waiting(&self) -> Vec<HoldId> {
        self.holds()
            .filter(|held| held.hold.outcome.is_none())
            .filter(|held| self.processes[held.job.process].killed.is_none())
            .map(|held| held.id)
            .collect()
    }
}
