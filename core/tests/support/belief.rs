//! Until when a guard believed, by the machine's clock.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use zoolock::{Guard, Pending};

use super::LONG;
use super::look::clock;

/// Asks a guard all the time whether it is held.
pub struct Belief(JoinHandle<Option<Duration>>);

impl Belief {
    /// Begins to ask.
    pub fn of(guard: &Arc<Guard>) -> Belief {
        let guard = Arc::clone(guard);
        Belief(thread::spawn(move || {
            let mut last = clock();
            let end = last + LONG;
            loop {
                let before = clock();
                if !guard.is_held() {
                    return Some(last);
                }
                last = before;
                if last >= end {
                    return None;
                }
                thread::sleep(Duration::from_millis(1));
            }
        }))
    }

    /// When the guard believed last.
    #[track_caller]
    pub fn ended(self) -> Duration {
        let last = self.0.join().expect("no panic");
        last.expect("the guard still believes")
    }
}

/// A lock, and when it was granted.
#[track_caller]
pub fn granted(pending: Pending<Guard>) -> (Guard, Duration) {
    let mut pending = pending;
    let guard = pending
        .wait_for(LONG)
        .unwrap_or_else(|| panic!("not granted within {LONG:?}"));
    (guard.expect("the lock"), clock())
}
