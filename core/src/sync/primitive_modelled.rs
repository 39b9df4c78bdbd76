//! The primitives as loom models them: every step that another thread can see is a point where it
//! may run, and an atomic load may return any value that its ordering allows.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

pub(crate) use loom::sync::atomic;
pub(crate) use loom::thread_local;

/// The same as the real one.
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

/// Knows its mutex, to model a wait that ends by itself.
pub(crate) struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    inner: loom::sync::MutexGuard<'a, T>,
}

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard {
            mutex: self,
            inner: self.0.lock().expect("a model's panic ends the run"),
        }
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let inner = self.0.try_lock().ok()?;
        Some(MutexGuard { mutex: self, inner })
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

/// A limit passes while its owner sleeps: whatever can happen in that time has its chance to.
pub(crate) struct Limit {
    is_limited: bool,
    has_passed: Cell<bool>,
}

impl Limit {
    pub(crate) fn starting_now(limit: Option<Duration>) -> Limit {
        Limit {
            is_limited: limit.is_some(),
            has_passed: Cell::new(false),
        }
    }

    /// Models have no sockets to wait for.
    pub(crate) fn left(&self) -> Option<Duration> {
        None
    }
}

/// The same as the real one, without wake-ups for no reason.
pub(crate) struct Condvar(loom::sync::Condvar);

impl Default for Condvar {
    fn default() -> Self {
        Condvar(loom::sync::Condvar::new())
    }
}

impl Condvar {
    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    pub(crate) fn wait<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: &Limit,
    ) -> Option<MutexGuard<'a, T>> {
        let mutex = guard.mutex;
        if !limit.is_limited {
            let woken = self.0.wait(guard.inner);
            return Some(MutexGuard {
                mutex,
                inner: woken.expect("a model's panic ends the run"),
            });
        }
        if limit.has_passed.replace(true) {
            return None;
        }
        drop(guard);
        Some(mutex.lock())
    }
}

/// A cell that is filled once, as `once_cell` has it: whoever comes meanwhile waits.
pub(crate) struct OnceCell<T> {
    is_full: atomic::AtomicBool,
    filling: loom::sync::Mutex<()>,
    value: loom::cell::UnsafeCell<Option<T>>,
}

// SAFETY: as for the real one; the value is written under the lock, before `is_full` is set.
unsafe impl<T: Send + Sync> Sync for OnceCell<T> {}

impl<T> OnceCell<T> {
    pub(crate) fn new() -> OnceCell<T> {
        OnceCell {
            is_full: atomic::AtomicBool::new(false),
            filling: loom::sync::Mutex::new(()),
            value: loom::cell::UnsafeCell::new(None),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if !self.is_full.load(atomic::Ordering::Acquire) {
            return None;
        }
        // SAFETY: full cells are not written again.
        self.value.with(|value| unsafe { (*value).as_ref() })
    }

    pub(crate) fn get_or_try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Some(value) = self.get() {
            return Ok(value);
        }
        let filling = self.filling.lock().expect("a model's panic ends the run");
        if self.get().is_none() {
            let made = make()?;
            // SAFETY: the lock is held, and nobody reads before `is_full` is set.
            self.value.with_mut(|value| unsafe { *value = Some(made) });
            self.is_full.store(true, atomic::Ordering::Release);
        }
        drop(filling);
        Ok(self.get().expect("it was just filled"))
    }
}

loom::thread_local! {
    static PROCESS: Cell<u64> = Cell::new(1);
}

/// The process that the calling thread stands for.
pub(crate) fn process_id() -> u64 {
    PROCESS.with(Cell::get)
}

/// Makes the calling thread a forked child: it finds the memory as the others left it, and none of
/// them goes on for it.
pub(crate) fn fork() {
    PROCESS.with(|process| process.set(process.get() + 1));
}

/// There are no signals in a model.
pub(crate) fn without_signals<R>(section: impl FnOnce() -> R) -> R {
    section()
}

/// As above.
pub(crate) struct Blocked;

impl Blocked {
    pub(crate) fn new() -> Blocked {
        Blocked
    }

    pub(crate) fn lifted<R>(&self, section: impl FnOnce() -> R) -> R {
        section()
    }

    /// Nor are there sockets.
    pub(crate) fn sleep_on(&self, _: &mut [libc::pollfd], _: Option<Duration>) -> libc::c_int {
        0
    }
}

/// A value for as long as one run of a model.
macro_rules! process_wide {
    ($(#[$doc:meta])* $name:ident: $type:ty = $value:expr) => {
        loom::lazy_static! {
            $(#[$doc])*
            static ref $name: $type = $value;
        }
    };
}
pub(crate) use process_wide;
