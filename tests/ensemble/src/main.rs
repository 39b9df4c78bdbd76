//! The program `ensemble`: real ZooKeeper servers for the tests of any language. See the README.

mod arguments;
mod run;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::ExitCode;

use zoolock_ensemble::{Error, Result, jars};

const USAGE: &str = "\
usage: ensemble setup [--version V] [--class-path]
       ensemble run [--servers 1|3] [--version V] [--tick-ms N] [--init-limit TICKS] [--sync-limit TICKS]
                    [--min-session-timeout-ms N] [--max-session-timeout-ms N] [--heap-mb N] [--fsync]
                    [--no-proxy] [--control-port PORT] [--ignore-stdin]
                    [--snapshot PATH=NEXT] [--line KEY=VALUE] [--property NAME=VALUE]
       ensemble ctl HOST:PORT COMMAND...";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some("setup") => setup(&arguments[1..]),
        Some("run") => arguments::parse(&arguments[1..]).and_then(run::run),
        Some("ctl") => ctl(&arguments[1..]),
        Some("--help" | "help") => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("ensemble: {error}");
        ExitCode::FAILURE
    })
}

/// Fetches what a later `run` needs.
fn setup(arguments: &[String]) -> Result<ExitCode> {
    let mut version = None;
    let mut class_path = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--version" => {
                version = Some(
                    words
                        .next()
                        .ok_or_else(|| Error::new("--version needs a value"))?,
                );
            }
            "--class-path" => class_path = true,
            other => return Err(Error::new(format!("unknown option {other}\n{USAGE}"))),
        }
    }
    let found = match version {
        Some(version) => jars::locate_version(version)?,
        None => jars::locate()?,
    };
    if class_path {
        println!("{}", found.class_path());
    } else {
        println!("ZooKeeper {} is there", found.version);
    }
    Ok(ExitCode::SUCCESS)
}

/// Sends one command to a running ensemble and prints the answer.
fn ctl(arguments: &[String]) -> Result<ExitCode> {
    let [address, command @ ..] = arguments else {
        return Err(Error::new(format!("ctl needs an address\n{USAGE}")));
    };
    if command.is_empty() {
        return Err(Error::new(format!("ctl needs a command\n{USAGE}")));
    }
    let failed = |error: std::io::Error| Error::new(format!("{address}: {error}"));
    let mut stream = TcpStream::connect(address).map_err(failed)?;
    writeln!(stream, "{}", command.join(" ")).map_err(failed)?;
    let mut answer = String::new();
    BufReader::new(stream)
        .read_line(&mut answer)
        .map_err(failed)?;
    print!("{answer}");
    let parsed: serde_json::Value = serde_json::from_str(&answer)
        .map_err(|error| Error::new(format!("{address} answered no JSON: {error}")))?;
    Ok(if parsed["ok"] == true {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
