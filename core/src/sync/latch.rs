//! An event that happens at most once and that many may wait for: the loss of a guard (R4).

use std::task::Waker;
use std::time::Duration;

use super::primitive::atomic::{AtomicBool, Ordering};
use super::primitive::{Condvar, Limit, Mutex, MutexGuard, process_id};

type Callback = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Waiters {
    wakers: Vec<(u64, Waker)>,
    callbacks: Vec<Callback>,
    next_key: u64,
    /// Whether a thread has waited. For few guards one does, and to wake nobody is a system call too.
    blocked: bool,
    /// No event will come any more: the guard was released.
    retired: bool,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Latch {
    fired: AtomicBool,
    waiters: Mutex<Waiters>,
    ended: Condvar,
}

impl Latch {
    pub(crate) fn is_fired(&self) -> bool {
        self.fired.load(Ordering::Acquire)
    }

    /// Fires: hands the callbacks to `post`, which brings them where callbacks run, and wakes
    /// everyone who waits. Later calls do nothing.
    pub(crate) fn fire(&self, post: impl FnMut(Callback)) {
        let mut waiters = self.waiters.lock();
        if waiters.retired || self.fired.swap(true, Ordering::AcqRel) {
            return;
        }
        // Within the lock: whoever sees the event and registers now comes after those.
        waiters.callbacks.drain(..).for_each(post);
        self.wake(waiters);
    }

    /// Ends the waiting of those who wait with a limit; the event will not come any more.
    pub(crate) fn retire(&self) {
        let mut waiters = self.waiters.lock();
        if !self.is_fired() {
            waiters.retired = true;
            let unwanted = std::mem::take(&mut waiters.callbacks);
            self.wake(waiters);
            drop(unwanted);
        }
    }

    /// Wakes outside the lock: a waker may run anything.
    fn wake(&self, mut waiters: MutexGuard<'_, Waiters>) {
        let wakers = std::mem::take(&mut waiters.wakers);
        let blocked = waiters.blocked;
        drop(waiters);
        if blocked {
            self.ended.notify_all();
        }
        for (_, waker) in wakers {
            super::wakers::wake(waker);
        }
    }

    /// Registers `callback`; gives it back if the event has happened, to be run now.
    pub(crate) fn on_fire(&self, callback: Callback) -> Option<Callback> {
        let mut waiters = self.waiters.lock();
        if self.is_fired() {
            return Some(callback);
        }
        if !waiters.retired {
            waiters.callbacks.push(callback);
        }
        None
    }

    /// Blocks until the event, at most `limit` (for ever if `None`). `Some(false)`: it cannot come
    /// any more. `None`: not yet, or this is a child that a handler of a signal has forked meanwhile.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> Option<bool> {
        let process = process_id();
        let limit = Limit::starting_now(limit);
        let mut waiters = self.waiters.lock();
        loop {
            if self.is_fired() {
                return Some(true);
            }
            if waiters.retired {
                return Some(false);
            }
            waiters.blocked = true;
            waiters = self.ended.wait(waiters, &limit)?;
            if process_id() != process {
                return None;
            }
        }
    }

    /// Registers a future's waker under `key` (0: a new one); true if the event has happened.
    pub(crate) fn poll(&self, key: &mut u64, waker: &Waker) -> bool {
        let mut waiters = self.waiters.lock();
        if self.is_fired() {
            return true;
        }
        if *key == 0 {
            waiters.next_key += 1;
            *key = waiters.next_key;
        }
        match waiters.wakers.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => known.clone_from(waker),
            None => waiters.wakers.push((*key, waker.clone())),
        }
        false
    }

    /// Forgets the waker registered under `key`.
    pub(crate) fn forget(&self, key: u64) {
        if key != 0 {
            self.waiters
                .lock()
                .wakers
                .retain(|(known, _)| *known != key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fires_once_and_gives_each_callback_once() {
        let latch = Latch::default();
        assert!(latch.on_fire(Box::new(|| ())).is_none());
        let mut posted = 0;
        latch.fire(|_| posted += 1);
        latch.fire(|_| posted += 1);
        assert_eq!(posted, 1);
        assert!(latch.on_fire(Box::new(|| ())).is_some());
        assert_eq!(latch.wait(None), Some(true));
    }

    #[test]
    fn a_retired_latch_never_fires() {
        let latch = Latch::default();
        assert!(latch.on_fire(Box::new(|| ())).is_none());
        latch.retire();
        latch.fire(|_| unreachable!("a callback of a retired latch"));
        assert_eq!(latch.wait(None), Some(false));
    }

    #[test]
    fn waiting_ends_at_its_limit() {
        assert_eq!(Latch::default().wait(Some(Duration::from_millis(1))), None);
    }
}
