//! Holds and the guards that stand for them: grant, re-entry, release, loss (R4, R10).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::attempts::Attempt;
use super::names::Kind;
use super::nodes::{Closer, Node, NodeId, Release, ReleaseId, User};
use super::owners::{OwnerEntry, OwnerKey};
use super::paths::PathId;
use super::timers::Timer;
use super::{Context, Queues};
use crate::clock::Time;
use crate::command::{AttemptId, GuardId, HandleId, Then};
use crate::guard::{Grant, Guard, GuardCell};
use crate::lease_term::LeaseTerm;
use crate::loss::Loss;
use crate::mutant::{Mutant, broken};
use crate::state::GuardState;

/// A guard held for so long watches its own node; shorter holds stay at three requests (R4).
pub(super) const OWN_WATCH_AFTER: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HoldId(pub(super) u64);

/// A contender whose turn it is, and the guards given out for it.
pub(super) struct Hold {
    pub(super) node: NodeId,
    path: PathId,
    kind: Kind,
    /// The fencing token, and the number of the grant.
    token: (i64, u64),
    node_path: Arc<str>,
    term: Arc<LeaseTerm>,
    owner: Option<OwnerKey>,
    /// In the order of their numbers: an owner may have as many as it likes (R11).
    guards: VecDeque<(HandleId, Arc<GuardCell>)>,
    /// Told lost. It stays its owner's until that one releases it (R10, R11).
    pub(super) lost: Option<Loss>,
    granted: Time,
    own_watch_due: bool,
}

impl Hold {
    pub(super) fn new(
        node: NodeId,
        path: PathId,
        kind: Kind,
        token: (i64, u64),
        node_path: Arc<str>,
        term: Arc<LeaseTerm>,
    ) -> Hold {
        Hold {
            node,
            path,
            kind,
            token,
            node_path,
            term,
            owner: None,
            guards: VecDeque::with_capacity(1),
            lost: None,
            granted: Time::default(),
            own_watch_due: false,
        }
    }

    pub(super) fn token(&self) -> (i64, u64) {
        self.token
    }

    pub(super) fn node_path(&self) -> Arc<str> {
        Arc::clone(&self.node_path)
    }

    pub(super) fn term(&self) -> &Arc<LeaseTerm> {
        &self.term
    }

    pub(super) fn give(&mut self, handle: HandleId, cell: Arc<GuardCell>) {
        self.guards.push_back((handle, cell));
    }
}

impl Queues {
    /// Grants an attempt: the contender becomes the hold's.
    pub(super) fn start_hold(&mut self, cx: &mut Context<'_>, attempt: AttemptId, mut hold: Hold) {
        let Some(attempt) = self.take_attempt(attempt) else {
            return;
        };
        let key = attempt
            .request
            .owner
            .as_ref()
            .map(|owner| OwnerKey::new(attempt.path, attempt.request.target.naming, owner));
        hold.owner.clone_from(&key);
        let kind = hold.kind;
        let id = self.add_hold(cx, hold, cx.now);
        let guard = self.give_guard(cx, id, &attempt);
        if let Some(key) = &key {
            self.owner_holds(cx, key, kind, id);
        }
        if let Some(guard) = guard {
            attempt.request.to.grant(guard);
        }
    }

    /// The contender is the hold's from now on.
    pub(super) fn add_hold(
        &mut self,
        cx: &mut Context<'_>,
        mut hold: Hold,
        granted: Time,
    ) -> HoldId {
        let id = HoldId(self.next_id());
        if let Some(node) = self.nodes.get_mut(&hold.node) {
            node.user = User::Hold(id);
        }
        if let Some(path) = self.paths.get_mut(hold.path) {
            path.users += 1;
        }
        hold.granted = granted;
        for (_, cell) in &hold.guards {
            self.guards.insert(cell.id, id);
        }
        self.timers
            .set(granted + OWN_WATCH_AFTER, Timer::OwnWatch(id));
        self.believing += 1;
        self.holds.insert(id, hold);
        self.tell_held_paths(cx);
        id
    }

