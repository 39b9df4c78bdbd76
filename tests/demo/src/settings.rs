//! The command line, which the Makefile fills in.

use std::path::PathBuf;
use std::time::Duration;

use crate::language::Language;

pub(crate) const USAGE: &str = "usage: demo [--server embedded|apache] [--hosts HOST:PORT,…] [--seconds N] \
--c PROGRAM --python INTERPRETER --node INTERPRETER --workers FOLDER";

/// Where the locks live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    /// A server inside the demo.
    Embedded,
    /// A real server that the demo starts and stops.
    Apache,
    /// Servers of the user's.
    Hosts(String),
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) server: Server,
    pub(crate) time: Duration,
    c: PathBuf,
    python: PathBuf,
    node: PathBuf,
    workers: PathBuf,
}

impl Settings {
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Settings, String> {
        let mut args = args.into_iter();
        let (mut server, mut hosts, mut seconds) = (String::from("embedded"), String::new(), 10);
        let (mut c, mut python, mut node, mut workers) = (None, None, None, None);
        while let Some(option) = args.next() {
            let value = args
                .next()
                .ok_or_else(|| format!("{option} lacks its value; {USAGE}"))?;
            match option.as_str() {
                "--server" => server = value,
                "--hosts" => hosts = value,
                "--seconds" => seconds = parse_seconds(&value)?,
                "--c" => c = Some(PathBuf::from(value)),
                "--python" => python = Some(PathBuf::from(value)),
                "--node" => node = Some(PathBuf::from(value)),
                "--workers" => workers = Some(PathBuf::from(value)),
                _ => return Err(format!("{option} is not known; {USAGE}")),
            }
        }
        let server = match server.as_str() {
            "embedded" => Server::Embedded,
            "apache" => Server::Apache,
            _ => {
                return Err(format!(
                    "SERVER={server} is not known: the demo can start `embedded` or `apache`; \
                     to use servers of your own say HOSTS=host:port,host:port"
                ));
            }
        };
        let lacks = |option: &str| format!("{option} is missing; {USAGE}");
        Ok(Settings {
            server: if hosts.is_empty() {
                server
            } else {
                Server::Hosts(hosts)
            },
            time: Duration::from_secs(seconds),
            c: c.ok_or_else(|| lacks("--c"))?,
            python: python.ok_or_else(|| lacks("--python"))?,
            node: node.ok_or_else(|| lacks("--node"))?,
            workers: workers.ok_or_else(|| lacks("--workers"))?,
        })
    }

    /// The command that starts a language's worker; the Rust worker is built beside the demo itself.
    pub(crate) fn command(&self, language: Language) -> Result<Vec<PathBuf>, String> {
        Ok(match language {
            Language::Rust => {
                let demo = std::env::current_exe()
                    .map_err(|error| format!("cannot find the demo's own folder: {error}"))?;
                vec![demo.with_file_name("demo-worker")]
            }
            Language::C => vec![self.c.clone()],
            Language::Python => vec![self.python.clone(), self.workers.join("worker.py")],
            Language::Node => vec![self.node.clone(), self.workers.join("worker.mjs")],
        })
    }
}

fn parse_seconds(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(seconds @ 1..=86_400) => Ok(seconds),
        _ => Err(format!(
            "SECONDS={text} is no whole number of seconds between 1 and 86400"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(more: &[&str]) -> Result<Settings, String> {
        let paths = ["--c", "w", "--python", "p", "--node", "n", "--workers", "d"];
        Settings::parse(paths.iter().chain(more).map(|&arg| arg.to_owned()))
    }

    #[test]
    fn the_defaults_are_the_embedded_server_and_ten_seconds() {
        let settings = parse(&[]).unwrap();
        assert_eq!(settings.server, Server::Embedded);
        assert_eq!(settings.time, Duration::from_secs(10));
        assert_eq!(parse(&["--hosts", ""]).unwrap(), settings);
    }

    #[test]
    fn servers_of_the_users_are_taken() {
        let settings = parse(&["--hosts", "a:2181,b:2181", "--seconds", "3"]).unwrap();
        assert_eq!(settings.server, Server::Hosts("a:2181,b:2181".into()));
        assert_eq!(settings.time, Duration::from_secs(3));
        assert_eq!(
            parse(&["--server", "apache"]).unwrap().server,
            Server::Apache
        );
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        assert!(
            parse(&["--server", "etcd"])
                .unwrap_err()
                .contains("SERVER=etcd")
        );
        for seconds in ["0", "-1", "ten", "1.5", "100000"] {
            let error = parse(&["--seconds", seconds]).unwrap_err();
            assert!(error.contains(&format!("SECONDS={seconds}")), "{error}");
        }
        assert!(parse(&["--colour", "x"]).unwrap_err().contains("--colour"));
        assert!(parse(&["--hosts"]).unwrap_err().contains("--hosts"));
        assert!(Settings::parse([]).unwrap_err().contains("--c"));
    }
}
