//! The life of one contender node of ours, from the create to the confirmed deletion.

mod create;
mod deletion;
mod downgrade;
mod recovery;

use std::collections::HashSet;
use std::sync::Arc;

use uuid::Uuid;

use super::guards::HoldId;
use super::listing::Behind;
use super::names::{Family, Kind, Position};
use super::paths::PathId;
use super::timers::Timer;
use super::{Context, Queues};
use crate::clock::Time;
use crate::command::{AttemptId, HandleId, LockTarget, Then};
use crate::error::Error;

/// What a reply that carries a path and a `Stat` takes.
const CREATE_REPLY: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub(super) u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ReleaseId(pub(super) u64);

/// A release that waits for its node's deletion.
pub(super) struct Release {
    pub(super) then: Then<()>,
    pub(super) until: Time,
}

/// A closing handle that waits for its nodes' deletions.
pub(super) struct Closer {
    pub(super) id: u64,
    pub(super) left: HashSet<NodeId>,
    pub(super) until: Time,
    pub(super) then: Option<Then<()>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not on the server.
    Unsent,
    /// The create is on its way.
    Creating,
    /// The create was sent and its answer lost: searched for by a listing behind a transaction (Z5).
    InDoubt,
    /// Found by its GUID; whether it is our session's is being asked.
    Adopting,
    Present,
    Deleting,
}

/// Whom a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum User {
    Attempt(AttemptId),
    Hold(HoldId),
    /// It is kept: nobody holds it, or a caller who took it without the engine.
    Kept,
    /// It has to go (R5).
    Nobody,
}

pub(crate) struct Node {
    pub(super) path: PathId,
    pub(super) target: Arc<LockTarget>,
    pub(super) handle: HandleId,
    pub(super) kind: Kind,
    pub(super) guid: Uuid,
    pub(super) phase: Phase,
    pub(super) user: User,
    /// Whether it is to be watched only if the attempt waits for long.
    pub(super) watched_later: bool,
    pub(super) position: Option<Position>,
    /// The number of the node that the attempt had before, until it has another: attempts that
    /// queue again do so in their former order (R9), however their nodes went.
    pub(super) former: Option<i64>,
    pub(super) czxid: i64,
    /// Of a downgraded read: the token of the write lock.
    pub(super) writers_token: Option<i64>,
    /// The number of the first listing that shows it.
    pub(super) covered_by: u64,
    /// Its place in the path's order.
    pub(super) order: u64,
    /// A read node in the place of this write node of the same owner (R12).
    pub(super) downgrade_of: Option<NodeId>,
    pub(super) releases: Vec<ReleaseId>,
}

impl Node {
    pub(super) fn family(&self) -> Family {
        self.target.family
    }

    fn excludes(&self) -> bool {
        self.kind != Kind::Read
    }
}

impl Queues {
    pub(super) fn add_node(
        &mut self,
        cx: &mut Context<'_>,
        attempt: AttemptId,
        downgrade_of: Option<NodeId>,
    ) -> Option<NodeId> {
        let id = NodeId(self.next_id());
        let guid = cx.guid();
        let known = self.attempts.get_mut(&attempt)?;
        known.node = Some(id);
        let node = Node {
            path: known.path,
            target: Arc::clone(&known.request.target),
            handle: known.request.handle,
            kind: known.request.kind,
            guid,
            phase: Phase::Unsent,
            user: User::Attempt(attempt),
            watched_later: false,
            position: None,
            former: None,
            czxid: 0,
            writers_token: None,
            covered_by: u64::MAX,
            order: id.0,
            downgrade_of,
            releases: Vec::new(),
        };
        if let Some(path) = self.paths.get_mut(node.path) {
            path.nodes.insert(id);
            path.order.insert(node.order, id);
        }
        self.nodes.insert(id, Box::new(node));
        Some(id)
    }

    /// Does what a node needs next, if a connection allows it.
    pub(super) fn drive(&mut self, cx: &mut Context<'_>, id: NodeId) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        let path = node.path;
        match (&node.phase, node.user) {
            (Phase::Unsent, User::Nobody) => self.gone(cx, id, &Ok(())),
            _ if !cx.machine.is_connected() => {}
            (Phase::Unsent, _) => {
                if node.downgrade_of.is_some() {
                    self.create_downgrade(cx, id);
                } else {
                    self.create(cx, id);
                }
            }
            (Phase::InDoubt, _) => self.want_listing(path, Behind::Quorum),
            (Phase::Present, User::Nobody) => self.delete(cx, id),
            _ => {}
        }
    }

    fn set_phase(&mut self, id: NodeId, phase: Phase) {
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        let was = node.phase == Phase::Creating;
        let is = phase == Phase::Creating;
        node.phase = phase;
        let excludes = node.excludes();
        if let Some(path) = self.paths.get_mut(node.path) {
            if is && !was {
                path.creating += 1;
                path.creating_exclusive += usize::from(excludes);
            } else if was && !is {
                path.creating = path.creating.saturating_sub(1);
                path.creating_exclusive = path
                    .creating_exclusive
                    .saturating_sub(usize::from(excludes));
            }
        }
    }

    /// Ends a node that is not on the server, and what it stands for.
    fn fail_node(&mut self, cx: &mut Context<'_>, id: NodeId, error: Error) {
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        let user = std::mem::replace(&mut node.user, User::Nobody);
        let path = node.path;
        self.look_at_parked(path);
        self.drive(cx, id);
        if let User::Attempt(attempt) = user {
            self.fail_attempt(cx, attempt, error);
        }
    }

    fn retry_later(&mut self, cx: &mut Context<'_>, id: NodeId) {
        self.timers.set(cx.now + cx.retry_pause(), Timer::Retry(id));
    }

    /// The attempt's node is no more: it takes a new place, behind the others of its path.
    pub(super) fn queue_again(&mut self, cx: &mut Context<'_>, id: NodeId) {
        let order = self.next_id();
        let guid = cx.guid();
        self.set_phase(id, Phase::Unsent);
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        node.guid = guid;
        node.former = node.position.take().map(|at| at.number).or(node.former);
        node.czxid = 0;
        node.covered_by = u64::MAX;
        node.watched_later = false;
        if let Some(path) = self.paths.get_mut(node.path) {
            path.order.remove(&node.order);
            path.order.insert(order, id);
        }
        node.order = order;
    }
}

fn node_data(cx: &Context<'_>, target: &LockTarget) -> Vec<u8> {
    target
        .data
        .clone()
        .unwrap_or_else(|| cx.config.identity.clone().into_bytes())
}
