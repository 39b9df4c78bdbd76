//! One run of one scenario with a cast of languages.

mod belief;
mod calls;
mod early;
mod faults;
mod finish;
mod killed;
mod observe;
mod queue;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use zoolock_conformance::message::unescape;
use zoolock_ensemble::{Cut, Ensemble};

use crate::actor::Actor;
use crate::cast::Cast;
use crate::languages::Languages;
use crate::scenario::{Action, Fate, Scenario, Step};
use crate::trace::Trace;
use belief::{Beliefs, Name};
use calls::Started;
use observe::Watcher;

/// How long anything may take that a scenario sets no time for: long, for a busy machine.
const USUAL: Duration = Duration::from_secs(20);

/// A node whose children's sequence is at its end.
pub const USED_UP: &str = "/used-up";

/// Why a run failed, and what had happened.
pub struct Failure {
    /// The step and what was wrong.
    pub reason: String,
    /// Every message and observation.
    pub trace: Vec<String>,
}

/// A run under way.
struct Run<'a> {
    ensemble: &'a Ensemble,
    watcher: Watcher<'a>,
    trace: Trace,
    actors: BTreeMap<String, Actor>,
    /// Those that another library plays.
    peers: BTreeSet<String>,
    variables: BTreeMap<String, String>,
    started: BTreeMap<String, Started>,
    beliefs: Beliefs,
    cut: Option<Cut>,
    /// What must not be told by anyone (R19).
    secrets: Vec<String>,
    /// Guards whose release succeeded: nobody may be told that they were lost.
    released: BTreeSet<Name>,
    /// The sessions of processes that were killed.
    killed: BTreeSet<i64>,
}

/// Runs a scenario. `number` tells its nodes from those of all other runs on the ensemble.
pub fn run(
    scenario: &Scenario,
    cast: &Cast,
    languages: &Languages,
    ensemble: &Ensemble,
    number: u64,
) -> Result<Vec<String>, Failure> {
    let trace = Trace::new();
    let root = format!("/c{number}");
    let variables = [
        ("root", root.clone()),
        ("path", format!("{root}/lock")),
        ("hosts", ensemble.hosts()),
        ("direct", ensemble.direct()),
        ("used_up", USED_UP.to_owned()),
    ];
    let mut run = Run {
        ensemble,
        watcher: Watcher::new(ensemble, trace.clone(), root),
        trace: trace.clone(),
        actors: BTreeMap::new(),
        peers: BTreeSet::new(),
        variables: variables
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        started: BTreeMap::new(),
        beliefs: Beliefs::default(),
        cut: None,
        secrets: Vec::new(),
        released: BTreeSet::new(),
        killed: BTreeSet::new(),
    };
    let outcome = run
        .start_actors(cast, languages)
        .and_then(|()| run.steps(scenario));
    // Others use the ensemble afterwards, whatever has happened.
    let healed = if scenario.disturbs() {
        run.heal()
    } else {
        Ok(())
    };
    let outcome = outcome.and(healed).and_then(|()| run.finish());
    // Ends the drivers, so that their last words are in the trace.
    drop(run);
    match outcome {
        Ok(()) => Ok(trace.lines()),
        Err(reason) => Err(Failure {
            reason,
            trace: trace.lines(),
        }),
    }
}