    /// The owner gets what it holds once more, at no request (R11).
    pub(super) fn reenter(&mut self, cx: &mut Context<'_>, hold: HoldId, attempt: Attempt) {
        if let Some(guard) = self.give_guard(cx, hold, &attempt) {
            attempt.request.to.grant(guard);
        }
    }

    fn give_guard(&mut self, cx: &mut Context<'_>, id: HoldId, attempt: &Attempt) -> Option<Guard> {
        let hold = self.holds.get_mut(&id)?;
        let waited = cx.now.saturating_since(attempt.request.called);
        attempt
            .request
            .target
            .stats
            .granted(waited, attempt.contended);
        let (token, count) = hold.token;
        let grant = Grant {
            token,
            count,
            node_path: hold.node_path(),
            granted: cx.now,
            term: Arc::clone(&hold.term),
            kept: None,
        };
        let cell = GuardCell::new(
            GuardId::next(),
            grant,
            Arc::clone(&attempt.request.target),
            Arc::clone(cx.link),
        );
        self.guards.insert(cell.id, id);
        hold.guards
            .push_back((attempt.request.handle, Arc::clone(&cell)));
        Some(Guard::new(cell, attempt.request.session.clone()))
    }

    // ---- release ----

    pub(crate) fn release(&mut self, cx: &mut Context<'_>, guard: GuardId, then: Option<Then<()>>) {
        let answer = |then: Option<Then<()>>| {
            if let Some(then) = then {
                then(Ok(()));
            }
        };
        let Some(id) = self.guards.remove(&guard) else {
            // Lost, or closed, in between: the section ended while the lock was held.
            return answer(then);
        };
        let Some(hold) = self.holds.get_mut(&id) else {
            return answer(then);
        };
        let at = hold
            .guards
            .binary_search_by_key(&guard, |(_, cell)| cell.id);
        if let Some((_, cell)) = at.ok().and_then(|at| hold.guards.remove(at))
            && cell.state(cx.now) == GuardState::Lost
        {
            cell.lose(cx.now, Loss::LeaseRanOut);
        }
        if !hold.guards.is_empty() {
            return answer(then);
        }
        let until = hold.term.until();
        let node = hold.node;
        let lost = hold.lost.is_some();
        if broken(Mutant::ReleaseNotWaiting) {
            answer(then);
        } else if let (Some(then), false) = (then, lost) {
            let release = ReleaseId(self.next_id());
            self.releases.insert(release, Release { then, until });
            self.timers.set(until, Timer::Release(release));
            match self.nodes.get_mut(&node) {
                Some(node) => node.releases.push(release),
                None => self.release_by_time(release),
            }
        }
        self.end_hold(cx, id);
    }

    /// The last guard is gone: so is the hold, and the contender follows, if it is not kept.
    fn end_hold(&mut self, cx: &mut Context<'_>, id: HoldId) {
        let Some(hold) = self.holds.remove(&id) else {
            return;
        };
        self.timers
            .cancel(hold.granted + OWN_WATCH_AFTER, Timer::OwnWatch(id));
        if hold.lost.is_none() {
            self.believing -= 1;
            if self.keep(hold.path, hold.node) {
                self.answer_releases(hold.node, &Ok(()));
            } else {
                self.abandon(cx, hold.node);
            }
        }
        self.tell_held_paths(cx);
        if let Some(path) = self.paths.get_mut(hold.path) {
            path.users -= 1;
        }
        if let Some(key) = &hold.owner {
            self.owner_released(cx, key, hold.kind, id);
        }
        self.paths.forget_if_unused(hold.path);
    }

    /// The lease of the release has ended: it has succeeded, whatever becomes of the node (R10).
    pub(super) fn release_by_time(&mut self, id: ReleaseId) {
        if let Some(release) = self.releases.remove(&id) {
            (release.then)(Ok(()));
        }
    }

    // ---- loss ----

    /// The contender of a hold goes with it.
    fn keep_no_more(&mut self, cx: &mut Context<'_>, id: HoldId) {
        let at = self.holds.get(&id).map(|hold| (hold.path, hold.node));
        if let Some((path, node)) = at
            && self.keeps_node(path, node)
        {
            self.stop_keeping(cx, path);
        }
    }

