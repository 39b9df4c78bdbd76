//! What comes from the session: replies, events, changes of connection; and the queue's timers.

use uuid::Uuid;

use super::names::Position;
use super::nodes::{NodeId, Phase, User};
use super::paths::PathId;
use super::timers::Timer;
use super::view::View;
use super::{Context, Queues};
use crate::loss::Loss;
use crate::mutant::{Mutant, broken};
use crate::session::Outcome;
use crate::wire::reply::WatchEventKind;

/// What a reply is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Whatever the answer is, nothing depends on it.
    Nothing,
    Create(NodeId),
    Downgrade(NodeId),
    Adopt(NodeId),
    Delete(NodeId),
    Watch(PathId, Position, u64),
    List(PathId, u64),
    /// What a listing is behind: the leader's word, or a quorum's.
    Word(PathId, u64),
    Parent(PathId, String),
    LostList(u64),
    LostDelete(u64, Uuid),
    QueryList(u64, u64),
    QueryData(u64, u64, usize),
}

impl Queues {
    pub(crate) fn reply(&mut self, cx: &mut Context<'_>, tag: Tag, outcome: Outcome) {
        match tag {
            Tag::Nothing => {}
            Tag::Create(node) => self.created(cx, node, outcome),
            Tag::Downgrade(node) => self.downgraded(cx, node, outcome),
            Tag::Adopt(node) => self.adopted(cx, node, outcome),
            Tag::Delete(node) => self.deleted(cx, node, &outcome),
            Tag::Watch(path, position, number) => {
                self.watched(cx, path, &position, number, &outcome);
            }
            Tag::List(path, number) => self.listed(cx, path, number, outcome),
            Tag::Word(path, number) => self.word_answered(path, number, &outcome),
            Tag::Parent(path, ancestor) => self.parent_made(cx, path, ancestor, &outcome),
            Tag::LostList(lost) => self.lost_listed(cx, lost, &outcome),
            Tag::LostDelete(lost, guid) => self.lost_deleted(lost, guid, &outcome),
            Tag::QueryList(query, round) => self.query_listed(cx, query, round, outcome),
            Tag::QueryData(query, round, index) => self.query_data(query, round, index, outcome),
        }
    }

    pub(crate) fn event(&mut self, cx: &mut Context<'_>, kind: WatchEventKind, path: &str) {
        self.watch_fired(cx, kind, path);
    }

    /// The connection is lost. Views prove nothing about order until they are verified (Z11).
    pub(crate) fn suspended(&mut self, cx: &mut Context<'_>) {
        self.forget_children_watches();
        if !broken(Mutant::KeptWithoutConnection) {
            self.stop_all_keeping(cx);
        }
        self.generation += u64::from(!broken(Mutant::GrantBeforeRearmed));
        self.forget_listings();
    }

    /// Connected: everything that waits for a connection goes on.
    pub(crate) fn connected(&mut self, cx: &mut Context<'_>) {
        for id in self.paths.ids() {
            let nodes: Vec<NodeId> = self
                .paths
                .get(id)
                .map(|path| path.order.values().copied().collect())
                .unwrap_or_default();
            for node in nodes {
                let waits = self.nodes.get(&node).is_some_and(|node| {
                    node.phase == Phase::Present && matches!(node.user, User::Attempt(_))
                });
                if waits {
                    self.evaluate(cx, node, false);
                } else {
                    self.drive(cx, node);
                }
            }
            self.look_at_parked(id);
        }
        self.look_for_all_lost(cx);
        self.watch_due_holds(cx);
        self.ask_again(cx);
    }

    /// The session is over: guards are lost, nodes are gone, attempts queue again (R9).
    pub(crate) fn session_over(&mut self, cx: &mut Context<'_>) {
        self.forget_children_watches();
        self.stop_all_keeping(cx);
        if !broken(Mutant::BeliefAfterSession) {
            if let Some(term) = self.term.take() {
                term.break_now();
            }
            self.lose_all(cx, Loss::SessionOver);
        }
        self.generation += 1;
        self.forget_listings();
        self.forget_all_lost();
        for id in self.paths.ids() {
            self.queue_all_again(cx, id);
            if let Some(path) = self.paths.get_mut(id) {
                path.view = View::default();
                path.listings.answered = path.listings.next_number() - 1;
            }
            let others: Vec<NodeId> = self
                .paths
                .get(id)
                .map(|path| path.nodes.iter().copied().collect())
                .unwrap_or_default();
            for node in others {
                if self
                    .nodes
                    .get(&node)
                    .is_some_and(|node| node.user == User::Nobody)
                {
                    self.gone(cx, node, &Ok(()));
                }
            }
        }
    }

    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        while let Some(timer) = self.timers.pop_due(cx.now) {
            match timer {
                Timer::Attempt(attempt) => self.timed_out(cx, attempt),
                Timer::OwnWatch(hold) => self.watch_hold(cx, hold),
                Timer::LateWatches => self.watch_late(cx),
                Timer::Release(release) => self.release_by_time(release),
                Timer::Retry(node) => self.drive(cx, node),
                Timer::Query(query) => self.query_timed_out(query),
                Timer::Closer(closer) => self.close_by_time(closer),
                Timer::Kept(path) => self.look_at_idle(cx, path),
                Timer::LostCreates(lost) => self.look_for_lost(cx, lost),
            }
        }
    }

    /// The end of a turn: decides on kept contenders, and sends the listings that became necessary.
    pub(crate) fn flush(&mut self, cx: &mut Context<'_>) {
        self.settle_kept(cx);
        self.send_listings(cx);
    }
}
