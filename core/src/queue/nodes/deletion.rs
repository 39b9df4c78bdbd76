//! The deletion of a contender until it is confirmed, and who is told of it (R5, R10, R17).

use super::super::replies::Tag;
use super::super::timers::Timer;
use super::super::{Context, Queues};
use super::{CREATE_REPLY, NodeId, Phase, User};
use crate::error::Error;
use crate::loss::Loss;
use crate::mutant::{Mutant, broken};
use crate::session::Outcome;
use crate::wire::code::Code;
use crate::wire::request::Request;

impl Queues {
    pub(super) fn delete(&mut self, cx: &mut Context<'_>, id: NodeId) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        let (Some(position), Some(path)) = (&node.position, self.paths.get(node.path)) else {
            return;
        };
        let request = Request::Delete {
            path: path.child(&position.name),
            version: -1,
        };
        self.set_phase(id, Phase::Deleting);
        cx.machine.submit(&request, Tag::Delete(id), CREATE_REPLY);
    }

    pub(in crate::queue) fn deleted(
        &mut self,
        cx: &mut Context<'_>,
        id: NodeId,
        outcome: &Outcome,
    ) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        let path = node.path;
        match outcome {
            Outcome::Done(_) | Outcome::Refused(Code::NO_NODE) => {
                self.remove_from_view(cx, path, id);
                self.gone(cx, id, &Ok(()));
            }
            Outcome::InDoubt if broken(Mutant::UnconfirmedDeletionCounts) => {
                self.gone(cx, id, &Ok(()));
            }
            Outcome::Refused(_) if broken(Mutant::RefusedDeletionCounts) => {
                self.gone(cx, id, &Ok(()));
            }
            Outcome::InDoubt | Outcome::NotSent => {
                self.set_phase(id, Phase::Present);
                self.drive(cx, id);
            }
            Outcome::Refused(Code::NO_AUTH) => {
                // Nothing of ours can change that; the node goes with the session, unless somebody
                // gives the right back before.
                self.set_phase(id, Phase::Present);
                let again = cx.now + cx.machine.session_timeout();
                if !broken(Mutant::DeniedDeletionForgotten) {
                    self.timers.set(again, Timer::Retry(id));
                }
                let error = self.denied(cx, path, "DELETE");
                tracing::error!(%error, "a contender cannot be deleted");
                self.answer_releases(id, &Err(error));
            }
            Outcome::Refused(_) => {
                self.set_phase(id, Phase::Present);
                self.retry_later(cx, id);
            }
        }
    }

    /// Deletes the node as soon as possible: nobody needs it any more (R5).
    pub(in crate::queue) fn abandon(&mut self, cx: &mut Context<'_>, id: NodeId) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.user = User::Nobody;
            let path = node.path;
            self.look_at_parked(path);
            self.drive(cx, id);
        }
    }

    /// The node is not on the server any more, nor will be.
    pub(in crate::queue) fn gone(
        &mut self,
        cx: &mut Context<'_>,
        id: NodeId,
        outcome: &Result<(), Error>,
    ) {
        self.answer_releases(id, outcome);
        self.set_phase(id, Phase::Unsent);
        let Some(node) = self.nodes.remove(&id) else {
            return;
        };
        if let Some(path) = self.paths.get_mut(node.path) {
            path.nodes.remove(&id);
            path.order.remove(&node.order);
        }
        self.look_at_parked(node.path);
        self.forget_watches(cx, node.path);
        self.paths.forget_if_unused(node.path);
        for closer in &mut self.closers {
            closer.left.remove(&id);
        }
        self.answer_closers();
    }

    /// A node of ours was removed by somebody else, or is seen to be deleted.
    pub(in crate::queue) fn node_vanished(&mut self, cx: &mut Context<'_>, id: NodeId) {
        let path = self.nodes.get(&id).map(|node| node.path);
        if let Some(path) = path
            && self.keeps_node(path, id)
        {
            self.stop_keeping(cx, path);
        }
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        match node.user {
            User::Nobody | User::Kept => self.gone(cx, id, &Ok(())),
            User::Hold(hold) => {
                tracing::warn!("the contender of a held lock was removed by somebody else");
                self.gone(cx, id, &Ok(()));
                self.lose(cx, hold, Loss::Removed);
            }
            User::Attempt(_) => {
                tracing::warn!("a waiting contender was removed by somebody else; queueing again");
                self.queue_again(cx, id);
                self.drive(cx, id);
            }
        }
    }

    pub(in crate::queue) fn answer_releases(&mut self, id: NodeId, outcome: &Result<(), Error>) {
        let releases = self
            .nodes
            .get_mut(&id)
            .map(|node| std::mem::take(&mut node.releases))
            .unwrap_or_default();
        for release in releases {
            if let Some(known) = self.releases.remove(&release) {
                self.timers.cancel(known.until, Timer::Release(release));
                (known.then)(outcome.clone());
            }
        }
    }

    pub(in crate::queue) fn answer_closers(&mut self) {
        for closer in &mut self.closers {
            if closer.left.is_empty()
                && let Some(then) = closer.then.take()
            {
                self.timers.cancel(closer.until, Timer::Closer(closer.id));
                then(Ok(()));
            }
        }
        self.closers.retain(|closer| closer.then.is_some());
    }
}
