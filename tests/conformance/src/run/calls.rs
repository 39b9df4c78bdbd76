//! Calls of actors and what they have to answer.

use std::time::Duration;

use zoolock_conformance::message::Message;

use super::belief::{Kind, Lock, Name, Wanted};
use super::{Run, USUAL, eventually};
use crate::scenario::{Call, Outcome};

/// A call under way.
pub(super) struct Started {
    pub(super) call: Sent,
}

/// A call that was sent.
pub(super) struct Sent {
    pub(super) actor: String,
    pub(super) id: String,
    pub(super) verb: String,
    thread: Option<String>,
    pub(super) message: Message,
}

impl Sent {
    /// Who holds what is granted to it.
    pub(super) fn owner(&self, lock: &Lock) -> String {
        match &self.thread {
            Some(thread) => format!("{}.{}.{thread}", self.actor, lock.session),
            None => format!("{}#{}", self.actor, self.id),
        }
    }
}

/// Long: a machine that stalls for some seconds must not cost a lease where a scenario is about something else.
const SESSION_TIMEOUT_MS: &str = "15000";

/// How long a peer may take for its first answer, in which its program has to start: 5 s have been seen of Curator's, with six
/// scenarios at once on two busy processors, and as many again may run beside them. It only bounds how late a failure is told.
const START: Duration = Duration::from_secs(60);

