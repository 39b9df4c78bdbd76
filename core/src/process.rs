//! What belongs to one process: its identity, and values that a forked child must not touch (R18).

use crate::sync::primitive::atomic::{AtomicPtr, Ordering};
use crate::sync::primitive::{self, OnceCell};

/// The calling process, told apart from those it was forked from.
pub(crate) fn id() -> u64 {
    primitive::process_id()
}

struct Stamped<T> {
    process: u64,
    cell: OnceCell<T>,
}

/// A value of which every process has its own.
///
/// A forked child finds its parent's value, leaks it (dropping it could take a lock that was held
/// at the fork, or close what the parent still uses) and makes one of its own on first use. No
/// lock that existed before the fork is taken on the way.
pub(crate) struct PerProcess<T> {
    slot: AtomicPtr<Stamped<T>>,
}

impl<T> PerProcess<T> {
    #[cfg(not(zoolock_loom))]
    pub(crate) const fn new() -> PerProcess<T> {
        PerProcess {
            slot: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// A model's pointers know the run they belong to, so they are not made at compile time.
    #[cfg(zoolock_loom)]
    pub(crate) fn new() -> PerProcess<T> {
        PerProcess {
            slot: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// The value of the present process, if it has one already.
    pub(crate) fn get(&self) -> Option<&T> {
        self.current()?.cell.get()
    }

    /// The value of the present process, made by `make` if there is none yet.
    pub(crate) fn get_or_try_init<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        let stamped = loop {
            let seen = self.slot.load(Ordering::Acquire);
            if let Some(stamped) = self.current() {
                break stamped;
            }
            let fresh = Box::into_raw(Box::new(Stamped {
                process: id(),
                cell: OnceCell::new(),
            }));
            if self
                .slot
                .compare_exchange(seen, fresh, Ordering::AcqRel, Ordering::Acquire)
                .is_err()
            {
                // SAFETY: nobody else has seen `fresh`.
                drop(unsafe { Box::from_raw(fresh) });
            }
        };
        stamped.cell.get_or_try_init(make)
    }

    fn current(&self) -> Option<&Stamped<T>> {
        // SAFETY: a non-null slot holds a leaked box, freed only by `drop`, which has exclusive
        // access.
        let stamped = unsafe { self.slot.load(Ordering::Acquire).as_ref() }?;
        (stamped.process == id()).then_some(stamped)
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        PerProcess::new()
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        if self.current().is_some() {
            // SAFETY: exclusive access, and the box was made by this process.
            drop(unsafe { Box::from_raw(self.slot.load(Ordering::Relaxed)) });
        }
    }
}

// SAFETY: shares `T` between threads and may drop it on another one, like `OnceCell`.
unsafe impl<T: Send + Sync> Sync for PerProcess<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for PerProcess<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_its_value_once() {
        let cell = PerProcess::new();
        assert!(cell.get().is_none());
        assert_eq!(cell.get_or_try_init(|| Ok::<_, ()>(1)), Ok(&1));
        assert_eq!(cell.get_or_try_init(|| Ok::<_, ()>(2)), Ok(&1));
        assert_eq!(cell.get(), Some(&1));
    }

    #[test]
    fn a_failed_initialisation_can_be_tried_again() {
        let cell = PerProcess::new();
        assert_eq!(cell.get_or_try_init(|| Err("no")), Err("no"));
        assert_eq!(cell.get_or_try_init(|| Ok::<_, ()>(3)), Ok(&3));
    }
}
