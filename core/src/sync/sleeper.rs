//! A thread that sleeps until a waker is called.

use std::sync::Arc;
use std::task::Wake;

use super::primitive::{Condvar, Limit, Mutex};

/// See the module. Made for one wait.
#[derive(Default)]
pub(crate) struct Sleeper {
    called: Mutex<bool>,
    awake: Condvar,
}

impl Sleeper {
    pub(crate) fn new() -> Arc<Sleeper> {
        Arc::new(Sleeper::default())
    }

    /// Sleeps until it is called, at once if it was since the last time; `None` at the limit.
    pub(crate) fn sleep(&self, limit: &Limit) -> Option<()> {
        let mut called = self.called.lock();
        while !std::mem::take(&mut *called) {
            called = self.awake.wait(called, limit)?;
        }
        Some(())
    }

    /// Ends the present sleep, or the next one.
    pub(crate) fn call(&self) {
        *self.called.lock() = true;
        self.awake.notify_all();
    }
}

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.call();
    }
}
