//! Says how each case went: as it ends, in the file that `ZOOLOCK_TEST_REPORT` names, and in a table at the end.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use zoolock_conformance::trace::Trace;

use crate::cases::CASES;

/// Counts and prints.
pub struct Report {
    languages: Vec<String>,
    verbose: bool,
    inner: Mutex<Inner>,
}

struct Inner {
    file: Option<File>,
    /// By case and language: whether it passed, and how long it took.
    outcomes: BTreeMap<(&'static str, String), (bool, Duration)>,
}

impl Report {
    /// Opens the report.
    pub fn open(languages: Vec<String>, verbose: bool) -> io::Result<Report> {
        let file = match std::env::var_os("ZOOLOCK_TEST_REPORT") {
            Some(path) => Some(OpenOptions::new().create(true).append(true).open(path)?),
            None => None,
        };
        Ok(Report {
            languages,
            verbose,
            inner: Mutex::new(Inner {
                file,
                outcomes: BTreeMap::new(),
            }),
        })
    }

    /// Notes one case.
    pub fn add(
        &self,
        case: &'static str,
        language: &str,
        outcome: Result<(), String>,
        trace: &Trace,
        took: Duration,
    ) -> io::Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = io::stdout().lock();
        let verdict = if outcome.is_ok() { "ok" } else { "FAIL" };
        writeln!(
            out,
            "{verdict} {case}[{language}] ({:.1} s)",
            took.as_secs_f64()
        )?;
        if let Err(problem) = &outcome {
            writeln!(out, "    {problem}")?;
        }
        if outcome.is_err() || self.verbose {
            for line in trace.lines() {
                writeln!(out, "    {line}")?;
            }
        }
        out.flush()?;
        let key = (case, language.to_owned());
        inner.outcomes.insert(key, (outcome.is_ok(), took));
        match &mut inner.file {
            // One write, so that suites which run at the same time do not mix their lines.
            Some(file) => {
                file.write_all(format!("{verdict} secured {case}[{language}]\n").as_bytes())
            }
            None => Ok(()),
        }
    }

    /// Prints the table and the last line; true if all passed, and there was something to pass.
    pub fn close(self) -> io::Result<bool> {
        let inner = self
            .inner
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut out = io::stdout().lock();
        write!(out, "\n{:<66}", "case")?;
        for language in &self.languages {
            write!(out, " {language:>8}")?;
        }
        writeln!(out)?;
        for case in CASES {
            let cell = |language: &String| inner.outcomes.get(&(case.name, language.clone()));
            if self
                .languages
                .iter()
                .all(|language| cell(language).is_none())
            {
                continue;
            }
            write!(out, "{:<66}", case.name)?;
            for language in &self.languages {
                let text = match cell(language) {
                    Some((true, took)) => format!("{:.1} s", took.as_secs_f64()),
                    Some((false, _)) => "FAIL".to_owned(),
                    None => "–".to_owned(),
                };
                write!(out, " {text:>8}")?;
            }
            writeln!(out)?;
        }
        let passed = inner.outcomes.values().filter(|(ok, _)| *ok).count();
        let failed = inner.outcomes.len() - passed;
        writeln!(out, "{passed} passed, {failed} failed")?;
        Ok(failed == 0 && passed > 0)
    }
}
