//! From the servers' wall clock to the monotonic one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::clock;

/// How far apart the two clocks were, at least and at most, while it was watched. Somebody may set the wall clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallClock {
    least: i128,
    most: i128,
}

/// How often to look.
const EVERY: Duration = Duration::from_millis(100);
/// What may happen between two looks to a clock that is being slewed.
const MARGIN: i128 = 2_000_000;

impl WallClock {
    fn look() -> WallClock {
        let before = i128::from(clock::now());
        let wall = i128::from(clock::read(libc::CLOCK_REALTIME));
        let after = i128::from(clock::now());
        WallClock {
            least: wall - after,
            most: wall - before,
        }
    }

    #[cfg(test)]
    pub(crate) fn exact() -> WallClock {
        WallClock { least: 0, most: 0 }
    }

    fn add(&mut self, other: WallClock) {
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    /// It was not earlier than this.
    pub(crate) fn not_before(&self, wall_ms: i64) -> u64 {
        clamp(i128::from(wall_ms) * 1_000_000 - self.most)
    }

    /// It was not later than this: a millisecond has an end.
    pub(crate) fn not_after(&self, wall_ms: i64) -> u64 {
        clamp((i128::from(wall_ms) + 1) * 1_000_000 - self.least)
    }
}

fn clamp(nanos: i128) -> u64 {
    u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
}

/// Watches the clocks until it is asked.
pub(crate) struct Watch {
    end: Arc<AtomicBool>,
    thread: thread::JoinHandle<WallClock>,
}

impl Watch {
    pub(crate) fn start() -> Watch {
        let end = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&end);
        let thread = thread::spawn(move || {
            let mut clock = WallClock::look();
            while !until.load(Ordering::Acquire) {
                thread::sleep(EVERY);
                clock.add(WallClock::look());
            }
            clock.least -= MARGIN;
            clock.most += MARGIN;
            clock
        });
        Watch { end, thread }
    }

    pub(crate) fn end(self) -> Result<WallClock, String> {
        self.end.store(true, Ordering::Release);
        self.thread
            .join()
            .map_err(|_| "the watch over the clocks panicked".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_only_widens_the_bounds() {
        let mut clock = WallClock::exact();
        clock.add(WallClock {
            least: -3_000_000,
            most: 5_000_000,
        });
        assert_eq!(clock.not_before(10), 5_000_000);
        assert_eq!(clock.not_after(10), 14_000_000);
        assert_eq!(clock.not_before(1), 0);
    }
}
