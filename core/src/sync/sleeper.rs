//! A thread that sleeps until a waker is called.

use std::sync::Arc;
use std::task::Wake;

use super::primitive::{Condvar, Limit, Mutex, process_id};

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

    /// Sleeps until it is called, at once if it was since the last time; `None` at the limit, and in a
    /// child that a handler of a signal has forked meanwhile.
    pub(crate) fn sleep(&self, limit: &Limit) -> Option<()> {
        let process = process_id();
        let mut called = self.called.lock();
        while !std::mem::take(&mut *called) {
            called = self.awake.wait(called, limit)?;
            if process_id() != process {
                return None;
            }
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

#[cfg(all(test, not(zoolock_loom)))]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

    use super::*;

    /// Whether the kernel has put a thread of this process to sleep.
    #[cfg(target_os = "linux")]
    fn sleeps(thread: libc::pid_t) -> bool {
        let status = std::fs::read_to_string(format!("/proc/self/task/{thread}/status"));
        status.expect("a thread").contains("State:\tS")
    }

    /// Nobody is there to call it: it must not sleep for ever.
    #[cfg(target_os = "linux")]
    #[test]
    fn r18_a_child_that_a_handler_forks_in_the_sleep_wakes() {
        static CHILD: AtomicI32 = AtomicI32::new(0);
        static BEGUN: AtomicBool = AtomicBool::new(false);
        extern "C" fn fork(_: libc::c_int) {
            // SAFETY: the child goes on in the sleep, and ends after it.
            CHILD.store(unsafe { libc::fork() }, Ordering::SeqCst);
        }
        // SAFETY: nobody else here uses this signal; the thread is the calling one.
        let (thread, number) = unsafe {
            let handler = fork as extern "C" fn(libc::c_int);
            libc::signal(libc::SIGVTALRM, handler as libc::sighandler_t);
            (libc::pthread_self(), libc::gettid())
        };
        let (parent, sleeper) = (std::process::id(), Sleeper::new());
        let caller = std::thread::spawn({
            let sleeper = Arc::clone(&sleeper);
            move || {
                while !(BEGUN.load(Ordering::SeqCst) && sleeps(number)) {
                    std::thread::yield_now();
                }
                // SAFETY: it sleeps till it is called below.
                assert_eq!(unsafe { libc::pthread_kill(thread, libc::SIGVTALRM) }, 0);
                while CHILD.load(Ordering::SeqCst) == 0 {
                    std::thread::yield_now();
                }
                let (child, mut status) = (CHILD.load(Ordering::SeqCst), 0);
                // SAFETY: a child of this process, and `status` is writable.
                let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
                sleeper.call();
                ended == child && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
            }
        });
        BEGUN.store(true, Ordering::SeqCst);
        let slept = sleeper.sleep(&Limit::starting_now(None));
        if std::process::id() != parent {
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(i32::from(slept.is_some())) }
        }
        assert_eq!(slept, Some(()));
        assert!(caller.join().expect("no panic"), "the child");
    }
}
