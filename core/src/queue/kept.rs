//! Contenders that are kept after a release.
//!
//! A contender is kept from a listing that set a watch on the path's children and showed nobody else,
//! until that watch fires, the connection or the lease is lost, it was idle for too long, or somebody
//! here wants the path without keeping.

use std::sync::Arc;
use std::time::Duration;

use super::guards::Hold;
use super::names::{Family, Kind};
use super::nodes::{NodeId, User};
use super::paths::PathId;
use super::timers::Timer;
use super::{Context, Queues};
use crate::clock::Time;
use crate::command::{AttemptId, HandleId, LockTarget};
use crate::guard::GuardCell;
use crate::kept::KeptSlot;
use crate::mutant::{Mutant, broken};

/// The kept contender of a path.
pub(super) struct Kept {
    pub(super) node: NodeId,
    pub(super) slot: Arc<KeptSlot>,
    target: Arc<LockTarget>,
    idle: Duration,
    /// Nobody holds it, and callers cannot take it: the end of the turn decides.
    pub(super) free: bool,
    timer: Option<Time>,
}

impl Queues {
    // ---- beginning ----

    /// A listing was taken. If it showed our contender alone, and whoever comes will be told of, then
    /// a hold that may keep its contender does.
    pub(super) fn begin_keeping(&mut self, cx: &Context<'_>, id: PathId) {
        let Some(path) = self.paths.get(id) else {
            return;
        };
        if !path.children_watched || path.kept.is_some() || path.view.len() != 1 {
            return;
        }
        let Some(node_id) = path.view.first_of_ours() else {
            return;
        };
        // One whose create is refused for the time being does not show.
        if self.live(id, |other, _| other != node_id) {
            return;
        }
        let Some(node) = self.nodes.get(&node_id) else {
            return;
        };
        let (User::Hold(hold), Some(idle)) = (node.user, node.target.keep) else {
            return;
        };
        let (Some(hold), Some(term)) = (self.holds.get(&hold), &self.term) else {
            return;
        };
        if hold.lost.is_some() || !Arc::ptr_eq(term, hold.term()) {
            return;
        }
        let slot = KeptSlot::new(id, hold.token(), hold.node_path(), Arc::clone(term));
        let slot = Arc::new(slot);
        let target = Arc::clone(&node.target);
        cx.link.kept.insert(&target.path, Arc::clone(&slot));
        tracing::debug!(path = %target.path, "the contender will be kept");
        self.kept_paths.insert(id);
        if let Some(path) = self.paths.get_mut(id) {
            path.kept = Some(Kept {
                node: node_id,
                slot,
                target,
                idle,
                free: false,
                timer: None,
            });
        }
    }

    /// The last guard of a hold is released: true if its contender is kept.
    pub(super) fn keep(&mut self, id: PathId, node: NodeId) -> bool {
        let Some(kept) = self.kept_at(id).filter(|kept| kept.node == node) else {
            return false;
        };
        kept.free = true;
        if let Some(node) = self.nodes.get_mut(&node) {
            node.user = User::Kept;
        }
        self.kept_due.insert(id);
        true
    }

    pub(super) fn keeps_node(&self, id: PathId, node: NodeId) -> bool {
        let path = self.paths.get(id);
        let kept = path.and_then(|path| path.kept.as_ref());
        kept.is_some_and(|kept| kept.node == node)
    }

    pub(super) fn kept_at(&mut self, id: PathId) -> Option<&mut Kept> {
        self.paths.get_mut(id)?.kept.as_mut()
    }

    // ---- the end of a turn ----

    /// Grants kept contenders to who waits for them, or leaves them to callers; sees to it that parked
    /// attempts wait for somebody.
    pub(super) fn settle_kept(&mut self, cx: &mut Context<'_>) {
        while let Some(id) = self.kept_due.pop_first() {
            let Some(path) = self.paths.get(id) else {
                continue;
            };
            let first = path.parked.front().copied();
            match (&path.kept, first) {
                (Some(kept), Some(attempt)) if kept.free => self.grant_kept(cx, id, attempt),
                (Some(kept), None) if kept.free => self.open_kept(cx, id),
                (Some(_), _) | (None, None) => {}
                (None, Some(_)) if path.view.strangers() > 0 => self.unpark(cx, id),
                (None, Some(_)) => self.lead(cx, id),
            }
        }
    }

    fn grant_kept(&mut self, cx: &mut Context<'_>, id: PathId, attempt: AttemptId) {
        let Some(kept) = self.kept_at(id) else {
            return;
        };
        let (node, slot) = (kept.node, Arc::clone(&kept.slot));
        if !cx.machine.is_connected() || !slot.term.is_running(cx.now) {
            return self.stop_keeping(cx, id);
        }
        kept.free = false;
        if let Some(path) = self.paths.get_mut(id) {
            path.parked.pop_front();
        }
        let grant = slot.count_grant();
        let hold = Hold::of_kept(node, &slot, grant);
        self.start_hold(cx, attempt, hold);
    }

