//! The clock that the workers of all languages read too.
//!
//! `CLOCK_MONOTONIC` is what Python's `time.monotonic_ns` and Node's `process.hrtime.bigint` read on Linux, so times of
//! different processes on one machine can be compared.

/// Nanoseconds on the machine's monotonic clock.
pub(crate) fn now() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds of one of the machine's clocks.
pub(crate) fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec to write to.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(status, 0, "a clock of the machine's cannot be read");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
