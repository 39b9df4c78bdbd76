//! Measures what a lock costs, as ratios in one run: performance is never asserted in tests.
//!
//! Fails if a program does wrong (tokens that do not rise, two holders, a wrong number of writes, a contender left), not
//! if it is slow.

mod alternate;
mod answers;
mod library;
mod machine;
mod process;
mod program;
mod report;
mod row;
mod service;
mod settings;
mod stage;
mod statistics;
mod targets;
mod team;
mod timeline;
mod trouble;
mod waiting;
mod wire_cost;
mod workloads;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;
use std::{env, fs};

use row::Results;
use serde::Serialize;
use settings::Settings;
use stage::Stage;
use targets::Verdict;

#[derive(Serialize)]
struct Report<'a> {
    /// Of the form of this file.
    schema: u32,
    machine: BTreeMap<String, String>,
    versions: BTreeMap<String, String>,
    fsync: bool,
    rounds: usize,
    cycles: usize,
    seconds: u64,
    workloads: &'a [String],
    #[serde(flatten)]
    results: &'a Results,
    targets: &'a [Verdict],
}

fn main() -> ExitCode {
    match bench() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all checks of all workloads passed.
fn bench() -> Result<bool, String> {
    let begin = Instant::now();
    let stage = Stage::new(Settings::parse(env::args().skip(1))?)?;
    let machine = machine::describe(stage.ensemble.dir());
    let versions = versions(&stage);
    for (name, value) in machine.iter().chain(&versions) {
        println!("{name:<18} {value}");
    }
    let settings = &stage.settings;
    println!(
        "{:<18} {} rounds of {} cycles; longer blocks {} times; one server, fsync on",
        "blocks",
        settings.rounds,
        settings.cycles,
        settings.long_rounds()
    );
    let mut results = Results {
        skipped: stage.manifest.skipped.clone(),
        ..Results::default()
    };
    for workload in &settings.workloads {
        eprintln!("{workload}");
        workloads::run(&stage, workload, &mut results)
            .map_err(|error| format!("{workload}: {}", error.reason))?;
    }
    let verdicts = targets::judge(&results);
    report::print(&results);
    report::print_targets(&verdicts);

    let report = Report {
        schema: 1,
        machine,
        versions,
        fsync: true,
        rounds: settings.rounds,
        cycles: settings.cycles,
        seconds: begin.elapsed().as_secs(),
        workloads: &settings.workloads,
        results: &results,
        targets: &verdicts,
    };
    let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
    let out = settings.out.display();
    fs::write(&settings.out, text + "\n").map_err(|error| format!("{out}: {error}"))?;
    println!("\nwritten to {out} after {} s", report.seconds);
    Ok(!results.has_failed())
}

fn versions(stage: &Stage) -> BTreeMap<String, String> {
    let server = ("ZooKeeper".to_owned(), stage.ensemble.version().to_owned());
    let libraries = stage.libraries.iter();
    let libraries = libraries.map(|library| (library.name.clone(), library.version.clone()));
    libraries.chain([server]).collect()
}
