//! Processes that are killed: what they held goes when their sessions expire, and for no other reason.

use std::collections::HashSet;

use zoolock_ensemble::{Op, What};

use super::Run;

impl Run<'_> {
    /// Kills a process that holds or waits.
    pub(super) fn kill(&mut self, name: &str) -> Result<(), String> {
        let mut sessions = HashSet::new();
        for path in self.beliefs.paths(name) {
            let contenders = self.watcher.contenders(&path)?.into_iter();
            let its = contenders.filter(|seen| seen.identity == name);
            sessions.extend(its.map(|seen| seen.session));
        }
        if sessions.is_empty() {
            return Err(format!("{name} has nothing to leave behind"));
        }
        self.actor(name)?.kill()?;
        self.beliefs.forget_actor(name);
        self.killed.extend(sessions);
        Ok(())
    }

    /// A process that is killed cannot close its session: one that did was not killed in time, and shows nothing.
    pub(super) fn left_without_a_word(&self) -> Result<(), String> {
        let entries = self.ensemble.log().entries();
        let theirs: HashSet<u64> = entries
            .iter()
            .filter(|entry| match &entry.what {
                What::Reply {
                    session: Some(session),
                    ..
                } => self.killed.contains(session),
                _ => false,
            })
            .map(|entry| entry.connection)
            .collect();
        if theirs.is_empty() && !self.killed.is_empty() {
            return Err("the connections of who was killed are not in the log".into());
        }
        let farewell = |what: &What| matches!(what, What::Request { op: Op::Close, .. });
        let closed = entries
            .iter()
            .any(|entry| farewell(&entry.what) && theirs.contains(&entry.connection));
        if closed {
            return Err("a process that was to be killed closed its session".into());
        }
        Ok(())
    }
}
