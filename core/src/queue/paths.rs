//! One queue per lock path and family of recipes.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use super::ById;
use super::kept::Kept;
use super::listing::Listings;
use super::names::{self, Family, Position};
use super::nodes::NodeId;
use super::parents::Parents;
use super::view::View;
use crate::command::AttemptId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PathId(pub(crate) u64);

/// Everything about one lock path.
pub(super) struct PathQueue {
    /// With the chroot.
    pub(super) full_path: Arc<str>,
    pub(super) family: Family,
    pub(super) view: View,
    pub(super) listings: Listings,
    pub(super) parents: Parents,
    /// Our nodes in the order in which they were, or will be, created.
    pub(super) order: BTreeMap<u64, NodeId>,
    pub(super) nodes: BTreeSet<NodeId>,
    /// How many creates are under way, and how many of those exclude everybody.
    pub(super) creating: usize,
    pub(super) creating_exclusive: usize,
    /// Attempts, holds and questions that need this entry.
    pub(super) users: usize,
    /// Whether the server tells us of the next change of the children.
    pub(super) children_watched: bool,
    pub(super) kept: Option<Kept>,
    /// Attempts that wait without a contender of their own, in order.
    pub(super) parked: VecDeque<AttemptId>,
}

impl PathQueue {
    fn new(full_path: Arc<str>, family: Family) -> PathQueue {
        PathQueue {
            full_path,
            family,
            view: View::default(),
            listings: Listings::default(),
            parents: Parents::default(),
            order: BTreeMap::new(),
            nodes: BTreeSet::new(),
            creating: 0,
            creating_exclusive: 0,
            users: 0,
            children_watched: false,
            kept: None,
            parked: VecDeque::new(),
        }
    }

    pub(super) fn child(&self, name: &str) -> String {
        crate::path::join(&self.full_path, name)
    }
}

#[derive(Default)]
pub(super) struct Paths {
    by_id: ById<PathId, PathQueue>,
    ids: HashMap<(Arc<str>, Family), PathId>,
    last: u64,
}

impl Paths {
    pub(super) fn open(&mut self, full_path: String, family: Family) -> PathId {
        let key: (Arc<str>, Family) = (full_path.into(), family);
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        self.last += 1;
        let id = PathId(self.last);
        self.by_id
            .insert(id, PathQueue::new(Arc::clone(&key.0), family));
        self.ids.insert(key, id);
        id
    }

    pub(super) fn get(&self, id: PathId) -> Option<&PathQueue> {
        self.by_id.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: PathId) -> Option<&mut PathQueue> {
        self.by_id.get_mut(&id)
    }

    pub(super) fn find(&self, full_path: &str, family: Family) -> Option<PathId> {
        self.ids.get(&(Arc::from(full_path), family)).copied()
    }

    pub(super) fn ids(&self) -> Vec<PathId> {
        let mut ids: Vec<PathId> = self.by_id.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// Forgets a path that nothing of ours is on.
    pub(super) fn forget_if_unused(&mut self, id: PathId) {
        let unused = |path: &&PathQueue| path.users == 0 && path.nodes.is_empty();
        if let Some(path) = self.by_id.get(&id).filter(unused) {
            self.ids.remove(&(Arc::clone(&path.full_path), path.family));
            self.by_id.remove(&id);
        }
    }

    /// The contenders that a node may be, in each family that is in use on its parent.
    pub(super) fn contenders_at(&self, full_path: &str) -> Vec<(PathId, Position)> {
        let Some((parent, name)) = full_path.rsplit_once('/') else {
            return Vec::new();
        };
        let parent: Arc<str> = parent.into();
        [Family::Mutex, Family::ReadWrite]
            .into_iter()
            .filter_map(|family| {
                let id = *self.ids.get(&(Arc::clone(&parent), family))?;
                let parsed = names::parse(family, name.as_bytes())?;
                Some((id, Position::from(parsed)))
            })
            .collect()
    }
}
