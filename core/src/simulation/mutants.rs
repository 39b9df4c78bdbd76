//! Rules broken on purpose: a check that never notices anything would prove nothing. See [`crate::mutant`].

use std::sync::Mutex;

use super::checks::Violation;
use super::runner;
use crate::mutant::{self, Mutant};

/// One mutant's end.
struct Caught {
    mutant: Mutant,
    /// The seed and the violation by which it was noticed.
    by: Option<(u64, Violation)>,
}

/// Plays up to so many schedules with each broken rule, until one is noticed; prints a table, and
/// returns how many were not.
pub(super) fn run(seeds: u64) -> usize {
    let done = Mutex::new(Vec::new());
    let count = Mutant::ALL.len() as u64;
    runner::on_all_cores(0..count, |at| {
        let at = usize::try_from(at).unwrap_or(0);
        if let Some(mutant) = Mutant::ALL.get(at) {
            let caught = catch(*mutant, seeds);
            done.lock().expect("no panic").push((at, caught));
        }
    });
    let mut done = done.into_inner().expect("no panic");
    done.sort_by_key(|(at, _)| *at);
    print(done.into_iter().map(|(_, caught)| caught).collect())
}

fn catch(mutant: Mutant, seeds: u64) -> Caught {
    let by = mutant::with(mutant, || {
        (1..=seeds).find_map(|seed| Some((seed, super::play(seed).err()?)))
    });
    Caught { mutant, by }
}

fn print(all: Vec<Caught>) -> usize {
    println!("mutant                     seeds  by");
    for Caught { mutant, by } in &all {
        let name = format!("{mutant:?}");
        match by {
            Some((seed, violation)) => {
                let first: String = violation
                    .chars()
                    .take_while(|c| *c != '\n')
                    .take(110)
                    .collect();
                println!("{name:<26} {seed:>5}  {first}");
            }
            None => println!("{name:<26}     -  NOT CAUGHT"),
        }
    }
    for Caught { mutant, by } in &all {
        let mark = if by.is_some() { "ok" } else { "FAIL" };
        println!("{mark} mutant_{mutant:?}");
    }
    let caught = all.iter().filter(|caught| caught.by.is_some()).count();
    println!("mutants caught: {caught} of {}", all.len());
    all.len() - caught
}
