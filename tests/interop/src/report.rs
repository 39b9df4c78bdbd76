//! Says how each part went: on standard output, and in the file that `ZOOLOCK_TEST_REPORT` names.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// Counts and prints.
pub struct Report {
    file: Option<File>,
    passed: usize,
    failed: usize,
}

impl Report {
    /// Opens the report.
    pub fn open() -> io::Result<Report> {
        let file = match std::env::var_os("ZOOLOCK_TEST_REPORT") {
            Some(path) => Some(OpenOptions::new().create(true).append(true).open(path)?),
            None => None,
        };
        Ok(Report {
            file,
            passed: 0,
            failed: 0,
        })
    }

    /// Notes one part: what was seen in it, or what was wrong.
    pub fn add(&mut self, name: &str, outcome: Result<Vec<String>, String>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let (verdict, lines) = match outcome {
            Ok(seen) => {
                self.passed += 1;
                ("ok", seen)
            }
            Err(problem) => {
                self.failed += 1;
                ("FAIL", vec![problem])
            }
        };
        writeln!(out, "{verdict} {name}")?;
        for line in lines {
            writeln!(out, "    {line}")?;
        }
        out.flush()?;
        match &mut self.file {
            Some(file) => file.write_all(format!("{verdict} interop {name}\n").as_bytes()),
            None => Ok(()),
        }
    }

    /// Prints the last line; true if all passed, and there was something to pass.
    pub fn close(self) -> io::Result<bool> {
        let mut out = io::stdout().lock();
        writeln!(out, "{} passed, {} failed", self.passed, self.failed)?;
        Ok(self.failed == 0 && self.passed > 0)
    }
}
