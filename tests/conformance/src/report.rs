//! Says how each run went: on standard output, and in the file that `ZOOLOCK_TEST_REPORT` names.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::run::Failure;

/// Counts and prints.
pub struct Report {
    verbose: bool,
    suite: String,
    inner: Mutex<Inner>,
}

struct Inner {
    file: Option<File>,
    passed: usize,
    failed: usize,
}

impl Report {
    /// Opens the report.
    pub fn open(suite: &str, verbose: bool) -> io::Result<Report> {
        let file = match std::env::var_os("ZOOLOCK_TEST_REPORT") {
            Some(path) => Some(OpenOptions::new().create(true).append(true).open(path)?),
            None => None,
        };
        Ok(Report {
            verbose,
            suite: suite.to_owned(),
            inner: Mutex::new(Inner {
                file,
                passed: 0,
                failed: 0,
            }),
        })
    }

    /// Notes one run.
    pub fn add(
        &self,
        name: &str,
        outcome: Result<Vec<String>, Failure>,
        took: Duration,
    ) -> io::Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = io::stdout().lock();
        let verdict = if outcome.is_ok() { "ok" } else { "FAIL" };
        writeln!(out, "{verdict} {name} ({:.1} s)", took.as_secs_f64())?;
        match outcome {
            Ok(trace) => {
                inner.passed += 1;
                if self.verbose {
                    write_trace(&mut out, &trace)?;
                }
            }
            Err(failure) => {
                inner.failed += 1;
                writeln!(out, "    {}", failure.reason)?;
                write_trace(&mut out, &failure.trace)?;
            }
        }
        out.flush()?;
        match &mut inner.file {
            // One write, so that suites which run at the same time do not mix their lines.
            Some(file) => {
                let line = format!("{verdict} {} {name}\n", self.suite);
                file.write_all(line.as_bytes())
            }
            None => Ok(()),
        }
    }

    /// Prints the last line; true if all passed, and there was something to pass.
    pub fn close(self) -> io::Result<bool> {
        let inner = self
            .inner
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut out = io::stdout().lock();
        writeln!(out, "{} passed, {} failed", inner.passed, inner.failed)?;
        Ok(inner.failed == 0 && inner.passed > 0)
    }
}

fn write_trace(out: &mut impl Write, trace: &[String]) -> io::Result<()> {
    for line in trace {
        writeln!(out, "    {line}")?;
    }
    Ok(())
}
