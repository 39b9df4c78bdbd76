//! Attempts of this process that wait for a kept contender, without one of their own: they are *parked*
//! as long as no stranger's contender is seen.

use std::sync::Arc;

use super::nodes::{NodeId, Phase, User};
use super::paths::PathId;
use super::{Context, Queues};
use crate::command::{AttemptId, Deadline};
use crate::kept::KeptSlot;

impl Queues {
    /// Whether an attempt waits in the process, and not with a contender of its own.
    pub(super) fn park(&mut self, cx: &mut Context<'_>, id: AttemptId) -> bool {
        let Some(attempt) = self.attempts.get(&id) else {
            return false;
        };
        let (path_id, keep) = (attempt.path, attempt.request.target.keep);
        let tries = matches!(attempt.request.deadline, Deadline::Try(_));
        let Some(path) = self.paths.get(path_id) else {
            return false;
        };
        let (is_kept, anybody) = (path.kept.is_some(), !path.parked.is_empty());
        if keep.is_none() {
            if is_kept || anybody {
                self.stop_keeping(cx, path_id);
                self.unpark(cx, path_id);
            }
            return false;
        }
        if is_kept {
            let free = self.want_kept(path_id);
            if tries && (!free || anybody) {
                self.not_acquired(cx, id);
                return true;
            }
        } else if tries || path.view.strangers() > 0 || !(anybody || self.has_live(path_id)) {
            return false;
        }
        if let Some(attempt) = self.attempts.get_mut(&id) {
            attempt.parked = true;
            attempt.contended = true;
        }
        if let Some(path) = self.paths.get_mut(path_id) {
            path.parked.push_back(id);
        }
        self.kept_due.insert(path_id);
        true
    }

    /// The engine takes the kept contender as soon as nobody has it: true if that is now.
    fn want_kept(&mut self, id: PathId) -> bool {
        let Some(kept) = self.kept_at(id) else {
            return false;
        };
        let (node, has) = (kept.node, kept.slot.want());
        let held = self.nodes.get(&node).map(|node| node.user) != Some(User::Kept);
        let free = has && !held;
        if let Some(kept) = self.kept_at(id) {
            kept.free = free;
        }
        free
    }

    /// A caller has given it back, since an attempt waits for it.
    pub(crate) fn kept_freed(&mut self, slot: &Arc<KeptSlot>) {
        let id = slot.path;
        let current = self.kept_at(id).map(|kept| Arc::clone(&kept.slot));
        if current.is_some_and(|known| Arc::ptr_eq(&known, slot)) && slot.is_engines() {
            self.want_kept(id);
            self.kept_due.insert(id);
        }
    }

    /// An attempt that was parked has ended.
    pub(super) fn forget_parked(&mut self, id: PathId, attempt: AttemptId) {
        if let Some(path) = self.paths.get_mut(id) {
            path.parked.retain(|known| *known != attempt);
        }
    }

    /// Something has changed on a path where attempts may be parked.
    pub(super) fn look_at_parked(&mut self, id: PathId) {
        if self
            .paths
            .get(id)
            .is_some_and(|path| !path.parked.is_empty())
        {
            self.kept_due.insert(id);
        }
    }

    /// Whether a contender of ours is in use here, or will be.
    pub(super) fn has_live(&self, id: PathId) -> bool {
        self.live(id, |_, _| true)
    }

    pub(super) fn live(&self, id: PathId, of: impl Fn(NodeId, &Phase) -> bool) -> bool {
        self.paths.get(id).is_some_and(|path| {
            let mut nodes = path.order.values().rev();
            nodes.any(|id| {
                let node = self.nodes.get(id);
                node.is_some_and(|node| node.user != User::Nobody && of(*id, &node.phase))
            })
        })
    }

    /// Attempts are parked, and no stranger is known. Who they wait for has a contender; if it is there,
    /// whoever comes behind it has to be seen.
    pub(super) fn lead(&mut self, cx: &mut Context<'_>, id: PathId) {
        if !self.has_live(id) {
            let first = self
                .paths
                .get_mut(id)
                .and_then(|path| path.parked.pop_front());
            if let Some(attempt) = first {
                self.queue_with_node(cx, attempt);
            }
        } else if self.live(id, |_, phase| *phase == Phase::Present) {
            self.watch_children(id);
        }
    }

    fn queue_with_node(&mut self, cx: &mut Context<'_>, id: AttemptId) {
        if let Some(attempt) = self.attempts.get_mut(&id) {
            attempt.parked = false;
        }
        if let Some(node) = self.add_node(cx, id, None) {
            self.drive(cx, node);
        }
    }

    /// Parked attempts queue with contenders of their own, in their order.
    pub(super) fn unpark(&mut self, cx: &mut Context<'_>, id: PathId) {
        let parked = self
            .paths
            .get_mut(id)
            .map(|path| std::mem::take(&mut path.parked));
        for attempt in parked.unwrap_or_default() {
            self.queue_with_node(cx, attempt);
        }
    }
}
