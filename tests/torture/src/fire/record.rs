//! What was done to whom, and when; printed as it happens.

use std::sync::{Mutex, PoisonError};

use crate::clock;
use crate::fire::Kind;

/// A fault that was injected.
#[derive(Clone, Debug)]
pub(crate) struct Injection {
    pub(crate) kind: Kind,
    pub(crate) from: u64,
    /// When everything was back.
    pub(crate) to: u64,
}

#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) start: u64,
    injections: Mutex<Vec<Injection>>,
}

impl Record {
    pub(crate) fn new() -> Record {
        Record {
            start: clock::now(),
            injections: Mutex::default(),
        }
    }

    /// Prints a line with the time.
    pub(crate) fn say(&self, kind: Kind, what: &str) {
        let seconds = (clock::now() - self.start) as f64 / 1e9;
        println!("{seconds:>9.3} s  {:<18} {what}", kind.name());
    }

    pub(crate) fn add(&self, kind: Kind, from: u64) {
        let to = clock::now();
        let mut injections = self
            .injections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        injections.push(Injection { kind, from, to });
    }

    pub(crate) fn injections(&self) -> Vec<Injection> {
        let injections = self
            .injections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        injections.clone()
    }
}
