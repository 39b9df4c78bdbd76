//! Acquire and release with nobody else there: every program beside the bare socket on the same server.
//!
//! A bare block stands before and after each block of another program, and each is compared with its two neighbours:
//! whatever else the machine does then meets both alike.

use serde::Serialize;
use zoolock_ensemble::Ensemble;

use crate::candidate::Candidate;
use crate::program::Program;
use crate::settings::Settings;
use crate::statistics::{Spread, median_micros, spread};
use crate::wire_cost::{WireCost, per_cycle};

/// Enough for the servers' and Node's compilers to have seen the path.
const WARM_UP_CYCLES: usize = 1_000;
/// Of the untimed pass behind a proxy.
const COUNTED_CYCLES: usize = 50;

/// One program's figures.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) name: &'static str,
    /// Of the blocks' median cycles.
    pub(crate) cycle_micros: Spread,
    /// Block by block, to the bare blocks around it.
    pub(crate) ratio: Spread,
    pub(crate) target: f64,
    pub(crate) target_met: bool,
    pub(crate) wire: WireCost,
}

/// All figures; the first are the bare socket's own.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) bare_cycle_micros: Spread,
    pub(crate) bare_wire: WireCost,
    pub(crate) programs: Vec<Figures>,
}

/// Measures and counts.
pub(crate) fn measure(
    ensemble: &Ensemble,
    settings: &Settings,
    bare: &[String],
    candidates: &[Candidate],
    path: &str,
) -> Result<Results, String> {
    let mut floor = 0;
    let timed = time(ensemble, settings, bare, candidates, path, &mut floor)?;
    let bare_wire = count(ensemble, "bare", bare, path, &mut floor)?;
    let mut programs = Vec::new();
    for (candidate, timed) in candidates.iter().zip(&timed.programs) {
        let ratio = spread(&timed.ratios);
        programs.push(Figures {
            name: candidate.name,
            cycle_micros: spread(&timed.micros),
            ratio,
            target: candidate.target,
            target_met: ratio.median <= candidate.target,
            wire: count(
                ensemble,
                candidate.name,
                &candidate.command,
                path,
                &mut floor,
            )?,
        });
    }
    Ok(Results {
        bare_cycle_micros: spread(&timed.bare_micros),
        bare_wire,
        programs,
    })
}

#[derive(Debug, Default)]
struct Timed {
    bare_micros: Vec<f64>,
    programs: Vec<TimedProgram>,
}

#[derive(Clone, Debug, Default)]
struct TimedProgram {
    micros: Vec<f64>,
    ratios: Vec<f64>,
}

fn time(
    ensemble: &Ensemble,
    settings: &Settings,
    bare: &[String],
    candidates: &[Candidate],
    path: &str,
    floor: &mut i64,
) -> Result<Timed, String> {
    let direct = ensemble.direct();
    let args = [direct.as_str(), path];
    let mut bare = Program::start("bare", bare, &args)?;
    block(&mut bare, WARM_UP_CYCLES, floor)?;
    let mut programs = Vec::new();
    for candidate in candidates {
        let mut program = Program::start(candidate.name, &candidate.command, &args)?;
        block(&mut program, WARM_UP_CYCLES, floor)?;
        programs.push(program);
    }
    let mut timed = Timed {
        bare_micros: Vec::new(),
        programs: vec![TimedProgram::default(); candidates.len()],
    };
    let mut before = block(&mut bare, settings.cycles, floor)?;
    for round in 1..=settings.rounds {
        eprint!("\rround {round} of {}", settings.rounds);
        for (program, timed_program) in programs.iter_mut().zip(&mut timed.programs) {
            let micros = block(program, settings.cycles, floor)?;
            let after = block(&mut bare, settings.cycles, floor)?;
            timed_program.micros.push(micros);
            timed_program.ratios.push(micros / ((before + after) / 2.0));
            timed.bare_micros.push(after);
            before = after;
        }
    }
    eprintln!();
    for program in programs {
        program.finish()?;
    }
    bare.finish()?;
    Ok(timed)
}

/// The median cycle of one block, in microseconds.
fn block(program: &mut Program, cycles: usize, floor: &mut i64) -> Result<f64, String> {
    let block = program.run(cycles, *floor)?;
    *floor = block.tokens.last().copied().unwrap_or(*floor);
    Ok(median_micros(&block.nanos))
}

fn count(
    ensemble: &Ensemble,
    name: &str,
    command: &[String],
    path: &str,
    floor: &mut i64,
) -> Result<WireCost, String> {
    let mut program = Program::start(name, command, &[&ensemble.hosts(), path])?;
    // The first cycle may have to find out things that later ones know.
    block(&mut program, 1, floor)?;
    ensemble.log().clear();
    block(&mut program, COUNTED_CYCLES, floor)?;
    let cost = per_cycle(&ensemble.log().entries(), COUNTED_CYCLES);
    program.finish()?;
    Ok(cost)
}
