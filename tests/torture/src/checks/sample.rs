//! Small histories for the tests of the checks.

use crate::history::{Check, Entry, Grant, History, Hold, Job, Outcome, Process, Release};
use crate::language::Language;
use crate::message::HoldId;
use crate::recipe::Recipe;
use crate::register::Access;

/// A history of one process in C, in which every job has a thread of its own.
pub(crate) fn history() -> History {
    History {
        processes: vec![Process {
            name: "c-1".into(),
            language: Language::C,
            killed: None,
            stops: Vec::new(),
        }],
        ..History::default()
    }
}

/// A hold that was granted at `from`, believed until `until`, and was then released in order.
pub(crate) fn hold(name: char, token: i64, from: u64, until: u64) -> Hold {
    Hold {
        outcome: Some(Outcome::Granted(Grant {
            token,
            at: from,
            node: format!("/t/mutex/n-{token}"),
        })),
        checks: vec![check(true, from), check(true, until)],
        release: Some(release("OK", until)),
        ..Hold::new(name, from.saturating_sub(5))
    }
}

/// A hold that found itself lost at the end.
pub(crate) fn lost(name: char, token: i64, from: u64, until: u64) -> Hold {
    let mut hold = hold(name, token, from, until);
    hold.checks.push(check(false, until + 100));
    hold.release = Some(release("LOCK_LOST", until + 101));
    hold.told = vec![until + 50];
    hold
}

pub(crate) fn check(held: bool, at: u64) -> Check {
    Check {
        held,
        before: at,
        after: at,
    }
}

pub(crate) fn release(outcome: &str, at: u64) -> Release {
    Release {
        outcome: outcome.into(),
        before: at,
        after: at + 1,
    }
}

impl History {
    /// Adds a job with its holds.
    pub(crate) fn with(mut self, recipe: Recipe, holds: impl IntoIterator<Item = Hold>) -> Self {
        self.jobs.push(Job {
            recipe,
            timeout_ms: -1,
            pause_ms: 0,
            process: 0,
            thread: self.jobs.len().to_string(),
            holds: holds.into_iter().collect(),
        });
        self
    }

    /// Adds an access by a hold of the job with this number.
    pub(crate) fn access(mut self, at: u64, job: usize, name: char, access: Access) -> Self {
        self.accesses.push(Entry {
            resource: self.jobs[job].recipe.resource(),
            at,
            hold: HoldId { job, name },
            access,
        });
        self
    }
}
