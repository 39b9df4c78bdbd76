//! From the start of the program to the first lock given back: interpreter, import, connection and one cycle. Where there is
//! an interpreter it is started alone as well, so that what the library takes can be told from it.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::alternate::{Contestant, alternate};
use crate::answers::Cycles;
use crate::library::{Library, Service};
use crate::program::Program;
use crate::row::Results;
use crate::stage::{Stage, Way};
use crate::statistics::{Spread, spread};
use crate::trouble::Trouble;

const WORKLOAD: &str = "start";
const BEYOND_INTERPRETER: &str = "beyond interpreter";

struct Starter {
    library: Library,
    address: String,
    path: String,
    /// In milliseconds, block by block: what was more than the interpreter alone.
    beyond_interpreter: Vec<f64>,
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
        let took = took.as_secs_f64() * 1e3;
        if let Some(alone) = interpreter_alone(&self.library.interpreter)? {
            self.beyond_interpreter.push(took - alone);
        }
        Ok(took)
    }
}

/// How long an interpreter takes that has nothing to do, in milliseconds.
fn interpreter_alone(command: &[String]) -> Result<Option<f64>, Trouble> {
    let Some((program, args)) = command.split_first() else {
        return Ok(None);
    };
    let begin = Instant::now();
    let status = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|error| format!("cannot start {program}: {error}"))?;
    let took = begin.elapsed();
    match status.success() {
        true => Ok(Some(took.as_secs_f64() * 1e3)),
        false => Err(format!("{program}: {status}").into()),
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
            beyond_interpreter: Vec::new(),
        })
    };
    let mut bare = starter(&stage.bare)?;
    bare.block()?;
    let mut starters = Vec::new();
    for library in stage.libraries_for(WORKLOAD) {
        // The first start reads files from the disk.
        let ready = starter(&library).and_then(|mut starter| starter.block().map(|_| starter));
        match ready {
            Ok(mut ready) => {
                ready.beyond_interpreter.clear();
                starters.push(ready);
            }
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
                if !starter.beyond_interpreter.is_empty() {
                    let beyond = spread(&starter.beyond_interpreter);
                    results.add(WORKLOAD, &starter.library, BEYOND_INTERPRETER, "ms", beyond);
                }
            }
            Err(error) => results.fail(WORKLOAD, &starter.library, error),
        }
    }
    Ok(())
}
