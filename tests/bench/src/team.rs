//! Programs of one library at one task, on paths of their own.

use zoolock_ensemble::{NodeKind, Observer};

use crate::alternate::Contestant;
use crate::answers::{Cycles, KeptCycles, Paths, Shares};
use crate::library::{Library, Service};
use crate::program::Program;
use crate::stage::{Stage, Way, check_nothing_left, writes};
use crate::statistics::median_micros;
use crate::timeline::Timeline;
use crate::trouble::Trouble;

/// So long before a release the next one has to have asked, to be surely waiting.
const QUEUED_NANOS: u64 = 1_000_000;

/// What a block consists of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    /// One after the other; a block's figure is the median cycle in microseconds.
    Cycles(usize),
    /// One after the other of a kept contender; the bare one's so many are ordinary cycles.
    Kept { cycles: usize, bare_cycles: usize },
    /// At once on so many paths; cycles a second.
    Paths { paths: usize, cycles: usize },
    /// Holders pause until the other one waits; the median in microseconds from release to grant.
    HandOff { millis: u64, pause_micros: u64 },
    /// As fast as they can; grants a second.
    Contention { millis: u64 },
}

pub(crate) struct Team {
    pub(crate) library: Library,
    task: Task,
    programs: Vec<Program>,
    observer: Observer,
    path: String,
    floor: i64,
    kept_floor: (i64, u64),
    /// Of each block with a kept contender, in microseconds.
    pub(crate) acquires: Vec<f64>,
    writes_before: usize,
    /// Of all blocks.
    pub(crate) grants: usize,
    /// Of all blocks, process by process.
    pub(crate) counts: Vec<usize>,
    pub(crate) last_grants: usize,
}

impl Team {
    /// Starts so many programs, which have connected when this returns.
    pub(crate) fn start(
        stage: &Stage,
        library: &Library,
        workload: &str,
        processes: usize,
        task: Task,
        way: Way,
    ) -> Result<Team, String> {
        let path = format!("/bench/{workload}/{}", library.name);
        let observer = stage
            .ensemble
            .observer(1)
            .map_err(|error| error.to_string())?;
        if library.service == Service::Zookeeper {
            make_paths(&observer, &path, task)?;
        }
        let address = stage.address(library.service, way)?;
        let mut programs = Vec::new();
        for _ in 0..processes {
            programs.push(Program::spawn(
                &library.name,
                &library.command,
                &[&address, &path],
            )?);
        }
        for program in &mut programs {
            program.wait_ready()?;
        }
        let mut team = Team {
            library: library.clone(),
            task,
            programs,
            observer,
            path,
            floor: 0,
            kept_floor: (0, 0),
            acquires: Vec::new(),
            writes_before: 0,
            grants: 0,
            counts: vec![0; processes],
            last_grants: 0,
        };
        team.writes_before = team.writes()?;
        Ok(team)
    }

    pub(crate) fn run(&mut self, task: Task) -> Result<f64, Trouble> {
        let has_tokens = self.library.tokens;
        let (figure, grants) = match task {
            Task::Kept { cycles, .. } if self.library.is_ours() => {
                let done: KeptCycles = self.programs[0].ask(&format!("kept {cycles}"))?;
                done.check(cycles, &mut self.kept_floor)?;
                self.acquires.push(median_micros(&done.acquires));
                (median_micros(&done.nanos), cycles)
            }
            Task::Cycles(count)
            | Task::Kept {
                bare_cycles: count, ..
            } => {
                let cycles: Cycles = self.programs[0].ask(&format!("cycles {count}"))?;
                cycles.check(count, has_tokens, &mut self.floor)?;
                (median_micros(&cycles.nanos), count)
            }
            Task::Paths { paths, cycles } => {
                let done: Paths = self.programs[0].ask(&format!("paths {paths} {cycles}"))?;
                done.check(paths, cycles, has_tokens, &mut self.floor)?;
                let grants = paths * cycles;
                (grants as f64 * 1e9 / done.nanos as f64, grants)
            }
            Task::HandOff {
                millis,
                pause_micros,
            } => {
                let timeline = self.share(millis, pause_micros)?;
                let hand_offs = timeline.hand_offs(QUEUED_NANOS);
                if hand_offs.len() * 2 < timeline.len() {
                    let reason =
                        format!("{} hand-offs of {} grants", hand_offs.len(), timeline.len());
                    return Err(reason.into());
                }
                (median_micros(&hand_offs), timeline.len())
            }
            Task::Contention { millis } => {
                let timeline = self.share(millis, 0)?;
                (timeline.grants_per_second()?, timeline.len())
            }
        };
        self.grants += grants;
        self.last_grants = grants;
        Ok(figure)
    }

    fn share(&mut self, millis: u64, pause_micros: u64) -> Result<Timeline, Trouble> {
        for program in &mut self.programs {
            program.send(&format!("share {millis} {pause_micros}"))?;
        }
        let shares = self.programs.iter_mut().map(Program::receive::<Shares>);
        let shares = shares.collect::<Result<Vec<_>, _>>()?;
        let timeline = Timeline::new(&shares, self.library.tokens, &mut self.floor)?;
        for (sum, count) in self.counts.iter_mut().zip(&timeline.counts) {
            *sum += count;
        }
        Ok(timeline)
    }

    /// Forgets what was counted while warming up.
    pub(crate) fn reset_counts(&mut self) {
        self.counts.fill(0);
        self.acquires.clear();
    }

    /// Ends the programs, and checks that the server saw two writes for each grant, or for all of a kept contender, and
    /// has nothing left.
    pub(crate) fn finish(mut self) -> Result<(), Trouble> {
        for program in self.programs.drain(..) {
            program.finish()?;
        }
        if self.library.service != Service::Zookeeper {
            return Ok(());
        }
        for path in paths(&self.path, self.task) {
            check_nothing_left(&self.observer, &path).map_err(Trouble::wrong)?;
        }
        let (writes, expected) = (self.writes()? - self.writes_before, 2 * self.contenders());
        if writes != expected {
            return Err(Trouble::wrong(format!(
                "{} grants, and {writes} writes instead of {expected}",
                self.grants
            )));
        }
        Ok(())
    }

    /// How many there were for all grants.
    fn contenders(&self) -> usize {
        match self.task {
            Task::Kept { .. } if self.library.is_ours() => 1,
            _ => self.grants,
        }
    }

    fn writes(&self) -> Result<usize, String> {
        if self.library.service != Service::Zookeeper {
            return Ok(0);
        }
        let each = paths(&self.path, self.task);
        each.iter().map(|path| writes(&self.observer, path)).sum()
    }
}

impl Contestant for Team {
    fn block(&mut self) -> Result<f64, Trouble> {
        self.run(self.task)
    }
}

/// The paths that are locked.
fn paths(path: &str, task: Task) -> Vec<String> {
    match task {
        Task::Paths { paths, .. } => (0..paths)
            .map(|number| format!("{path}/{number}"))
            .collect(),
        _ => vec![path.to_owned()],
    }
}

/// As plain nodes: a container could go between two blocks, and its counts with it.
fn make_paths(observer: &Observer, path: &str, task: Task) -> Result<(), String> {
    observer.ensure(path).map_err(|error| error.to_string())?;
    for path in paths(path, task) {
        if observer
            .exists(&path)
            .map_err(|error| error.to_string())?
            .is_none()
        {
            observer
                .create(&path, b"", NodeKind::Persistent)
                .map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}
