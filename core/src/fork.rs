//! Which process this is, told apart from those it was forked from (R18).

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

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

/// What the kernel clears in every child that has a copy of the memory, however it was made. `None`
/// where it does not do that; not asked yet while it is null.
static WIPED_ON_FORK: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
/// The last identity that was found: a child's own, or the one of the process that it came from.
static LAST: AtomicU64 = AtomicU64::new(0);
/// Stands for a page that cannot be had.
static NO_PAGE: AtomicU64 = AtomicU64::new(0);

/// The calling process. Its number alone would not do: a child in a namespace of its own, or one
/// forked late, may have the number of its parent. Nor would the generation alone: `clone` may be
/// called past the C library. Where the kernel can clear a page in the child the answer is kept
/// there; elsewhere the number is asked of the kernel every time, since a cached one would survive
/// the fork.
pub(crate) fn process() -> u64 {
    match page().map(|page| (page, page.load(Ordering::Relaxed))) {
        Some((_, known @ 1..)) => known,
        Some((page, 0)) => first_look(page),
        None => look(),
    }
}

/// By the kernel's word.
fn look() -> u64 {
    watch_forks();
    let generation = u64::from(GENERATION.load(Ordering::Relaxed));
    generation << 32 | u64::from(std::process::id())
}

/// In a process that has not asked yet: the first one, or a child.
fn first_look(page: &AtomicU64) -> u64 {
    let (found, last) = (look(), LAST.load(Ordering::Relaxed));
    // `clone` past the C library, into a namespace where the child has its parent's number.
    let generations = (found >> 32).max(if last == 0 { 0 } else { (last >> 32) + 1 });
    let found = generations << 32 | (found & u64::from(u32::MAX));
    match page.compare_exchange(0, found, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => {
            LAST.store(found, Ordering::Relaxed);
            found
        }
        Err(by_another_thread) => by_another_thread,
    }
}

fn page() -> Option<&'static AtomicU64> {
    let known = WIPED_ON_FORK.load(Ordering::Acquire);
    let page = if known.is_null() { map_page() } else { known };
    // SAFETY: never unmapped once it is known, and aligned as a page is.
    (!std::ptr::eq(page, &raw const NO_PAGE)).then(|| unsafe { &*page })
}

#[cold]
fn map_page() -> *mut AtomicU64 {
    let mapped = wiped_on_fork();
    let page = mapped.unwrap_or((&raw const NO_PAGE).cast_mut());
    // No lock: a fork in the midst would leave it taken for ever.
    match WIPED_ON_FORK.compare_exchange(
        std::ptr::null_mut(),
        page,
        Ordering::AcqRel,
        Ordering::Acquire,
    ) {
        Ok(_) => page,
        Err(by_another_thread) => {
            if let Some(mapped) = mapped {
                unmap(mapped);
            }
            by_another_thread
        }
    }
}

/// A part of a page would be rounded up.
const PAGE: usize = size_of::<AtomicU64>();

#[cfg(target_os = "linux")]
fn wiped_on_fork() -> Option<*mut AtomicU64> {
    let (protection, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new mapping, which nobody else knows of.
    unsafe {
        let mapped = libc::mmap(std::ptr::null_mut(), PAGE, protection, flags, -1, 0);
        if mapped == libc::MAP_FAILED {
            return None;
        }
        if libc::madvise(mapped, PAGE, libc::MADV_WIPEONFORK) != 0 {
            unmap(mapped.cast());
            return None;
        }
        Some(mapped.cast())
    }
}

#[cfg(not(target_os = "linux"))]
fn wiped_on_fork() -> Option<*mut AtomicU64> {
    None
}

fn unmap(page: *mut AtomicU64) {
    // SAFETY: mapped by `wiped_on_fork`, and nobody else knows of it.
    unsafe { libc::munmap(page.cast(), PAGE) };
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

    fn ends_well(child: libc::pid_t) -> bool {
        let mut status = 0;
        // SAFETY: `child` is ours, and `status` is writable.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        waited == child && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }

    fn exit(well: bool) -> ! {
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(i32::from(!well)) }
    }

    fn generation(process: u64) -> u64 {
        process >> 32
    }

    #[test]
    fn r18_a_child_is_another_process_whatever_its_number() {
        let before = process();
        assert_eq!(process(), before);
        // SAFETY: the child only reads atomics, and leaves.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let own = process();
            exit(generation(own) != generation(before) && process() == own);
        }
        assert!(ends_well(child));
        assert_eq!(process(), before);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn r18_a_child_made_past_the_c_library_is_another_process() {
        let (before, nothing) = (process(), std::ptr::null_mut::<libc::c_void>());
        // SAFETY: the child only reads atomics, and leaves.
        let clone = || unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, nothing, nothing) };
        let child = clone();
        if child == 0 {
            let own = process();
            let grandchild = clone();
            if grandchild == 0 {
                let generations = [before, own, process()].map(generation);
                exit(generations.is_sorted_by(|older, newer| older < newer));
            }
            let right = i32::try_from(grandchild).is_ok_and(ends_well);
            exit(right && generation(own) > generation(before) && process() == own);
        }
        assert!(i32::try_from(child).is_ok_and(ends_well));
        assert_eq!(process(), before);
    }

    #[test]
    fn without_a_page_it_is_the_kernel_who_tells() {
        assert_eq!(look() & u64::from(u32::MAX), u64::from(std::process::id()));
    }
}
