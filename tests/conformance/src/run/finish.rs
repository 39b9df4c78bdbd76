//! What holds at the end of every scenario, whatever it was about.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Run, USUAL};

/// For the sessions of killed processes: their timeout, the server's rounding, and a busy machine.
const LEFT: Duration = Duration::from_secs(20);

impl Run<'_> {
    pub(super) fn finish(&mut self) -> Result<(), String> {
        let unfinished = self.unfinished();
        if !unfinished.is_empty() {
            return Err(format!("the scenario never awaits {unfinished:?}"));
        }
        self.exit_all()?;
        self.told_once()?;
        self.kept_secrets()?;
        self.left_without_a_word()?;
        self.watcher.nothing_left(LEFT)
    }

    /// Every process can end, also with sessions open and locks held (R17).
    fn exit_all(&mut self) -> Result<(), String> {
        for actor in self.actors.values_mut() {
            if !actor.has_ended() {
                actor.resume()?;
                actor.exit(USUAL)?;
            }
        }
        Ok(())
    }

    /// Whatever an actor writes, its credentials are not in it (R19).
    fn kept_secrets(&self) -> Result<(), String> {
        for line in self.trace.lines() {
            let is_theirs = line.contains(" < ") || line.contains(" stderr: ");
            let betrayed = |secret: &String| line.contains(secret.as_str());
            if is_theirs && self.secrets.iter().any(betrayed) {
                return Err(format!("an actor tells its credentials: {line}"));
            }
        }
        Ok(())
    }

    /// A loss is told exactly once per registration, and never after a release (R4).
    fn told_once(&self) -> Result<(), String> {
        for (name, actor) in &self.actors {
            let mut times = BTreeMap::<String, u32>::new();
            for event in actor.events().iter().filter(|event| event.word == "lost") {
                let guard = event.get("guard").unwrap_or_default();
                *times.entry(guard.to_owned()).or_default() += 1;
            }
            let released = |guard: &&String| {
                let guard = (name.clone(), (*guard).clone());
                self.released.contains(&guard)
            };
            if let Some(guard) = times.keys().find(released) {
                return Err(format!(
                    "{name} was told that {guard} was lost, which it had released"
                ));
            }
            if let Some((guard, times)) = times.iter().find(|(_, times)| **times > 1) {
                return Err(format!(
                    "{name} was told {times} times that {guard} was lost"
                ));
            }
        }
        Ok(())
    }
}
