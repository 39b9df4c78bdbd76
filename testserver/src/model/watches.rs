//! One-shot watches of a server's connections.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::acl::Acl;
use super::connection::ConnectionId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    Created = 1,
    Deleted = 2,
    DataChanged = 3,
    ChildrenChanged = 4,
}

/// A change that fires watches. Who may not read the node is not told.
#[derive(Debug, Clone)]
pub(crate) struct Trigger {
    pub(crate) kind: EventKind,
    pub(crate) path: String,
    pub(crate) acl: Arc<[Acl]>,
}

impl Trigger {
    pub(crate) fn new(kind: EventKind, path: &str, acl: &Arc<[Acl]>) -> Self {
        Trigger {
            kind,
            path: path.to_owned(),
            acl: acl.clone(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatcherType {
    Children,
    Data,
    Any,
}

impl WatcherType {
    pub(crate) fn from_wire(kind: i32) -> Option<Self> {
        match kind {
            1 => Some(WatcherType::Children),
            2 => Some(WatcherType::Data),
            3 => Some(WatcherType::Any),
            _ => None,
        }
    }

    fn has_data(self) -> bool {
        self != WatcherType::Children
    }

    fn has_children(self) -> bool {
        self != WatcherType::Data
    }
}

/// Watches on data and existence are one table, those on children another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watches {
    data: Table,
    children: Table,
}

impl Watches {
    pub(crate) fn add_data(&mut self, path: &str, connection: ConnectionId) {
        self.data.add(path, connection);
    }

    pub(crate) fn add_children(&mut self, path: &str, connection: ConnectionId) {
        self.children.add(path, connection);
    }

    /// Takes the watches that the change fires; each connection is told once.
    pub(crate) fn fire(&mut self, trigger: &Trigger) -> BTreeSet<ConnectionId> {
        match trigger.kind {
            EventKind::Created | EventKind::DataChanged => self.data.take(&trigger.path),
            EventKind::ChildrenChanged => self.children.take(&trigger.path),
            EventKind::Deleted => {
                let mut fired = self.data.take(&trigger.path);
                fired.append(&mut self.children.take(&trigger.path));
                fired
            }
        }
    }

    pub(crate) fn contains(&self, path: &str, kind: WatcherType, connection: ConnectionId) -> bool {
        kind.has_data() && self.data.contains(path, connection)
            || kind.has_children() && self.children.contains(path, connection)
    }

    /// Whoever's it is.
    pub(crate) fn contains_any(&self, path: &str, kind: WatcherType) -> bool {
        kind.has_data() && self.data.by_path.contains_key(path)
            || kind.has_children() && self.children.by_path.contains_key(path)
    }

    pub(crate) fn remove(
        &mut self,
        path: &str,
        kind: WatcherType,
        connection: ConnectionId,
    ) -> bool {
        let data = kind.has_data() && self.data.remove(path, connection);
        let children = kind.has_children() && self.children.remove(path, connection);
        data || children
    }

    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        self.data.forget(connection);
        self.children.forget(connection);
    }

    pub(crate) fn len(&self) -> usize {
        self.data.len() + self.children.len()
    }
}

#[derive(Debug, Clone, Default)]
struct Table {
    by_path: BTreeMap<String, BTreeSet<ConnectionId>>,
    by_connection: BTreeMap<ConnectionId, BTreeSet<String>>,
}

impl Table {
    fn add(&mut self, path: &str, connection: ConnectionId) {
        let watchers = self.by_path.entry(path.to_owned()).or_default();
        watchers.insert(connection);
        let paths = self.by_connection.entry(connection).or_default();
        paths.insert(path.to_owned());
    }

    fn take(&mut self, path: &str) -> BTreeSet<ConnectionId> {
        let watchers = self.by_path.remove(path).unwrap_or_default();
        for connection in &watchers {
            if let Some(paths) = self.by_connection.get_mut(connection) {
                paths.remove(path);
                if paths.is_empty() {
                    self.by_connection.remove(connection);
                }
            }
        }
        watchers
    }

    fn contains(&self, path: &str, connection: ConnectionId) -> bool {
        self.by_path
            .get(path)
            .is_some_and(|watchers| watchers.contains(&connection))
    }

    fn remove(&mut self, path: &str, connection: ConnectionId) -> bool {
        let Some(watchers) = self.by_path.get_mut(path) else {
            return false;
        };
        let removed = watchers.remove(&connection);
        if watchers.is_empty() {
            self.by_path.remove(path);
        }
        if let Some(paths) = self.by_connection.get_mut(&connection) {
            paths.remove(path);
            if paths.is_empty() {
                self.by_connection.remove(&connection);
            }
        }
        removed
    }

    fn forget(&mut self, connection: ConnectionId) {
        for path in self.by_connection.remove(&connection).unwrap_or_default() {
            if let Some(watchers) = self.by_path.get_mut(&path) {
                watchers.remove(&connection);
                if watchers.is_empty() {
                    self.by_path.remove(&path);
                }
            }
        }
    }

    fn len(&self) -> usize {
        self.by_path.values().map(BTreeSet::len).sum()
    }
}
