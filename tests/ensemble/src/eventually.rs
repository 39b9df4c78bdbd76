//! Waiting for a condition instead of sleeping for a guess.

use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

const POLL: Duration = Duration::from_millis(10);

/// Calls `condition` until it is true; false when it was not within `deadline`.
pub fn eventually(deadline: Duration, mut condition: impl FnMut() -> bool) -> bool {
    until(deadline, || condition().then_some(())).is_some()
}

/// Calls `attempt` until it gives a value; `None` when it gave none within `deadline`.
pub fn until<T>(deadline: Duration, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + deadline;
    loop {
        if let Some(value) = attempt() {
            return Some(value);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(POLL);
    }
}

/// Calls `attempt` until it succeeds; the last error when it did not within `deadline`.
pub fn retry<T>(deadline: Duration, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let mut last = Error::new("never tried");
    until(deadline, || match attempt() {
        Ok(value) => Some(value),
        Err(error) => {
            last = error;
            None
        }
    })
    .ok_or_else(|| Error::new(format!("{last} (for {} ms)", deadline.as_millis())))
}
