//! Which contenders there are, as the servers' newest state has it, and what follows when one goes.

use std::collections::{BTreeMap, BTreeSet};

use super::checks::{self, Violation};
use super::trace::Actor;
use super::workload::PATHS;
use super::world::World;
use crate::queue::names;

/// See the module.
#[derive(Default)]
pub(super) struct Truth {
    /// Of which server's state, and at which transaction.
    seen: Option<(usize, i64)>,
    children: [BTreeSet<String>; PATHS.len()],
    /// When those that are there came.
    came: BTreeMap<String, u64>,
}

impl Truth {
    /// The children of a path as last looked at.
    pub(super) fn contenders(&self, path: usize) -> &BTreeSet<String> {
        &self.children[path]
    }
}

impl World {
    /// Whose state is the truth: what a deposed leader has that nobody hears is not.
    fn newest(&self) -> Option<(usize, i64)> {
        let zxids = (0..self.plan.servers).map(|server| (self.cluster.zxid(server), server));
        let (zxid, newest) = zxids.max()?;
        match self.cluster.leader() {
            Some(leader) if self.cluster.zxid(leader) == zxid => Some((leader, zxid)),
            Some(_) => None,
            None => Some((newest, zxid)),
        }
    }

    /// The children of a path, if somebody leads.
    pub(super) fn truth_now(&self, path: usize) -> Option<Vec<String>> {
        self.cluster.leader()?;
        self.newest()?;
        self.cluster.children(&self.full_path(path))
    }

    /// Looks which contenders have come and gone: nobody may believe in one that is gone (R1, R3).
    pub(super) fn follow_truth(&mut self) -> Result<(), Violation> {
        let Some(newest) = self.newest() else {
            return Ok(());
        };
        if self.truth.seen == Some(newest) {
            return Ok(());
        }
        self.truth.seen = Some(newest);
        for path in 0..PATHS.len() {
            let now: BTreeSet<String> = self
                .cluster
                .children(&self.full_path(path))
                .unwrap_or_default()
                .into_iter()
                .collect();
            if self.truth.children[path] == now {
                continue;
            }
            let before = std::mem::replace(&mut self.truth.children[path], now.clone());
            for gone in before.difference(&now) {
                self.note(Actor::Truth, || format!("- {gone}"));
                self.truth.came.remove(gone);
                checks::gone(&self.clients, path, gone, self.now)?;
            }
            for new in now.difference(&before) {
                self.note(Actor::Truth, || format!("+ {new}"));
                self.truth.came.insert(new.clone(), self.now);
            }
        }
        Ok(())
    }

    /// Nobody gives up a create that had come true before it was looked for (R5, Z5).
    pub(super) fn check_given_up(&mut self, index: usize) -> Result<(), Violation> {
        for (guid, asked) in self.clients[index].engine.take_given_up() {
            let asked = self.clients[index].moment(asked);
            let there = self.truth.came.iter().find(|(name, came)| {
                names::owned_by(name.as_bytes(), &guid) && asked.is_some_and(|at| **came < at)
            });
            if let Some((name, _)) = there {
                return Err(format!(
                    "R5: client {index} gave up the create of {name}, which had come true before"
                ));
            }
        }
        Ok(())
    }

    /// The contenders of a path in the order of their turns.
    pub(super) fn queue(&self, path: usize) -> Vec<String> {
        let mut contenders: Vec<_> = self
            .truth
            .contenders(path)
            .iter()
            .filter_map(|name| Some((checks::position(path, name)?, name.clone())))
            .collect();
        contenders.sort();
        contenders.into_iter().map(|(_, name)| name).collect()
    }
}
