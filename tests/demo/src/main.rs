//! Four workers, in Rust, C, Python and Node, take turns on one lock, and are watched: on the server that zoolock carries for tests,
//! on a real ZooKeeper server, or on servers of the user's.
//!
//! Succeeds only if holds never overlapped (by the workers' own clocks, and by a file that only the holder may have),
//! tokens rose from grant to grant, every language got the lock, and an independent client sees no contender left.

mod clock;
mod hold;
mod language;
mod run;
mod servers;
mod settings;
mod timeline;
mod verdict;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs, process};

use servers::Servers;
use settings::Settings;

fn main() -> ExitCode {
    match demo() {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            for problem in problems {
                eprintln!("demo: {problem}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::from(2)
        }
    }
}

/// The problems found, or why nothing could be shown.
fn demo() -> Result<Vec<String>, String> {
    let settings = Settings::parse(env::args().skip(1))?;
    let servers = Servers::start(&settings.server)?;
    // On servers of the user's, another demo may be running.
    let lock_path = format!("/locks/demo/{}", process::id());
    println!(
        "{} at {}, lock path {lock_path}, {} s",
        servers.described,
        servers.hosts,
        settings.time.as_secs()
    );
    let scratch = Scratch::create()?;
    let witness = scratch.0.join("holder");
    let witness = witness
        .to_str()
        .ok_or("the temporary folder's name is not UTF-8")?;
    let history = run::run(
        |language| settings.command(language),
        [&servers.hosts, &lock_path, witness],
        settings.time,
    )?;

    let mut problems = history.problems;
    let left = servers.contenders_left(&lock_path)?;
    problems.extend(left.iter().map(|name| format!("{name} is left")));
    let grants = history.holds.len();
    let verdict = verdict::judge(history.holds);
    problems.extend(verdict.problems);

    println!();
    for tally in &verdict.tallies {
        println!("{}", timeline::summary(tally));
    }
    if problems.is_empty() {
        println!(
            "{grants} grants, no two at once, each with a higher token than the one before; no contender left"
        );
    }
    Ok(problems)
}

/// A folder of this run's, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn create() -> Result<Scratch, String> {
        let path = env::temp_dir().join(format!("zoolock-demo-{}", process::id()));
        // Another process of this number may have been killed.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("demo: {} stays behind: {error}", self.0.display());
        }
    }
}
