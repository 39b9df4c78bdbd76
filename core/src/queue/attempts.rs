//! Calls for a lock, from the command to the answer.

use super::nodes::{NodeId, Phase, User};
use super::owners::OwnerKey;
use super::paths::PathId;
use super::timers::Timer;
use super::{Context, Queues};
use crate::clock::Time;
use crate::command::{AttemptId, Deadline, HandleId, LockRequest};
use crate::error::{Error, ErrorKind};
use crate::mutant::{Mutant, broken};
use crate::queue::names::Position;

pub(super) struct Attempt {
    pub(super) request: LockRequest,
    pub(super) path: PathId,
    /// Its contender, once it queues.
    pub(super) node: Option<NodeId>,
    /// Whether it found somebody before it.
    pub(super) contended: bool,
    /// Whether it waits without a contender of its own.
    pub(super) parked: bool,
}

impl Attempt {
    fn timer(&self) -> Option<Time> {
        match self.request.deadline {
            Deadline::Never => None,
            Deadline::At(at) | Deadline::Try(at) => Some(at),
        }
    }
}

impl Queues {
    pub(crate) fn lock(&mut self, cx: &mut Context<'_>, request: LockRequest) {
        let path = self
            .paths
            .open(cx.full_path(&request.target.path), request.target.family);
        if let Some(queue) = self.paths.get_mut(path) {
            queue.users += 1;
        }
        let id = request.attempt;
        let owner = request.owner.clone();
        let naming = request.target.naming;
        let attempt = Attempt {
            request,
            path,
            node: None,
            contended: false,
            parked: false,
        };
        if let Some(at) = attempt.timer() {
            self.timers.set(at, Timer::Attempt(id));
        }
        self.attempts.insert(id, Box::new(attempt));
        match owner {
            Some(owner) => self.admit(cx, OwnerKey::new(path, naming, &owner), id),
            None => self.enqueue(cx, id, None),
        }
    }

    /// Gives the attempt a contender, or parks it behind one that is kept.
    pub(super) fn enqueue(
        &mut self,
        cx: &mut Context<'_>,
        id: AttemptId,
        downgrade_of: Option<NodeId>,
    ) {
        if downgrade_of.is_none() && self.park(cx, id) {
            return;
        }
        if let Some(node) = self.add_node(cx, id, downgrade_of) {
            self.drive(cx, node);
        }
    }

    /// Takes the attempt out, to be answered. Its contender is the caller's affair.
    pub(super) fn take_attempt(&mut self, id: AttemptId) -> Option<Attempt> {
        let attempt = self.attempts.remove(&id)?;
        if let Some(at) = attempt.timer() {
            self.timers.cancel(at, Timer::Attempt(id));
        }
        if attempt.parked {
            self.forget_parked(attempt.path, id);
        }
        if let Some(queue) = self.paths.get_mut(attempt.path) {
            queue.users -= 1;
        }
        Some(*attempt)
    }

    /// Ends an attempt without a guard: its contender goes (R5), its owner's next one is looked at.
    fn withdraw(&mut self, cx: &mut Context<'_>, id: AttemptId) -> Option<Attempt> {
        let attempt = self.take_attempt(id)?;
        if let Some(node) = attempt.node {
            self.abandon(cx, node);
        }
        Some(attempt)
    }

    fn after(&mut self, cx: &mut Context<'_>, attempt: &Attempt) {
        if let Some(owner) = &attempt.request.owner {
            let key = OwnerKey::new(attempt.path, attempt.request.target.naming, owner);
            self.attempt_ended(cx, key, attempt.request.attempt);
        }
        self.paths.forget_if_unused(attempt.path);
    }

    pub(super) fn fail_attempt(&mut self, cx: &mut Context<'_>, id: AttemptId, error: Error) {
        let Some(attempt) = self.withdraw(cx, id) else {
            return;
        };
        self.after(cx, &attempt);
        attempt.request.to.fail(error);
    }

    /// A try found somebody before it.
    pub(super) fn not_acquired(&mut self, cx: &mut Context<'_>, id: AttemptId) {
        let Some(attempt) = self.withdraw(cx, id) else {
            return;
        };
        self.after(cx, &attempt);
        attempt
            .request
            .to
            .not_acquired(&attempt.request.target.path);
    }

    /// Every attempt that waits on the path fails.
    pub(super) fn fail_attempts(&mut self, cx: &mut Context<'_>, id: PathId, error: &Error) {
        for attempt in self.queued_attempts(id) {
            self.fail_attempt(cx, attempt, error.clone());
        }
    }

    fn queued_attempts(&self, id: PathId) -> Vec<AttemptId> {
        let Some(path) = self.paths.get(id) else {
            return Vec::new();
        };
        path.order
            .values()
            .filter_map(|node| match self.nodes.get(node)?.user {
                User::Attempt(attempt) => Some(attempt),
                _ => None,
            })
            .collect()
    }

