//! The create of a contender, and what is done when it is known to be on the server.

use super::super::listing::Behind;
use super::super::names::{self, Position};
use super::super::paths::PathId;
use super::super::replies::Tag;
use super::super::view::{Seen, Watch};
use super::super::{Context, Queues, acls};
use super::{CREATE_REPLY, NodeId, Phase, User, node_data};
use crate::error::{Error, ErrorKind};
use crate::mutant::{Mutant, broken};
use crate::session::Outcome;
use crate::wire::code::Code;
use crate::wire::reply::Reply;
use crate::wire::request::{CreateMode, Request};

impl Queues {
    pub(super) fn create(&mut self, cx: &mut Context<'_>, id: NodeId) {
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
        let keeps = node.target.keep.is_some();
        let prefix = names::prefix(node.target.naming, node.kind, &node.guid);
        let request = Request::Create2 {
            path: path.child(&prefix),
            data: node_data(cx, &node.target),
            acl: acls::contender_acl(cx, &node.target),
            mode: CreateMode::EphemeralSequential,
        };
        let (path_id, covered_by) = (node.path, path.listings.next_number());
        self.set_phase(id, Phase::Creating);
        if let Some(node) = self.nodes.get_mut(&id) {
            node.covered_by = covered_by;
        }
        cx.machine.submit(&request, Tag::Create(id), CREATE_REPLY);
        if near {
            if keeps {
                // At the price of no request: who comes behind it is told of.
                self.watch_children_with_next(path_id);
            }
            // Behind the create in the same flight, so that it shows it (Z8).
            self.want_new_listing(path_id, Behind::Nothing);
        }
    }

    pub(in crate::queue) fn created(&mut self, cx: &mut Context<'_>, id: NodeId, outcome: Outcome) {
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

    pub(super) fn created_as(&mut self, cx: &mut Context<'_>, id: NodeId, path: &str, czxid: i64) {
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

    /// A node of ours is known to be on the server.
    pub(super) fn present(
        &mut self,
        cx: &mut Context<'_>,
        id: NodeId,
        position: Position,
        czxid: i64,
    ) {
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
}
