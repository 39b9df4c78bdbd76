//! Which threads signals interrupt: none that others wait for.

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
    let _restored = Restored(block_asynchronous());
    section()
}

#[cfg(not(zoolock_loom))]
struct Restored(libc::sigset_t);

#[cfg(not(zoolock_loom))]
impl Drop for Restored {
    fn drop(&mut self) {
        // SAFETY: the set is the mask that was given before.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut());
        }
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
}
