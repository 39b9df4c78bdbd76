//! Whole clusters of clients, with the real session and queue code, against the model of servers,
//! on a simulated network and clock. A seed is a schedule; it can be played again.
//!
//! `make simulate` plays many, then breaks rules on purpose ([`crate::mutant`]) and sees that the
//! checks notice. `ZOOLOCK_SIMULATION_SEED=n` plays one, and prints all that happens in it.

mod checks;
mod client;
mod faults;
mod herd;
mod inflict;
mod mutants;
mod network;
mod plan;
mod processes;
mod runner;
mod schemes;
mod trace;
mod truth;
mod turns;
mod wires;
mod workload;
mod world;

use plan::{Family, Plan};
use trace::Trace;
use world::{Summary, World};

/// Schedules in the run of an unoptimised test.
const SEEDS: u64 = 200;

/// What a schedule came to: what happened, or the rule that was broken.
fn play(seed: u64) -> Result<Summary, String> {
    runner::caught(|| World::new(Plan::from_seed(seed), Trace::default()).run())
}

/// The same with all that happens in it.
fn play_traced(seed: u64) -> (Result<Summary, String>, Vec<String>) {
    let plan = Plan::from_seed(seed);
    let mut world = World::new(plan, Trace::on());
    let outcome = runner::caught(|| world.run());
    let mut lines = vec![format!("{plan:?}")];
    lines.extend(world.trace.lines());
    (outcome, lines)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Plays schedules with faults and checks the rules in each.
#[test]
fn r01_r02_r03_r04_r05_r06_r07_r08_r09_r10_r14_hold_in_simulated_schedules() {
    let first = number("ZOOLOCK_SIMULATION_FIRST").unwrap_or(1);
    let report = runner::run(first..first + SEEDS);
    report.print();
    assert!(report.failures.is_empty());
    // Schedules in which nothing happens would prove nothing.
    let total = report.total();
    assert!(total.grants > SEEDS, "{total:?}");
    assert!(total.losses > 0, "{total:?}");
    assert!(total.faults > SEEDS, "{total:?}");
}

/// The same seed gives the same run: otherwise a failure could not be played again.
#[test]
fn a_seed_is_a_schedule() {
    for seed in 1..=2 * Family::ALL.len() as u64 {
        let (first, trace) = play_traced(seed);
        let (second, again) = play_traced(seed);
        assert_eq!(first.is_ok(), second.is_ok());
        assert!(trace.len() > 100, "seed {seed}");
        let differs = trace.iter().zip(&again).find(|(one, other)| one != other);
        assert_eq!(differs, None, "seed {seed}");
        assert_eq!(trace.len(), again.len());
    }
}

/// `make simulate`: `ZOOLOCK_SIMULATION_SEEDS` schedules, then the mutants; or one of
/// `ZOOLOCK_SIMULATION_SEED` with its trace.
#[test]
#[ignore = "started by scripts/simulate.sh"]
fn simulate() {
    if let Some(seed) = number("ZOOLOCK_SIMULATION_SEED") {
        runner::replay(seed);
        return;
    }
    let first = number("ZOOLOCK_SIMULATION_FIRST").unwrap_or(1);
    let seeds = number("ZOOLOCK_SIMULATION_SEEDS").unwrap_or(SEEDS);
    let report = runner::run(first..first + seeds);
    report.print();
    let missed = mutants::run(number("ZOOLOCK_SIMULATION_MUTANT_SEEDS").unwrap_or(seeds));
    assert!(report.failures.is_empty() && missed == 0);
}
