//! Time as the lease needs it: a clock that runs on while the machine sleeps.

use std::time::Duration;

/// A moment on the machine's boot-time clock, in nanoseconds.
///
/// `std::time::Instant` stops during suspend on Linux; a lease must not (R3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Time(pub(crate) u64);

impl Time {
    pub(crate) const NEVER: Time = Time(u64::MAX);

    pub(crate) fn saturating_since(self, earlier: Time) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    pub(crate) fn minus(self, duration: Duration) -> Time {
        Time(self.0.saturating_sub(nanos(duration)))
    }
}

impl std::ops::Add<Duration> for Time {
    type Output = Time;
    fn add(self, duration: Duration) -> Time {
        Time(self.0.saturating_add(nanos(duration)))
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Reads the clock. The state machines never do: they are handed the time.
pub(crate) fn now() -> Time {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_BOOTTIME;
    // On macOS and the BSDs CLOCK_MONOTONIC counts through sleep.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

    let mut spec = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `spec` is a valid timespec to write to; the clock id is one the platform defines.
    let status = unsafe { libc::clock_gettime(CLOCK, &raw mut spec) };
    assert_eq!(status, 0, "the boot-time clock cannot be read");
    let seconds = u64::try_from(spec.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(spec.tv_nsec).unwrap_or(0);
    Time(seconds * 1_000_000_000 + nanoseconds)
}
