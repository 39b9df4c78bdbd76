//! Thousands of waiters in one process on one path: what they cost while they wait, and until all had their turn.

use std::thread;
use std::time::{Duration, Instant};

use zoolock_ensemble::{Ensemble, NodeKind, Observer, until};

use crate::answers::{Drained, Queued};
use crate::library::Library;
use crate::process::{Usage, monitored, usage};
use crate::program::Program;
use crate::stage::{check_nothing_left, start_ensemble, writes};
use crate::trouble::Trouble;
use crate::wire_cost::per_grant;

/// Of a server that has to carry them all.
const HEAP_MB: u32 = 512;
/// So many go first: what only the first waiters need is not theirs to bear.
const WARM_UP: usize = 20;
/// Until all have queued.
const QUEUEING: Duration = Duration::from_secs(100);
/// A process that has asked nothing for so long has come to rest.
const QUIET: Duration = Duration::from_millis(400);
/// Until the last one's delete is done.
const SETTLE: Duration = Duration::from_secs(10);
const PATH: &str = "/bench/waiters";

/// One library's figures, for each waiter unless said otherwise.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Of the client, in bytes.
    pub(crate) memory: f64,
    /// Of those, what as many waiting objects of the language weigh without a lock, where that is known.
    pub(crate) objects: Option<f64>,
    /// Of all together.
    pub(crate) threads: f64,
    pub(crate) watches: f64,
    pub(crate) requests_queueing: f64,
    pub(crate) requests_draining: f64,
    /// On the wire, events not counted.
    pub(crate) bytes: f64,
    /// All together, in milliseconds.
    pub(crate) queueing: f64,
    /// From the release of the one before all to the last one's, each, in microseconds.
    pub(crate) turn: f64,
}

/// Lets so many wait and drains them, on a server of their own. With `cut` all connections break while they wait.
pub(crate) fn measure(library: &Library, count: usize, cut: bool) -> Result<Waiting, Trouble> {
    let ensemble = start_ensemble(Some(HEAP_MB))?;
    let observer = ensemble.observer(1).map_err(|error| error.to_string())?;
    observer.ensure(PATH).map_err(|error| error.to_string())?;
    let objects = match library.objects {
        true => Some(objects(&ensemble, library, count)?),
        false => None,
    };
    let mut scene = Scene {
        program: Program::start(&library.name, &library.command, &[&ensemble.hosts(), PATH])?,
        ensemble: &ensemble,
        observer: &observer,
        library,
        floor: 0,
    };
    scene.round(WARM_UP, false)?;
    let mut waiting = scene.round(count, cut)?;
    waiting.objects = objects;
    scene.program.finish()?;
    check_nothing_left(&observer, PATH).map_err(Trouble::wrong)?;
    Ok(waiting)
}

struct Scene<'a> {
    program: Program,
    ensemble: &'a Ensemble,
    observer: &'a Observer,
    library: &'a Library,
    floor: i64,
}

impl Scene<'_> {
    fn round(&mut self, count: usize, cut: bool) -> Result<Waiting, Trouble> {
        let log = self.ensemble.log();
        let writes_before = writes(self.observer, PATH)?;
        let first = self
            .observer
            .create(
                &format!("{PATH}/{}", self.library.contender),
                b"",
                NodeKind::EphemeralSequential,
            )
            .map_err(|error| error.to_string())?;
        let before = usage(self.program.pid())?;
        log.clear();
        let begin = Instant::now();
        let queued: Queued = self.program.ask(&format!("queue {count}"))?;
        if queued.queued != count {
            return Err(format!("{} instead of {count} began to wait", queued.queued).into());
        }
        self.wait_queued(count + 1)?;
        let queueing = begin.elapsed();
        self.wait_quiet();
        let queueing_cost = per_grant(&log.entries(), count);
        let requests_queueing = log.total() as f64 / count as f64;
        let (waiting, watches) = (
            usage(self.program.pid())?,
            monitored(self.ensemble, "zk_watch_count")?,
        );
        if cut {
            self.cut(count + 1)?;
        }
        log.clear();
        let begin = Instant::now();
        self.delete(&first)?;
        let drained: Drained = self.program.ask("drain")?;
        let took = begin.elapsed();
        drained.check(count, self.library.tokens, &mut self.floor)?;
        self.check_writes(writes_before, 2 * (count + 1))?;
        let each = count as f64;
        Ok(Waiting {
            memory: grown(before, waiting) / each,
            objects: None,
            threads: waiting.threads as f64,
            watches: watches / each,
            requests_queueing,
            requests_draining: log.total() as f64 / each,
            bytes: queueing_cost.bytes + per_grant(&log.entries(), count).bytes,
            queueing: queueing.as_secs_f64() * 1e3,
            turn: took.as_secs_f64() * 1e6 / each,
        })
    }

    fn wait_queued(&self, count: usize) -> Result<(), Trouble> {
        let mut seen = 0;
        until(QUEUEING, || {
            // An answer that takes too long is asked for again.
            seen = self.observer.exists(PATH).ok()??.num_children as usize;
            (seen == count).then_some(())
        })
        .ok_or_else(|| {
            format!(
                "{seen} of {count} contenders were there after {} s",
                QUEUEING.as_secs()
            )
            .into()
        })
    }

    /// However busy the server is with the listings of others.
    fn delete(&self, node: &str) -> Result<(), Trouble> {
        if self.observer.delete(node).is_ok() {
            return Ok(());
        }
        let gone = || matches!(self.observer.exists(node), Ok(None)).then_some(());
        until(QUEUEING, gone).ok_or_else(|| format!("{node} was not deleted").into())
    }

    /// Some give locks back without waiting for it.
    fn check_writes(&self, before: usize, expected: usize) -> Result<(), Trouble> {
        let mut seen = Ok(0);
        until(SETTLE, || {
            seen = writes(self.observer, PATH).map(|writes| writes - before);
            (seen == Ok(expected)).then_some(())
        });
        match seen? {
            seen if seen == expected => Ok(()),
            seen => Err(Trouble::wrong(format!(
                "{seen} writes instead of {expected}"
            ))),
        }
    }

    fn wait_quiet(&self) {
        let mut total = self.ensemble.log().total();
        loop {
            thread::sleep(QUIET);
            let now = self.ensemble.log().total();
            if now == total {
                return;
            }
            total = now;
        }
    }

    /// Breaks the connections, and waits until the session is back with all its waiters.
    fn cut(&self, count: usize) -> Result<(), Trouble> {
        let link = self
            .ensemble
            .client_link(1)
            .map_err(|error| error.to_string())?;
        link.reset();
        let back = || (link.connections() > 0).then_some(());
        until(QUEUEING, back).ok_or("no connection came back")?;
        self.wait_quiet();
        self.wait_queued(count)
    }
}

fn grown(before: Usage, after: Usage) -> f64 {
    after.resident.saturating_sub(before.resident) as f64
}

/// The weight of as many tasks of the language, in a process of their own.
fn objects(ensemble: &Ensemble, library: &Library, count: usize) -> Result<f64, Trouble> {
    let mut program = Program::start(&library.name, &library.command, &[&ensemble.hosts(), PATH])?;
    let weigh = |program: &mut Program, count: usize| {
        let before = usage(program.pid())?;
        let _: Queued = program.ask(&format!("objects {count}"))?;
        Ok::<_, Trouble>(grown(before, usage(program.pid())?))
    };
    weigh(&mut program, WARM_UP)?;
    let weight = weigh(&mut program, count)?;
    program.finish()?;
    Ok(weight / count as f64)
}
