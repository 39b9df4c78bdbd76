//! Whole clusters of clients, with the real session and queue code, against the model of servers,
//! on a simulated network and clock. A seed is a schedule; it can be played again.

mod checks;
mod client;
mod faults;
mod network;
mod workload;
mod world;

use world::{Plan, World};

/// Schedules in one run of the test, unless `ZOOLOCK_SIMULATION_SEEDS` says otherwise.
const SEEDS: u64 = 200;

fn play(seed: u64) -> Result<world::Summary, String> {
    let mut world = World::new(Plan::from_seed(seed));
    world
        .run()
        .map_err(|violation| format!("seed {seed}: {violation}\n{}", world.trace().join("\n")))
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Plays schedules with faults and checks R1, R2, R4 to R7 and R9 in each.
#[test]
fn r01_r09_hold_in_simulated_schedules() {
    if let Some(seed) = number("ZOOLOCK_SIMULATION_SEED") {
        match play(seed) {
            Ok(summary) => println!("seed {seed}: {summary:?}"),
            Err(failure) => panic!("{failure}"),
        }
        return;
    }
    let first = number("ZOOLOCK_SIMULATION_FIRST").unwrap_or(1);
    let seeds = number("ZOOLOCK_SIMULATION_SEEDS").unwrap_or(SEEDS);
    let began = std::time::Instant::now();
    let mut total = world::Summary::default();
    for seed in first..first + seeds {
        match play(seed) {
            Ok(summary) => total.add(&summary),
            Err(failure) => panic!("{failure}"),
        }
    }
    println!("{seeds} schedules in {:?}: {total:?}", began.elapsed());
    // Schedules in which nothing happens would prove nothing.
    assert!(total.grants > seeds, "{total:?}");
    assert!(total.losses > 0, "{total:?}");
    assert!(total.faults > seeds, "{total:?}");
}

/// The same seed gives the same run: otherwise a failure could not be played again.
#[test]
fn a_seed_is_a_schedule() {
    let trace = |seed| {
        let mut world = World::new(Plan::from_seed(seed));
        let ended = world.run().is_ok();
        (ended, world.trace())
    };
    for seed in [3, 11] {
        assert_eq!(trace(seed), trace(seed));
    }
}
