//! What scenarios cannot say: crowds of all libraries at one lock, and where libraries differ; see the README.

mod contention;
mod difference;
mod member;
mod options;
mod report;
mod resource;

use std::process::ExitCode;

use zoolock_conformance::languages::Languages;
use zoolock_ensemble::Ensemble;

use options::Options;
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
    let languages = member::languages(&options.drivers, &options.peers)?;
    let mut report = Report::open().map_err(|error| error.to_string())?;
    differences(&options, &languages, &mut report)?;
    crowds(&options, &languages, &mut report)?;
    report.close().map_err(|error| error.to_string())
}

fn differences(
    options: &Options,
    languages: &Languages,
    report: &mut Report,
) -> Result<(), String> {
    let libraries = languages.names().into_iter();
    let libraries: Vec<_> = libraries.chain(languages.peers().iter().cloned()).collect();
    for case in difference::CASES {
        if options.wants(case.name) {
            let last_but_one = |library: &String| (difference::used_up(library), i32::MAX - 1);
            let ensemble = Ensemble::builder()
                .snapshot(libraries.iter().map(last_but_one))
                .start();
            let play = |ensemble| {
                let ensemble = &ensemble;
                difference::run(
                    case,
                    &difference::Stage {
                        languages,
                        ensemble,
                    },
                )
            };
            let outcome = ensemble.map_err(|error| error.to_string()).and_then(play);
            let noted = report.add(case.name, outcome);
            noted.map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

fn crowds(options: &Options, languages: &Languages, report: &mut Report) -> Result<(), String> {
    for crowd in contention::CROWDS {
        if options.wants(crowd.name) {
            let ensemble = Ensemble::builder().start();
            let outcome = ensemble
                .map_err(|error| error.to_string())
                .and_then(|ensemble| contention::run(crowd, languages, &ensemble, options));
            let noted = report.add(crowd.name, outcome);
            noted.map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}
