//! Grants that nobody has awaited yet, and that came too early.

use super::Run;

impl Run<'_> {
    /// R1: when a guard is about to be released, no call that it keeps out has been granted. The answer to such a call is looked at
    /// when the scenario awaits it, which is after the release, and would look right there.
    pub(super) fn nobody_came_before(&mut self, actor: &str, guard: &str) -> Result<(), String> {
        let name = (actor.to_owned(), guard.to_owned());
        let calls = self.started.iter().map(|(name, it)| (name, &it.call));
        for (started, call) in
            calls.filter(|(_, call)| ["lock", "try"].contains(&call.verb.as_str()))
        {
            let lock = call.message.get("lock").unwrap_or_default();
            let (Some(lock), Some(other)) = (
                self.beliefs.lock(&call.actor, lock),
                self.actors.get(&call.actor),
            ) else {
                continue;
            };
            let kept_out = self.beliefs.keeps_out(&name, lock, &call.owner(lock));
            match other.peek(&call.id) {
                Some(answer) if kept_out && answer.word == "ok" => {
                    return Err(format!(
                        "R1 is broken on {}: {started} was granted before {actor} releases {guard}: `{answer}`",
                        lock.full_path
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
