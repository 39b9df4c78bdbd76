//! The lines of `results.json`.

use serde::Serialize;

use crate::library::{Library, Skipped};
use crate::statistics::Spread;

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
    pub(crate) ours: bool,
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

    pub(crate) fn fail(&mut self, workload: &str, library: &Library, reason: String) {
        eprintln!("\n{workload}: {}: {reason}", library.name);
        self.failures.push(Failure {
            workload: workload.to_owned(),
            name: library.name.clone(),
            reason,
            ours: library.is_ours() || library.name == "bare",
        });
    }

    pub(crate) fn find(&self, workload: &str, name: &str, measure: &str) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.workload == workload && row.name == name && row.measure == measure)
    }
}