    fn open_kept(&mut self, cx: &mut Context<'_>, id: PathId) {
        let now = cx.now;
        let Some(kept) = self.kept_at(id) else {
            return;
        };
        kept.free = false;
        kept.slot.open(now);
        let at = now + kept.idle;
        if kept.timer.is_none() {
            kept.timer = Some(at);
            self.timers.set(at, Timer::Kept(id));
        }
    }

    // ---- ending ----

    /// The watch on the children of a path has fired: somebody has come, or our own contender is gone.
    pub(super) fn children_changed(&mut self, cx: &mut Context<'_>, full_path: &str) {
        let Some(id) = self.paths.find(full_path, Family::Mutex) else {
            return;
        };
        if let Some(path) = self.paths.get_mut(id) {
            path.children_watched = false;
        }
        if !broken(Mutant::KeptStrangerIgnored) {
            self.stop_keeping(cx, id);
        }
    }

    /// Ends the keeping. A contender that nobody holds goes (R5), one that is held goes with the
    /// release.
    pub(super) fn stop_keeping(&mut self, cx: &mut Context<'_>, id: PathId) {
        self.look_at_parked(id);
        let Some(path) = self.paths.get_mut(id) else {
            return;
        };
        let Some(kept) = path.kept.take() else {
            return;
        };
        self.kept_paths.remove(&id);
        if let Some(at) = kept.timer {
            self.timers.cancel(at, Timer::Kept(id));
        }
        let user = self.nodes.get(&kept.node).map(|node| node.user);
        if broken(Mutant::KeptOwnEndIgnored) && !self.is_in_view(kept.node) {
            return;
        }
        cx.link.kept.remove(&kept.target.path);
        match kept.slot.withdraw() {
            Some(_) if broken(Mutant::KeptGuardForgotten) => {}
            Some((cell, handle)) => self.adopt_guard(cx, &kept, cell, handle),
            None if user == Some(User::Kept) => self.abandon(cx, kept.node),
            None => {}
        }
        self.tell_held_paths(cx);
    }

    fn is_in_view(&self, node: NodeId) -> bool {
        self.nodes.get(&node).is_some_and(|node| {
            let path = self.paths.get(node.path);
            let seen = path.zip(node.position.as_ref());
            seen.is_some_and(|(path, at)| path.view.get(at).is_some())
        })
    }

    /// A guard that a caller has taken becomes one like any other.
    fn adopt_guard(
        &mut self,
        cx: &mut Context<'_>,
        kept: &Kept,
        cell: Arc<GuardCell>,
        handle: HandleId,
    ) {
        let mut hold = Hold::of_kept(kept.node, &kept.slot, cell.count);
        let granted = cell.granted;
        hold.give(handle, cell);
        self.add_hold(cx, hold, granted);
    }

    pub(super) fn stop_all_keeping(&mut self, cx: &mut Context<'_>) {
        for id in std::mem::take(&mut self.kept_paths) {
            self.stop_keeping(cx, id);
        }
    }

    /// A handle is closed: what it made, or holds, is kept no more (R17).
    pub(super) fn stop_keeping_of(&mut self, cx: &mut Context<'_>, handle: HandleId) {
        if broken(Mutant::KeptAfterClose) {
            return;
        }
        for id in self.kept_paths.clone() {
            let kept = self.kept_at(id).map(|kept| (kept.node, kept.slot.holder()));
            let Some((node, holder)) = kept else { continue };
            let maker = self.nodes.get(&node).map(|node| node.handle);
            if maker == Some(handle) || holder == Some(handle) {
                self.stop_keeping(cx, id);
            }
        }
    }

    /// Looks whether a kept contender has been idle for too long (R5).
    pub(super) fn look_at_idle(&mut self, cx: &mut Context<'_>, id: PathId) {
        let now = cx.now;
        let Some(kept) = self.kept_at(id) else {
            return;
        };
        kept.timer = None;
        let again = match kept.slot.idle_since() {
            Some(since) if since + kept.idle <= now => {
                if !broken(Mutant::KeptForEver) {
                    self.stop_keeping(cx, id);
                }
                return;
            }
            Some(since) => since + kept.idle,
            // Set again when the engine gives it back to callers.
            None if kept.slot.is_engines() => return,
            None => now + kept.idle,
        };
        kept.timer = Some(again);
        self.timers.set(again, Timer::Kept(id));
    }

    /// The kept contenders that a handle has made: full lock path, and name.
    #[cfg(test)]
    pub(crate) fn kept_by(&self, handle: HandleId) -> Vec<(String, String)> {
        let kept = self.kept_paths.iter().filter_map(|id| {
            let path = self.paths.get(*id)?;
            let node = self.nodes.get(&path.kept.as_ref()?.node)?;
            let name = node.position.as_ref()?.name.to_string();
            (node.handle == handle).then(|| (path.full_path.to_string(), name))
        });
        kept.collect()
    }
}

impl Hold {
    /// A grant of a kept contender.
    fn of_kept(node: NodeId, slot: &KeptSlot, grant: u64) -> Hold {
        Hold::new(
            node,
            slot.path,
            Kind::Exclusive,
            (slot.token(), grant),
            slot.node_path(),
            Arc::clone(&slot.term),
        )
    }
}
