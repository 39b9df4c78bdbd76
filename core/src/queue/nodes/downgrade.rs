//! The read node that takes the place of its owner's write node (R12).

use super::super::names;
use super::super::replies::Tag;
use super::super::{Context, Queues, acls};
use super::{CREATE_REPLY, NodeId, Phase, User, node_data};
use crate::loss::Loss;
use crate::mutant::{Mutant, broken};
use crate::session::Outcome;
use crate::wire::code::Code;
use crate::wire::reply::{MultiResult, Reply, multi_failure};
use crate::wire::request::{CreateMode, MultiOperation, Request};

impl Queues {
    /// Creates a read node in the place of the owner's write node, in one transaction with the
    /// check that the write node is there (R12).
    pub(super) fn create_downgrade(&mut self, cx: &mut Context<'_>, id: NodeId) {
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
                acl: acls::contender_acl(cx, &node.target),
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

    pub(in crate::queue) fn downgraded(
        &mut self,
        cx: &mut Context<'_>,
        id: NodeId,
        outcome: Outcome,
    ) {
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
            let name = path.map_or(String::new(), |path| self.name_of(cx, path));
            let error = Loss::Removed.error("lock", &name, "the write lock was lost");
            self.fail_node(cx, id, error);
        } else {
            self.created(cx, id, Outcome::Refused(code));
        }
    }
}
