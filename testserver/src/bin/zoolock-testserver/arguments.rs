//! The program's options.

use std::str::FromStr;
use std::time::Duration;

use zoolock_testserver::server::{Builder, Server};

/// ZooKeeper's, where clients look without being told.
const PORT: u16 = 2181;

pub(crate) const USAGE: &str = "\
A ZooKeeper server in memory, FOR DEVELOPMENT AND TESTS ONLY: it forgets everything when it ends, does not replicate, and
lets everybody in who reaches its port.

usage: zoolock-testserver [OPTION…]

  --port N                    the port, 0 for a free one (2181)
  --address IP                the address to listen on (127.0.0.1); others than loopback addresses let others in
  --tick-ms N                 sessions expire in steps of it (500)
  --min-session-timeout-ms N  the shortest session timeout that clients get (two ticks)
  --max-session-timeout-ms N  the longest (60000)
  --container-check-ms N      how often empty containers are removed (60000)
  --until-stdin-ends          also end when standard input does, which is not read otherwise
  --help                      print this
  --version                   print the version

It prints its connect string, one line, when clients can connect, and ends at SIGINT or SIGTERM.
";

pub(crate) enum Wish {
    Serve(Arguments),
    Help,
    Version,
}

pub(crate) struct Arguments {
    pub(crate) builder: Builder,
    pub(crate) until_stdin_ends: bool,
}

/// Options and values may be two arguments, or one with `=` between.
pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Wish, String> {
    let mut parsed = Arguments {
        builder: Server::builder().port(PORT),
        until_stdin_ends: false,
    };
    let mut rest = arguments;
    while let Some(argument) = rest.next() {
        let (name, joined) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let mut value = |kind| {
            let value = joined.clone().or_else(|| rest.next());
            value.ok_or_else(|| format!("{name} needs {kind}"))
        };
        let builder = parsed.builder.clone();
        parsed.builder = match name {
            "--port" => builder.port(read(name, "a port", &value("a port")?)?),
            "--address" => builder.address(read(name, "an IP address", &value("an IP address")?)?),
            "--tick-ms" => builder.tick(millis(name, &value("a number")?)?),
            "--min-session-timeout-ms" => {
                builder.min_session_timeout(millis(name, &value("a number")?)?)
            }
            "--max-session-timeout-ms" => {
                builder.max_session_timeout(millis(name, &value("a number")?)?)
            }
            "--container-check-ms" => builder.container_check(millis(name, &value("a number")?)?),
            _ if joined.is_some() => return Err(unknown(&argument)),
            "--until-stdin-ends" => {
                parsed.until_stdin_ends = true;
                builder
            }
            "--help" | "-h" => return Ok(Wish::Help),
            "--version" | "-V" => return Ok(Wish::Version),
            _ => return Err(unknown(&argument)),
        };
    }
    Ok(Wish::Serve(parsed))
}

fn unknown(argument: &str) -> String {
    format!("unknown argument {argument}; --help shows the options")
}

fn read<T: FromStr>(name: &str, kind: &str, value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|_| format!("{name} needs {kind}, not {value:?}"))
}

fn millis(name: &str, value: &str) -> Result<Duration, String> {
    read(name, "a number", value).map(Duration::from_millis)
}
