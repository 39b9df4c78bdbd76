//! What happened in one run, shown when it fails.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Lines with the time since the run began. Clones write to the same list.
#[derive(Clone, Debug)]
pub struct Trace {
    began: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Default for Trace {
    fn default() -> Trace {
        Trace::new()
    }
}

impl Trace {
    /// An empty one, that begins now.
    pub fn new() -> Trace {
        Trace {
            began: Instant::now(),
            lines: Arc::default(),
        }
    }

    /// Adds a line.
    pub fn add(&self, line: impl AsRef<str>) {
        let at = self.began.elapsed().as_millis();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(format!("{at:>7} {}", line.as_ref()));
    }

    /// All lines so far.
    pub fn lines(&self) -> Vec<String> {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
