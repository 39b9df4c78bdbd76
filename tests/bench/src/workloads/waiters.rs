//! Waiters in one process on one path.

use crate::library::Library;
use crate::row::Results;
use crate::stage::Stage;
use crate::statistics::Spread;
use crate::trouble::Trouble;
use crate::waiting::{Waiting, measure};

/// More are for those who need no thread for each, or who are asked for by name.
const FOR_ALL: usize = 1_000;

pub(crate) fn run(
    stage: &Stage,
    workload: &str,
    count: usize,
    results: &mut Results,
) -> Result<(), Trouble> {
    for library in stage.libraries_for(workload) {
        if count > FOR_ALL && !library.light && stage.settings.libraries.is_empty() {
            continue;
        }
        eprint!("\r{workload}: {} ", library.name);
        match measure(&library, count, library.is_ours()) {
            Ok(waiting) => note(results, workload, &library, count, &waiting),
            Err(error) => results.fail(workload, &library, error),
        }
    }
    eprintln!();
    Ok(())
}

pub(crate) fn note(
    results: &mut Results,
    workload: &str,
    library: &Library,
    count: usize,
    waiting: &Waiting,
) {
    let mut add = |measure: &str, unit: &str, value: f64| {
        results
            .add(workload, library, measure, unit, Spread::exact(value))
            .at = Some(count);
    };
    add("memory", "B", waiting.memory);
    if let Some(objects) = waiting.objects {
        add("objects", "B", objects);
    }
    add("threads", "", waiting.threads);
    add("watches", "", waiting.watches);
    add(
        "requests",
        "",
        waiting.requests_queueing + waiting.requests_draining,
    );
    add("requests draining", "", waiting.requests_draining);
    add("bytes", "B", waiting.bytes);
    add("queueing", "ms", waiting.queueing);
    add("turn", "us", waiting.turn);
}
