//! Runs every scenario in every language, and with languages mixed; see the README.

mod cast;
mod options;
mod plan;
mod report;
mod run;
mod scenario;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use zoolock_conformance::{actor, languages, trace};
use zoolock_ensemble::Ensemble;

use languages::Languages;
use options::Options;
use plan::{Group, Job};
use report::Report;

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
    let runner = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut languages = Languages::built_beside(&runner);
    for driver in &options.drivers {
        languages.add(driver)?;
    }
    for peer in &options.peers {
        languages.add_peer(peer)?;
    }
    let jobs = plan::jobs(plan::read(&options.folder)?, &languages, &options);
    if options.list {
        for job in jobs {
            println!("{}: {}", job.name(), job.scenario.about);
        }
        return Ok(true);
    }
    let report =
        Report::open(&options.suite, options.verbose).map_err(|error| error.to_string())?;
    let outcomes: Vec<_> = thread::scope(|scope| {
        let (report, languages) = (&report, &languages);
        let groups = plan::groups(jobs).into_iter();
        let threads: Vec<_> = groups
            .map(|group| scope.spawn(move || run_group(group, languages, report)))
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread
                .join()
                .unwrap_or_else(|_| Err("a thread of the runner panicked".into()))
        };
        threads.into_iter().map(join).collect()
    });
    let passed = report.close().map_err(|error| error.to_string())?;
    outcomes.into_iter().collect::<Result<(), String>>()?;
    Ok(passed)
}

/// Runs the jobs of a group on an ensemble of their own.
fn run_group(group: Group, languages: &Languages, report: &Report) -> Result<(), String> {
    // A reaper that is always about: scenarios meet it, and can wait for what it does.
    let ensemble = Ensemble::builder()
        .property("znode.container.checkIntervalMs", "500")
        .servers(group.servers)
        .snapshot([(run::USED_UP, i32::MAX)])
        .start()
        .map_err(|error| error.to_string())?;
    let number = AtomicU64::new(0);
    let jobs = Mutex::new(group.jobs.into_iter());
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || -> std::io::Result<()> {
        while let Some(job) = next() {
            run_job(&job, languages, &ensemble, &number, report)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..group.at_once).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| match worker.join() {
                Ok(outcome) => outcome.map_err(|error| error.to_string()),
                Err(_) => Err("a thread of the runner panicked".into()),
            })
    })
}

fn run_job(
    job: &Job,
    languages: &Languages,
    ensemble: &Ensemble,
    number: &AtomicU64,
    report: &Report,
) -> std::io::Result<()> {
    let began = Instant::now();
    let number = number.fetch_add(1, Ordering::Relaxed);
    let outcome = run::run(&job.scenario, &job.cast, languages, ensemble, number);
    report.add(&job.name(), outcome, began.elapsed())
}
