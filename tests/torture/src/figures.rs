//! The figures of a run, for a person.

use std::time::Duration;

use crate::checks::servers::Queues;
use crate::fire::Kind;
use crate::fire::record::Injection;
use crate::history::History;
use crate::language::Language;
use crate::measure;
use crate::recipe::Recipe;

/// How long a time is in units of the session timeout.
#[derive(Clone, Copy)]
pub(crate) struct Unit(pub(crate) Duration);

impl Unit {
    fn show(self, nanos: u64) -> String {
        let in_s = nanos as f64 / self.0.as_nanos() as f64;
        format!("{:.0} ms = {in_s:.2} S", nanos as f64 / 1e6)
    }
}

pub(crate) fn print(
    history: &History,
    queues: &Queues,
    injections: &[Injection],
    start: u64,
    unit: Unit,
) {
    print_grants(history);
    println!(
        "{} jobs, {} contenders in the servers' logs, {} accesses to the resources, of which the fence refused {}",
        history.jobs.len(),
        queues.count(),
        history.accesses.len(),
        measure::refusals(history)
    );
    let standing = measure::standing(history, queues);
    let at = |percent| unit.show(measure::percentile(&standing.all, percent));
    println!(
        "from a turn to its grant: median {}; 99 in 100 within {}; longest {}",
        at(50),
        at(99),
        at(100)
    );
    if let Some((who, turn)) = &standing.longest {
        let seconds = turn.saturating_sub(start) as f64 / 1e9;
        println!("    the longest stood {who}, whose turn came at {seconds:.3} s");
    }
    let overshoot = measure::longest_overshoot(history) as f64 / 1e6;
    println!("a call outlasted its time-out by {overshoot:.1} ms at most");
    print_faults(history, injections, unit);
}

fn print_faults(history: &History, injections: &[Injection], unit: Unit) {
    println!(
        "faults, and the longest stretch without a grant on any path during each (workers' hide servers'):"
    );
    let session_timeout = u64::try_from(unit.0.as_nanos()).unwrap_or(u64::MAX);
    let outages = measure::outages(history, injections, session_timeout);
    for kind in Kind::SERVERS.into_iter().chain(Kind::CLIENTS) {
        let times = injections
            .iter()
            .filter(|injection| injection.kind == kind)
            .count();
        let all = outages.get(&kind).map_or(&[][..], Vec::as_slice);
        print!("    {:<18} {times:>4} times", kind.name());
        if !all.is_empty() {
            let at = |percent| unit.show(measure::percentile(all, percent));
            print!(
                "; {:>3} seen: median {}, longest {}",
                all.len(),
                at(50),
                at(100)
            );
        }
        println!();
    }
}

fn print_grants(history: &History) {
    let grants = measure::grants(history);
    let losses = measure::losses(history);
    print!("{:<10}", "grants");
    for recipe in Recipe::ALL {
        print!(" {recipe:>10}");
    }
    println!(" {:>10} {:>10}", "all", "losses");
    for language in Language::ALL {
        let of = |recipe| grants.get(&(language, recipe)).copied().unwrap_or(0);
        print!("{language:<10}");
        for recipe in Recipe::ALL {
            print!(" {:>10}", of(recipe));
        }
        let all: usize = Recipe::ALL.into_iter().map(of).sum();
        let lost = losses.get(&language).copied().unwrap_or(0);
        println!(" {all:>10} {lost:>10}");
    }
}
