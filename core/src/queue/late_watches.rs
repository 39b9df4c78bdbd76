//! Waiters that watch their own nodes only if they wait for long (R4).
//!
//! The watch on a waiter's own node has two uses: its removal by somebody else is reported in time,
//! and without a listing the turn can come only to a node that is known to be there (Z11). A waiter
//! that will list again before its turn, because strangers are before the one that it watches, needs
//! it for the first alone, and not within the time that a guard has for it either.

use std::collections::VecDeque;
use std::time::Duration;

use super::guards::OWN_WATCH_AFTER;
use super::nodes::{Node, NodeId, Phase, User};
use super::timers::Timer;
use super::view::Watch;
use super::{Context, Queues};
use crate::clock::Time;

/// How long the look may come after the first of them is due. Most have had their turn by then, so a
/// look for each would wake the network thread for nothing.
const LOOK_TOGETHER: Duration = Duration::from_millis(100);

/// See the module: when each is due, and whose turn may have come since, in order.
#[derive(Default)]
pub(super) struct LateWatches(VecDeque<(Time, NodeId)>);

impl Queues {
    pub(super) fn watch_own_later(&mut self, now: Time, id: NodeId) {
        if self.own_watch(id) != Watch::None {
            return;
        }
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        if std::mem::replace(&mut node.watched_later, true) {
            return;
        }
        let due = now + OWN_WATCH_AFTER;
        if self.late_watches.0.is_empty() {
            self.timers.set(due + LOOK_TOGETHER, Timer::LateWatches);
        }
        self.late_watches.0.push_back((due, id));
    }

    /// The time has come for the first of them, and perhaps for more.
    pub(super) fn watch_late(&mut self, cx: &mut Context<'_>) {
        while let Some((due, id)) = self.late_watches.0.front().copied() {
            let waits = self
                .nodes
                .get(&id)
                .is_some_and(|node| node.waits_unwatched());
            if waits && due > cx.now {
                self.timers.set(due + LOOK_TOGETHER, Timer::LateWatches);
                return;
            }
            self.late_watches.0.pop_front();
            // Also of one that has lost its contender meanwhile: for the next it has to be asked anew.
            if let Some(node) = self.nodes.get_mut(&id) {
                node.watched_later = false;
            }
            if waits {
                self.watch_own(cx, id);
            }
        }
    }
}

impl Node {
    fn waits_unwatched(&self) -> bool {
        self.watched_later && self.phase == Phase::Present && matches!(self.user, User::Attempt(_))
    }
}
