//! Which process this is, told apart from those it was forked from (R18).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Rises in every forked child.
static GENERATION: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" {
    /// POSIX's; the `libc` crate has it for few systems only.
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> libc::c_int;
}

extern "C" fn in_the_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// The calling process. Its number alone would not do: a child in a namespace of its own, or one
/// forked late, may have the number of its parent. Nor would the generation alone: `clone` may be
/// called past the C library. The number is asked of the kernel every time, since a cached one
/// would survive the fork.
pub(crate) fn process() -> u64 {
    watch_forks();
    let generation = u64::from(GENERATION.load(Ordering::Relaxed));
    generation << 32 | u64::from(std::process::id())
}

fn watch_forks() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    // No lock: a fork in the midst would leave it taken for ever.
    if WATCHED.load(Ordering::Relaxed) || WATCHED.swap(true, Ordering::Relaxed) {
        return;
    }
    // SAFETY: the handler only adds to an atomic number, which is allowed after any fork.
    let status = unsafe { pthread_atfork(None, None, Some(in_the_child)) };
    if status != 0 {
        tracing::warn!(status, "forks are told by the process's number alone");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r18_a_child_is_another_process_whatever_its_number() {
        let before = process();
        assert_eq!(process(), before);
        // SAFETY: the child only reads an atomic, and leaves.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let generation = |process: u64| process >> 32;
            let told_apart = generation(process()) != generation(before);
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(i32::from(!told_apart)) };
        }
        let mut status = 0;
        // SAFETY: `child` is ours, and `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(libc::WEXITSTATUS(status), 0);
        assert_eq!(process(), before);
    }
}
