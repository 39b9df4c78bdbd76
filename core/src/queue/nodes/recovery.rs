//! A create whose answer was lost: looked for, adopted or given up (Z5).

use super::super::names::Position;
use super::super::replies::Tag;
use super::super::view::{Seen, Watch};
use super::super::{Context, Queues};
use super::{CREATE_REPLY, NodeId, Phase};
use crate::clock::Time;
use crate::mutant::{Mutant, broken};
use crate::session::Outcome;
use crate::wire::code::Code;
use crate::wire::reply::Reply;
use crate::wire::request::Request;

impl Queues {
    /// The node was not there, by a listing that was asked for at this time. It may still come, so
    /// the create is remembered, and sent anew under another GUID if the attempt goes on.
    pub(in crate::queue) fn give_up_create(
        &mut self,
        cx: &mut Context<'_>,
        id: NodeId,
        asked: Time,
    ) {
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

    pub(in crate::queue) fn adopt(&mut self, cx: &mut Context<'_>, id: NodeId, position: Position) {
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

    pub(in crate::queue) fn adopted(&mut self, cx: &mut Context<'_>, id: NodeId, outcome: Outcome) {
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
}
