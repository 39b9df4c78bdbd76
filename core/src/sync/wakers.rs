//! Whom to wake, and when: a waker may run anything, so none runs while the seat is taken.

// loom's `thread_local` knows no `const`.
#![allow(clippy::missing_const_for_thread_local)]

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Waker;

use super::primitive::thread_local;

thread_local! {
    /// Who is woken when this thread leaves the seat; `None` while it does not sit there.
    static DEFERRED: RefCell<Option<Vec<Waker>>> = RefCell::new(None);
}

/// Wakes now, or once this thread has left the seat.
pub(crate) fn wake(waker: Waker) {
    let mut waker = Some(waker);
    // Where a thread ends, the list may be gone: then it sits nowhere.
    let _kept = DEFERRED.try_with(|deferred| {
        if let Some(wakers) = &mut *deferred.borrow_mut() {
            wakers.extend(waker.take());
        }
    });
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Runs what is done in the seat; whoever is woken by it is woken afterwards.
pub(crate) fn woken_after<R>(section: impl FnOnce() -> R) -> R {
    woken_by(|wake| wake(), section)
}

/// As above; the wakers, if there are any, are woken where `surround` calls what it is given.
pub(crate) fn woken_by<R>(surround: impl FnOnce(&dyn Fn()), section: impl FnOnce() -> R) -> R {
    let outermost = DEFERRED.try_with(|deferred| {
        let mut deferred = deferred.borrow_mut();
        let outermost = deferred.is_none();
        if outermost {
            *deferred = Some(Vec::new());
        }
        outermost
    });
    let _wake = Wake(outermost.unwrap_or(false).then_some(surround));
    section()
}

/// Also when the section panics.
struct Wake<S: FnOnce(&dyn Fn())>(Option<S>);

impl<S: FnOnce(&dyn Fn())> Drop for Wake<S> {
    fn drop(&mut self) {
        let Some(surround) = self.0.take() else {
            return;
        };
        let deferred = DEFERRED.try_with(|deferred| deferred.borrow_mut().take());
        let wakers = deferred.ok().flatten().unwrap_or_default();
        if wakers.is_empty() {
            return;
        }
        let wakers = Cell::new(wakers);
        surround(&|| {
            let mut panicked = None;
            for waker in wakers.take() {
                // One that panics leaves nobody else asleep.
                let woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
                panicked = panicked.take().or(woken.err());
            }
            if let Some(panic) = panicked
                && !std::thread::panicking()
            {
                resume_unwind(panic);
            }
        });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    pub(crate) struct Woken(pub(crate) AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn nobody_is_woken_before_the_outermost_section_ends() {
        let woken = Arc::new(Woken::default());
        woken_after(|| {
            woken_after(|| wake(Arc::clone(&woken).into()));
            assert_eq!(woken.0.load(Ordering::SeqCst), 0);
        });
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
        wake(Arc::clone(&woken).into());
        assert_eq!(woken.0.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_waker_that_panics_keeps_nobody_asleep() {
        struct Panics;
        impl Wake for Panics {
            fn wake(self: Arc<Self>) {
                panic!("on purpose");
            }
        }
        let woken = Arc::new(Woken::default());
        let last = Arc::clone(&woken).into();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            woken_after(|| {
                wake(Arc::new(Panics).into());
                wake(last);
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_panic_keeps_nobody_asleep() {
        let woken = Arc::new(Woken::default());
        let waker = Arc::clone(&woken).into();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            woken_after(|| {
                wake(waker);
                panic!("on purpose");
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    }
}
