//! The command line.

use std::time::Duration;

/// What was asked for.
#[derive(Debug)]
pub struct Options {
    /// Our drivers, as `language=command`.
    pub drivers: Vec<String>,
    /// The other libraries', as `library=command`.
    pub peers: Vec<String>,
    /// What a library cannot do, as `library=part of a crowd's name`.
    pub cannot: Vec<String>,
    /// How long each crowd is at its lock.
    pub length: Duration,
    /// Only parts whose name contains one of these; empty for all.
    pub parts: Vec<String>,
}

const USAGE: &str = "usage: interop [--driver LANGUAGE=COMMAND]… [--peer LIBRARY=COMMAND]… [--cannot LIBRARY=PART-OF-NAME]… [--minutes N] [--part PART-OF-NAME]…";

impl Options {
    /// Reads the command line.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            drivers: Vec::new(),
            peers: Vec::new(),
            cannot: Vec::new(),
            length: Duration::from_secs(60),
            parts: Vec::new(),
        };
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| format!("{argument} needs a value\n{USAGE}"))
            };
            match argument.as_str() {
                "--driver" => options.drivers.push(value()?),
                "--peer" => options.peers.push(value()?),
                "--cannot" => options.cannot.push(value()?),
                "--part" => options.parts.push(value()?),
                // The scenarios' runner takes it, too; who plays here is written down for each part.
                "--without" => drop(value()?),
                "--minutes" => options.length = minutes(&value()?)?,
                _ => return Err(format!("`{argument}` is no option\n{USAGE}")),
            }
        }
        Ok(options)
    }

    /// Whether a part is to be run.
    pub fn wants(&self, name: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|part| name.contains(part.as_str()))
    }
}

fn minutes(text: &str) -> Result<Duration, String> {
    let minutes: f64 = text.parse().unwrap_or(-1.0);
    if minutes > 0.0 && minutes < 10_000.0 {
        Ok(Duration::from_secs_f64(minutes * 60.0))
    } else {
        Err(format!("MINUTES is a number above 0, and not `{text}`"))
    }
}