impl Run<'_> {
    pub(super) fn call(
        &mut self,
        call: &Call,
        outcome: &Outcome,
        within: Option<Duration>,
    ) -> Result<(), String> {
        if let (Outcome::Values(_), Some(within)) = (outcome, within) {
            let mut last = Ok(());
            return eventually(within, || {
                last = self.call_once(call, outcome, USUAL);
                last.clone()
            });
        }
        let starts = call.verb == "connect" && self.peers.contains(&call.actor);
        let usual = if starts { START } else { USUAL };
        self.call_once(call, outcome, within.unwrap_or(usual))
    }

    fn call_once(
        &mut self,
        call: &Call,
        outcome: &Outcome,
        within: Duration,
    ) -> Result<(), String> {
        let sent = self.send(call)?;
        let answer = self.actor(&sent.actor)?.answer(&sent.id, within)?;
        self.settle(&sent, &answer, outcome)
    }

    pub(super) fn start(&mut self, name: &str, call: &Call) -> Result<(), String> {
        let call = self.send(call)?;
        match self.started.insert(name.to_owned(), Started { call }) {
            Some(_) => Err(format!("{name} is under way already")),
            None => Ok(()),
        }
    }

    pub(super) fn await_call(
        &mut self,
        name: &str,
        outcome: &Outcome,
        within: Duration,
    ) -> Result<(), String> {
        let Started { call } = self
            .started
            .remove(name)
            .ok_or_else(|| format!("{name} was not started"))?;
        let answer = self.actor(&call.actor)?.answer(&call.id, within)?;
        self.settle(&call, &answer, outcome)
    }

    pub(super) fn pending(&mut self, name: &str) -> Result<(), String> {
        let started = self
            .started
            .get(name)
            .ok_or_else(|| format!("{name} was not started"))?;
        let (actor, id) = (started.call.actor.clone(), started.call.id.clone());
        if self.actor(&actor)?.has_answered(&id) {
            return Err(format!("{name} has been answered"));
        }
        Ok(())
    }

    /// The calls that nobody has awaited.
    pub(super) fn unfinished(&self) -> Vec<&String> {
        let ended = |started: &Started| {
            let actor = self.actors.get(&started.call.actor);
            actor.is_none_or(crate::actor::Actor::has_ended)
        };
        let under_way = self.started.iter().filter(|(_, started)| !ended(started));
        under_way.map(|(name, _)| name).collect()
    }

    fn send(&mut self, call: &Call) -> Result<Sent, String> {
        let mut message = Message::new("", &call.verb);
        for (key, value) in &call.fields {
            message = message.with(key, self.text(value)?);
        }
        let session = message.get("session").unwrap_or("s").to_owned();
        let usual: &[(&str, &str)] = match call.verb.as_str() {
            "connect" => &[
                ("session", "s"),
                ("hosts", "{hosts}"),
                ("identity", &call.actor),
                ("session_timeout_ms", SESSION_TIMEOUT_MS),
            ],
            "mutex" | "reentrant" | "read" | "write" | "session_state" | "close" => {
                &[("session", "s")]
            }
            _ => &[],
        };
        for (key, value) in usual {
            if message.get(key).is_none() {
                message = message.with(*key, self.text(value)?);
            }
        }
        if let Some((_, password)) = message.get("auth").and_then(|auth| auth.split_once(':')) {
            self.secrets.push(password.to_owned());
        }
        if let Some(thread) = &call.thread {
            message = message.with("thread", thread);
        }
        if matches!(call.verb.as_str(), "release" | "drop") {
            self.nobody_came_before(&call.actor, message.get("guard").unwrap_or_default())?;
        }
        self.foresee(call, &message, &session);
        let id = self.actor(&call.actor)?.send(&call.verb, &message.fields)?;
        Ok(Sent {
            actor: call.actor.clone(),
            id,
            verb: call.verb.clone(),
            thread: call.thread.clone(),
            message,
        })
    }

    /// Notes what is so from the moment of the call on.
    fn foresee(&mut self, call: &Call, message: &Message, session: &str) {
        let field = |key| message.get(key).unwrap_or_default();
        let actor = call.actor.as_str();
        match call.verb.as_str() {
            "connect" => self
                .beliefs
                .connect((actor.to_owned(), session.to_owned()), field("hosts")),
            "mutex" | "reentrant" | "read" | "write" => {
                let kind = match call.verb.as_str() {
                    "read" => Kind::Read,
                    "write" => Kind::Write,
                    _ => Kind::Exclusive,
                };
                self.beliefs
                    .open(actor, field("lock"), session, field("path"), kind);
            }
            "release" | "drop" => {
                self.beliefs
                    .end(&(actor.to_owned(), field("guard").to_owned()));
            }
            "close" => self.beliefs.close(actor, session),
            _ => {}
        }
    }

    fn settle(&mut self, sent: &Sent, answer: &Message, outcome: &Outcome) -> Result<(), String> {
        let unexpected = || Err(format!("the answer is `{answer}`"));
        let granted = answer.word == "ok" && matches!(sent.verb.as_str(), "lock" | "try");
        match outcome {
            Outcome::Granted { same: None } if granted => self.granted(sent, answer, Wanted::Fresh),
            Outcome::Granted { same: Some(other) } if granted => {
                self.granted(sent, answer, Wanted::Same(other))
            }
            Outcome::GrantedAgain { of } if granted => {
                self.granted(sent, answer, Wanted::Again(of))
            }
            Outcome::Ok if answer.word == "ok" && !granted => {
                if sent.verb == "release" {
                    let guard = sent.message.get("guard").unwrap_or_default();
                    self.released.insert((sent.actor.clone(), guard.to_owned()));
                }
                Ok(())
            }
            Outcome::None if answer.word == "none" => Ok(()),
            Outcome::Ended if !granted && matches!(answer.word.as_str(), "ok" | "error") => Ok(()),
            Outcome::Error { kind, names } if answer.word == "error" => {
                let names = names.as_deref().map(|names| self.text(names)).transpose()?;
                check_error(sent, answer, kind, names.as_deref())
            }
            Outcome::Values(wanted) if answer.word == "ok" => {
                self.check_values(sent, answer, &self.texts(wanted)?)
            }
            _ => unexpected(),
        }
    }

    fn granted(&mut self, sent: &Sent, answer: &Message, wanted: Wanted<'_>) -> Result<(), String> {
        let field = |key| sent.message.get(key).unwrap_or_default();
        let guard = (sent.actor.clone(), field("guard").to_owned());
        let lock = self
            .beliefs
            .lock(&sent.actor, field("lock"))
            .cloned()
            .ok_or_else(|| format!("`{}` is no lock", field("lock")))?;
        let part = |key: &str, otherwise| {
            let text = answer.get(key).unwrap_or(otherwise);
            text.parse::<i64>()
                .map_err(|_| format!("`{text}` is no {key}"))
        };
        // Other libraries keep nothing.
        let token = (part("token", "")?, part("count", "1")?);
        let node = answer.get("node").unwrap_or_default();
        if !node.starts_with(&format!("{}/", lock.path)) {
            return Err(format!("the node {node} is not below {}", lock.path));
        }
        // A peer's token is the zxid of the node that it has, which after a downgrade is a new one.
        let repeats = |other: &str| self.beliefs.token(&sent.actor, other) == Some(token);
        let wanted = match wanted {
            Wanted::Same(other) if self.peers.contains(&sent.actor) && !repeats(other) => {
                Wanted::Fresh
            }
            wanted => wanted,
        };
        self.beliefs.check_token(&guard, &lock, token, wanted)?;
        let excluded = self.beliefs.grant(guard.clone(), &lock, sent.owner(&lock));
        excluded
            .into_iter()
            .try_for_each(|other| self.check_disbelief(&guard, &other, &lock))
    }

    /// R1: after a grant the guards that it excludes must not believe, though nobody has released them.
    fn check_disbelief(&mut self, guard: &Name, other: &Name, lock: &Lock) -> Result<(), String> {
        let actor = &other.0;
        if !self.actor(actor)?.is_running() {
            // Asked when the scenario lets it go on.
            return Ok(());
        }
        // Other libraries have no lease: they believe until the servers tell them. Two sessions that live stay two believers.
        let patience = if self.peers.contains(actor) {
            USUAL
        } else {
            Duration::ZERO
        };
        eventually(patience, || self.disbelieves(guard, other, lock))?;
        self.beliefs.end(other);
        Ok(())
    }

    fn disbelieves(&mut self, guard: &Name, other: &Name, lock: &Lock) -> Result<(), String> {
        let (actor, name) = other;
        let fields = [("guard".to_owned(), name.clone())];
        let id = self.actor(actor)?.send("state", &fields)?;
        let answer = self.actor(actor)?.answer(&id, USUAL)?;
        match answer.get("state") {
            Some("lost" | "released") => Ok(()),
            _ => Err(format!(
                "R1 is broken on {}: {}'s {} was granted while {actor}'s {name} answers `{answer}`",
                lock.full_path, guard.0, guard.1
            )),
        }
    }

    fn check_values(
        &mut self,
        sent: &Sent,
        answer: &Message,
        wanted: &[String],
    ) -> Result<(), String> {
        if sent.verb == "contenders" {
            return self.check_contenders(sent, answer, wanted);
        }
        let state = answer.get("state").unwrap_or_default();
        if wanted != [state] {
            return Err(format!("the state is `{state}`"));
        }
        if sent.verb == "state" {
            let believes = matches!(state, "held" | "suspended");
            let held = answer.get("held").unwrap_or_default();
            if held != if believes { "yes" } else { "no" } {
                return Err(format!("the state is `{state}`, and held is `{held}`"));
            }
        }
        Ok(())
    }

    /// What an actor says of a queue is what the servers say, and who it says holds.
    fn check_contenders(
        &mut self,
        sent: &Sent,
        answer: &Message,
        wanted: &[String],
    ) -> Result<(), String> {
        let name = sent.message.get("lock").unwrap_or_default();
        let lock = self
            .beliefs
            .lock(&sent.actor, name)
            .cloned()
            .ok_or_else(|| format!("`{name}` is no lock"))?;
        let said: Vec<&str> = answer.all("contender").collect();
        let mut short = Vec::new();
        let mut facts = Vec::new();
        for contender in &said {
            let parts: Vec<&str> = contender.splitn(5, ',').collect();
            let [holds, sequence, session, node, identity] = parts[..] else {
                return Err(format!("`{contender}` is no contender"));
            };
            short.push(format!("{identity}:{holds}"));
            facts.push(format!("{sequence} {session} {node}"));
        }
        if short != wanted {
            return Err(format!("the contenders are {short:?}"));
        }
        let chroot = lock.full_path.len() - lock.path.len();
        let seen = self.watcher.contenders(&lock.full_path)?;
        let seen: Vec<_> = seen
            .iter()
            .map(|seen| {
                format!(
                    "{} {} {}",
                    seen.sequence,
                    seen.session,
                    &seen.path[chroot..]
                )
            })
            .collect();
        if facts != seen {
            return Err(format!("the actor says {facts:?}, the server {seen:?}"));
        }
        Ok(())
    }

    pub(super) fn told(
        &mut self,
        actor: &str,
        guard: &str,
        within: Duration,
    ) -> Result<(), String> {
        let told = |events: &[Message]| {
            let mut lost = events.iter().filter(|event| event.word == "lost");
            lost.any(|event| event.get("guard") == Some(guard))
        };
        self.actor(actor)?
            .wait_events(within, told)
            .map_err(|why| format!("{actor} was not told {why}"))?;
        self.beliefs.end(&(actor.to_owned(), guard.to_owned()));
        Ok(())
    }

    pub(super) fn saw(
        &mut self,
        actor: &str,
        states: &[String],
        within: Duration,
    ) -> Result<(), String> {
        let saw = |events: &[Message]| {
            let mut wanted = states.iter().peekable();
            for event in events.iter().filter(|event| event.word == "state") {
                if wanted.peek().map(|state| state.as_str()) == event.get("state") {
                    wanted.next();
                }
            }
            wanted.peek().is_none()
        };
        self.actor(actor)?
            .wait_events(within, saw)
            .map_err(|why| format!("{actor} did not see these states {why}"))
    }
}

fn check_error(
    sent: &Sent,
    answer: &Message,
    kind: &str,
    names: Option<&str>,
) -> Result<(), String> {
    if answer.get("kind") != Some(kind) {
        return Err(format!("the answer is `{answer}`"));
    }
    let message = answer.get("message").unwrap_or_default();
    if message.is_empty() || message.contains('\n') {
        return Err(format!("the message is not one line: {message:?}"));
    }
    let named = |what: &str| message.to_lowercase().contains(&what.to_lowercase());
    match names {
        Some(what) if !named(what) => Err(format!("the message does not name {what}: {message}")),
        _ => check_path(sent, answer),
    }
}

/// An error of a lock says which.
fn check_path(sent: &Sent, answer: &Message) -> Result<(), String> {
    let is_about_a_lock = matches!(sent.verb.as_str(), "lock" | "try" | "release");
    // What a signal's reason carries is the caller's own in Node, and a bad argument is about the argument.
    let kind = answer.get("kind").unwrap_or_default();
    let names_it = !matches!(kind, "Cancelled" | "InvalidArgument");
    if is_about_a_lock && names_it && answer.get("path").is_none_or(str::is_empty) {
        return Err(format!("the error names no path: `{answer}`"));
    }
    Ok(())
}
