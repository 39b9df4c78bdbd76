//! One run: workers of all languages take turns on one lock while their holds are shown.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::clock;
use crate::hold::Hold;
use crate::language::Language;
use crate::settings::Settings;
use crate::timeline;
use crate::worker::{Event, Worker};

/// Until all workers are connected: interpreters start slowly on a busy machine.
const START: Duration = Duration::from_secs(60);
/// From the end of the run until a worker has to be gone: a hold, its release, and the session's close.
const END: Duration = Duration::from_secs(30);

/// Everything that was reported.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) holds: Vec<Hold>,
    pub(crate) problems: Vec<String>,
}

/// Runs the workers against `hosts`; prints each hold when it is reported.
pub(crate) fn run(
    settings: &Settings,
    hosts: &str,
    lock_path: &str,
    witness: &Path,
) -> Result<History, String> {
    let witness = witness
        .to_str()
        .ok_or("the temporary folder's name is not UTF-8")?;
    let (events, inbox) = channel();
    let mut workers = Vec::new();
    for language in Language::ALL {
        let command: Vec<PathBuf> = settings.command(language)?;
        let args = [hosts, lock_path, witness];
        workers.push(Worker::start(language, &command, &args, events.clone())?);
    }
    drop(events);
    wait_ready(&inbox)?;

    let start = clock::now();
    let nanos = u64::try_from(settings.time.as_nanos()).map_err(|_| "SECONDS is too large")?;
    println!("{}", timeline::heading());
    for worker in &mut workers {
        worker.let_loose(start + nanos)?;
    }
    let mut history = follow(&inbox, start, settings.time + END);
    for worker in &mut workers {
        if !history.ended.contains(&worker.language) {
            worker.kill();
            history.told.problems.push(format!(
                "{} had not ended {} s after it should have",
                worker.language,
                END.as_secs()
            ));
        }
        let status = worker.wait()?;
        if !status.success() {
            let problem = format!("the worker in {} ended with {status}", worker.language);
            history.told.problems.push(problem);
        }
    }
    Ok(history.told)
}

fn wait_ready(inbox: &Receiver<(Language, Event)>) -> Result<(), String> {
    let deadline = Instant::now() + START;
    let mut ready = Vec::new();
    while ready.len() < Language::ALL.len() {
        match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok((language, Event::Ready)) => ready.push(language),
            Ok((language, Event::End)) => {
                return Err(format!(
                    "the worker in {language} ended before it connected"
                ));
            }
            Ok((language, Event::Nonsense(why))) => return Err(format!("{language} said {why}")),
            Ok((language, Event::Hold(_))) => return Err(format!("{language} held too early")),
            Err(_) => {
                let late = Language::ALL.into_iter().find(|l| !ready.contains(l));
                return Err(format!("{late:?} was not connected after {START:?}"));
            }
        }
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Followed {
    told: History,
    ended: Vec<Language>,
}

fn follow(inbox: &Receiver<(Language, Event)>, start: u64, limit: Duration) -> Followed {
    let deadline = Instant::now() + limit;
    let mut followed = Followed::default();
    loop {
        match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok((_, Event::Hold(hold))) => {
                println!("{}", timeline::row(&hold, start));
                followed.told.holds.push(hold);
            }
            Ok((language, Event::End)) => followed.ended.push(language),
            Ok((language, Event::Nonsense(why))) => {
                followed
                    .told
                    .problems
                    .push(format!("{language} said {why}"));
            }
            Ok((language, Event::Ready)) => {
                let problem = format!("{language} was ready twice");
                followed.told.problems.push(problem);
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return followed,
        }
    }
}
