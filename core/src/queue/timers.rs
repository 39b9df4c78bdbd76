//! Moments at which the queue has something to do.

use std::collections::BTreeSet;

use super::guards::HoldId;
use super::nodes::{NodeId, ReleaseId};
use super::paths::PathId;
use crate::clock::Time;
use crate::command::AttemptId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// An attempt's deadline.
    Attempt(AttemptId),
    /// A hold has lasted long enough to watch its own node.
    OwnWatch(HoldId),
    /// Waiters may have waited long enough to watch their own nodes.
    LateWatches,
    /// A release succeeds without a confirmation: its lease has ended.
    Release(ReleaseId),
    /// A throttled request is tried again.
    Retry(NodeId),
    /// A question for the contenders has to be answered.
    Query(u64),
    /// A close has to be answered.
    Closer(u64),
    /// A kept contender may have been idle for too long.
    Kept(PathId),
    /// A path is looked at for creates that were lost on it.
    LostCreates(u64),
}

#[derive(Default)]
pub(super) struct Timers(BTreeSet<(Time, Timer)>);

impl Timers {
    pub(super) fn set(&mut self, at: Time, timer: Timer) {
        self.0.insert((at, timer));
    }

    pub(super) fn cancel(&mut self, at: Time, timer: Timer) {
        self.0.remove(&(at, timer));
    }

    pub(super) fn next(&self) -> Time {
        self.0.first().map_or(Time::NEVER, |(at, _)| *at)
    }

    pub(super) fn pop_due(&mut self, now: Time) -> Option<Timer> {
        if self.next() > now {
            return None;
        }
        self.0.pop_first().map(|(_, timer)| timer)
    }
}