impl Run<'_> {
    fn start_actors(&mut self, cast: &Cast, languages: &Languages) -> Result<(), String> {
        for (name, language) in cast.parts() {
            self.trace.add(format!("{name} is written in {language}"));
            if languages.is_peer(language) {
                self.peers.insert(name.clone());
            }
            let actor = Actor::start(name, languages.command(language)?, &self.trace)?;
            self.actors.insert(name.clone(), actor);
        }
        Ok(())
    }

    fn steps(&mut self, scenario: &Scenario) -> Result<(), String> {
        for step in &scenario.steps {
            self.trace.add(format!("-- {}: {}", step.line, step.text));
            self.step(step)
                .map_err(|reason| format!("line {}: `{}`: {reason}", step.line, step.text))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        let within = step.within.unwrap_or(USUAL);
        match &step.action {
            Action::Call(call, outcome) => self.call(call, outcome, step.within),
            Action::Start { name, call } => self.start(name, call),
            Action::Await { name, outcome } => self.await_call(name, outcome, within),
            Action::Pending { name } => self.pending(name),
            Action::Told { actor, guard } => self.told(actor, guard, within),
            Action::Saw { actor, states } => self.saw(actor, states, within),
            Action::Process { actor, fate } => self.process(actor, *fate, within),
            Action::Link { server, fault } => self.link(&self.text(server)?, *fault),
            Action::Cut { server, op } => self.order_cut(&self.text(server)?, op),
            Action::CutDone => self.cut_done(within),
            Action::Server { server, fate } => self.server(&self.text(server)?, *fate),
            Action::Find { variable, node } => self.find(variable, &self.text(node)?, within),
            Action::Leader { variable } => self.leader(variable, within),
            Action::Serving => self.serving(),
            Action::MarkRequests => {
                self.ensemble.log().clear();
                Ok(())
            }
            Action::Requests { most } => self.requests(*most),
            Action::Expire { node } => self.expire(&self.text(node)?, within),
            Action::Queue { path, wanted } => {
                let wanted = self.texts(wanted)?;
                self.watcher.queue(&self.text(path)?, &wanted, within)
            }
            Action::Sessions { path, count } => {
                self.watcher.sessions(&self.text(path)?, *count, within)
            }
            Action::Children { path, count } => {
                self.watcher.children(&self.text(path)?, *count, within)
            }
            Action::Exists { path, wanted } => {
                self.watcher.exists(&self.text(path)?, *wanted, within)
            }
            Action::Named { node, pattern } => {
                self.watcher.named(&self.text(node)?, pattern, within)
            }
            Action::Create {
                path,
                data,
                ephemeral,
                sequential,
            } => {
                let path = self.text(path)?;
                self.watcher.create(&path, data, *ephemeral, *sequential)
            }
            Action::Delete { node } => self.watcher.delete(&self.text(node)?, within),
        }
    }

    /// A word with its variables replaced and its escapes undone.
    fn text(&self, word: &str) -> Result<String, String> {
        let mut text = word.to_owned();
        for (name, value) in &self.variables {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        match text.find('{') {
            Some(_) => Err(format!("`{word}` names a variable that is not known")),
            None => unescape(&text),
        }
    }

    fn texts(&self, words: &[String]) -> Result<Vec<String>, String> {
        words.iter().map(|word| self.text(word)).collect()
    }

    fn actor(&mut self, name: &str) -> Result<&mut Actor, String> {
        self.actors
            .get_mut(name)
            .ok_or_else(|| format!("there is no actor {name}"))
    }

    fn process(&mut self, name: &str, fate: Fate, within: Duration) -> Result<(), String> {
        self.trace.add(format!("{name} {fate:?}"));
        match fate {
            Fate::Pause => self.actor(name)?.pause(),
            Fate::Continue => self.actor(name)?.resume(),
            Fate::Kill => self.kill(name),
            Fate::Exit => {
                self.actor(name)?.exit(within)?;
                self.beliefs.forget_actor(name);
                Ok(())
            }
        }
    }
}

/// Repeats a check until it passes; its last complaint when it did not in time.
fn eventually(
    within: Duration,
    mut check: impl FnMut() -> Result<(), String>,
) -> Result<(), String> {
    const POLL: Duration = Duration::from_millis(15);
    let end = Instant::now() + within;
    loop {
        match check() {
            Ok(()) => return Ok(()),
            Err(complaint) if Instant::now() >= end => {
                return Err(format!("{complaint} (for {} ms)", within.as_millis()));
            }
            Err(_) => std::thread::sleep(POLL),
        }
    }
}
