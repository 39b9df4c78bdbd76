//! When the children of a path are listed, and what a listing proves. Listing is what costs (Z15):
//! one serves all attempts of the process that were queued when it was sent.

use std::collections::VecDeque;

use super::names::{self, Kind, Position};
use super::nodes::{NodeId, Phase, User};
use super::paths::PathId;
use super::replies::Tag;
use super::timers::Timer;
use super::{Context, Queues};
use crate::clock::Time;
use crate::error::{Error, ErrorKind};
use crate::mutant::{Mutant, broken};
use crate::session::Outcome;
use crate::wire::code::Code;
use crate::wire::reply::Reply;
use crate::wire::request::{MultiOperation, Request};

/// A second listing is sent beside one under way when that one was sent too early for a new create.
const MOST_UNDER_WAY: usize = 2;
/// Bytes that a child takes in a reply, and the reply besides.
const CHILD_BYTES: usize = 64;
const LISTING_BYTES: usize = 1024;

/// The listings of one path.
#[derive(Debug, Default)]
pub(super) struct Listings {
    /// Numbers listings in the order in which they are sent.
    sent: u64,
    under_way: VecDeque<Listing>,
    /// The last listing that was answered.
    pub(super) answered: u64,
    /// The generation in which the view was last verified.
    pub(super) verified: Option<u64>,
    /// The generation in which a create was last answered: like `sync`, that brings the server up
    /// to the leader, for whatever is read after it.
    pub(super) created: Option<u64>,
    wanted: Option<Behind>,
    /// The next listing is to watch the children.
    watch_wanted: bool,
}

#[derive(Debug)]
struct Listing {
    number: u64,
    behind: Behind,
    /// Whether what it is behind was answered as it has to be.
    confirmed: bool,
    /// Whether it watches the children.
    watches: bool,
    generation: u64,
    sent: Time,
}

/// What a listing is sent behind, on the same connection, each proving more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Behind {
    Nothing,
    /// `sync`: it shows what the leader had.
    Sync,
    /// A transaction that a quorum has to take: it shows all that was ever decided. A leader that
    /// was deposed and has not noticed answers `sync`, but not this.
    Quorum,
}

impl Listings {
    /// The number that the next listing will have.
    pub(super) fn next_number(&self) -> u64 {
        self.sent + 1
    }

    /// Whether a listing under way will show a create that the listing of this number covers. One
    /// that went with its connection will not.
    pub(super) fn will_show(&self, covered_by: u64) -> bool {
        self.under_way
            .iter()
            .any(|listing| listing.number >= covered_by)
    }
}

impl Queues {
    /// Wants a listing that shows what has been told by now. One under way will do, if it is behind
    /// as much: its answer comes later on the same connection.
    pub(super) fn want_listing(&mut self, id: PathId, behind: Behind) {
        let generation = self.generation;
        let Some(path) = self.paths.get_mut(id) else {
            return;
        };
        let suffices = |listing: &Listing| {
            listing.behind >= behind
                && (behind == Behind::Nothing || listing.generation == generation)
        };
        if !path.listings.under_way.iter().any(suffices) {
            self.want_new_listing(id, behind);
        }
    }

    /// Wants a listing that is sent from now on: it has to show a create just submitted.
    pub(super) fn want_new_listing(&mut self, id: PathId, behind: Behind) {
        if let Some(path) = self.paths.get_mut(id) {
            let wanted = &mut path.listings.wanted;
            *wanted = (*wanted).max(Some(behind));
            self.listing_wanted.insert(id);
        }
    }

    /// The next listing of the path also watches the children.
    pub(super) fn watch_children_with_next(&mut self, id: PathId) {
        if let Some(path) = self.paths.get_mut(id) {
            path.listings.watch_wanted = !path.children_watched;
        }
    }

    /// Wants to be told of the next change of the children, and to know them up to then.
    pub(super) fn watch_children(&mut self, id: PathId) {
        let Some(path) = self.paths.get_mut(id) else {
            return;
        };
        let mut under_way = path.listings.under_way.iter();
        if !path.children_watched && !under_way.any(|listing| listing.watches) {
            path.listings.watch_wanted = true;
            self.want_new_listing(id, Behind::Nothing);
        }
    }

