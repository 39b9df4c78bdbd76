//! Where libraries differ, and exclusion is at stake: each case does the same to every library and says what was seen. Ours have to
//! pass. What another library does is told, and no failure: a later version may do better.

mod behind_outage;
mod end_of_sequence;
mod foreign_child;
mod stopped_holder;
mod two_namings;

use std::thread;
use std::time::Duration;

use zoolock_conformance::languages::Languages;
use zoolock_ensemble::{Ensemble, Observer, eventually};

use crate::member::Member;

/// Long, for a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A case, played by one library at a time on paths of its own.
pub struct Case {
    /// Its name in reports.
    pub name: &'static str,
    /// Plays it.
    pub play: fn(&Stage) -> Result<Vec<Seen>, String>,
}

/// What is there to play on.
pub struct Stage<'a> {
    /// The drivers.
    pub languages: &'a Languages,
    /// One server of the case's own.
    pub ensemble: &'a Ensemble,
}

/// What was seen of one library.
pub struct Seen {
    /// Its name.
    pub library: String,
    /// In words.
    pub what: String,
    /// Whether the contract is kept in it.
    pub kept: bool,
}

/// All cases.
pub const CASES: &[Case] = &[
    Case {
        name: "r14_end_of_sequence",
        play: end_of_sequence::play,
    },
    Case {
        name: "r01_waiter_behind_outage",
        play: behind_outage::play,
    },
    Case {
        name: "r03_stopped_holder",
        play: stopped_holder::play,
    },
    Case {
        name: "r13_foreign_child",
        play: foreign_child::play,
    },
    Case {
        name: "r13_two_namings",
        play: two_namings::play,
    },
];

/// Paths whose next sequence number is the last but one, by library.
pub fn used_up(library: &str) -> String {
    format!("/used-up-{library}")
}

/// Plays a case: what was seen, and an error if one of ours broke the contract.
pub fn run(case: &Case, stage: &Stage) -> Result<Vec<String>, String> {
    let seen = (case.play)(stage)?;
    let ours = |seen: &&Seen| !stage.languages.is_peer(&seen.library);
    if let Some(broken) = seen.iter().filter(ours).find(|seen| !seen.kept) {
        return Err(format!("{}: {}", broken.library, broken.what));
    }
    let line = |seen: &Seen| format!("{:15} {}", seen.library, seen.what);
    Ok(seen.iter().map(line).collect())
}

impl Stage<'_> {
    /// Our languages and the other libraries, whose elections are Curator's mutex.
    pub fn libraries(&self) -> Vec<String> {
        let mut all = self.languages.names();
        all.retain(|name| name != "rust-blocking");
        let peers = self.languages.peers().iter().cloned();
        all.extend(peers.filter(|peer| peer != "curator-leader"));
        all
    }

    /// Plays something with every library at the same time, on paths of their own.
    pub fn each(
        &self,
        play: impl Fn(String) -> Result<Seen, String> + Sync,
    ) -> Result<Vec<Seen>, String> {
        let play = &play;
        thread::scope(|scope| {
            let libraries = self.libraries().into_iter();
            let threads: Vec<_> = libraries
                .map(|library| scope.spawn(move || play(library)))
                .collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| {
                let panicked = |_| Err("a thread of the runner panicked".to_owned());
                thread.join().unwrap_or_else(panicked)
            };
            threads.into_iter().map(join).collect()
        })
    }

    /// Processes of one library, connected, with a mutex on a path.
    pub fn members(
        &self,
        library: &str,
        count: usize,
        path: &str,
        session_timeout_ms: u32,
    ) -> Result<Vec<Member>, String> {
        (1..=count)
            .map(|number| {
                let mut member = Member::start(self.languages, library, number)?;
                member.connect(&self.ensemble.hosts(), session_timeout_ms)?;
                member.open("mutex", path, None)?;
                Ok(member)
            })
            .collect()
    }

    /// A client that looks.
    pub fn observer(&self) -> Result<Observer, String> {
        self.ensemble.observer(1).map_err(|error| error.to_string())
    }
}

/// Waits until a path has so many children.
fn wait_children(observer: &Observer, path: &str, count: usize) -> Result<(), String> {
    let there = || {
        observer
            .children(path)
            .is_ok_and(|names| names.len() == count)
    };
    if eventually(PATIENCE, there) {
        Ok(())
    } else {
        Err(format!("{path} does not get {count} children"))
    }
}

/// Whether a guard is believed in without reserve.
fn holds(member: &mut Member, guard: &str) -> bool {
    // A driver that does not know the guard holds nothing.
    member.state(guard).is_ok_and(|state| state == "held")
}
