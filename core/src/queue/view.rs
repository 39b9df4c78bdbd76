//! Who queues on a path, as far as this session knows.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::names::{Kind, Position};
use super::nodes::NodeId;
use crate::mutant::{Mutant, broken};

/// Whether the server tells us of a contender's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Watch {
    #[default]
    None,
    /// By the request of this number: an answer to an earlier one says nothing any more.
    Requested(u64),
    Armed,
}

/// One contender.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Ours, if it is.
    pub(super) node: Option<NodeId>,
    pub(super) watch: Watch,
}

/// See the module. Ordered as the queue is; the positions that exclude everybody are kept apart, so
/// that a reader finds the nearest earlier writer whatever number of readers is between.
#[derive(Default)]
pub(super) struct View {
    seen: BTreeMap<Position, Seen>,
    exclusive: BTreeSet<Position>,
    /// Contenders that are not ours and have a watch.
    watched_strangers: BTreeSet<Position>,
    /// How many are ours.
    ours: usize,
}

impl View {
    pub(super) fn insert(&mut self, position: Position, seen: Seen) {
        if position.kind != Kind::Read {
            self.exclusive.insert(position.clone());
        }
        if seen.node.is_some() {
            self.watched_strangers.remove(&position);
        }
        self.ours += usize::from(seen.node.is_some());
        let before = self.seen.insert(position, seen);
        self.ours -= usize::from(before.is_some_and(|seen| seen.node.is_some()));
    }

    pub(super) fn remove(&mut self, position: &Position) -> Option<Seen> {
        self.exclusive.remove(position);
        self.watched_strangers.remove(position);
        let seen = self.seen.remove(position)?;
        self.ours -= usize::from(seen.node.is_some());
        Some(seen)
    }

    pub(super) fn get(&self, position: &Position) -> Option<&Seen> {
        self.seen.get(position)
    }

    pub(super) fn watch_of(&self, position: &Position) -> Option<Watch> {
        self.seen.get(position).map(|seen| seen.watch)
    }

    pub(super) fn set_watch(&mut self, position: &Position, watch: Watch) {
        let Some(seen) = self.seen.get_mut(position) else {
            return;
        };
        seen.watch = watch;
        if seen.node.is_none() && watch != Watch::None {
            self.watched_strangers.insert(position.clone());
        } else {
            self.watched_strangers.remove(position);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    /// How many are not ours.
    pub(super) fn strangers(&self) -> usize {
        self.seen.len() - self.ours
    }

    /// Who is at the front, if it is ours.
    pub(super) fn first_of_ours(&self) -> Option<NodeId> {
        self.seen.values().next()?.node
    }

    /// Who is at the front.
    pub(super) fn first(&self) -> Option<Position> {
        self.seen.keys().next().cloned()
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Position, &Seen)> {
        self.seen.iter()
    }

    /// Replaces everything by what a listing shows, keeping what is known of those still there;
    /// returns those of ours that are not there any more.
    pub(super) fn replace(&mut self, positions: impl Iterator<Item = Position>) -> Vec<NodeId> {
        let mut before = std::mem::take(&mut self.seen);
        self.exclusive.clear();
        self.ours = 0;
        for position in positions {
            let seen = before.remove(&position).unwrap_or_default();
            self.insert(position, seen);
        }
        for gone in before.keys() {
            self.watched_strangers.remove(gone);
        }
        before.into_values().filter_map(|seen| seen.node).collect()
    }

    /// The nearest earlier contender that has to go before this one's turn comes (R7).
    pub(super) fn blocker(&self, position: &Position) -> Option<&Position> {
        match position.kind {
            Kind::Read if broken(Mutant::ReaderIgnoresWriters) => None,
            Kind::Write if broken(Mutant::WriterIgnoresReaders) => {
                self.exclusive.range(..position).next_back()
            }
            Kind::Read => self.exclusive.range(..position).next_back(),
            Kind::Exclusive | Kind::Write => self
                .seen
                .range(..position)
                .next_back()
                .map(|(earlier, _)| earlier),
        }
    }

    /// How many such contenders there are, counted up to `limit`.
    pub(super) fn blockers(&self, position: &Position, limit: usize) -> usize {
        match position.kind {
            Kind::Read => self.exclusive.range(..position).take(limit).count(),
            Kind::Exclusive | Kind::Write => self.seen.range(..position).take(limit).count(),
        }
    }

    /// Whether somebody is before the blocker whose end only a listing would show: a stranger that
    /// nobody here watches.
    pub(super) fn hides_somebody(&self, position: &Position) -> bool {
        let second = match position.kind {
            Kind::Read => self.exclusive.range(..position).nth_back(1),
            Kind::Exclusive | Kind::Write => {
                let second = self.seen.range(..position).nth_back(1);
                second.map(|(earlier, _)| earlier)
            }
        };
        second
            .and_then(|second| self.seen.get(second))
            .is_some_and(|seen| seen.node.is_none() && seen.watch == Watch::None)
    }

    /// How many contenders there are that block a newcomer, counted up to `limit`.
    pub(super) fn blockers_of_newcomer(&self, kind: Kind, limit: usize) -> usize {
        match kind {
            Kind::Read => self.exclusive.len().min(limit),
            Kind::Exclusive | Kind::Write => self.seen.len().min(limit),
        }
    }

    /// Ours whose turn may have come because `gone` went: everyone up to the next that excludes
    /// everybody.
    pub(super) fn behind(&self, gone: &Position) -> Vec<NodeId> {
        let later = self.seen.range((Bound::Excluded(gone), Bound::Unbounded));
        let mut nodes = Vec::new();
        for (position, seen) in later {
            // A reader that goes makes way for a writer only.
            if gone.kind != Kind::Read || position.kind != Kind::Read {
                nodes.extend(seen.node);
            }
            if position.kind != Kind::Read {
                break;
            }
        }
        nodes
    }

    /// The contenders that are not ours and have a watch.
    pub(super) fn watched_strangers(&self) -> Vec<Position> {
        self.watched_strangers.iter().cloned().collect()
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
