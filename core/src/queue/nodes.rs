//! The life of one contender node of ours, from the create to the confirmed deletion.

use std::collections::HashSet;
use std::sync::Arc;

use uuid::Uuid;

use super::guards::HoldId;
use super::listing::Behind;
use super::names::{self, Family, Kind, Position};
use super::paths::PathId;
use super::replies::Tag;
use super::timers::Timer;
use super::view::{Seen, Watch};
use super::{Context, Queues};
use crate::clock::Time;
use crate::command::{AttemptId, HandleId, LockTarget, Then};
use crate::config::Acl;
use crate::error::{Error, ErrorKind};
use crate::mutant::{Mutant, broken};
use crate::session::Outcome;
use crate::wire::acl;
use crate::wire::code::Code;
use crate::wire::reply::{MultiResult, Reply, multi_failure};
use crate::wire::request::{CreateMode, MultiOperation, Request};

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
        self.nodes.insert(id, node);
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

    // ---- create ----

    fn create(&mut self, cx: &mut Context<'_>, id: NodeId) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        let Some(path) = self.paths.get(node.path) else {
            return;
        };
        if path.parents.are_being_made() {
            // Sent when they are there.
            return;
        }
        let near = self.is_near_front(node.path, node.kind);
        let prefix = names::prefix(node.target.naming, node.kind, &node.guid);
        let request = Request::Create2 {
            path: path.child(&prefix),
            data: node_data(cx, &node.target),
            acl: contender_acl(cx, &node.target),
            mode: CreateMode::EphemeralSequential,
        };
        let (path_id, covered_by) = (node.path, path.listings.next_number());
        self.set_phase(id, Phase::Creating);
        if let Some(node) = self.nodes.get_mut(&id) {
            node.covered_by = covered_by;
        }
        cx.machine.submit(&request, Tag::Create(id), CREATE_REPLY);
        if near {
            // Behind the create in the same flight, so that it shows it (Z8).
            self.want_new_listing(path_id, Behind::Nothing);
        }
    }

    pub(super) fn created(&mut self, cx: &mut Context<'_>, id: NodeId, outcome: Outcome) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        let path_id = node.path;
        match outcome {
            Outcome::Done(Reply::Created { path, stat }) => {
                self.created_as(cx, id, &path, stat.czxid);
            }
            Outcome::Refused(Code::NO_NODE) => {
                self.set_phase(id, Phase::Unsent);
                if self
                    .nodes
                    .get(&id)
                    .is_some_and(|node| node.user == User::Nobody)
                {
                    self.gone(cx, id, &Ok(()));
                } else {
                    self.make_parents(cx, path_id, id);
                }
            }
            Outcome::Refused(Code::THROTTLED_OP) => {
                self.set_phase(id, Phase::Unsent);
                self.retry_later(cx, id);
            }
            Outcome::Refused(code) => {
                self.set_phase(id, Phase::Unsent);
                let error = self.create_error(cx, path_id, code);
                self.fail_node(cx, id, error);
            }
            Outcome::InDoubt if broken(Mutant::NoRecovery) => self.set_phase(id, Phase::Unsent),
            Outcome::InDoubt => {
                self.set_phase(id, Phase::InDoubt);
            }
            Outcome::NotSent | Outcome::Done(_) => {
                self.set_phase(id, Phase::Unsent);
                self.drive(cx, id);
            }
        }
    }

    fn created_as(&mut self, cx: &mut Context<'_>, id: NodeId, path: &str, czxid: i64) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        let path_id = node.path;
        let name = path.rsplit_once('/').map_or("", |(_, name)| name);
        match names::parse(node.family(), name.as_bytes()).map(Position::from) {
            Some(position) => {
                if let Some(path) = self.paths.get_mut(path_id) {
                    path.listings.created = Some(self.generation);
                }
                self.present(cx, id, position, czxid);
            }
            None => {
                self.set_phase(id, Phase::Unsent);
                self.fail_node(
                    cx,
                    id,
                    Error::new(
                        ErrorKind::Internal,
                        "lock",
                        format!("the server named the contender {name:?}"),
                    ),
                );
            }
        }
    }

    fn create_error(&self, cx: &Context<'_>, path: PathId, code: Code) -> Error {
        match code {
            Code::NO_AUTH => self.denied(cx, path, "CREATE"),
            Code::INVALID_ACL => Error::invalid_argument(
                "lock",
                "acl",
                "the server does not accept it for these credentials",
            )
            .with_path(self.name_of(cx, path)),
            Code::NO_CHILDREN_FOR_EPHEMERALS => Error::invalid_argument(
                "lock",
                "path",
                "it, or a parent of it, is an ephemeral node",
            )
            .with_path(self.name_of(cx, path)),
            Code::UNIMPLEMENTED => Error::new(
                ErrorKind::Unsupported,
                "lock",
                "the server does not know create2: it is older than 3.5.5",
            )
            .with_path(self.name_of(cx, path)),
            code => self.unexpected(cx, path, "create2", code),
        }
    }

    /// Ends a node that is not on the server, and what it stands for.
    fn fail_node(&mut self, cx: &mut Context<'_>, id: NodeId, error: Error) {
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        let user = std::mem::replace(&mut node.user, User::Nobody);
        self.drive(cx, id);
        if let User::Attempt(attempt) = user {
            self.fail_attempt(cx, attempt, error);
        }
    }

    fn retry_later(&mut self, cx: &mut Context<'_>, id: NodeId) {
        // A server that throttles wants less, from everyone at a different time.
        let pause = std::time::Duration::from_millis(cx.machine.random().u64(20..120));
        self.timers.set(cx.now + pause, Timer::Retry(id));
    }

    /// A node of ours is known to be on the server.
    fn present(&mut self, cx: &mut Context<'_>, id: NodeId, position: Position, czxid: i64) {
        self.set_phase(id, Phase::Present);
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        node.czxid = if broken(Mutant::TokenFromSuffix) {
            position.number + 1
        } else {
            czxid
        };
        node.position = Some(position.clone());
        node.former = None;
        let (path_id, user) = (node.path, node.user);
        let used_up = (position.number < 0 || position.number == i64::from(i32::MAX))
            && !broken(Mutant::ExhaustionIgnored);
        if let Some(path) = self.paths.get_mut(path_id) {
            let watch = path
                .view
                .get(&position)
                .map_or(Watch::None, |seen| seen.watch);
            path.view.insert(
                position,
                Seen {
                    node: Some(id),
                    watch,
                },
            );
        }
        match user {
            User::Nobody if broken(Mutant::CancelledCreateForgotten) => self.gone(cx, id, &Ok(())),
            User::Nobody => self.drive(cx, id),
            User::Attempt(attempt) if used_up => {
                let error = self.exhausted(cx, path_id);
                self.fail_attempt(cx, attempt, error);
            }
            _ => self.evaluate(cx, id, false),
        }
    }

    // ---- downgrade ----

    /// Creates a read node in the place of the owner's write node, in one transaction with the
    /// check that the write node is there (R12).
    fn create_downgrade(&mut self, cx: &mut Context<'_>, id: NodeId) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        let write = node
            .downgrade_of
            .and_then(|write| self.nodes.get(&write))
            .filter(|write| write.phase == Phase::Present && write.user != User::Nobody)
            .and_then(|write| Some((write.position.clone()?, write.czxid)));
        let write = write.filter(|_| !broken(Mutant::DowngradeAtTheEnd));
        let (Some((write, token)), Some(path)) = (write, self.paths.get(node.path)) else {
            if broken(Mutant::DowngradeAtTheEnd) {
                return self.create(cx, id);
            }
            // The write lock was released meanwhile: queue like everyone else.
            if let Some(node) = self.nodes.get_mut(&id) {
                node.downgrade_of = None;
                node.writers_token = None;
            }
            return self.create(cx, id);
        };
        let name = names::downgrade_name(node.target.naming, &node.guid, write.number);
        let mut parts = vec![
            MultiOperation::Check {
                path: path.child(&write.name),
                version: -1,
            },
            MultiOperation::Create {
                path: path.child(&name),
                data: node_data(cx, &node.target),
                acl: contender_acl(cx, &node.target),
                mode: CreateMode::Ephemeral,
            },
        ];
        if broken(Mutant::DowngradeWithoutCheck) {
            parts.remove(0);
        }
        let request = Request::Multi(parts);
        self.set_phase(id, Phase::Creating);
        if let Some(node) = self.nodes.get_mut(&id) {
            node.writers_token = Some(token);
        }
        cx.machine
            .submit(&request, Tag::Downgrade(id), CREATE_REPLY);
    }

    pub(super) fn downgraded(&mut self, cx: &mut Context<'_>, id: NodeId, outcome: Outcome) {
        let refused = match outcome {
            Outcome::Done(Reply::Multi(results)) => match multi_failure(&results) {
                Some((part, code)) => Some((part, code)),
                None => {
                    let created = results.into_iter().find_map(|result| match result {
                        MultiResult::Created { path, stat } => Some((path, stat)),
                        _ => None,
                    });
                    return match created {
                        // Without a stat nothing is missing: the token is the writer's.
                        Some((path, stat)) => {
                            self.created_as(cx, id, &path, stat.map_or(0, |stat| stat.czxid));
                        }
                        None => self.created(cx, id, Outcome::Refused(Code::SYSTEM_ERROR)),
                    };
                }
            },
            Outcome::Refused(code) if code != Code::THROTTLED_OP => Some((1, code)),
            other => return self.created(cx, id, other),
        };
        let Some((part, code)) = refused else { return };
        if (part, code) == (0, Code::NO_NODE) {
            // Somebody removed the write node: the write lock is lost, and with it this attempt.
            self.set_phase(id, Phase::Unsent);
            let write = self.nodes.get(&id).and_then(|node| node.downgrade_of);
            let path = self.nodes.get(&id).map(|node| node.path);
            if let (Some(write), Some(path)) = (write, path) {
                self.remove_from_view(cx, path, write);
                self.node_vanished(cx, write);
            }
            let error = Error::new(ErrorKind::LockLost, "lock", "the write lock was lost");
            let error = match path {
                Some(path) => error.with_path(self.name_of(cx, path)),
                None => error,
            };
            self.fail_node(cx, id, error);
        } else {
            self.created(cx, id, Outcome::Refused(code));
        }
    }

    // ---- recovery of a lost create reply (Z5) ----

    /// The node was not there, by a listing that was asked for at this time. It may still come, so
    /// the create is remembered, and sent anew under another GUID if the attempt goes on.
    pub(super) fn give_up_create(&mut self, cx: &mut Context<'_>, id: NodeId, asked: Time) {
        let fresh = cx.guid();
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        node.phase = Phase::Unsent;
        let lost = std::mem::replace(&mut node.guid, fresh);
        if let Some(path) = self.paths.get(node.path) {
            let full_path = path.full_path.to_string();
            self.remember_lost(cx, &full_path, lost, asked);
        }
        self.drive(cx, id);
    }

    pub(super) fn adopt(&mut self, cx: &mut Context<'_>, id: NodeId, position: Position) {
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        let Some(path) = self.paths.get(node.path) else {
            return;
        };
        node.phase = Phase::Adopting;
        node.covered_by = path.listings.answered;
        node.position = Some(position.clone());
        let request = Request::GetData {
            path: path.child(&position.name),
            watch: true,
        };
        cx.machine.submit(&request, Tag::Adopt(id), CREATE_REPLY);
    }

    pub(super) fn adopted(&mut self, cx: &mut Context<'_>, id: NodeId, outcome: Outcome) {
        let Some(node) = self.nodes.get_mut(&id) else {
            return;
        };
        let Some(position) = node.position.clone() else {
            return;
        };
        let path_id = node.path;
        match outcome {
            Outcome::Done(Reply::Data { stat, .. }) => {
                if stat.ephemeral_owner == cx.machine.session_id()
                    || broken(Mutant::OldSessionsNodeAdopted)
                {
                    if let Some(path) = self.paths.get_mut(path_id) {
                        path.view.insert(
                            position.clone(),
                            Seen {
                                node: Some(id),
                                watch: Watch::Armed,
                            },
                        );
                    }
                    self.present(cx, id, position, stat.czxid);
                } else {
                    // An earlier session's: deleted, never adopted.
                    node.position = None;
                    node.phase = Phase::Unsent;
                    if let Some(path) = self.paths.get(path_id) {
                        let delete = Request::Delete {
                            path: path.child(&position.name),
                            version: -1,
                        };
                        cx.machine.submit(&delete, Tag::Nothing, CREATE_REPLY);
                    }
                    self.drive(cx, id);
                }
            }
            Outcome::Refused(Code::NO_NODE) => {
                node.position = None;
                node.phase = Phase::Unsent;
                self.drive(cx, id);
            }
            // Searched for once more.
            Outcome::Refused(_) | Outcome::InDoubt | Outcome::NotSent | Outcome::Done(_) => {
                node.position = None;
                node.phase = Phase::InDoubt;
                self.drive(cx, id);
            }
        }
    }

    // ---- deletion ----

    fn delete(&mut self, cx: &mut Context<'_>, id: NodeId) {
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

    pub(super) fn deleted(&mut self, cx: &mut Context<'_>, id: NodeId, outcome: &Outcome) {
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
                self.timers.set(again, Timer::Retry(id));
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
    pub(super) fn abandon(&mut self, cx: &mut Context<'_>, id: NodeId) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.user = User::Nobody;
            self.drive(cx, id);
        }
    }

    /// The node is not on the server any more, nor will be.
    pub(super) fn gone(&mut self, cx: &mut Context<'_>, id: NodeId, outcome: &Result<(), Error>) {
        self.answer_releases(id, outcome);
        self.set_phase(id, Phase::Unsent);
        let Some(node) = self.nodes.remove(&id) else {
            return;
        };
        if let Some(path) = self.paths.get_mut(node.path) {
            path.nodes.remove(&id);
            path.order.remove(&node.order);
        }
        self.forget_watches(cx, node.path);
        self.paths.forget_if_unused(node.path);
        for closer in &mut self.closers {
            closer.left.remove(&id);
        }
        self.answer_closers();
    }

    fn answer_releases(&mut self, id: NodeId, outcome: &Result<(), Error>) {
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

    pub(super) fn answer_closers(&mut self) {
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

    /// A node of ours was removed by somebody else, or is seen to be deleted.
    pub(super) fn node_vanished(&mut self, cx: &mut Context<'_>, id: NodeId) {
        let Some(node) = self.nodes.get(&id) else {
            return;
        };
        match node.user {
            User::Nobody => self.gone(cx, id, &Ok(())),
            User::Hold(hold) => {
                tracing::warn!("the contender of a held lock was removed by somebody else");
                self.gone(cx, id, &Ok(()));
                self.lose(cx, hold);
            }
            User::Attempt(_) => {
                tracing::warn!("a waiting contender was removed by somebody else; queueing again");
                self.queue_again(cx, id);
                self.drive(cx, id);
            }
        }
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

fn contender_acl(cx: &Context<'_>, target: &LockTarget) -> Arc<[acl::Acl]> {
    match target.acl.as_ref().unwrap_or(&cx.config.acl) {
        Acl::Open => [acl::Acl::anyone(acl::perms::ALL)].into(),
        // READ for anyone who may queue behind and has to watch it (Z14).
        Acl::Creator => [
            acl::Acl::creator(acl::perms::ALL),
            acl::Acl::anyone(acl::perms::READ),
        ]
        .into(),
        Acl::List(entries) => entries.iter().map(listed_acl).collect(),
    }
}

/// The ACL of parents that are made for a lock.
pub(super) fn parent_acl(cx: &Context<'_>, target: &LockTarget) -> Arc<[acl::Acl]> {
    match target.acl.as_ref().unwrap_or(&cx.config.acl) {
        Acl::Creator => [acl::Acl::creator(acl::perms::ALL)].into(),
        Acl::Open | Acl::List(_) => contender_acl(cx, target),
    }
}

fn listed_acl(entry: &crate::config::AclEntry) -> acl::Acl {
    acl::Acl {
        // Checked to be at most 31.
        perms: i32::try_from(entry.permissions).unwrap_or(acl::perms::ALL),
        scheme: entry.scheme.clone(),
        id: entry.id.clone(),
    }
}
