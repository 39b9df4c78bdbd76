//! The lines of `results.json`.

use serde::Serialize;

use crate::library::{Library, Skipped};
use crate::statistics::Spread;
use crate::trouble::Trouble;

/// One figure of one library.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) workload: String,
    /// As `LIBRARIES` names it.
    pub(crate) name: String,
    pub(crate) library: String,
    pub(crate) language: String,
    pub(crate) measure: String,
    pub(crate) unit: String,
    #[serde(flatten)]
    pub(crate) value: Spread,
    /// To the bare socket in the same run, block by block.
    pub(crate) ratio: Option<Spread>,
    /// How many waiters, paths, processes or sessions, where growth is measured.
    pub(crate) at: Option<usize>,
}

/// What did not come to an end, and what was wrong.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) workload: String,
    pub(crate) name: String,
    pub(crate) reason: String,
    /// Whether the run has failed by it: a check of anybody's, and whatever else of ours.
    pub(crate) counts: bool,
}

/// All that a run found out.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Results {
    pub(crate) rows: Vec<Row>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) skipped: Vec<Skipped>,
}

impl Results {
    pub(crate) fn add(
        &mut self,
        workload: &str,
        library: &Library,
        measure: &str,
        unit: &str,
        value: Spread,
    ) -> &mut Row {
        let row = Row {
            workload: workload.to_owned(),
            name: library.name.clone(),
            library: library.library.clone(),
            language: library.language.clone(),
            measure: measure.to_owned(),
            unit: unit.to_owned(),
            value,
            ratio: None,
            at: None,
        };
        self.rows.push(row);
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    pub(crate) fn fail(&mut self, workload: &str, library: &Library, trouble: impl Into<Trouble>) {
        let Trouble { reason, wrong } = trouble.into();
        eprintln!("\n{workload}: {}: {reason}", library.name);
        self.failures.push(Failure {
            workload: workload.to_owned(),
            name: library.name.clone(),
            reason,
            counts: wrong || library.is_ours() || library.name == "bare",
        });
    }

    /// Whether any check failed, or a program of ours.
    pub(crate) fn has_failed(&self) -> bool {
        self.failures.iter().any(|failure| failure.counts)
    }

    pub(crate) fn find(&self, workload: &str, name: &str, measure: &str) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.workload == workload && row.name == name && row.measure == measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(library: &str) -> Library {
        let text = format!(
            r#"{{"name":"n","library":"{library}","language":"","version":"","command":[],"service":"zookeeper",
                "tokens":true,"contender":"","light":true}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn failed_by(name: &str, trouble: impl Into<Trouble>) -> bool {
        let mut results = Results::default();
        results.fail("waiters-10000", &library(name), trouble);
        results.has_failed()
    }

    #[test]
    fn a_run_fails_by_any_wrong_answer_and_by_all_of_ours() {
        assert!(!Results::default().has_failed());
        assert!(failed_by("kazoo", Trouble::wrong("two holders".to_owned())));
        assert!(failed_by("zoolock", "it ended"));
        assert!(!failed_by("kazoo", "it ended"), "others may break down");
    }
}
