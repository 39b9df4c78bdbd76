//! One run: workers of all languages take turns on one lock while their holds are shown.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::clock;
use crate::hold::Hold;
use crate::language::Language;
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

/// Runs a worker of each language, started by its command, for `time`; `args` are what all workers take. Prints each
/// hold when it is reported.
pub(crate) fn run(
    command: impl Fn(Language) -> Result<Vec<PathBuf>, String>,
    args: [&str; 3],
    time: Duration,
) -> Result<History, String> {
    let (events, inbox) = channel();
    let mut workers = Vec::new();
    for language in Language::ALL {
        workers.push(Worker::start(
            language,
            &command(language)?,
            &args,
            events.clone(),
        )?);
    }
    drop(events);
    wait_ready(&inbox)?;

    let start = clock::now();
    let nanos = u64::try_from(time.as_nanos()).map_err(|_| "SECONDS is too large")?;
    println!("{}", timeline::heading());
    for worker in &mut workers {
        worker.let_loose(start + nanos)?;
    }
    let mut history = follow(&inbox, start, time + END);
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

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_millis(10);

    /// Workers that run one shell script, which knows its language as `$0` and the workers' arguments as `$1` to `$3`.
    fn scripted(script: &str) -> impl Fn(Language) -> Result<Vec<PathBuf>, String> {
        move |language| {
            let words = ["sh", "-c", script, language.name()];
            Ok(words.iter().map(PathBuf::from).collect())
        }
    }

    #[test]
    fn every_hold_of_every_worker_is_collected() {
        let script = r#"
            echo ready; read end
            for token in 1 2; do
                echo "hold token=$token asked=1 entered=2 left=3 state=held met=none"
            done"#;
        let history = run(scripted(script), ["h", "p", "w"], TIME).unwrap();
        assert_eq!(history.problems, Vec::<String>::new());
        assert_eq!(history.holds.len(), 2 * Language::ALL.len());
    }

    #[test]
    fn a_worker_that_fails_at_its_end_is_a_problem() {
        let script = "echo ready; read end; [ $0 != python ]";
        let history = run(scripted(script), ["h", "p", "w"], TIME).unwrap();
        assert_eq!(history.problems.len(), 1, "{:?}", history.problems);
        assert!(history.problems[0].contains("python"));
    }

    #[test]
    fn a_worker_that_talks_nonsense_is_a_problem() {
        let script = "echo ready; read end; echo hold everything";
        let history = run(scripted(script), ["h", "p", "w"], TIME).unwrap();
        assert_eq!(history.problems.len(), Language::ALL.len());
    }

    #[test]
    fn a_worker_that_does_not_connect_ends_the_demo() {
        let script = "[ $0 != node ] || exit 1; echo ready; read end";
        let error = run(scripted(script), ["h", "p", "w"], TIME).unwrap_err();
        assert!(error.contains("node"), "{error}");
    }

    #[test]
    fn workers_get_the_arguments() {
        let script = r#"[ "$1 $2 $3" = "h p w" ] && echo ready; read end"#;
        assert!(run(scripted(script), ["h", "p", "w"], TIME).is_ok());
    }
}