    /// Sends the listings that are wanted, once a turn has queued what they have to show.
    pub(super) fn send_listings(&mut self, cx: &mut Context<'_>) {
        if !cx.machine.is_connected() {
            return;
        }
        for id in std::mem::take(&mut self.listing_wanted) {
            let generation = self.generation;
            let Some(path) = self.paths.get_mut(id) else {
                continue;
            };
            if path.listings.under_way.len() >= MOST_UNDER_WAY {
                // Wanted again by the answer to the one under way.
                continue;
            }
            let Some(behind) = path.listings.wanted.take() else {
                continue;
            };
            let full_path = path.full_path.to_string();
            path.listings.sent += 1;
            let number = path.listings.sent;
            let watches = std::mem::take(&mut path.listings.watch_wanted);
            path.listings.under_way.push_back(Listing {
                number,
                behind,
                confirmed: behind == Behind::Nothing || broken(Mutant::NoWordBeforeRecovery),
                watches,
                generation,
                sent: cx.now,
            });
            let expected = LISTING_BYTES + CHILD_BYTES * path.view.len();
            match behind {
                _ if broken(Mutant::NoWordBeforeRecovery) => {}
                Behind::Nothing => {}
                Behind::Sync => {
                    let sync = Request::Sync {
                        path: full_path.clone(),
                    };
                    cx.machine
                        .submit(&sync, Tag::Word(id, number), LISTING_BYTES);
                }
                Behind::Quorum => {
                    let check = MultiOperation::Check {
                        path: full_path.clone(),
                        version: -1,
                    };
                    let multi = Request::Multi(vec![check]);
                    cx.machine
                        .submit(&multi, Tag::Word(id, number), LISTING_BYTES);
                }
            }
            let list = Request::GetChildren2 {
                path: full_path,
                watch: watches,
            };
            cx.machine.submit(&list, Tag::List(id, number), expected);
        }
    }

    /// Whether a check succeeded is all the same: that it was decided is what counts. A server that
    /// throttles may refuse the word and answer the listing behind it.
    pub(super) fn word_answered(&mut self, id: PathId, number: u64, outcome: &Outcome) {
        let decided = match outcome {
            Outcome::Done(_) => true,
            Outcome::Refused(code) => code.confirmed_by_leader(),
            Outcome::InDoubt | Outcome::NotSent => false,
        };
        if let (true, Some(path)) = (decided, self.paths.get_mut(id)) {
            for listing in &mut path.listings.under_way {
                listing.confirmed |= listing.number == number;
            }
        }
    }

    pub(super) fn listed(
        &mut self,
        cx: &mut Context<'_>,
        id: PathId,
        number: u64,
        outcome: Outcome,
    ) {
        let generation = self.generation;
        let Some(path) = self.paths.get_mut(id) else {
            return;
        };
        let Some(at) = path
            .listings
            .under_way
            .iter()
            .position(|listing| listing.number == number)
        else {
            return;
        };
        let Some(listing) = path.listings.under_way.remove(at) else {
            return;
        };
        if path.listings.wanted.is_some() {
            self.listing_wanted.insert(id);
        }
        let names = match outcome {
            Outcome::Done(Reply::Children { names, .. }) => {
                path.children_watched |= listing.watches;
                names
            }
            // The path is not there yet, or any more: nobody queues.
            Outcome::Refused(Code::NO_NODE) => {
                path.children_watched = false;
                Vec::new()
            }
            Outcome::Refused(Code::THROTTLED_OP) => {
                path.listings.watch_wanted |= listing.watches;
                self.want_new_listing(id, listing.behind);
                return;
            }
            Outcome::Refused(Code::NO_AUTH) => {
                let error = self.denied(cx, id, "READ");
                self.fail_attempts(cx, id, &error);
                return self.search_later(cx, id);
            }
            Outcome::Refused(code) => {
                let error = self.unexpected(cx, id, "getChildren2", code);
                self.fail_attempts(cx, id, &error);
                return self.search_later(cx, id);
            }
            // Asked for again after the reconnect, by those who still need it.
            Outcome::Done(_) | Outcome::InDoubt | Outcome::NotSent => return,
        };
        let fresh = listing.generation == generation
            && ((listing.behind != Behind::Nothing && listing.confirmed)
                || path.listings.created == Some(generation));
        path.listings.answered = path.listings.answered.max(number);
        if fresh {
            path.listings.verified = Some(generation);
        }
        // It was answered on the connection that it was sent on, so what it is behind holds, whatever
        // became of the lease meanwhile.
        let recovering = listing.behind == Behind::Quorum;
        if !listing.confirmed {
            self.want_new_listing(id, listing.behind);
        }
        let asked = (recovering && listing.confirmed).then_some(listing.sent);
        self.take_listing(cx, id, &names, asked);
    }

    /// Creates in doubt cannot be looked for now: they are again, in case the server changes its mind
    /// while the session lives (R5).
    fn search_later(&mut self, cx: &Context<'_>, id: PathId) {
        let Some(path) = self.paths.get(id) else {
            return;
        };
        let again = cx.now + cx.machine.session_timeout();
        for node in &path.nodes {
            let known = self.nodes.get(node);
            if known.is_some_and(|node| node.phase == Phase::InDoubt)
                && !broken(Mutant::DeniedSearchForgotten)
            {
                self.timers.set(again, Timer::Retry(*node));
            }
        }
    }

