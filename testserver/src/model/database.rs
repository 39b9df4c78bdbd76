//! One server's copy of the data: nodes, and which sessions exist.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::acl::{self, Acl, permission};
use super::path;
use super::stat::Stat;
use super::txn::{Entry, NewNode, Txn};
use super::watches::{EventKind, Trigger};
use crate::wire::code::Code;

/// The owner that marks a container.
pub(crate) const CONTAINER: i64 = i64::MIN;

#[derive(Debug, Clone)]
pub(crate) struct Database {
    nodes: BTreeMap<String, Node>,
    /// Negotiated timeouts in milliseconds.
    pub(crate) sessions: BTreeMap<i64, u32>,
    ephemerals: BTreeMap<i64, BTreeSet<String>>,
    containers: BTreeSet<String>,
    /// The last transaction applied.
    pub(crate) zxid: i64,
    sequence_sticks: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) data: Option<Arc<[u8]>>,
    pub(crate) acl: Arc<[Acl]>,
    pub(crate) children: BTreeSet<Arc<str>>,
    /// The stat as stored: its cversion counts creations only.
    stored: Stat,
}

/// What applying a transaction came to.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Created { path: String },
    Created2 { path: String, stat: Stat },
    Deleted,
    DataSet(Stat),
    AclSet(Stat),
    Checked,
    Multi(Vec<Outcome>),
    SessionCreated,
    SessionClosed,
    Error(Code),
}

impl Node {
    fn new(data: Option<Vec<u8>>, acl: Arc<[Acl]>, stored: Stat) -> Self {
        Node {
            data: data.map(Arc::from),
            acl,
            children: BTreeSet::new(),
            stored,
        }
    }

    /// The stat as told: clients see deletions counted as well, and not which nodes are containers.
    pub(crate) fn stat(&self) -> Stat {
        let length = |length: usize| i32::try_from(length).unwrap_or(i32::MAX);
        let children = length(self.children.len());
        Stat {
            cversion: self.stored.cversion.wrapping_mul(2).wrapping_sub(children),
            data_length: length(self.data.as_ref().map_or(0, |data| data.len())),
            num_children: children,
            ephemeral_owner: match self.stored.ephemeral_owner {
                CONTAINER => 0,
                owner => owner,
            },
            ..self.stored
        }
    }

    /// The session of an ephemeral node, [`CONTAINER`], or 0.
    pub(crate) fn owner(&self) -> i64 {
        self.stored.ephemeral_owner
    }

    /// The counter behind sequential names.
    pub(crate) fn sequence(&self) -> i32 {
        self.stored.cversion
    }
}

impl Database {
    pub(crate) fn new(sequence_sticks: bool) -> Self {
        let mut database = Database {
            nodes: BTreeMap::new(),
            sessions: BTreeMap::new(),
            ephemerals: BTreeMap::new(),
            containers: BTreeSet::new(),
            zxid: 0,
            sequence_sticks,
        };
        let open = acl::open();
        for (path, acl, aversion) in [
            ("", open.clone(), 0),
            ("/zookeeper", open.clone(), 0),
            ("/zookeeper/quota", open, 0),
            ("/zookeeper/config", acl::world(permission::READ), -1),
        ] {
            let stored = Stat {
                aversion,
                ..Stat::default()
            };
            let node = Node::new(Some(Vec::new()), acl, stored);
            if let Some((parent, name)) = path::split(path)
                && let Some(parent) = database.nodes.get_mut(parent)
            {
                parent.children.insert(name.into());
            }
            database.nodes.insert(path.to_owned(), node);
        }
        database
    }

    pub(crate) fn node(&self, path: &str) -> Option<&Node> {
        self.nodes.get(key(path))
    }

