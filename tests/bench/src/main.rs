//! Measures what a lock costs, as ratios in one run: performance is never asserted in tests.
//!
//! Fails if a program does wrong (tokens that do not rise, a wrong count, a contender left), not if it is slow.

mod candidate;
mod machine;
mod program;
mod report;
mod settings;
mod statistics;
mod uncontended;
mod wire_cost;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs};

use serde::Serialize;
use settings::Settings;
use uncontended::Results;
use zoolock_ensemble::{Ensemble, eventually};

const PATH: &str = "/locks/bench";
/// A closed session's nodes go at once, on one server.
const SETTLE: Duration = Duration::from_secs(5);

#[derive(Serialize)]
struct Report {
    machine: BTreeMap<&'static str, String>,
    zookeeper: String,
    fsync: bool,
    rounds: usize,
    cycles: usize,
    uncontended: Results,
}

fn main() -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench() -> Result<(), String> {
    let settings = Settings::parse(env::args().skip(1))?;
    let candidates = candidate::all(&settings)?;
    let bare = candidate::bare()?;
    let fsync = true;
    let ensemble = Ensemble::builder()
        .fsync(fsync)
        .start()
        .map_err(|error| error.to_string())?;
    let machine = machine::describe(ensemble.dir(), &settings.python, &settings.node);
    for (name, value) in &machine {
        println!("{name:<10} {value}");
    }
    println!(
        "{:<10} {}, one server, fsync on",
        "ZooKeeper",
        ensemble.version()
    );
    println!(
        "{:<10} {} rounds of {} cycles of each program\n",
        "blocks", settings.rounds, settings.cycles
    );
    let results = uncontended::measure(&ensemble, &settings, &bare, &candidates, PATH)?;
    check_nothing_left(&ensemble)?;
    report::print(&results);

    let report = Report {
        machine,
        zookeeper: ensemble.version().to_owned(),
        fsync,
        rounds: settings.rounds,
        cycles: settings.cycles,
        uncontended: results,
    };
    let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
    let out = settings.out.display();
    fs::write(&settings.out, text + "\n").map_err(|error| format!("{out}: {error}"))?;
    println!("\nwritten to {out}");
    Ok(())
}

fn check_nothing_left(ensemble: &Ensemble) -> Result<(), String> {
    let observer = ensemble.observer(1).map_err(|error| error.to_string())?;
    let mut left = Ok(Vec::new());
    eventually(SETTLE, || {
        left = observer.children(PATH);
        left.as_ref().is_ok_and(Vec::is_empty)
    });
    match left {
        Ok(left) if left.is_empty() => Ok(()),
        Ok(left) => Err(format!("contenders left: {}", left.join(" "))),
        Err(error) => Err(error.to_string()),
    }
}
