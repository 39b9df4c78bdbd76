//! The clock that all programs, of all languages, read.

use std::mem::MaybeUninit;
use std::thread;
use std::time::Duration;

/// `CLOCK_MONOTONIC`, in nanoseconds.
pub fn now() -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the pointer is valid, and a clock that always exists fills what it points to.
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// What a holder does with the lock: nothing, for so long.
pub fn pause(micros: u64) {
    if micros > 0 {
        thread::sleep(Duration::from_micros(micros));
    }
}
