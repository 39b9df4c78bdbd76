//! Which threads signals interrupt: none that others wait for.

#[cfg(not(zoolock_loom))]
use std::time::Duration;

/// Blocks all signals for the calling thread, for good.
pub(crate) fn block() {
    // SAFETY: `all` is a valid set, and no old mask is asked for.
    unsafe {
        let all = all();
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
    }
}

/// Runs a section that no handler may interrupt: one could take its time, fork, or leave by a jump,
/// while others wait for what the section has locked. What comes meanwhile is delivered after it.
#[cfg(not(zoolock_loom))]
pub(crate) fn without_signals<R>(section: impl FnOnce() -> R) -> R {
    let _blocked = Blocked::new();
    section()
}

/// No handler interrupts the calling thread while it has this, but for the moments that it lets them.
#[cfg(not(zoolock_loom))]
pub(crate) struct Blocked {
    before: libc::sigset_t,
    /// A thread's mask is its own.
    _here: std::marker::PhantomData<*const ()>,
}

#[cfg(not(zoolock_loom))]
impl Blocked {
    pub(crate) fn new() -> Blocked {
        Blocked {
            before: block_asynchronous(),
            _here: std::marker::PhantomData,
        }
    }

    /// Runs a section that handlers may interrupt.
    pub(crate) fn lifted<R>(&self, section: impl FnOnce() -> R) -> R {
        struct Again;
        impl Drop for Again {
            fn drop(&mut self) {
                block_asynchronous();
            }
        }
        self.restore();
        let _again = Again;
        section()
    }

    /// `poll`, which handlers may interrupt: as soon as it sleeps, not before.
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    pub(crate) fn sleep_on(
        &self,
        polled: &mut [libc::pollfd],
        limit: Option<Duration>,
    ) -> libc::c_int {
        let limit = limit.map(|limit| libc::timespec {
            tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
            // Wide enough on systems of 32 bits, too.
            tv_nsec: i32::try_from(limit.subsec_nanos())
                .unwrap_or(i32::MAX)
                .into(),
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let entries = libc::nfds_t::try_from(polled.len()).unwrap_or(0);
        // SAFETY: `polled` has so many entries; limit and mask are valid, or null.
        unsafe { libc::ppoll(polled.as_mut_ptr(), entries, limit, &raw const self.before) }
    }

    /// `poll`, which handlers may interrupt.
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    pub(crate) fn sleep_on(
        &self,
        polled: &mut [libc::pollfd],
        limit: Option<Duration>,
    ) -> libc::c_int {
        // Rounded up: a sleep that ends early is followed by another one.
        let millis = limit.map_or(-1, |limit| {
            libc::c_int::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(libc::c_int::MAX)
        });
        let entries = libc::nfds_t::try_from(polled.len()).unwrap_or(0);
        // SAFETY: `polled` has so many entries.
        self.lifted(|| unsafe { libc::poll(polled.as_mut_ptr(), entries, millis) })
    }

    fn restore(&self) {
        // SAFETY: the set is the mask that was given before.
        unsafe {
            libc::pthread_sigmask(
                libc::SIG_SETMASK,
                &raw const self.before,
                std::ptr::null_mut(),
            );
        }
    }
}

#[cfg(not(zoolock_loom))]
impl Drop for Blocked {
    fn drop(&mut self) {
        self.restore();
    }
}

/// All but those that the thread's own mistakes raise, which must end the process as ever. The mask
/// of before.
#[cfg(not(zoolock_loom))]
fn block_asynchronous() -> libc::sigset_t {
    // SAFETY: both sets are valid, and only written to.
    unsafe {
        let mut blocked = all();
        for own in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGTRAP,
            libc::SIGABRT,
            libc::SIGSYS,
        ] {
            libc::sigdelset(&raw mut blocked, own);
        }
        let mut before = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, &raw mut before);
        before
    }
}

fn all() -> libc::sigset_t {
    // SAFETY: a set is plain data, initialised by `sigfillset` before use.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        all
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    static HANDLED: AtomicBool = AtomicBool::new(false);

    extern "C" fn handle(_: libc::c_int) {
        HANDLED.store(true, Ordering::SeqCst);
    }

    #[test]
    fn a_handler_runs_after_the_section() {
        // SAFETY: the handler only sets a flag; nobody else here uses this signal.
        unsafe {
            let handler = handle as extern "C" fn(libc::c_int);
            libc::signal(libc::SIGWINCH, handler as libc::sighandler_t);
        }
        without_signals(|| {
            without_signals(|| {
                // SAFETY: sent to the calling thread, which exists.
                let sent = unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGWINCH) };
                assert_eq!(sent, 0);
            });
            assert!(!HANDLED.load(Ordering::SeqCst));
        });
        assert!(HANDLED.load(Ordering::SeqCst));
    }

    #[test]
    fn a_handler_interrupts_the_sleep_alone() {
        static SLEEPS: AtomicBool = AtomicBool::new(false);
        static INTERRUPTED_SLEEP: AtomicBool = AtomicBool::new(false);
        extern "C" fn handle(_: libc::c_int) {
            INTERRUPTED_SLEEP.store(SLEEPS.load(Ordering::SeqCst), Ordering::SeqCst);
        }
        // SAFETY: the handler only sets a flag; nobody else here uses this signal.
        unsafe {
            let handler = handle as extern "C" fn(libc::c_int);
            libc::signal(libc::SIGURG, handler as libc::sighandler_t);
        }
        let blocked = Blocked::new();
        // SAFETY: sent to the calling thread, which exists.
        let sent = unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGURG) };
        assert_eq!(sent, 0);
        SLEEPS.store(true, Ordering::SeqCst);
        let ready = blocked.sleep_on(&mut [], Some(Duration::from_secs(60)));
        SLEEPS.store(false, Ordering::SeqCst);
        assert!(ready < 0 && INTERRUPTED_SLEEP.load(Ordering::SeqCst));
        assert_eq!(blocked.sleep_on(&mut [], Some(Duration::from_millis(1))), 0);
    }
}
