//! Every library beside the bare socket, block by block.

use crate::alternate::alternate;
use crate::library::{Library, Service};
use crate::row::Results;
use crate::stage::{Stage, Way};
use crate::statistics::{Spread, spread};
use crate::team::{Task, Team};
use crate::timeline::fairness;
use crate::trouble::Trouble;
use crate::wire_cost::{WireCost, per_grant};

/// Enough for the servers', Java's and Node's compilers to have seen the path.
const WARM_UP_CYCLES: usize = 1_000;
/// Of the untimed pass behind a proxy.
const COUNTED_CYCLES: usize = 50;
/// As many more cycles of a kept contender, for a block that can be told from its noise.
const KEPT_TIMES: usize = 50;
/// On each path in one block, so that it takes a quarter of a second or more: the disk's unevenness
/// lasts for tens of milliseconds.
const CYCLES_OF_PATHS: [(usize, usize); 2] = [(16, 120), (128, 20)];
/// Blocks' worth of cycles, which Java's and Node's compilers need before they have seen the path.
const WARM_UP_BLOCKS: usize = 2;
/// A holder's pause, in which the other one has come to wait.
const PAUSE_MICROS: u64 = 4_000;
const BLOCK_MILLIS: u64 = 800;
pub(crate) const PROCESSES: usize = 8;

/// What is compared, and how it is told.
struct Comparison<'a> {
    workload: &'a str,
    measure: &'a str,
    unit: &'a str,
    processes: usize,
    rounds: usize,
    warm_up: Task,
    task: Task,
    /// What is done behind the proxy.
    counted: Task,
}

pub(crate) fn uncontended(stage: &Stage, results: &mut Results) -> Result<(), Trouble> {
    let comparison = Comparison {
        workload: "uncontended",
        measure: "cycle",
        unit: "us",
        processes: 1,
        rounds: stage.settings.rounds,
        warm_up: Task::Cycles(WARM_UP_CYCLES),
        task: Task::Cycles(stage.settings.cycles),
        counted: Task::Cycles(COUNTED_CYCLES),
    };
    compare(stage, &comparison, results)
}

/// Of a lock that keeps its contender; the bare socket's are ordinary cycles.
pub(crate) fn kept(stage: &Stage, results: &mut Results) -> Result<(), Trouble> {
    let task = |times: usize| Task::Kept {
        cycles: stage.settings.cycles * times,
        bare_cycles: stage.settings.cycles,
    };
    let comparison = Comparison {
        workload: "kept",
        measure: "cycle",
        unit: "us",
        processes: 1,
        rounds: stage.settings.long_rounds(),
        warm_up: task(KEPT_TIMES),
        task: task(KEPT_TIMES),
        counted: task(1),
    };
    compare(stage, &comparison, results)
}

/// At once from one process.
pub(crate) fn paths(stage: &Stage, workload: &str, results: &mut Results) -> Result<(), Trouble> {
    let known = CYCLES_OF_PATHS
        .iter()
        .find(|(paths, _)| workload.ends_with(&format!("-{paths}")));
    let &(paths, cycles) = known.ok_or_else(|| format!("{workload} has no number of cycles"))?;
    let task = Task::Paths { paths, cycles };
    let warm_up = Task::Paths {
        paths,
        cycles: cycles * WARM_UP_BLOCKS,
    };
    let comparison = Comparison {
        workload,
        measure: "cycles",
        unit: "1/s",
        processes: 1,
        rounds: stage.settings.rounds,
        warm_up,
        task,
        counted: Task::Paths { paths, cycles: 2 },
    };
    compare(stage, &comparison, results)
}

/// Between two processes.
pub(crate) fn hand_off(stage: &Stage, results: &mut Results) -> Result<(), Trouble> {
    let task = Task::HandOff {
        millis: BLOCK_MILLIS,
        pause_micros: PAUSE_MICROS,
    };
    let comparison = Comparison {
        workload: "hand-off",
        measure: "hand-off",
        unit: "us",
        processes: 2,
        rounds: stage.settings.long_rounds(),
        warm_up: task,
        task,
        counted: task,
    };
    compare(stage, &comparison, results)
}

