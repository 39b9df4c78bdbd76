//! The command line.

/// What the runner was asked for.
#[derive(Debug, Default)]
pub struct Options {
    /// The languages, as `language=command`.
    pub drivers: Vec<String>,
    /// Only cases whose name contains one of these; empty for all.
    pub cases: Vec<String>,
    /// Shows the trace of every case, failed or not.
    pub verbose: bool,
}

const USAGE: &str = "usage: secured --driver LANGUAGE=COMMAND… [--case PART-OF-NAME]… [--verbose]";

impl Options {
    /// Reads the command line.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options::default();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .ok_or_else(|| format!("{argument} needs a value\n{USAGE}"))
            };
            match argument.as_str() {
                "--driver" => options.drivers.push(value()?),
                "--case" => options.cases.push(value()?),
                "--verbose" => options.verbose = true,
                _ => return Err(format!("{argument} is unknown\n{USAGE}")),
            }
        }
        if options.drivers.is_empty() {
            return Err(format!("there is no driver\n{USAGE}"));
        }
        Ok(options)
    }
}
