//! The command line.

use std::path::PathBuf;

/// What the runner was asked for.
#[derive(Debug, Default)]
pub struct Options {
    /// Further drivers, as `language=command`.
    pub drivers: Vec<String>,
    /// Other libraries' drivers, as `library=command`: then every scenario is played by ours and one of them.
    pub peers: Vec<String>,
    /// What a library cannot do, as `library=part of a scenario's name`.
    pub cannot: Vec<String>,
    /// Not these languages.
    pub without: Vec<String>,
    /// What the runs are reported as.
    pub suite: String,
    /// Only these languages, or `mixed`; empty for all.
    pub languages: Vec<String>,
    /// Only scenarios whose name contains one of these; empty for all.
    pub scenarios: Vec<String>,
    /// Where the scenarios are.
    pub folder: PathBuf,
    /// Only says what would be run.
    pub list: bool,
    /// Shows the trace of every run, failed or not.
    pub verbose: bool,
}

/// How it is called.
pub const USAGE: &str = "\
usage: conformance [--driver LANGUAGE=COMMAND]… [--peer LIBRARY=COMMAND]… [--language LANGUAGE|LIBRARY|mixed]…
                   [--without LANGUAGE]… [--cannot LIBRARY=PART-OF-NAME]… [--scenario PART-OF-NAME]…
                   [--folder FOLDER] [--suite NAME] [--list] [--verbose]";

impl Options {
    /// Reads the command line.
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            folder: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios")),
            suite: "conformance".into(),
            ..Options::default()
        };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| format!("{argument} needs a value\n{USAGE}"))
            };
            match argument.as_str() {
                "--driver" => options.drivers.push(value()?),
                "--peer" => options.peers.push(value()?),
                "--cannot" => options.cannot.push(value()?),
                "--without" => options.without.push(value()?),
                "--suite" => options.suite = value()?,
                "--language" => options.languages.push(value()?),
                "--scenario" => options.scenarios.push(value()?),
                "--folder" => options.folder = value()?.into(),
                "--list" => options.list = true,
                "--verbose" => options.verbose = true,
                _ => return Err(format!("`{argument}` is no option\n{USAGE}")),
            }
        }
        Ok(options)
    }
}
