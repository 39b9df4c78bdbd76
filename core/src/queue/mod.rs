//! The engine that all recipes share: enqueue, order, watch, verify, grant, clean up. A pure state
//! machine over the session's: commands, replies and events in; requests and outcomes out.

mod acls;
mod attempts;
mod contenders;
mod guards;
mod kept;
mod late_watches;
mod listing;
mod lost_creates;
pub(crate) mod names;
mod nodes;
mod owners;
mod parents;
mod parked;
mod paths;
mod replies;
mod timers;
mod turn;
mod view;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxBuildHasher;
use uuid::Uuid;

use crate::clock::Time;
use crate::command::{AttemptId, GuardId};
use crate::config::SessionConfig;
use crate::lease_term::LeaseTerm;
use crate::link::Link;
use crate::session::Machine;

use attempts::Attempt;
use contenders::Query;
use guards::{Hold, HoldId};
use late_watches::LateWatches;
use lost_creates::LostCreates;
use nodes::{Node, NodeId, ReleaseId};
use owners::{OwnerEntry, OwnerKey};
pub(crate) use paths::PathId;
use paths::Paths;
pub(crate) use replies::Tag;
use timers::Timers;

/// By numbers of our own, which nobody chooses so that they collide: most of what a lock costs here is looking these up.
type ById<Id, T> = HashMap<Id, T, FxBuildHasher>;

/// What the queue works with during one turn.
pub(crate) struct Context<'a> {
    pub(crate) now: Time,
    pub(crate) machine: &'a mut Machine<Tag>,
    pub(crate) link: &'a Arc<Link>,
    pub(crate) config: &'a SessionConfig,
}

impl Context<'_> {
    /// A path as the server knows it.
    fn full_path(&self, path: &str) -> String {
        [self.config.servers.chroot.as_str(), path].concat()
    }

    /// A path as the user knows it.
    fn user_path<'p>(&self, full_path: &'p str) -> &'p str {
        full_path
            .strip_prefix(self.config.servers.chroot.as_str())
            .unwrap_or(full_path)
    }

    /// A server that throttles wants less, from everyone at a different time.
    fn retry_pause(&mut self) -> Duration {
        Duration::from_millis(self.machine.random().u64(20..120))
    }

    fn guid(&mut self) -> Uuid {
        let mut bytes = [0; 16];
        let random = self.machine.random();
        random.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}

/// All queues of a session.
///
/// Invariants: a node of ours is in exactly one phase, and belongs to an attempt, to a hold, or to
/// nobody; one that belongs to nobody is on its way to deletion. The view of a path holds what its
/// last listing showed, plus our own creates, less what was seen to go since. A turn is granted
/// only with a running lease on the present connection.
#[derive(Default)]
pub(crate) struct Queues {
    paths: Paths,
    /// In boxes: a table of thousands is up to half empty, and an empty place should be small.
    nodes: ById<NodeId, Box<Node>>,
    attempts: ById<AttemptId, Box<Attempt>>,
    holds: ById<HoldId, Hold>,
    /// How many holds are not lost.
    believing: usize,
    guards: ById<GuardId, HoldId>,
    owners: HashMap<OwnerKey, OwnerEntry>,
    queries: ById<u64, Query>,
    releases: ById<ReleaseId, nodes::Release>,
    closers: Vec<nodes::Closer>,
    lost_creates: LostCreates,
    late_watches: LateWatches,
    timers: Timers,
    /// Paths that want a listing at the end of the turn.
    listing_wanted: BTreeSet<PathId>,
    /// Paths on which a turn waits for the lease to run.
    lease_wanted: BTreeSet<PathId>,
    /// Paths with a kept contender.
    kept_paths: BTreeSet<PathId>,
    /// Paths on which a kept contender is free, or attempts are parked, and something has changed.
    kept_due: BTreeSet<PathId>,
    term: Option<Arc<LeaseTerm>>,
    /// Rises with every event after which views prove nothing until verified: a lost connection, a
    /// lease that ran out.
    generation: u64,
    last_id: u64,
}

impl Queues {
    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Whether a guard believes, or may at any moment: a caller takes what is kept.
    pub(crate) fn is_believing(&self) -> bool {
        self.believing > 0 || !self.kept_paths.is_empty()
    }

    /// Whether an attempt waits.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.attempts.is_empty()
    }

    /// How many attempts wait.
    pub(crate) fn waiting(&self) -> usize {
        self.attempts.len()
    }

    pub(crate) fn next_timeout(&self) -> Time {
        let lease_ends = match &self.term {
            Some(term) if self.is_believing() => term.until(),
            _ => Time::NEVER,
        };
        self.timers.next().min(lease_ends)
    }

    /// The creates that were given up since this was asked last, and when they were looked for.
    #[cfg(test)]
    pub(crate) fn take_given_up(&mut self) -> Vec<(Uuid, Time)> {
        std::mem::take(&mut self.lost_creates.given_up)
    }

    /// The attempts on a path that have a contender, or had one until their session ended, in order.
    #[cfg(test)]
    pub(crate) fn places(&self, full_path: &str) -> Vec<AttemptId> {
        let on_path = |id: PathId| {
            let path = self.paths.get(id);
            path.is_some_and(|path| &*path.full_path == full_path)
        };
        let mut places: Vec<(i64, AttemptId)> = self
            .nodes
            .values()
            .filter(|node| on_path(node.path))
            .filter_map(|node| {
                let number = node.position.as_ref().map(|at| at.number).or(node.former)?;
                match node.user {
                    nodes::User::Attempt(attempt) => Some((number, attempt)),
                    _ => None,
                }
            })
            .collect();
        places.sort_unstable();
        places.into_iter().map(|(_, attempt)| attempt).collect()
    }

    /// Everything on the paths, for the reader of a failed simulation.
    #[cfg(test)]
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        for id in self.paths.ids() {
            let Some(path) = self.paths.get(id) else {
                continue;
            };
            text += &format!(
                "{}: {:?} {:?} generation {}\n",
                path.full_path, path.listings, path.parents, self.generation
            );
            for node in path.order.values().filter_map(|node| self.nodes.get(node)) {
                text += &format!(
                    "  {:?} {:?} {:?} covered by {}\n",
                    node.phase, node.user, node.position, node.covered_by
                );
            }
            for (position, seen) in path.view.iter() {
                text += &format!("  sees {position:?} {seen:?}\n");
            }
        }
        text
    }
}
