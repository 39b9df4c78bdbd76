//! Looking, and waiting for what is to be seen.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use zoolock::Pending;
use zoolock_ensemble::Observer;

use super::LONG;

/// The machine's clock: the same for all processes on it.
pub fn clock() -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec of ours.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut now) };
    assert_eq!(status, 0, "the clock can be read");
    let seconds = u64::try_from(now.tv_sec).expect("after boot");
    let nanoseconds = u32::try_from(now.tv_nsec).expect("less than a second");
    Duration::new(seconds, nanoseconds)
}

/// Waits until `condition` holds.
#[track_caller]
pub fn eventually(what: &str, condition: impl FnMut() -> bool) {
    assert!(
        zoolock_ensemble::eventually(LONG, condition),
        "not within {LONG:?}: {what}"
    );
}

/// A lock path that no other test uses.
pub fn path(name: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("/locks/{name}-{}-{count}", std::process::id())
}

/// The names below a lock path by their numbers; none if the path itself is not there.
pub fn children(observer: &Observer, path: &str) -> Vec<String> {
    if observer.exists(path).expect("observe").is_none() {
        return Vec::new();
    }
    let mut names = match observer.children(path) {
        Ok(names) => names,
        // An empty container may be reaped in between.
        Err(_) if observer.exists(path).expect("observe").is_none() => Vec::new(),
        Err(error) => panic!("{error}"),
    };
    names.sort_by_key(|name| number(name));
    names
}

/// Waits until so many contenders queue.
#[track_caller]
pub fn queued(observer: &Observer, path: &str, count: usize) {
    eventually(&format!("{count} contenders on {path}"), || {
        children(observer, path).len() == count
    });
}

/// Waits until nobody queues, and looks whether that stays so while `time` passes.
#[track_caller]
pub fn is_empty(observer: &Observer, path: &str, time: Duration) {
    queued(observer, path, 0);
    let appeared = zoolock_ensemble::eventually(time, || !children(observer, path).is_empty());
    assert!(!appeared, "orphans: {:?}", children(observer, path));
}

fn number(name: &str) -> i64 {
    let digits = name.rsplit(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(-1)
}

/// Whether the call is still under way after `time`.
pub fn waits<T: std::fmt::Debug>(pending: &mut Pending<T>, time: Duration) -> bool {
    match pending.wait_for(time) {
        None => true,
        Some(outcome) => {
            eprintln!("ended with {outcome:?}");
            false
        }
    }
}
