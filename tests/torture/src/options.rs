//! What the command line says.

use std::path::PathBuf;
use std::time::Duration;

use crate::language::Language;

/// Of the short form, so that it takes about as long each time.
const SHORT_SEED: u64 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    c: PathBuf,
    python: PathBuf,
    node: PathBuf,
    workers: PathBuf,
    /// `None` for the short form: every kind of fault once.
    pub(crate) time: Option<Duration>,
    pub(crate) seed: Option<u64>,
    pub(crate) session_timeout: Duration,
    /// Jobs at once in each worker.
    pub(crate) threads: usize,
    /// Where the whole history goes.
    pub(crate) history: Option<PathBuf>,
}

impl Options {
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Options, String> {
        let mut paths = [const { None }; 4];
        let (mut time, mut seed, mut session, mut threads) = (None, None, 4_000, 4);
        let mut history = None;
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            if arg == "--short" {
                (time, seed) = (None, seed.or(Some(SHORT_SEED)));
                continue;
            }
            let value = args.next().ok_or_else(|| format!("{arg} needs a value"))?;
            match arg.as_str() {
                "--c" => paths[0] = Some(PathBuf::from(value)),
                "--python" => paths[1] = Some(PathBuf::from(value)),
                "--node" => paths[2] = Some(PathBuf::from(value)),
                "--workers" => paths[3] = Some(PathBuf::from(value)),
                "--minutes" => time = Some(minutes(&value)?),
                // As `make` hands it on when it was not given.
                "--seed" if value.is_empty() => seed = None,
                "--seed" => seed = Some(number("SEED", &value)?),
                "--session-timeout-ms" => session = number(&arg, &value)?,
                "--history" => history = Some(PathBuf::from(value)),
                "--threads" => threads = number(&arg, &value)?,
                _ => return Err(format!("{arg} is no option")),
            }
        }
        let names = ["--c", "--python", "--node", "--workers"];
        for (path, name) in paths.iter().zip(names) {
            if path.is_none() {
                return Err(format!("{name} is missing"));
            }
        }
        let [c, python, node, workers] = paths.map(Option::unwrap_or_default);
        Ok(Options {
            c,
            python,
            node,
            workers,
            time,
            seed,
            session_timeout: Duration::from_millis(session),
            threads: usize::try_from(threads).map_err(|_| "too many threads")?,
            history,
        })
    }

    /// The command that starts a worker. The one in Rust was built beside this program.
    pub(crate) fn command(&self, language: Language) -> Result<Vec<PathBuf>, String> {
        Ok(match language {
            Language::Rust => {
                let runner = std::env::current_exe()
                    .map_err(|error| format!("cannot find the program's own folder: {error}"))?;
                vec![runner.with_file_name("torture-worker")]
            }
            Language::C => vec![self.c.clone()],
            Language::Python => vec![self.python.clone(), self.workers.join("worker.py")],
            Language::Node => vec![self.node.clone(), self.workers.join("worker.mjs")],
        })
    }
}

fn number(name: &str, text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("{name}={text} is no whole number"))
}

fn minutes(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(minutes) if minutes > 0.0 && minutes <= 10_000.0 => {
            Ok(Duration::from_secs_f64(minutes * 60.0))
        }
        _ => Err(format!(
            "MINUTES={text} is no number of minutes up to 10000"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(more: &[&str]) -> Result<Options, String> {
        let paths = ["--c", "w", "--python", "p", "--node", "n", "--workers", "d"];
        Options::parse(paths.iter().chain(more).map(|&arg| arg.to_owned()))
    }

    #[test]
    fn the_short_form_has_no_time() {
        let short = parse(&["--short"]).unwrap();
        assert_eq!((short.time, short.seed), (None, Some(SHORT_SEED)));
        let short = parse(&["--seed", "7", "--short"]).unwrap();
        assert_eq!(short.seed, Some(7));
        let options = parse(&["--minutes", "0.5", "--seed", "7"]).unwrap();
        assert_eq!(options.time, Some(Duration::from_secs(30)));
        assert_eq!(options.seed, Some(7));
        assert_eq!(parse(&["--seed", ""]).unwrap().seed, None);
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        for minutes in ["0", "-1", "ten", "NaN", "inf"] {
            let error = parse(&["--minutes", minutes]).unwrap_err();
            assert!(error.contains(&format!("MINUTES={minutes}")), "{error}");
        }
        assert!(parse(&["--seed", "x"]).unwrap_err().contains("SEED=x"));
        assert!(parse(&["--colour", "x"]).unwrap_err().contains("--colour"));
        assert!(parse(&["--seed"]).unwrap_err().contains("--seed"));
        assert!(Options::parse([]).unwrap_err().contains("--c"));
    }
}
