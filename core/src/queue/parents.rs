//! Missing parents of a lock path, and a missing chroot (R15).

use super::nodes::{self, NodeId};
use super::paths::PathId;
use super::replies::Tag;
use super::{Context, Queues, acls};
use crate::path;
use crate::session::Outcome;
use crate::wire::code::Code;
use crate::wire::request::{CreateMode, Request};

const CREATE_REPLY: usize = 512;

/// The making of one path's parents.
#[derive(Debug, Default)]
pub(super) struct Parents {
    unanswered: usize,
    /// Why the ancestors below the last that is there could not be made, and which one it was.
    trouble: Option<(String, Code)>,
    /// Whether the lock path itself is there now.
    made: bool,
    /// The server does not know containers.
    plain: bool,
    plain_next: bool,
}

impl Parents {
    pub(super) fn are_being_made(&self) -> bool {
        self.unanswered > 0
    }
}

impl Queues {
    /// Makes the path and its ancestors, top down in one flight; the creates wait meanwhile.
    pub(super) fn make_parents(&mut self, cx: &mut Context<'_>, id: PathId, for_node: NodeId) {
        let Some(node) = self.nodes.get(&for_node) else {
            return;
        };
        let acl = acls::parent_acl(cx, &node.target);
        let Some(queue) = self.paths.get_mut(id) else {
            return;
        };
        if queue.parents.are_being_made() {
            return;
        }
        let plain = queue.parents.plain;
        queue.parents.made = false;
        queue.parents.trouble = None;
        let ancestors: Vec<String> = path::ancestors(&queue.full_path)
            .map(str::to_owned)
            .collect();
        queue.parents.unanswered = ancestors.len();
        for ancestor in ancestors {
            let request = if plain {
                Request::Create2 {
                    path: ancestor.clone(),
                    data: Vec::new(),
                    acl: acl.clone(),
                    mode: CreateMode::Persistent,
                }
            } else {
                Request::CreateContainer {
                    path: ancestor.clone(),
                    data: Vec::new(),
                    acl: acl.clone(),
                }
            };
            cx.machine
                .submit(&request, Tag::Parent(id, ancestor), CREATE_REPLY);
        }
    }

    pub(super) fn parent_made(
        &mut self,
        cx: &mut Context<'_>,
        id: PathId,
        ancestor: String,
        outcome: &Outcome,
    ) {
        let Some(queue) = self.paths.get_mut(id) else {
            return;
        };
        let is_last = *ancestor == *queue.full_path;
        let parents = &mut queue.parents;
        parents.unanswered = parents.unanswered.saturating_sub(1);
        match outcome {
            Outcome::Done(_) | Outcome::Refused(Code::NODE_EXISTS) => {
                parents.made = is_last;
                // So everything above is there, whatever was denied or missing on the way.
                parents.trouble = None;
            }
            Outcome::Refused(Code::UNIMPLEMENTED) => parents.plain_next = true,
            // Tried again, whole.
            Outcome::Refused(Code::THROTTLED_OP) | Outcome::InDoubt | Outcome::NotSent => {
                parents.made = is_last;
            }
            Outcome::Refused(code) => {
                // NoAuth on an ancestor that is there is no error; if it is not, what lies below
                // is answered with NoNode, and the denial above is the reason. Any other answer
                // shows that the ancestor's parent is there.
                if parents.trouble.is_none() || *code != Code::NO_NODE {
                    parents.trouble = Some((ancestor, *code));
                }
            }
        }
        if parents.are_being_made() {
            return;
        }
        if std::mem::take(&mut parents.plain_next) && !parents.plain {
            parents.plain = true;
            parents.made = true;
        }
        let made = parents.made;
        let trouble = parents.trouble.take();
        if !made && let Some((ancestor, code)) = trouble {
            let error = if code == Code::NO_AUTH {
                let parent = path::parent(&ancestor).unwrap_or("/");
                let parent = cx.user_path(parent).to_owned();
                crate::Error::new(
                    crate::ErrorKind::NoAuth,
                    "lock",
                    format!(
                        "the server denies CREATE on {}",
                        if parent.is_empty() { "/" } else { &parent }
                    ),
                )
                .with_path(self.name_of(cx, id))
            } else if code == Code::NO_CHILDREN_FOR_EPHEMERALS {
                crate::Error::invalid_argument(
                    "lock",
                    "path",
                    "a parent of it is an ephemeral node",
                )
                .with_path(self.name_of(cx, id))
            } else if code == Code::INVALID_ACL {
                crate::Error::invalid_argument(
                    "lock",
                    "acl",
                    "the server does not accept it for these credentials",
                )
                .with_path(self.name_of(cx, id))
            } else if code == Code::NO_NODE {
                // A reaper removed an ancestor in between (R15): once more.
                return self.drive_unsent(cx, id);
            } else {
                self.unexpected(cx, id, "createContainer", code)
            };
            return self.fail_attempts(cx, id, &error);
        }
        self.drive_unsent(cx, id);
    }

    /// Sends the creates that waited, in their order.
    fn drive_unsent(&mut self, cx: &mut Context<'_>, id: PathId) {
        let waiting: Vec<NodeId> = self
            .paths
            .get(id)
            .map(|queue| queue.order.values().copied().collect())
            .unwrap_or_default();
        for node in waiting {
            if self
                .nodes
                .get(&node)
                .is_some_and(|node| node.phase == nodes::Phase::Unsent)
            {
                self.drive(cx, node);
            }
        }
    }
}