/// Of processes on one path.
pub(crate) fn contention(stage: &Stage, results: &mut Results) -> Result<(), Trouble> {
    let task = Task::Contention {
        millis: BLOCK_MILLIS,
    };
    let comparison = Comparison {
        workload: "contention",
        measure: "grants",
        unit: "1/s",
        processes: PROCESSES,
        rounds: stage.settings.long_rounds(),
        warm_up: task,
        task,
        counted: task,
    };
    compare(stage, &comparison, results)
}

fn compare(stage: &Stage, comparison: &Comparison, results: &mut Results) -> Result<(), Trouble> {
    let workload = comparison.workload;
    let ready = |library: &Library| {
        let mut team = Team::start(
            stage,
            library,
            workload,
            comparison.processes,
            comparison.task,
            Way::Direct,
        )?;
        team.run(comparison.warm_up)?;
        team.reset_counts();
        Ok::<_, Trouble>(team)
    };
    let mut teams = Vec::new();
    let libraries = stage.libraries_for(workload).into_iter();
    // Nobody else's lock keeps its contender.
    let able = libraries.filter(|library| workload != "kept" || library.is_ours());
    for library in able {
        match ready(&library) {
            Ok(team) => teams.push(team),
            Err(error) => results.fail(workload, &library, error),
        }
    }
    // The last one: it sends no pings while others warm up.
    let mut bare = ready(&stage.bare)?;
    let (bare_value, outcomes) = alternate(comparison.rounds, &mut bare, &mut teams)?;
    results
        .add(
            workload,
            &stage.bare,
            comparison.measure,
            comparison.unit,
            bare_value,
        )
        .ratio = Some(Spread::exact(1.0));
    note_further(stage, comparison, bare, results);
    for (team, outcome) in teams.into_iter().zip(outcomes) {
        match outcome {
            Ok(outcome) => {
                results
                    .add(
                        workload,
                        &team.library,
                        comparison.measure,
                        comparison.unit,
                        outcome.value,
                    )
                    .ratio = Some(outcome.ratio);
                note_further(stage, comparison, team, results);
            }
            Err(error) => results.fail(workload, &team.library, error),
        }
    }
    Ok(())
}

/// Ends a team with its checks, and counts what the same costs on the wire.
fn note_further(stage: &Stage, comparison: &Comparison, team: Team, results: &mut Results) {
    let (workload, library) = (comparison.workload, team.library.clone());
    if comparison.processes > 1 {
        results.add(
            workload,
            &library,
            "fairness",
            "",
            Spread::exact(fairness(&team.counts)),
        );
    }
    if !team.acquires.is_empty() {
        results.add(workload, &library, "acquire", "us", spread(&team.acquires));
    }
    if let Err(error) = team.finish() {
        results.fail(workload, &library, error);
        return;
    }
    if library.service != Service::Zookeeper {
        return;
    }
    match count(
        stage,
        &library,
        workload,
        comparison.processes,
        comparison.counted,
    ) {
        Ok(cost) => note_cost(results, workload, &library, comparison.processes, cost),
        Err(error) => results.fail(workload, &library, error),
    }
}

fn note_cost(
    results: &mut Results,
    workload: &str,
    library: &Library,
    processes: usize,
    cost: WireCost,
) {
    results.add(
        workload,
        library,
        "requests",
        "",
        Spread::exact(cost.requests),
    );
    results.add(workload, library, "bytes", "B", Spread::exact(cost.bytes));
    // Of several clients nobody knows who waited for whom.
    if processes == 1 && workload == "uncontended" {
        results.add(
            workload,
            library,
            "flights",
            "",
            Spread::exact(cost.flights),
        );
    }
}

/// What a grant costs on the wire, by a block behind the proxy.
pub(crate) fn count(
    stage: &Stage,
    library: &Library,
    workload: &str,
    processes: usize,
    task: Task,
) -> Result<WireCost, Trouble> {
    let mut team = Team::start(stage, library, workload, processes, task, Way::Counted)?;
    // The first cycle may have to find out things that later ones know.
    team.run(match task {
        Task::Cycles(_) => Task::Cycles(1),
        Task::Kept { bare_cycles, .. } => Task::Kept {
            cycles: 1,
            bare_cycles,
        },
        other => other,
    })?;
    let log = stage.ensemble.log();
    log.clear();
    team.run(task)?;
    let cost = per_grant(&log.entries(), team.last_grants);
    team.finish()?;
    Ok(cost)
}
