//! Lengths of time in. Out of range is an `InvalidArgument` of the core's own.

use std::time::Duration;

use zoolock_core::{Result, binding};

#[expect(
    clippy::cast_precision_loss,
    reason = "what is not exact is over ten years"
)]
pub(crate) fn milliseconds(
    operation: &'static str,
    argument: &str,
    value: i64,
) -> Result<Duration> {
    binding::millis(operation, argument, value as f64)
}
