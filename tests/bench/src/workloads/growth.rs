//! How the cost grows with waiters, paths, processes and sessions.

use std::thread;
use std::time::{Duration, Instant};

use super::compared::count;
use super::waiters::note;
use crate::alternate::alternate;
use crate::answers::Queued;
use crate::library::Library;
use crate::process::{cpu_seconds, monitored, server_pid, usage};
use crate::program::Program;
use crate::row::Results;
use crate::stage::{Stage, Way};
use crate::statistics::Spread;
use crate::team::{Task, Team};
use crate::timeline::fairness;
use crate::trouble::Trouble;
use crate::waiting::measure;

const WAITERS: &[usize] = &[1, 10, 100, 1_000, 3_000, 10_000];
const PATHS: &[usize] = &[1, 4, 16, 64, 256, 1_024, 4_096, 10_000];
const PROCESSES: &[usize] = &[1, 2, 4, 8, 16, 32, 64];
const SESSIONS: &[usize] = &[0, 10, 100, 1_000, 3_000];
/// Cycles of all paths together in one block, at least one each.
const PATH_CYCLES: usize = 640;
const BLOCK_MILLIS: u64 = 800;
const ROUNDS: usize = 3;
/// So long idle sessions are looked at.
const IDLE: Duration = Duration::from_secs(6);

/// Those that were asked for; if none was, the one that has the least around it.
fn libraries(stage: &Stage, workload: &str) -> Vec<Library> {
    let mut libraries = stage.libraries_for(workload);
    if stage.settings.libraries.is_empty() {
        libraries.retain(|library| library.name == "rust-async");
    }
    libraries
}

pub(crate) fn waiters(stage: &Stage, results: &mut Results) -> Result<(), Trouble> {
    let workload = "growth-waiters";
    for library in libraries(stage, workload) {
        for &count in WAITERS {
            eprint!("\r{workload}: {} {count} ", library.name);
            match measure(&library, count, false) {
                Ok(waiting) => note(results, workload, &library, count, &waiting),
                Err(error) => results.fail(workload, &library, error),
            }
        }
    }
    eprintln!();
    Ok(())
}

pub(crate) fn paths(stage: &Stage, results: &mut Results) -> Result<(), Trouble> {
    for &paths in PATHS {
        let cycles = (PATH_CYCLES / paths).max(1);
        let step = Step {
            workload: "growth-paths",
            measure: "cycles",
            at: paths,
            processes: 1,
            task: Task::Paths { paths, cycles },
        };
        for library in libraries(stage, step.workload) {
            if let Err(error) = step.run(stage, &library, results) {
                results.fail(step.workload, &library, error);
            }
        }
    }
    Ok(())
}

pub(crate) fn processes(stage: &Stage, results: &mut Results) -> Result<(), Trouble> {
    for &processes in PROCESSES {
        let step = Step {
            workload: "growth-processes",
            measure: "grants",
            at: processes,
            processes,
            task: Task::Contention {
                millis: BLOCK_MILLIS,
            },
        };
        for library in libraries(stage, step.workload) {
            if let Err(error) = step.run(stage, &library, results) {
                results.fail(step.workload, &library, error);
            }
        }
    }
    Ok(())
}

/// One point of a curve.
struct Step {
    workload: &'static str,
    measure: &'static str,
    at: usize,
    processes: usize,
    task: Task,
}

