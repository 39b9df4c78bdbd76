//! The primitives that everything which crosses threads is built on.

use std::sync::{Condvar as StdCondvar, Mutex as StdMutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

pub(crate) use once_cell::sync::OnceCell;
pub(crate) use std::sync::{MutexGuard, atomic};
pub(crate) use std::thread_local;

pub(crate) use crate::fork::process as process_id;
pub(crate) use crate::signals::{Blocked, without_signals};

/// A mutex whose data stays usable after a panic: every critical section here leaves it valid.
#[derive(Default)]
pub(crate) struct Mutex<T>(StdMutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex(StdMutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if somebody has it, be it the calling thread itself.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// How long a wait may take.
pub(crate) struct Limit(Option<Instant>);

impl Limit {
    /// `None`, and what is beyond the clock's range, is for ever.
    pub(crate) fn starting_now(limit: Option<Duration>) -> Limit {
        Limit(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }

    /// How much time is left; `None` is for ever.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.0
            .map(|until| until.saturating_duration_since(Instant::now()))
    }
}

/// In a child, where a handler of a signal forks, nobody notifies; and the sleep goes on after the handler.
/// Who sleeps so has to look where it is now and then (R18).
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// Waits with a [`Mutex`].
#[derive(Default)]
pub(crate) struct Condvar(StdCondvar);

impl Condvar {
    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Sleeps until notified, or for no reason; `None` once the limit has passed.
    pub(crate) fn wait<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: &Limit,
    ) -> Option<MutexGuard<'a, T>> {
        let left = limit.left().unwrap_or(LONGEST_SLEEP);
        if left.is_zero() {
            return None;
        }
        let woken = self.0.wait_timeout(guard, left.min(LONGEST_SLEEP));
        Some(woken.unwrap_or_else(PoisonError::into_inner).0)
    }
}

/// A value for as long as the process lives.
macro_rules! process_wide {
    ($(#[$doc:meta])* $name:ident: $type:ty = $value:expr) => {
        $(#[$doc])*
        static $name: $type = $value;
    };
}
pub(crate) use process_wide;