    /// The attempt that waits with this node fails.
    pub(super) fn fail_waiting(&mut self, cx: &mut Context<'_>, node: NodeId, error: &Error) {
        if let Some(User::Attempt(attempt)) = self.nodes.get(&node).map(|node| node.user) {
            self.fail_attempt(cx, attempt, error.clone());
        }
    }

    /// The attempts that wait for this contender fail.
    pub(super) fn fail_behind(
        &mut self,
        cx: &mut Context<'_>,
        id: PathId,
        position: &Position,
        error: &Error,
    ) {
        let behind = self
            .paths
            .get(id)
            .map(|path| path.view.behind(position))
            .unwrap_or_default();
        for node in behind {
            self.fail_waiting(cx, node, error);
        }
    }

    /// The caller left or cancelled.
    pub(crate) fn cancel(&mut self, cx: &mut Context<'_>, id: AttemptId) {
        let error = self.attempts.get(&id).map(|attempt| {
            Error::new(ErrorKind::Cancelled, "lock", "the caller cancelled it")
                .with_path(&*attempt.request.target.path)
        });
        if let Some(error) = error {
            self.fail_attempt(cx, id, error);
        }
    }

    /// Whether it does not know yet what its create came to, or who is before it.
    fn awaits_an_answer(&self, attempt: &Attempt) -> bool {
        let has_contender = attempt
            .node
            .is_some_and(|node| self.nodes.contains_key(&node));
        has_contender && !attempt.contended
    }

    pub(super) fn timed_out(&mut self, cx: &mut Context<'_>, id: AttemptId) {
        let Some(attempt) = self.attempts.get(&id) else {
            return;
        };
        let path = &*attempt.request.target.path;
        let unavailable = |when: &str| {
            let why = format!("no server answered {when} ({})", cx.machine.last_failure());
            Error::new(ErrorKind::Unavailable, "lock", why).with_path(path)
        };
        let late = |why: &str| Error::new(ErrorKind::Timeout, "lock", why).with_path(path);
        let error = match attempt.request.deadline {
            Deadline::Try(_) => unavailable("within the connect timeout"),
            // A server that has gone silent is connected until its silence has lasted.
            _ if cx.machine.is_connected() && self.awaits_an_answer(attempt) => {
                let why = "no server has answered this call by then";
                let cause = Error::new(ErrorKind::Unavailable, "lock", why).with_path(path);
                late("the lock was not granted in time: no answer").with_source(cause)
            }
            _ if cx.machine.is_connected() => late("the lock was not granted in time"),
            // Nobody may have held it: that is told apart by the source.
            _ => {
                let cause = unavailable("by then");
                late(&format!(
                    "the lock was not granted in time: no connection ({})",
                    cx.machine.last_failure()
                ))
                .with_source(cause)
            }
        };
        attempt.request.target.stats.timed_out();
        if broken(Mutant::TimedOutContenderStays)
            && let Some(attempt) = self.attempts.get_mut(&id)
        {
            attempt.node = None;
        }
        self.fail_attempt(cx, id, error);
    }

    /// Every attempt of the session, or of one handle, fails.
    pub(crate) fn fail_all(&mut self, cx: &mut Context<'_>, of: Option<HandleId>, error: &Error) {
        let mut ids: Vec<AttemptId> = self
            .attempts
            .values()
            .filter(|attempt| of.is_none_or(|handle| attempt.request.handle == handle))
            .map(|attempt| attempt.request.attempt)
            .collect();
        ids.sort_unstable();
        for id in ids {
            let path = self
                .attempts
                .get(&id)
                .map(|attempt| attempt.request.target.path.clone());
            if let Some(path) = path {
                self.fail_attempt(cx, id, error.clone().with_path(path));
            }
        }
    }

    /// After a change of session every attempt queues again, those of one path in their former
    /// order (R9).
    pub(super) fn queue_all_again(&mut self, cx: &mut Context<'_>, id: PathId) {
        let Some(path) = self.paths.get(id) else {
            return;
        };
        let mut waiting: Vec<(i64, u64, NodeId)> = path
            .order
            .iter()
            .filter_map(|(order, id)| {
                let node = self.nodes.get(id)?;
                let number = node.position.as_ref().map(|at| at.number).or(node.former);
                let number = number.unwrap_or(i64::MAX);
                matches!(node.user, User::Attempt(_)).then_some((number, *order, *id))
            })
            .collect();
        waiting.sort_unstable();
        if broken(Mutant::QueueAgainReversed) {
            waiting.reverse();
        }
        for (_, _, node) in waiting {
            let guid = self.nodes.get(&node).map(|node| node.guid);
            self.queue_again(cx, node);
            if broken(Mutant::OldSessionsNodeAdopted)
                && let (Some(guid), Some(node)) = (guid, self.nodes.get_mut(&node))
            {
                node.guid = guid;
                node.phase = Phase::InDoubt;
                node.downgrade_of = None;
                node.writers_token = None;
                continue;
            }
            if let Some(node) = self.nodes.get_mut(&node) {
                debug_assert_eq!(node.phase, Phase::Unsent);
                node.downgrade_of = None;
                node.writers_token = None;
            }
        }
    }
}