impl Step {
    fn run(&self, stage: &Stage, library: &Library, results: &mut Results) -> Result<(), Trouble> {
        eprint!("\r{}: {} {} ", self.workload, library.name, self.at);
        // A path's nodes of its own for each point.
        let place = format!("{}/{}", self.workload, self.at);
        let start = |library: &Library| {
            Team::start(
                stage,
                library,
                &place,
                self.processes,
                self.task,
                Way::Direct,
            )
        };
        let (mut bare, mut team) = (start(&stage.bare)?, start(library)?);
        bare.run(self.task)?;
        team.run(self.task)?;
        team.reset_counts();
        let mut both = [team];
        let (bare_value, mut outcomes) = alternate(ROUNDS, &mut bare, &mut both)?;
        let outcome = outcomes.remove(0)?;
        let [mut team] = both;
        let server = server_pid(&stage.ensemble)?;
        let before = cpu_seconds(server)?;
        team.run(self.task)?;
        let cpu = (cpu_seconds(server)? - before) * 1e6 / team.last_grants as f64;
        let fair = fairness(&team.counts);
        bare.finish()?;
        team.finish()?;
        let cost = count(stage, library, &place, self.processes, self.task)?;
        let mut add =
            |library: &Library, measure: &str, unit: &str, value: Spread, ratio: Option<Spread>| {
                let row = results.add(self.workload, library, measure, unit, value);
                (row.at, row.ratio) = (Some(self.at), ratio);
            };
        add(
            &stage.bare,
            self.measure,
            "1/s",
            bare_value,
            Some(Spread::exact(1.0)),
        );
        add(
            library,
            self.measure,
            "1/s",
            outcome.value,
            Some(outcome.ratio),
        );
        add(library, "server processor", "us", Spread::exact(cpu), None);
        add(library, "requests", "", Spread::exact(cost.requests), None);
        add(library, "events", "", Spread::exact(cost.events), None);
        add(library, "bytes", "B", Spread::exact(cost.bytes), None);
        if self.processes > 1 {
            add(library, "fairness", "", Spread::exact(fair), None);
        }
        Ok(())
    }
}

/// A cycle while so many other sessions are open and idle, and what those cost.
pub(crate) fn sessions(stage: &Stage, results: &mut Results) -> Result<(), Trouble> {
    let workload = "growth-sessions";
    let Some(library) = stage
        .manifest
        .libraries
        .iter()
        .find(|library| library.name == "rust-async")
    else {
        return Err("rust-async is not in the manifest".into());
    };
    let task = Task::Cycles(stage.settings.cycles);
    let mut team = Team::start(stage, library, workload, 1, task, Way::Direct)?;
    let mut bare = Team::start(stage, &stage.bare, workload, 1, task, Way::Direct)?;
    bare.run(task)?;
    team.run(task)?;
    let mut teams = [team];
    let server = server_pid(&stage.ensemble)?;
    let address = stage.ensemble.direct();
    let path = format!("/bench/{workload}/idle");
    let mut idle = Program::start("idle", &library.command, &[&address, &path])?;
    let mut open = 0;
    for &sessions in SESSIONS {
        eprint!("\r{workload}: {sessions} ");
        let _: Queued = idle.ask(&format!("sessions {}", sessions - open))?;
        open = sessions;
        let (packets, cpu, begin) = (
            monitored(&stage.ensemble, "zk_packets_received")?,
            cpu_seconds(server)?,
            Instant::now(),
        );
        thread::sleep(IDLE);
        let seconds = begin.elapsed().as_secs_f64();
        let packets = (monitored(&stage.ensemble, "zk_packets_received")? - packets) / seconds;
        let cpu = (cpu_seconds(server)? - cpu) / seconds;
        let (_, mut outcomes) = alternate(ROUNDS, &mut bare, &mut teams)?;
        let outcome = outcomes.remove(0)?;
        let memory = usage(idle.pid())?;
        let mut add = |measure: &str, unit: &str, value: Spread, ratio: Option<Spread>| {
            let row = results.add(workload, library, measure, unit, value);
            (row.at, row.ratio) = (Some(sessions), ratio);
        };
        add("cycle", "us", outcome.value, Some(outcome.ratio));
        add("packets", "1/s", Spread::exact(packets), None);
        add("server processor", "%", Spread::exact(cpu * 100.0), None);
        add(
            "client memory",
            "B",
            Spread::exact(memory.resident as f64),
            None,
        );
        add(
            "client threads",
            "",
            Spread::exact(memory.threads as f64),
            None,
        );
    }
    idle.finish()?;
    let [team] = teams;
    team.finish()?;
    bare.finish()
}
