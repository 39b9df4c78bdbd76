//! What an independent client sees on the servers.

use std::collections::BTreeSet;
use std::time::Duration;

use zoolock_ensemble::{Ensemble, NodeKind, Observer, Role, Stat};

use super::eventually;
use super::queue::{contenders, matches};
use crate::trace::Trace;

/// Those that scenarios about credentials use, so that what they protect can be seen.
const CREDENTIALS: &str = "user:secret";

/// Watches an ensemble through whatever server serves.
pub(super) struct Watcher<'a> {
    ensemble: &'a Ensemble,
    trace: Trace,
    root: String,
    observer: Option<Observer>,
    created: BTreeSet<String>,
}

/// A contender as the servers show it.
pub(super) struct Seen {
    pub(super) path: String,
    pub(super) sequence: i64,
    pub(super) identity: String,
    pub(super) session: i64,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(ensemble: &'a Ensemble, trace: Trace, root: String) -> Watcher<'a> {
        Watcher {
            ensemble,
            trace,
            root,
            observer: None,
            created: BTreeSet::new(),
        }
    }

    /// The client, on a server that serves.
    fn observer(&mut self) -> Result<&Observer, String> {
        if self.observer.is_none() {
            let serving =
                self.ensemble.roles().into_iter().find(|(_, role)| {
                    matches!(role, Role::Standalone | Role::Leader | Role::Follower)
                });
            let (server, _) = serving.ok_or("no server serves")?;
            let connect = || {
                let observer = self.ensemble.observer(server)?;
                observer.authenticate("digest", CREDENTIALS)?;
                Ok(observer)
            };
            let observer = connect().map_err(|error: zoolock_ensemble::Error| error.to_string());
            self.observer = Some(observer?);
        }
        self.observer.as_ref().ok_or_else(|| "no observer".into())
    }

    fn ask<T>(
        &mut self,
        question: impl FnOnce(&Observer) -> zoolock_ensemble::Result<T>,
    ) -> Result<T, String> {
        let answer = question(self.observer()?).map_err(|error| error.to_string());
        if let Err(error) = &answer {
            // Its server may be the one that a scenario has killed. An answer about a node is no such case.
            if !["NoNode", "NodeExists", "NotEmpty"]
                .iter()
                .any(|kind| error.contains(kind))
            {
                self.trace
                    .add(format!("observer leaves its server: {error}"));
                self.observer = None;
            }
        }
        answer
    }

    /// Checks something until it is so. Notes what was seen, when it changes.
    fn wait(
        &mut self,
        within: Duration,
        mut check: impl FnMut(&mut Self) -> Result<String, String>,
    ) -> Result<(), String> {
        let mut last = String::new();
        eventually(within, || {
            let seen = check(self);
            let (Ok(text) | Err(text)) = &seen;
            if *text != last {
                last.clone_from(text);
                self.trace.add(format!("observer: {text}"));
            }
            seen.map(drop)
        })
    }

    fn stat(&mut self, path: &str) -> Result<Option<Stat>, String> {
        self.ask(|observer| observer.exists(path))
    }

    fn names(&mut self, path: &str) -> Result<Vec<String>, String> {
        match self.ask(|observer| observer.children(path)) {
            // Not there, or just removed by the server with its last child.
            Err(error) if error.contains("NoNode") => Ok(Vec::new()),
            names => names,
        }
    }

    /// The contenders on a path, in order.
    pub(super) fn contenders(&mut self, path: &str) -> Result<Vec<Seen>, String> {
        let mut seen = Vec::new();
        for (name, sequence) in contenders(&self.names(path)?) {
            let node = format!("{path}/{name}");
            let (data, stat) = self.ask(|observer| observer.get(&node))?;
            seen.push(Seen {
                path: node,
                sequence,
                identity: String::from_utf8_lossy(&data).into_owned(),
                session: stat.ephemeral_owner,
            });
        }
        Ok(seen)
    }

    /// The node that `path#n` stands for: the n-th in the queue, from 0.
    pub(super) fn node(&mut self, reference: &str, within: Duration) -> Result<String, String> {
        let Some((path, number)) = reference.split_once('#') else {
            return Ok(reference.to_owned());
        };
        let number: usize = number
            .parse()
            .map_err(|_| format!("`{reference}` has no number"))?;
        let mut node = String::new();
        self.wait(within, |watcher| {
            let queue = watcher.contenders(path)?;
            let length = queue.len();
            let found = queue.into_iter().nth(number);
            node = found
                .ok_or_else(|| format!("{path} has only {length} contenders"))?
                .path;
            Ok(format!("{reference} is {node}"))
        })?;
        Ok(node)
    }

    /// The session that owns a node.
    pub(super) fn owner(&mut self, reference: &str, within: Duration) -> Result<i64, String> {
        let node = self.node(reference, within)?;
        let stat = self.stat(&node)?.ok_or_else(|| format!("{node} is gone"))?;
        Ok(stat.ephemeral_owner)
    }

    pub(super) fn queue(
        &mut self,
        path: &str,
        wanted: &[String],
        within: Duration,
    ) -> Result<(), String> {
        self.wait(within, |watcher| {
            let queue = watcher.contenders(path)?;
            let seen: Vec<_> = queue.into_iter().map(|seen| seen.identity).collect();
            let text = format!("queue of {path}: {seen:?}");
            if seen == wanted { Ok(text) } else { Err(text) }
        })
    }

    pub(super) fn children(
        &mut self,
        path: &str,
        count: usize,
        within: Duration,
    ) -> Result<(), String> {
        self.wait(within, |watcher| {
            let names = watcher.names(path)?;
            let text = format!("children of {path}: {names:?}");
            if names.len() == count {
                Ok(text)
            } else {
                Err(text)
            }
        })
    }

    pub(super) fn sessions(
        &mut self,
        path: &str,
        count: usize,
        within: Duration,
    ) -> Result<(), String> {
        self.wait(within, |watcher| {
            let queue = watcher.contenders(path)?;
            let sessions: BTreeSet<_> = queue.into_iter().map(|seen| seen.session).collect();
            let text = format!("sessions on {path}: {sessions:x?}");
            if sessions.len() == count {
                Ok(text)
            } else {
                Err(text)
            }
        })
    }

    /// Lets go of a server that is about to be disturbed.
    pub(super) fn leave(&mut self, server: usize) {
        let at = self.observer.as_ref().map(Observer::address);
        if at.is_some() && at == self.ensemble.direct_address(server).ok() {
            self.observer = None;
        }
    }

    pub(super) fn exists(
        &mut self,
        path: &str,
        wanted: bool,
        within: Duration,
    ) -> Result<(), String> {
        self.wait(within, |watcher| {
            let exists = watcher.stat(path)?.is_some();
            let text = format!("{path} {}", if exists { "exists" } else { "is missing" });
            if exists == wanted {
                Ok(text)
            } else {
                Err(text)
            }
        })
    }

    pub(super) fn named(
        &mut self,
        reference: &str,
        pattern: &str,
        within: Duration,
    ) -> Result<(), String> {
        let node = self.node(reference, within)?;
        let name = node.rsplit('/').next().unwrap_or_default();
        if matches(name, pattern) {
            return Ok(());
        }
        Err(format!("the node's name is {name}"))
    }

    pub(super) fn create(
        &mut self,
        path: &str,
        data: &str,
        ephemeral: bool,
        sequential: bool,
    ) -> Result<(), String> {
        let kind = match (ephemeral, sequential) {
            (false, false) => NodeKind::Persistent,
            (false, true) => NodeKind::PersistentSequential,
            (true, false) => NodeKind::Ephemeral,
            (true, true) => NodeKind::EphemeralSequential,
        };
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        if !parent.is_empty() {
            self.ask(|observer| observer.ensure(parent))?;
        }
        let node = self.ask(|observer| observer.create(path, data.as_bytes(), kind))?;
        self.trace.add(format!("observer created {node}"));
        self.created.insert(node);
        Ok(())
    }

    pub(super) fn delete(&mut self, reference: &str, within: Duration) -> Result<(), String> {
        let node = self.node(reference, within)?;
        self.trace.add(format!("observer deletes {node}"));
        self.ask(|observer| observer.delete(&node))
    }

    /// No ephemeral node is left below the run's root but those made here.
    pub(super) fn nothing_left(&mut self, within: Duration) -> Result<(), String> {
        let root = self.root.clone();
        self.wait(within, |watcher| {
            let mut left = Vec::new();
            watcher.ephemerals(&root, &mut left)?;
            if left.is_empty() {
                Ok("no contender is left".into())
            } else {
                Err(format!("contenders are left behind: {left:?}"))
            }
        })
    }

    fn ephemerals(&mut self, path: &str, found: &mut Vec<String>) -> Result<(), String> {
        for name in self.names(path)? {
            let child = format!("{path}/{name}");
            let Some(stat) = self.stat(&child)? else {
                continue;
            };
            if stat.ephemeral_owner > 0 && !self.created.contains(&child) {
                found.push(child);
            } else if stat.num_children > 0 {
                self.ephemerals(&child, found)?;
            }
        }
        Ok(())
    }
}
