//! Says what came of it: a line for each check on standard output, and in the file that `ZOOLOCK_TEST_REPORT` names.

use std::fs::{File, OpenOptions};
use std::io::Write;

pub(crate) struct Report {
    file: Option<File>,
    passed: usize,
    failed: usize,
}

impl Report {
    pub(crate) fn open() -> Result<Report, String> {
        let file = match std::env::var_os("ZOOLOCK_TEST_REPORT") {
            Some(path) => {
                let opened = OpenOptions::new().create(true).append(true).open(&path);
                Some(opened.map_err(|error| format!("{}: {error}", path.display()))?)
            }
            None => None,
        };
        Ok(Report {
            file,
            passed: 0,
            failed: 0,
        })
    }

    /// A check, and what speaks against it.
    pub(crate) fn add(&mut self, name: &str, problems: &[String]) -> Result<(), String> {
        let verdict = if problems.is_empty() {
            self.passed += 1;
            "ok"
        } else {
            self.failed += 1;
            "FAIL"
        };
        println!("{verdict} {name}");
        for problem in problems {
            println!("    {problem}");
        }
        if let Some(file) = &mut self.file {
            let line = format!("{verdict} torture {name}\n");
            file.write_all(line.as_bytes())
                .map_err(|error| format!("the report: {error}"))?;
        }
        Ok(())
    }

    /// Prints the last line; true if all passed.
    pub(crate) fn close(self) -> bool {
        println!("{} passed, {} failed", self.passed, self.failed);
        self.failed == 0 && self.passed > 0
    }
}
