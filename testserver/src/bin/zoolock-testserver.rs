//! A ZooKeeper server in memory, for development and tests only: `zoolock-testserver [--port N] [--tick-ms N]`.
//!
//! Prints one line, `{"hosts":"127.0.0.1:2181"}`, when clients can connect, and runs until it is killed, or with
//! `--until-stdin-ends` until its standard input ends.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use zoolock_testserver::server::{Builder, Server};

const USAGE: &str = "usage: zoolock-testserver [--port N] [--tick-ms N] [--until-stdin-ends]

A ZooKeeper server in memory, for development and tests only.";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("zoolock-testserver: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let mut builder = Server::builder();
    let mut until_stdin_ends = false;
    while let Some(argument) = arguments.next() {
        builder = match argument.as_str() {
            "--port" => builder.port(number(&argument, arguments.next())?),
            "--tick-ms" => tick(builder, number(&argument, arguments.next())?),
            "--until-stdin-ends" => {
                until_stdin_ends = true;
                builder
            }
            "--help" | "-h" => {
                println!("{USAGE}");
                return Ok(());
            }
            _ => return Err(format!("unknown argument {argument}\n{USAGE}")),
        };
    }
    let server = builder.start().map_err(|error| error.to_string())?;
    let mut out = std::io::stdout();
    writeln!(out, "{{\"hosts\":\"{}\"}}", server.hosts())
        .and_then(|()| out.flush())
        .map_err(|error| error.to_string())?;
    if until_stdin_ends {
        let mut buffer = [0; 1024];
        while std::io::stdin()
            .read(&mut buffer)
            .map_err(|error| error.to_string())?
            > 0
        {}
        return Ok(());
    }
    loop {
        std::thread::park();
    }
}

fn tick(builder: Builder, ms: u64) -> Builder {
    builder.tick(Duration::from_millis(ms.max(2)))
}

fn number<T: std::str::FromStr>(name: &str, value: Option<String>) -> Result<T, String> {
    let value = value.ok_or_else(|| format!("{name} needs a number"))?;
    value
        .parse()
        .map_err(|_| format!("{name} needs a number, not {value}"))
}
