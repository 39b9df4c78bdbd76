//! Plays schedules on all cores, and tells how they went.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::checks::Violation;
use super::plan::{Family, Plan};
use super::world::Summary;

/// How many failed seeds are told in full.
const TOLD: usize = 3;

/// How a run of schedules went.
pub(super) struct Report {
    seeds: Range<u64>,
    took: Duration,
    families: BTreeMap<Family, (u64, Summary)>,
    pub(super) failures: Vec<(u64, Violation)>,
}

/// A panic inside is a violation too.
pub(super) fn caught<T>(play: impl FnOnce() -> Result<T, Violation>) -> Result<T, Violation> {
    catch_unwind(AssertUnwindSafe(play)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or(panic.downcast_ref::<&str>().copied())
            .unwrap_or("something");
        Err(format!("a panic: {text}"))
    })
}

/// Calls `work` with every number of the range, on all cores, in no order.
pub(super) fn on_all_cores(range: Range<u64>, work: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(range.start);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= range.end {
                        break;
                    }
                    work(number);
                }
            });
        }
    });
}

pub(super) fn run(seeds: Range<u64>) -> Report {
    let began = Instant::now();
    let outcomes = Mutex::new(Vec::new());
    on_all_cores(seeds.clone(), |seed| {
        let outcome = super::play(seed);
        outcomes.lock().expect("no panic").push((seed, outcome));
    });
    let mut outcomes = outcomes.into_inner().expect("no panic");
    outcomes.sort_by_key(|(seed, _)| *seed);
    let mut report = Report {
        seeds,
        took: began.elapsed(),
        families: BTreeMap::new(),
        failures: Vec::new(),
    };
    for (seed, outcome) in outcomes {
        let family = Plan::from_seed(seed).family;
        let (count, total) = report.families.entry(family).or_default();
        *count += 1;
        match outcome {
            Ok(summary) => total.add(&summary),
            Err(violation) => report.failures.push((seed, violation)),
        }
    }
    report
}

impl Report {
    pub(super) fn total(&self) -> Summary {
        let mut total = Summary::default();
        for (_, summary) in self.families.values() {
            total.add(summary);
        }
        total
    }

    /// A table of the families, the failures, and the trace of the first.
    pub(super) fn print(&self) {
        println!("family      schedules  failed   grants   losses   faults");
        for (family, (count, summary)) in &self.families {
            let failed = self.failed(*family);
            println!(
                "{:<11} {count:>9} {failed:>7} {:>8} {:>8} {:>8}",
                format!("{family:?}"),
                summary.grants,
                summary.losses,
                summary.faults
            );
        }
        let (count, total) = (self.seeds.end - self.seeds.start, self.total());
        println!(
            "{count} schedules in {:.1} s, {:.0} a second: {} grants ({} of kept contenders), {} losses, {} faults",
            self.took.as_secs_f64(),
            count as f64 / self.took.as_secs_f64(),
            total.grants,
            total.kept,
            total.losses,
            total.faults
        );
        for family in self.families.keys() {
            let mark = match self.failed(*family) {
                0 => "ok",
                _ => "FAIL",
            };
            println!("{mark} {}schedules_{family:?}", family.rules());
        }
        if let Some((seed, _)) = self.failures.first() {
            let (_, trace) = super::play_traced(*seed);
            println!("{}", trace.join("\n"));
        }
        for (seed, violation) in self.failures.iter().take(TOLD) {
            println!("seed {seed}: {violation}");
        }
        for (seed, violation) in self.failures.iter().skip(TOLD) {
            let first = violation.lines().next().unwrap_or_default();
            println!("seed {seed}: {first}");
        }
    }

    fn failed(&self, family: Family) -> usize {
        let failures = self.failures.iter();
        failures
            .filter(|(seed, _)| Plan::from_seed(*seed).family == family)
            .count()
    }
}

/// Plays one schedule with its trace.
pub(super) fn replay(seed: u64) {
    let (outcome, trace) = super::play_traced(seed);
    println!("{}", trace.join("\n"));
    match outcome {
        Ok(summary) => println!("seed {seed}: {summary:?}"),
        Err(violation) => panic!("seed {seed}: {violation}"),
    }
}