    fn node_mut(&mut self, path: &str) -> Option<&mut Node> {
        self.nodes.get_mut(key(path))
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// How many nodes there are below one, at any depth. A server has the root under two names, and below the empty one it
    /// finds the other.
    pub(crate) fn descendants(&self, path: &str) -> i32 {
        let count = match path {
            "" => self.nodes.len(),
            "/" => self.nodes.len() - 1,
            path => {
                let below = format!("{path}/");
                let nodes = self.nodes.range(below.clone()..);
                nodes
                    .take_while(|(path, _)| path.starts_with(&below))
                    .count()
            }
        };
        i32::try_from(count).unwrap_or(i32::MAX)
    }

    pub(crate) fn ephemerals(&self, session: i64) -> impl Iterator<Item = &String> {
        self.ephemerals.get(&session).into_iter().flatten()
    }

    /// The empty containers that a reaper deletes now: used ones, and ones that were never used for so long.
    pub(crate) fn reapable(&self, wall_ms: i64, never_used_ms: i64) -> Vec<String> {
        let reapable = |path: &&String| {
            self.node(path).is_some_and(|node| {
                let old = never_used_ms != 0 && wall_ms - node.stored.mtime > never_used_ms;
                node.children.is_empty() && (node.stored.cversion > 0 || old)
            })
        };
        self.containers.iter().filter(reapable).cloned().collect()
    }

    pub(crate) fn set_next_sequence(&mut self, parent: &str, next: i32) {
        if let Some(node) = self.node_mut(parent) {
            node.stored.cversion = next;
        }
    }

    pub(crate) fn apply(&mut self, entry: &Entry) -> (Outcome, Vec<Trigger>) {
        let mut triggers = Vec::new();
        let outcome = self.apply_txn(entry, &entry.txn, &mut triggers);
        self.zxid = self.zxid.max(entry.zxid);
        (outcome, triggers)
    }

    fn apply_txn(&mut self, entry: &Entry, txn: &Txn, triggers: &mut Vec<Trigger>) -> Outcome {
        match txn {
            Txn::Create(new) => self.create(entry, new, triggers),
            Txn::Delete { path } => {
                self.delete(path, entry.zxid, triggers);
                Outcome::Deleted
            }
            Txn::SetData {
                path,
                data,
                version,
            } => self.set_data(entry, path, data.as_deref(), *version, triggers),
            Txn::SetAcl { path, acl, version } => {
                let Some(node) = self.node_mut(path) else {
                    return Outcome::Error(Code::NO_NODE);
                };
                node.acl = acl.clone();
                node.stored.aversion = *version;
                Outcome::AclSet(node.stat())
            }
            Txn::Check => Outcome::Checked,
            Txn::Multi(parts) => Outcome::Multi(
                parts
                    .iter()
                    .map(|part| self.apply_txn(entry, part, triggers))
                    .collect(),
            ),
            Txn::FailedMulti(codes) => {
                Outcome::Multi(codes.iter().copied().map(Outcome::Error).collect())
            }
            Txn::CreateSession { timeout_ms } => {
                self.sessions.insert(entry.session, *timeout_ms);
                Outcome::SessionCreated
            }
            Txn::CloseSession { ephemerals } => {
                for path in ephemerals {
                    self.delete(path, entry.zxid, triggers);
                }
                self.ephemerals.remove(&entry.session);
                self.sessions.remove(&entry.session);
                Outcome::SessionClosed
            }
            Txn::Error(code) => Outcome::Error(*code),
        }
    }

    fn create(&mut self, entry: &Entry, new: &NewNode, triggers: &mut Vec<Trigger>) -> Outcome {
        let sticks = self.sequence_sticks;
        let Some((parent_path, name)) = path::split(&new.path) else {
            return Outcome::Error(Code::BAD_ARGUMENTS);
        };
        let Some(parent) = self.node_mut(parent_path) else {
            return Outcome::Error(Code::NO_NODE);
        };
        // Since 3.6 the counter never goes down, so at its end it stays, and the parent's pzxid with it.
        if !sticks || new.parent_cversion > parent.stored.cversion {
            parent.stored.cversion = new.parent_cversion;
            parent.stored.pzxid = entry.zxid;
        }
        parent.children.insert(name.into());
        let parent_acl = parent.acl.clone();
        let stored = Stat {
            czxid: entry.zxid,
            mzxid: entry.zxid,
            pzxid: entry.zxid,
            ctime: entry.time_ms,
            mtime: entry.time_ms,
            ephemeral_owner: new.owner,
            ..Stat::default()
        };
        let node = Node::new(new.data.clone(), new.acl.clone(), stored);
        let stat = node.stat();
        self.nodes.insert(new.path.clone(), node);
        match new.owner {
            0 => {}
            CONTAINER => {
                self.containers.insert(new.path.clone());
            }
            session => {
                let paths = self.ephemerals.entry(session).or_default();
                paths.insert(new.path.clone());
            }
        }
        triggers.push(Trigger::new(EventKind::Created, &new.path, &new.acl));
        triggers.push(Trigger::new(
            EventKind::ChildrenChanged,
            shown(parent_path),
            &parent_acl,
        ));
        let path = new.path.clone();
        if new.with_stat {
            Outcome::Created2 { path, stat }
        } else {
            Outcome::Created { path }
        }
    }

    fn delete(&mut self, path: &str, zxid: i64, triggers: &mut Vec<Trigger>) {
        let Some((parent_path, name)) = path::split(path) else {
            return;
        };
        let Some(node) = self.nodes.remove(path) else {
            return;
        };
        match node.stored.ephemeral_owner {
            0 => {}
            CONTAINER => {
                self.containers.remove(path);
            }
            session => {
                if let Some(paths) = self.ephemerals.get_mut(&session) {
                    paths.remove(path);
                }
            }
        }
        triggers.push(Trigger::new(EventKind::Deleted, path, &node.acl));
        if let Some(parent) = self.node_mut(parent_path) {
            parent.children.remove(name);
            parent.stored.pzxid = parent.stored.pzxid.max(zxid);
            triggers.push(Trigger::new(
                EventKind::ChildrenChanged,
                shown(parent_path),
                &parent.acl,
            ));
        }
    }

    fn set_data(
        &mut self,
        entry: &Entry,
        path: &str,
        data: Option<&[u8]>,
        version: i32,
        triggers: &mut Vec<Trigger>,
    ) -> Outcome {
        let Some(node) = self.node_mut(path) else {
            return Outcome::Error(Code::NO_NODE);
        };
        node.data = data.map(Arc::from);
        node.stored.version = version;
        node.stored.mzxid = entry.zxid;
        node.stored.mtime = entry.time_ms;
        triggers.push(Trigger::new(EventKind::DataChanged, path, &node.acl));
        Outcome::DataSet(node.stat())
    }
}

/// The root has two names.
fn key(path: &str) -> &str {
    if path == "/" { "" } else { path }
}

fn shown(path: &str) -> &str {
    if path.is_empty() { "/" } else { path }
}
