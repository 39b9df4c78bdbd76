//! Whose turn it is: order, watching, verifying, granting (R7, R8, R9; Z6, Z11).

use super::guards::Hold;
use super::listing::Behind;
use super::names::{self, Family, Kind, Position};
use super::nodes::{NodeId, Phase, User};
use super::paths::PathId;
use super::replies::Tag;
use super::view::Watch;
use super::{Context, Queues};
use crate::command::Deadline;
use crate::mutant::{Mutant, broken};
use crate::session::Outcome;
use crate::wire::code::Code;
use crate::wire::reply::{Reply, WatchEventKind};
use crate::wire::request::Request;

/// What the data of a contender and its `Stat` are expected to take.
const DATA_REPLY: usize = 512;

impl Queues {
    /// Decides what a waiting attempt does now. `fresh`: a listing has just been answered, so the
    /// view is the server's truth at this point of the stream.
    pub(super) fn evaluate(&mut self, cx: &mut Context<'_>, id: NodeId, fresh: bool) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        let (Phase::Present, User::Attempt(attempt_id)) = (&node.phase, node.user) else {
            return;
        };
        let (path_id, downgraded) = (node.path, node.downgrade_of.is_some());
        let covered = downgraded
            || self.is_covered(path_id, node.covered_by)
            || broken(Mutant::GrantUncovered);
        let (Some(position), Some(path)) = (node.position.clone(), self.paths.get(path_id)) else {
            return;
        };
        if downgraded {
            return self.take_turn(cx, id, true);
        }
        let blocker = path.view.blocker(&position).cloned();
        let Some(blocker) = blocker else {
            if covered {
                self.take_turn(cx, id, fresh);
            } else {
                self.want_listing_for(path_id, node.covered_by);
            }
            return;
        };
        let covered_by = node.covered_by;
        let near = path.view.blockers(&position, 2) <= 1;
        let lists_again = path.view.hides_somebody(&position);
        let (known, certain) = match path.view.get(&blocker) {
            None => (false, false),
            Some(seen) => match seen.node.and_then(|node| self.nodes.get(&node)) {
                Some(node) => (true, node.user != User::Nobody),
                None => (seen.watch != Watch::None, seen.watch == Watch::Armed),
            },
        };
        let verified = self.is_verified(path_id);
        if let Some(attempt) = self.attempts.get_mut(&attempt_id) {
            attempt.contended = true;
            if matches!(attempt.request.deadline, Deadline::Try(_)) {
                // "Somebody else has it" has to be true during the call: what an older listing
                // showed may be long gone.
                if fresh || (verified && (covered || certain)) {
                    self.not_acquired(cx, attempt_id);
                } else if !verified {
                    self.want_listing(path_id, Behind::Sync);
                } else if !covered {
                    self.want_listing_for(path_id, covered_by);
                }
                return;
            }
        }
        if broken(Mutant::EveryoneWatchesTheFirst)
            && let Some(first) = self.paths.get(path_id).and_then(|path| path.view.first())
        {
            self.watch(cx, path_id, first);
        }
        if lists_again || !(known || fresh) {
            self.watch_own_later(cx.now, id);
        } else {
            self.watch_own(cx, id);
        }
        if !covered && near {
            self.want_listing_for(path_id, covered_by);
        }
        if known {
            return;
        }
        if fresh {
            self.watch(cx, path_id, blocker);
        } else {
            // Whoever stands before us now may be long gone: ask once, then watch (R8).
            self.want_listing(path_id, Behind::Nothing);
        }
    }

    /// Nobody is before this attempt, as far as the view says.
    fn take_turn(&mut self, cx: &mut Context<'_>, id: NodeId, fresh: bool) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        let path_id = node.path;
        let downgraded = node.downgrade_of.is_some();
        // A downgrade puts a reader in front of a waiting writer, unseen (Z11).
        let may_be_overtaken = node.family() == Family::ReadWrite
            && node.kind == Kind::Write
            && !broken(Mutant::WriterTrustsView);
        if may_be_overtaken && !fresh {
            return self.want_listing(path_id, Behind::Nothing);
        }
        if !fresh && self.term.is_none() && broken(Mutant::GrantFromEventAfterPause) {
            let until = cx.now + cx.machine.session_timeout() / 2;
            self.term = Some(std::sync::Arc::new(crate::lease_term::LeaseTerm::new(
                until,
            )));
            return self.grant(cx, id);
        }
        if !self.is_verified(path_id) && !downgraded {
            return self.want_listing(path_id, Behind::Sync);
        }
        if !fresh && self.own_watch(id) != Watch::Armed {
            // An event alone proves nothing if our own node could have gone unnoticed.
            return self.watch_own(cx, id);
        }
        let running = self
            .term
            .as_ref()
            .is_some_and(|term| term.is_running(cx.now));
        if !running || !cx.machine.is_connected() {
            // Z6: our session may be dead. Verified again once the lease runs.
            if let Some(path) = self.paths.get_mut(path_id) {
                path.listings.verified = None;
            }
            self.lease_wanted.insert(path_id);
            return;
        }
        self.grant(cx, id);
    }

    fn is_verified(&self, id: PathId) -> bool {
        self.paths
            .get(id)
            .is_some_and(|path| path.listings.verified == Some(self.generation))
    }

    /// Wants a listing that covers a create: one under way that was sent since then, or a new one.
    fn want_listing_for(&mut self, id: PathId, covered_by: u64) {
        let coming = self
            .paths
            .get(id)
            .is_some_and(|path| path.listings.will_show(covered_by));
        if !coming {
            self.want_new_listing(id, Behind::Nothing);
        }
    }

    // ---- watching ----

    pub(super) fn own_watch(&self, id: NodeId) -> Watch {
        self.nodes
            .get(&id)
            .and_then(|node| {
                let path = self.paths.get(node.path)?;
                path.view.get(node.position.as_ref()?)
            })
            .map_or(Watch::None, |seen| seen.watch)
    }

    /// Watches a node of ours, so that its removal by somebody else is noticed (R4).
    pub(super) fn watch_own(&mut self, cx: &mut Context<'_>, id: NodeId) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        if let Some(position) = node.position.clone() {
            self.watch(cx, node.path, position);
        }
    }

    fn watch(&mut self, cx: &mut Context<'_>, id: PathId, position: Position) {
        if !cx.machine.is_connected() {
            return;
        }
        let number = self.next_id();
        let Some(path) = self.paths.get_mut(id) else {
            return;
        };
        let full_path = path.child(&position.name);
        if path.view.watch_of(&position) != Some(Watch::None) {
            return;
        }
        path.view.set_watch(&position, Watch::Requested(number));
        // `getData`, not `exists`: that would leave a watch on a node that is gone (Z10).
        let request = Request::GetData {
            path: full_path,
            watch: true,
        };
        cx.machine
            .submit(&request, Tag::Watch(id, position, number), DATA_REPLY);
    }

    pub(super) fn watched(
        &mut self,
        cx: &mut Context<'_>,
        id: PathId,
        position: &Position,
        number: u64,
        outcome: &Outcome,
    ) {
        let session = cx.machine.session_id();
        let Some(path) = self.paths.get_mut(id) else {
            return;
        };
        let Some(node) = path.view.get(position).map(|seen| seen.node) else {
            return;
        };
        if path.view.watch_of(position) != Some(Watch::Requested(number))
            && *outcome != Outcome::Refused(Code::NO_NODE)
        {
            // Removed again before it was answered: whoever needs it since asks anew.
            return;
        }
        match outcome {
            Outcome::Done(Reply::Data { stat, .. }) => {
                path.view.set_watch(position, Watch::Armed);
                match node {
                    Some(node) if stat.ephemeral_owner == session => {
                        self.evaluate(cx, node, false);
                    }
                    Some(_) => self.contender_gone(cx, id, position),
                    None if stat.ephemeral_owner == session => {
                        self.delete_unknown(cx, id, position)
                    }
                    None => {}
                }
            }
            Outcome::Refused(Code::NO_NODE) if broken(Mutant::GoneBeforeWatchedIgnored) => {}
            Outcome::Refused(Code::NO_NODE) => self.contender_gone(cx, id, position),
            // The session re-arms what it asked for on the next server.
            Outcome::InDoubt => path.view.set_watch(position, Watch::Armed),
            Outcome::Refused(Code::NO_AUTH) => {
                path.view.set_watch(position, Watch::None);
                let error = crate::Error::new(
                    crate::ErrorKind::NoAuth,
                    "lock",
                    format!(
                        "the server denies READ on the contender {}, which has to be watched",
                        position.name
                    ),
                )
                .with_path(self.name_of(cx, id));
                match node {
                    Some(node) => self.fail_waiting(cx, node, &error),
                    None => self.fail_behind(cx, id, position, &error),
                }
            }
            Outcome::Refused(_) | Outcome::NotSent | Outcome::Done(_) => {
                path.view.set_watch(position, Watch::None);
                if matches!(outcome, Outcome::Refused(_)) {
                    // Throttled, most likely: asked for again behind a listing, for who waits.
                    self.want_listing(id, Behind::Nothing);
                    self.watch_hold_again(cx, node);
                }
            }
        }
    }

    /// A contender of our session that no attempt of ours knows would be waited for in vain.
    fn delete_unknown(&mut self, cx: &mut Context<'_>, id: PathId, position: &Position) {
        let Some(path) = self.paths.get(id) else {
            return;
        };
        let known = path
            .nodes
            .iter()
            .filter_map(|node| self.nodes.get(node))
            .any(|node| names::owned_by(position.name.as_bytes(), &node.guid));
        if !known {
            tracing::warn!(name = %position.name, "deleting a contender that nobody here knows");
            let delete = Request::Delete {
                path: path.child(&position.name),
                version: -1,
            };
            cx.machine.submit(&delete, Tag::Nothing, DATA_REPLY);
        }
    }

    /// An event of a data watch.
    pub(super) fn watch_fired(&mut self, cx: &mut Context<'_>, kind: WatchEventKind, path: &str) {
        if kind == WatchEventKind::ChildrenChanged {
            return self.children_changed(cx, path);
        }
        for (id, position) in self.paths.contenders_at(path) {
            if kind == WatchEventKind::Deleted {
                self.contender_gone(cx, id, &position);
                continue;
            }
            // Not a deletion, e.g. Curator's revoker writes data: watch on, if anyone needs it.
            let Some(path) = self.paths.get_mut(id) else {
                continue;
            };
            let Some(node) = path.view.get(&position).map(|seen| seen.node) else {
                continue;
            };
            path.view.set_watch(&position, Watch::None);
            let needed = match node {
                Some(node) => self
                    .nodes
                    .get(&node)
                    .is_some_and(|node| node.user != User::Nobody),
                None => self.is_awaited(id, &position),
            };
            if needed {
                self.watch(cx, id, position);
            }
        }
    }

    /// A contender is known to be gone: by its event, by our own deletion, or by an answer.
    fn contender_gone(&mut self, cx: &mut Context<'_>, id: PathId, position: &Position) {
        let Some(seen) = self
            .paths
            .get_mut(id)
            .and_then(|path| path.view.remove(position))
        else {
            return;
        };
        if let Some(node) = seen.node
            && !broken(Mutant::OwnEndIgnored)
        {
            self.node_vanished(cx, node);
        }
        self.evaluate_behind(cx, id, position);
    }

    fn evaluate_behind(&mut self, cx: &mut Context<'_>, id: PathId, position: &Position) {
        let behind = self
            .paths
            .get(id)
            .map(|path| path.view.behind(position))
            .unwrap_or_default();
        for node in behind {
            self.evaluate(cx, node, false);
        }
    }

    /// Takes a node of ours out of the view and looks who is next.
    pub(super) fn remove_from_view(&mut self, cx: &mut Context<'_>, id: PathId, node: NodeId) {
        let Some(position) = self
            .nodes
            .get_mut(&node)
            .and_then(|node| node.position.take())
        else {
            return;
        };
        let removed = self
            .paths
            .get_mut(id)
            .and_then(|path| path.view.remove(&position));
        if removed.is_some() {
            self.evaluate_behind(cx, id, &position);
        }
    }

    /// Whether an attempt of ours waits for this contender.
    fn is_awaited(&self, id: PathId, position: &Position) -> bool {
        let Some(path) = self.paths.get(id) else {
            return false;
        };
        path.view.behind(position).into_iter().any(|node| {
            self.nodes
                .get(&node)
                .is_some_and(|node| matches!(node.user, User::Attempt(_)))
        })
    }

    /// Removes watches on strangers that nobody of ours waits for any more: a path tried for ever
    /// must not fill the server (Z10).
    pub(super) fn forget_watches(&mut self, cx: &mut Context<'_>, id: PathId) {
        let watched = self
            .paths
            .get(id)
            .map(|path| path.view.watched_strangers())
            .unwrap_or_default();
        for position in watched {
            if self.is_awaited(id, &position) {
                continue;
            }
            let Some(path) = self.paths.get_mut(id) else {
                return;
            };
            let full_path = path.child(&position.name);
            path.view.set_watch(&position, Watch::None);
            let request = Request::RemoveDataWatches { path: full_path };
            cx.machine.submit(&request, Tag::Nothing, DATA_REPLY);
        }
    }

    // ---- granting ----

    fn grant(&mut self, cx: &mut Context<'_>, id: NodeId) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        let User::Attempt(attempt) = node.user else {
            return;
        };
        let (Some(position), Some(path), Some(term)) =
            (&node.position, self.paths.get(node.path), &self.term)
        else {
            return;
        };
        let full_path = path.child(&position.name);
        let node_path = cx.user_path(&full_path).into();
        // A downgraded read repeats the writer's token: its own node is younger than writers that
        // are queued already (R2).
        let token = node.writers_token.unwrap_or(node.czxid);
        let hold = Hold::new(
            id,
            node.path,
            node.kind,
            (token, 1),
            node_path,
            term.clone(),
        );
        self.start_hold(cx, attempt, hold);
    }
}