    /// The lock is lost: told before anything else happens (R4).
    pub(super) fn lose(&mut self, cx: &mut Context<'_>, id: HoldId, loss: Loss) {
        self.keep_no_more(cx, id);
        let Some(hold) = self.holds.get_mut(&id) else {
            return;
        };
        if hold.lost.is_some() {
            return;
        }
        let loss = hold.term.loss().unwrap_or(loss);
        hold.lost = Some(loss);
        self.believing -= 1;
        for (_, cell) in &hold.guards {
            cell.lose(cx.now, loss);
        }
        let (node, owner) = (hold.node, hold.owner.clone());
        if let Some(key) = &owner {
            self.fail_downgrade(cx, key, node, loss);
        } else {
            let cells = std::mem::take(&mut hold.guards);
            for (_, cell) in cells {
                self.guards.remove(&cell.id);
            }
            self.end_hold(cx, id);
        }
        if !broken(Mutant::LostContenderStays) {
            self.abandon(cx, node);
        }
        self.tell_held_paths(cx);
    }

    /// A read that was to take the place of a write lock has lost it too: if it queued, others would write in between (R12).
    fn fail_downgrade(&mut self, cx: &mut Context<'_>, key: &OwnerKey, write: NodeId, loss: Loss) {
        let Some(id) = self.owners.get(key).and_then(OwnerEntry::pending) else {
            return;
        };
        let Some(attempt) = self.attempts.get(&id) else {
            return;
        };
        let read = attempt.node.and_then(|node| self.nodes.get(&node));
        if read.is_some_and(|read| read.downgrade_of == Some(write)) {
            let error = loss.error(
                "lock",
                &attempt.request.target.path,
                "the write lock was lost",
            );
            self.fail_attempt(cx, id, error);
        }
    }

