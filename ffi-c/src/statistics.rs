//! What a lock object has counted.

use std::time::Duration;

use zoolock_core::{LockStatistics, Result};

use crate::boundary::call;
use crate::error::zoolock_error;
use crate::pointer;
use crate::status::zoolock_status;

/// A reading of a lock object's counters.
#[repr(C)]
pub struct zoolock_statistics {
    /// Grants.
    acquisitions: u64,
    /// Grants that had to wait for another contender.
    contended: u64,
    /// Attempts that ended at their time-out.
    timeouts: u64,
    /// Guards that were lost.
    losses: u64,
    /// Sum of the time from call to grant, in microseconds.
    waited_us: u64,
    /// Sum of the time from grant to release or loss, in microseconds.
    held_us: u64,
}

/// Copies the reading that `get` makes.
///
/// # Safety
/// The pointers are NULL or what their types say.
pub(crate) unsafe fn read(
    statistics: *mut zoolock_statistics,
    err: *mut *mut zoolock_error,
    get: impl FnOnce() -> Result<LockStatistics>,
) -> zoolock_status {
    call("statistics", err, || {
        let read = get()?;
        let reading = zoolock_statistics {
            acquisitions: read.acquisitions,
            contended: read.contended,
            timeouts: read.timeouts,
            losses: read.losses,
            waited_us: micros(read.waited),
            held_us: micros(read.held),
        };
        // SAFETY: as promised by the caller.
        unsafe { pointer::write("statistics", "statistics", statistics, reading) }?;
        Ok(zoolock_status::ZOOLOCK_OK)
    })
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
