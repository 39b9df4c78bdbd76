//! The workloads, by name.

mod compared;
mod growth;
mod start;
mod waiters;

use crate::row::Results;
use crate::stage::Stage;
use crate::trouble::Trouble;

/// What `make bench` runs.
pub(crate) const COMPARED: &[&str] = &[
    "uncontended",
    "kept",
    "paths-16",
    "paths-128",
    "hand-off",
    "contention",
    "start",
    "waiters-1000",
    "waiters-10000",
];
/// What `make growth` runs.
pub(crate) const GROWTH: &[&str] = &[
    "growth-waiters",
    "growth-paths",
    "growth-processes",
    "growth-sessions",
];

/// Runs one; what one library did wrong is noted in the results, and the others go on.
pub(crate) fn run(stage: &Stage, workload: &str, results: &mut Results) -> Result<(), Trouble> {
    match workload {
        "uncontended" => compared::uncontended(stage, results),
        "kept" => compared::kept(stage, results),
        "paths-16" | "paths-128" => compared::paths(stage, workload, results),
        "hand-off" => compared::hand_off(stage, results),
        "contention" => compared::contention(stage, results),
        "start" => start::run(stage, results),
        "waiters-1000" => waiters::run(stage, workload, 1_000, results),
        "waiters-10000" => waiters::run(stage, workload, 10_000, results),
        "growth-waiters" => growth::waiters(stage, results),
        "growth-paths" => growth::paths(stage, results),
        "growth-processes" => growth::processes(stage, results),
        "growth-sessions" => growth::sessions(stage, results),
        _ => Err(format!("there is no workload {workload}").into()),
    }
}