    pub(super) fn lose_all(&mut self, cx: &mut Context<'_>, loss: Loss) {
        let mut ids: Vec<HoldId> = self.holds.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            self.lose(cx, id, loss);
        }
    }

    /// Follows the session's lease: renews the term of the guards, or ends it and begins another.
    pub(crate) fn follow_lease(&mut self, cx: &mut Context<'_>) {
        let until = cx.machine.lease_until();
        if let Some(term) = &self.term {
            if term.renew(cx.now, until) {
                return;
            }
            self.term = None;
            self.generation += 1;
            tracing::warn!(guards = self.guards.len(), "the lease has run out");
            self.stop_all_keeping(cx);
            self.lose_all(cx, Loss::LeaseRanOut);
        }
        if cx.machine.is_connected() && cx.now < until {
            self.term = Some(Arc::new(LeaseTerm::new(until)));
            for path in std::mem::take(&mut self.lease_wanted) {
                for node in self.waiting_nodes(path) {
                    self.evaluate(cx, node, false);
                }
            }
        }
    }

    // ---- closing ----

    /// Ends everything that belongs to a handle: its guards are lost first (R17). The nodes that
    /// have to go are answered for by `then`.
    pub(crate) fn close_handle(
        &mut self,
        cx: &mut Context<'_>,
        handle: HandleId,
        until: Time,
        then: Then<()>,
    ) {
        self.stop_keeping_of(cx, handle);
        let freed = self.lose_handle(cx, handle);
        let error = crate::link::closed("lock");
        if !broken(Mutant::WaitingAfterClose) {
            self.fail_all(cx, Some(handle), &error);
        }
        self.fail_queries(Some(handle));
        // A contender that owners re-entered by several handles was asked for by the first.
        let those = |id: NodeId, node: &Node| node.handle == handle || freed.contains(&id);
        self.await_deletions(those, until, then);
    }

    /// Answers when the nodes among `those` that nobody needs any more are deleted, or at `until`.
    pub(crate) fn await_deletions(
        &mut self,
        those: impl Fn(NodeId, &Node) -> bool,
        until: Time,
        then: Then<()>,
    ) {
        let left = self
            .nodes
            .iter()
            .filter(|(id, node)| node.user == User::Nobody && those(**id, node))
            .map(|(id, _)| *id)
            .collect();
        let id = self.next_id();
        self.timers.set(until, Timer::Closer(id));
        self.closers.push(Closer {
            id,
            left,
            until,
            then: Some(then),
        });
        self.answer_closers();
    }

    /// Ends everything: the end of the session will free the nodes.
    pub(crate) fn close_everything(&mut self, cx: &mut Context<'_>) {
        self.stop_all_keeping(cx);
        self.lose_all(cx, Loss::Closed);
        let error = crate::link::closed("lock");
        self.fail_all(cx, None, &error);
        self.fail_queries(None);
    }

    /// The contenders that its guards were the last of.
    fn lose_handle(&mut self, cx: &mut Context<'_>, handle: HandleId) -> Vec<NodeId> {
        let mut emptied = Vec::new();
        for (id, hold) in &mut self.holds {
            hold.guards.retain(|(owner, cell)| {
                if *owner == handle && !broken(Mutant::BeliefAfterClose) {
                    cell.lose(cx.now, Loss::Closed);
                    self.guards.remove(&cell.id);
                }
                *owner != handle
            });
            if hold.guards.is_empty() && !broken(Mutant::ClosedContenderStays) {
                emptied.push(*id);
            }
        }
        emptied.sort_unstable();
        let freed = emptied
            .iter()
            .filter_map(|id| self.holds.get(id))
            .map(|hold| hold.node)
            .collect();
        for id in emptied {
            // What it held is freed, also where another handle has made it.
            self.keep_no_more(cx, id);
            self.end_hold(cx, id);
        }
        freed
    }

    pub(super) fn close_by_time(&mut self, id: u64) {
        for closer in &mut self.closers {
            if closer.id == id
                && let Some(then) = closer.then.take()
            {
                then(Ok(()));
            }
        }
        self.closers.retain(|closer| closer.then.is_some());
    }

    /// Nothing is driven any more, and nothing asked of the rest: who holds is told.
    pub(crate) fn abandon_guards(&self, now: Time) {
        for (_, cell) in self.holds.values().flat_map(|hold| &hold.guards) {
            cell.lose(now, Loss::Closed);
        }
    }

    // ---- own watch ----

    /// A hold that lasts watches its own node.
    pub(super) fn watch_hold(&mut self, cx: &mut Context<'_>, id: HoldId) {
        let Some(hold) = self.holds.get_mut(&id) else {
            return;
        };
        hold.own_watch_due = true;
        if hold.lost.is_none() {
            let node = hold.node;
            self.watch_own(cx, node);
        }
    }

    /// A watch on this node of ours was refused for the time being.
    pub(super) fn watch_hold_again(&mut self, cx: &mut Context<'_>, node: Option<NodeId>) {
        let user = node
            .and_then(|node| self.nodes.get(&node))
            .map(|node| node.user);
        if let Some(User::Hold(hold)) = user {
            let again = cx.now + cx.retry_pause();
            self.timers.set(again, Timer::OwnWatch(hold));
        }
    }

    /// Watches that could not be asked for while there was no connection.
    pub(super) fn watch_due_holds(&mut self, cx: &mut Context<'_>) {
        let mut due: Vec<HoldId> = self
            .holds
            .iter()
            .filter(|(_, hold)| hold.own_watch_due && hold.lost.is_none())
            .map(|(id, _)| *id)
            .collect();
        due.sort_unstable();
        for id in due {
            self.watch_hold(cx, id);
        }
    }

    /// The contenders that back guards, for those who renew the lease by a write.
    pub(super) fn tell_held_paths(&mut self, cx: &mut Context<'_>) {
        if !cx.machine.confirms_by_write() {
            return;
        }
        let held = self.holds.values().filter(|hold| hold.lost.is_none());
        let kept = self.kept_paths.iter().filter_map(|id| {
            let kept = self.paths.get(*id)?.kept.as_ref()?;
            Some(kept.node)
        });
        let mut paths: Vec<String> = held
            .map(|hold| hold.node)
            .chain(kept)
            .filter_map(|node| {
                let node = self.nodes.get(&node)?;
                let path = self.paths.get(node.path)?;
                Some(path.child(&node.position.as_ref()?.name))
            })
            .collect();
        paths.sort_unstable();
        paths.dedup();
        cx.machine.set_held_paths(paths);
    }
}
