//! Every language against secured servers: who may do what, and what is said when it may not. See the README.

mod cases;
mod client;
mod options;
mod report;
mod scene;
mod secrets;
mod stage;

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use zoolock_conformance::languages::Languages;
use zoolock_conformance::trace::Trace;

use cases::{CASES, Case, Play};
use client::{Client, Who};
use options::Options;
use report::Report;
use scene::Scene;
use stage::Stage;

/// Cases that run at the same time: most of their time they wait.
const AT_ONCE: usize = 8;

fn main() -> ExitCode {
    match start() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn start() -> Result<bool, String> {
    let options = Options::parse(std::env::args().skip(1))?;
    let mut languages = Languages::default();
    for driver in &options.drivers {
        languages.add(driver)?;
    }
    let names = languages.names();
    let report = Report::open(names.clone(), options.verbose).map_err(|error| error.to_string())?;
    let stage = Stage::set()?;
    let any = languages.command(&names[0])?;
    warm_up(&stage, any)?;
    let wanted = |case: &Case| {
        let named = |part: &String| case.name.contains(part.as_str());
        options.cases.is_empty() || options.cases.iter().any(named)
    };
    let jobs: Vec<(&Case, &[String])> = CASES
        .iter()
        .filter(|case| wanted(case))
        .flat_map(|case| match case.play {
            Play::Together(_) => vec![(case, names.as_slice())],
            Play::Each(_) => names.chunks(1).map(|one| (case, one)).collect(),
        })
        .collect();
    let jobs = Mutex::new(jobs.into_iter());
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || -> Result<(), String> {
        while let Some((case, languages_of_it)) = next() {
            play(case, languages_of_it, &languages, &stage, &report)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| match worker.join() {
                Ok(outcome) => outcome,
                Err(_) => Err("a thread of the runner panicked".into()),
            })
    })?;
    report.close().map_err(|error| error.to_string())
}

/// A server's first handshakes of TLS take seconds on a busy machine: longer than a case gives them.
fn warm_up(stage: &Stage, command: &[String]) -> Result<(), String> {
    let who = Who::trusting(&stage.authority.ca())
        .certified(&stage.carol)
        .with("session_timeout_ms", "60000")
        .with("connect_timeout_ms", "60000");
    let trio = stage.trio.secure_hosts();
    let (open, strict) = (stage.open.secure_hosts(), stage.strict.secure_hosts());
    thread::scope(|scope| {
        let hosts = trio.split(',').chain([open.as_str(), strict.as_str()]);
        let warming: Vec<_> = hosts
            .map(|host| {
                let who = &who;
                scope.spawn(move || {
                    let mut client = Client::start("first", command, &Trace::new())?;
                    client.connect(host, who)?;
                    client.exit()
                })
            })
            .collect();
        // The one that is out of date is given up in the handshake, which warms it as well.
        let mut client = Client::start("first", command, &Trace::new())?;
        let hosts = stage.expired.secure_hosts();
        let refused = client.begin("connect", &Client::connecting(&hosts, &who))?;
        client.answer(&refused)?;
        client.exit()?;
        warming.into_iter().try_for_each(|one| {
            one.join()
                .unwrap_or_else(|_| Err("a thread of the runner panicked".into()))
        })
    })
}

fn play(
    case: &Case,
    names: &[String],
    languages: &Languages,
    stage: &Stage,
    report: &Report,
) -> Result<(), String> {
    let began = Instant::now();
    let mut scenes = Vec::new();
    for name in names {
        scenes.push(Scene::new(stage, case.name, name, languages.command(name)?));
    }
    let outcomes: Vec<Result<(), String>> = match case.play {
        Play::Each(play) => scenes.iter_mut().map(play).collect(),
        Play::Together(play) => {
            let outcome = play(&mut scenes);
            let of = |at| match &outcome {
                Err((failed, why)) if *failed == at => Err(why.clone()),
                Err((failed, _)) => Err(format!("it failed in {}", names[*failed])),
                Ok(()) => Ok(()),
            };
            (0..names.len()).map(of).collect()
        }
    };
    for (scene, outcome) in scenes.iter().zip(outcomes) {
        let outcome = outcome.and_then(|()| scene.end());
        let (language, took) = (&scene.language, began.elapsed());
        report
            .add(case.name, language, outcome, &scene.trace, took)
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}