    fn take_listing(
        &mut self,
        cx: &mut Context<'_>,
        id: PathId,
        names: &[Vec<u8>],
        recovering_since: Option<Time>,
    ) {
        let Some(path) = self.paths.get_mut(id) else {
            return;
        };
        let family = path.family;
        let parsed: Vec<_> = names
            .iter()
            .filter_map(|name| names::parse(family, name))
            .filter(|parsed| {
                let seen = path.view.get(&Position::from(*parsed));
                let own = seen.is_some_and(|seen| seen.node.is_some());
                own || !parsed.name.contains("lock__") || !broken(Mutant::OtherNamesIgnored)
            })
            .collect();
        let exhausted =
            names::exhausted(parsed.iter().copied()) && !broken(Mutant::ExhaustionIgnored);
        let vanished = path.view.replace(parsed.into_iter().map(Position::from));
        if let Some(asked) = recovering_since {
            self.recover(cx, id, names, asked);
        }
        for node in vanished {
            self.node_vanished(cx, node);
        }
        if let Some(path) = self.paths.get(id) {
            let full_path = path.full_path.to_string();
            self.delete_lost(cx, &full_path, names);
        }
        if exhausted {
            let error = self.exhausted(cx, id);
            return self.fail_attempts(cx, id, &error);
        }
        for node in self.waiting_nodes(id) {
            self.evaluate(cx, node, true);
        }
        self.begin_keeping(cx, id);
        self.look_at_parked(id);
    }

    /// Our nodes that attempts wait with, in their order.
    pub(super) fn waiting_nodes(&self, id: PathId) -> Vec<NodeId> {
        let Some(path) = self.paths.get(id) else {
            return Vec::new();
        };
        path.order
            .values()
            .copied()
            .filter(|node| {
                self.nodes.get(node).is_some_and(|node| {
                    node.phase == Phase::Present && matches!(node.user, User::Attempt(_))
                })
            })
            .collect()
    }

    /// Looks for the nodes of creates whose answers were lost (Z5): behind a transaction a listing
    /// shows all that were made. `sync` would not do: a deposed leader that has not noticed answers
    /// it from before the create.
    fn recover(&mut self, cx: &mut Context<'_>, id: PathId, names: &[Vec<u8>], asked: Time) {
        let Some(path) = self.paths.get(id) else {
            return;
        };
        let in_doubt: Vec<NodeId> = path
            .order
            .values()
            .copied()
            .filter(|node| {
                self.nodes
                    .get(node)
                    .is_some_and(|node| node.phase == Phase::InDoubt)
            })
            .collect();
        if in_doubt.is_empty() {
            return;
        }
        let by_guid = names::by_guid(names);
        for node_id in in_doubt {
            let Some(node) = self.nodes.get(&node_id) else {
                continue;
            };
            let found = by_guid
                .get(&node.guid)
                .and_then(|name| names::parse(node.family(), name))
                .map(Position::from);
            match found {
                Some(position) => self.adopt(cx, node_id, position),
                None => self.give_up_create(cx, node_id, asked),
            }
        }
    }

    pub(super) fn exhausted(&self, cx: &Context<'_>, id: PathId) -> Error {
        Error::new(
            ErrorKind::SequenceExhausted,
            "lock",
            "the path's sequence numbers are used up: let the path empty (a container is then \
             removed by the server) or delete it while empty, or use another path",
        )
        .with_path(self.name_of(cx, id))
    }

    pub(super) fn denied(&self, cx: &Context<'_>, id: PathId, right: &str) -> Error {
        let path = self.name_of(cx, id);
        Error::new(
            ErrorKind::NoAuth,
            "lock",
            format!("the server denies {right} on {path}"),
        )
        .with_path(path)
    }

    pub(super) fn unexpected(
        &self,
        cx: &Context<'_>,
        id: PathId,
        request: &str,
        code: Code,
    ) -> Error {
        Error::new(
            ErrorKind::Internal,
            "lock",
            format!("the server answers {request} with: {code}"),
        )
        .with_path(self.name_of(cx, id))
    }

    pub(super) fn name_of(&self, cx: &Context<'_>, id: PathId) -> String {
        self.paths
            .get(id)
            .map(|path| cx.user_path(&path.full_path).to_owned())
            .unwrap_or_default()
    }

    /// Whether the listing that covers a node's create has been answered.
    pub(super) fn is_covered(&self, id: PathId, covered_by: u64) -> bool {
        self.paths
            .get(id)
            .is_some_and(|path| path.listings.answered >= covered_by)
    }

    /// Watches on children went with the connection, and are not set again.
    pub(super) fn forget_children_watches(&mut self) {
        for id in self.paths.ids() {
            if let Some(path) = self.paths.get_mut(id) {
                path.children_watched = false;
                path.listings.watch_wanted = false;
            }
        }
    }

    /// Listings under way went with the connection.
    pub(super) fn forget_listings(&mut self) {
        for id in self.paths.ids() {
            if let Some(path) = self.paths.get_mut(id) {
                path.listings.under_way.clear();
                path.listings.wanted = None;
            }
        }
        self.listing_wanted.clear();
    }

    /// Whether a contender about to be created is so near to the front that its turn may come
    /// soon: only then a listing is worth its price.
    pub(super) fn is_near_front(&self, id: PathId, kind: Kind) -> bool {
        self.paths.get(id).is_some_and(|path| {
            let known = path.view.blockers_of_newcomer(kind, 2);
            let under_way = match kind {
                Kind::Read => path.creating_exclusive,
                Kind::Exclusive | Kind::Write => path.creating,
            };
            known + under_way <= 1
        })
    }
}
