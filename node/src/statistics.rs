//! What a lock has counted.

use std::time::Duration;

use napi_derive::napi;
use zoolock::LockStatistics;

/// A reading of a lock's counters. The counts are whole numbers.
#[napi(object, object_from_js = false)]
pub struct StatisticsObject {
    pub acquisitions: f64,
    pub contended: f64,
    pub timeouts: f64,
    pub losses: f64,
    pub waited_ms: f64,
    pub held_ms: f64,
}

impl From<LockStatistics> for StatisticsObject {
    fn from(read: LockStatistics) -> StatisticsObject {
        StatisticsObject {
            acquisitions: count(read.acquisitions),
            contended: count(read.contended),
            timeouts: count(read.timeouts),
            losses: count(read.losses),
            waited_ms: millis(read.waited),
            held_ms: millis(read.held),
        }
    }
}

/// Exact up to 2^53, which nothing here reaches.
#[allow(clippy::cast_precision_loss)]
fn count(count: u64) -> f64 {
    count as f64
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
