//! From the start of the program to the first lock given back: interpreter, import, connection and one cycle.

use std::time::Instant;

use crate::alternate::{Contestant, alternate};
use crate::answers::Cycles;
use crate::library::{Library, Service};
use crate::program::Program;
use crate::row::Results;
use crate::stage::{Stage, Way};
use crate::statistics::Spread;
use crate::trouble::Trouble;

const WORKLOAD: &str = "start";

struct Starter {
    library: Library,
    address: String,
    path: String,
}

impl Contestant for Starter {
    /// In milliseconds.
    fn block(&mut self) -> Result<f64, Trouble> {
        let begin = Instant::now();
        let mut program = Program::spawn(
            &self.library.name,
            &self.library.command,
            &[&self.address, &self.path],
        )?;
        program.send("cycles 1")?;
        program.wait_ready()?;
        let cycles: Cycles = program.receive()?;
        let took = begin.elapsed();
        cycles.check(1, self.library.tokens, &mut 0)?;
        program.finish()?;
        Ok(took.as_secs_f64() * 1e3)
    }
}

pub(crate) fn run(stage: &Stage, results: &mut Results) -> Result<(), Trouble> {
    let observer = stage
        .ensemble
        .observer(1)
        .map_err(|error| error.to_string())?;
    let starter = |library: &Library| {
        let path = format!("/bench/{WORKLOAD}/{}", library.name);
        if library.service == Service::Zookeeper {
            observer.ensure(&path).map_err(|error| error.to_string())?;
        }
        Ok::<_, Trouble>(Starter {
            address: stage.address(library.service, Way::Direct)?,
            path,
            library: library.clone(),
        })
    };
    let mut bare = starter(&stage.bare)?;
    bare.block()?;
    let mut starters = Vec::new();
    for library in stage.libraries_for(WORKLOAD) {
        // The first start reads files from the disk.
        let ready = starter(&library).and_then(|mut starter| starter.block().map(|_| starter));
        match ready {
            Ok(ready) => starters.push(ready),
            Err(error) => results.fail(WORKLOAD, &library, error),
        }
    }
    let (value, outcomes) = alternate(stage.settings.long_rounds(), &mut bare, &mut starters)?;
    results
        .add(WORKLOAD, &stage.bare, "start", "ms", value)
        .ratio = Some(Spread::exact(1.0));
    for (starter, outcome) in starters.iter().zip(outcomes) {
        match outcome {
            Ok(outcome) => {
                let row = results.add(WORKLOAD, &starter.library, "start", "ms", outcome.value);
                row.ratio = Some(outcome.ratio);
            }
            Err(error) => results.fail(WORKLOAD, &starter.library, error),
        }
    }
    Ok(())
}
