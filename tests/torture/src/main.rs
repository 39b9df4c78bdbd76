//! Sets three real ZooKeeper servers and processes of four languages under fire, and checks what came of it; see the
//! README.

mod board;
mod checks;
mod clock;
mod figures;
mod fire;
mod history;
mod language;
mod listener;
mod measure;
mod message;
mod options;
mod queue;
mod random;
mod recipe;
mod register;
mod report;
mod run;
mod story;
mod txnlog;
mod verdict;
mod wall;
mod worker;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::{env, process};

use checks::Violation;
use fire::Kind;
use history::History;
use language::Language;
use options::Options;
use recipe::{Recipe, Resource};
use report::Report;
use run::Outcome;

/// Violations of one check that are shown, and lines of history for the first one.
const SHOWN: usize = 5;
const LINES: usize = 200;

fn main() -> ExitCode {
    match torture() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("torture: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether all checks passed.
fn torture() -> Result<bool, String> {
    let options = Options::parse(env::args().skip(1))?;
    let seed = options
        .seed
        .unwrap_or_else(|| fastrand::u64(..1_000_000_000));
    println!("SEED={seed}");
    let outcome = run::run(&options, seed)?;

    if let Some(file) = &options.history {
        write_history(&outcome, file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let mut report = Report::open()?;
    let unit = figures::Unit(options.session_timeout);
    println!();
    figures::print(
        &outcome.history,
        &outcome.queues,
        &outcome.injections,
        outcome.start,
        unit,
    );
    println!();
    for (name, violations) in verdict::all(&outcome.history, &outcome.queues) {
        report.add(name, &show(&outcome, &violations))?;
    }
    report.add("r05_nothing_is_left_after_the_fire", &outcome.left)?;
    report.add("r09_the_locks_go_on_behind_every_fault", &outcome.stuck)?;
    report.add(
        "r17_processes_close_their_sessions_and_end",
        &outcome.unfinished,
    )?;
    report.add("all_reports_fit_together", &outcome.nonsense)?;
    report.add(
        "faults_of_every_kind_were_injected",
        &missing_faults(&outcome),
    )?;
    report.add(
        "every_language_was_granted_every_recipe",
        &missing_grants(&outcome.history),
    )?;
    let passed = report.close();
    if !passed {
        eprintln!("torture: SEED={seed} (process {})", process::id());
    }
    Ok(passed)
}

fn write_history(outcome: &Outcome, file: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(file)?);
    for resource in Resource::ALL {
        writeln!(file, "{}", resource.name())?;
        for line in story::whole(&outcome.history, resource, outcome.start) {
            writeln!(file, "{line}")?;
        }
    }
    file.flush()
}

fn show(outcome: &Outcome, violations: &[Violation]) -> Vec<String> {
    let Some(first) = violations.first() else {
        return Vec::new();
    };
    let mut lines: Vec<String> = violations
        .iter()
        .take(SHOWN)
        .map(|v| v.text.clone())
        .collect();
    if violations.len() > SHOWN {
        lines.push(format!("and {} more", violations.len() - SHOWN));
    }
    let ms = (first.at as f64 - outcome.start as f64) / 1e6;
    lines.push(format!(
        "on {} around the first one, at {ms:.3} ms:",
        first.resource.name()
    ));
    let around = story::around(&outcome.history, first.resource, first.at, outcome.start);
    // The middle is what it is about.
    let cut = around.len().saturating_sub(LINES) / 2;
    lines.extend(
        around
            .into_iter()
            .skip(cut)
            .take(LINES)
            .map(|line| format!("    {line}")),
    );
    lines
}

fn missing_faults(outcome: &Outcome) -> Vec<String> {
    let all = Kind::SERVERS.into_iter().chain(Kind::CLIENTS);
    let missing = all.filter(|kind| outcome.injections.iter().all(|i| i.kind != *kind));
    missing
        .map(|kind| format!("{} was not injected", kind.name()))
        .collect()
}

fn missing_grants(history: &History) -> Vec<String> {
    let grants = measure::grants(history);
    let mut missing = Vec::new();
    for language in Language::ALL {
        for recipe in Recipe::ALL {
            if !grants.contains_key(&(language, recipe)) {
                missing.push(format!("{language} was never granted {recipe}"));
            }
        }
    }
    missing
}
