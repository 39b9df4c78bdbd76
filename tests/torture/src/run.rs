//! One run, from the first server to the last worker's end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use zoolock_ensemble::{Ensemble, Error, NodeKind, eventually, retry};

use crate::board::Board;
use crate::checks::servers::Queues;
use crate::fire::clients::Clients;
use crate::fire::record::{Injection, Record};
use crate::fire::servers::Servers;
use crate::fire::{Deck, Kind};
use crate::history::History;
use crate::options::Options;
use crate::recipe::Resource;
use crate::wall::Watch;
use crate::{listener, random, txnlog};

/// The lock paths lie below.
const ROOT: &str = "/locks/torture";
/// Until every worker has done its last job, with nothing in its way.
const LAST_JOBS: Duration = Duration::from_secs(180);
/// Until what killed workers had has expired, and everything else is deleted.
const SETTLE: Duration = Duration::from_secs(90);
/// Until a worker has closed its session and ended.
const FINISH: Duration = Duration::from_secs(60);

/// What a run left behind, for the checks.
pub(crate) struct Outcome {
    pub(crate) history: History,
    pub(crate) queues: Queues,
    pub(crate) injections: Vec<Injection>,
    /// When it began.
    pub(crate) start: u64,
    /// Nodes that an independent client found in the end.
    pub(crate) left: Vec<String>,
    /// Who did not go on behind which fault.
    pub(crate) stuck: Vec<String>,
    /// Workers that did not end in order.
    pub(crate) unfinished: Vec<String>,
    /// Reports that were not understood.
    pub(crate) nonsense: Vec<String>,
}

pub(crate) fn run(options: &Options, seed: u64) -> Result<Outcome, String> {
    let text = |error: Error| error.to_string();
    let ensemble = Ensemble::builder().servers(3).start().map_err(text)?;
    let board = Arc::new(Board::new(seed));
    let resource = listener::listen(Arc::clone(&board)).map_err(|error| error.to_string())?;
    let watch = Watch::start();
    let record = Record::new();
    println!(
        "Apache ZooKeeper {} on three servers, S = {:?}, {} jobs at once in each language",
        ensemble.version(),
        options.session_timeout,
        options.threads
    );
    let mut clients = Clients {
        board: &board,
        record: &record,
        options,
        hosts: ensemble.hosts(),
        resource: resource.to_string(),
        root: ROOT.into(),
        workers: Vec::new(),
    };
    clients.start_all()?;
    let mut stuck = burn(options, seed, &ensemble, &mut clients)?;

    board.stop();
    let mut busy = Vec::new();
    eventually(LAST_JOBS, || {
        busy = board.still_busy();
        busy.is_empty()
    });
    stuck.extend(
        busy.iter()
            .map(|who| format!("{who} does not come to an end")),
    );
    // The sessions are still open, so what is left now would stay.
    let left = if busy.is_empty() {
        nodes_left(&ensemble)?
    } else {
        Vec::new()
    };
    let mut unfinished = Vec::new();
    for worker in &mut clients.workers {
        unfinished.extend(worker.finish(FINISH).err());
    }
    let connections = board.wait_disconnected(FINISH);
    let end = board.end();
    let mut nonsense = end.problems;
    if connections > 0 {
        nonsense.push(format!("{connections} connections were still open"));
    }
    let data_dirs = (1..=ensemble.size()).map(|n| ensemble.dir().join(format!("server-{n}")));
    let log = txnlog::read(&data_dirs.collect::<Vec<_>>())?;
    let path = |resource: Resource| format!("{ROOT}/{}", resource.name());
    Ok(Outcome {
        history: end.history,
        queues: Queues::new(&log, path, watch.end()?),
        injections: record.injections(),
        start: record.start,
        left,
        stuck,
        unfinished,
        nonsense,
    })
}

/// Faults of servers and of workers at the same time, until the time is over, and each kind at least once. `Ok` has who
/// did not go on.
fn burn(
    options: &Options,
    seed: u64,
    ensemble: &Ensemble,
    clients: &mut Clients<'_>,
) -> Result<Vec<String>, String> {
    let (board, record) = (clients.board, clients.record);
    let deadline = Instant::now() + options.time.unwrap_or_default();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let servers = scope.spawn(|| {
            let mut servers = Servers {
                ensemble,
                board,
                record,
                rng: random::stream(seed, "servers"),
                session_timeout: options.session_timeout,
            };
            let outcome = burn_servers(&mut servers, deadline, &over);
            over.store(true, Ordering::Release);
            outcome
        });
        let rng = random::stream(seed, "clients");
        let burnt = clients.burn(rng, || over.load(Ordering::Acquire));
        // Whatever went wrong here, the servers need not burn on.
        over.store(true, Ordering::Release);
        let stuck = servers.join().map_err(|_| "the servers' fire panicked")??;
        burnt.map(|()| stuck)
    })
}

fn burn_servers(
    servers: &mut Servers<'_>,
    deadline: Instant,
    over: &AtomicBool,
) -> Result<Vec<String>, String> {
    let mut kinds = Deck::new(&Kind::SERVERS);
    let mut rng = random::stream(servers.rng.u64(..), "kinds");
    let mut injected = 0;
    let goes_on = |injected: usize| injected < Kind::SERVERS.len() || Instant::now() < deadline;
    while goes_on(injected) && !over.load(Ordering::Acquire) {
        let Some(kind) = kinds.draw(&mut rng) else {
            break;
        };
        let stuck = servers.inject(kind)?;
        injected += 1;
        if !stuck.is_empty() {
            // Further faults would only blur the traces.
            let behind =
                |what: &String| format!("behind {} number {injected}: {what}", kind.name());
            return Ok(stuck.iter().map(behind).collect());
        }
    }
    Ok(Vec::new())
}

/// What an independent client finds on the lock paths when nobody holds or waits any more.
fn nodes_left(ensemble: &Ensemble) -> Result<Vec<String>, String> {
    let text = |error: Error| error.to_string();
    let observer = retry(SETTLE, || ensemble.observer(1)).map_err(text)?;
    let mut left = Ok(Vec::new());
    eventually(SETTLE, || {
        left = look(&observer);
        left.as_ref().is_ok_and(Vec::is_empty)
    });
    left.map_err(text)
}

fn look(observer: &zoolock_ensemble::Observer) -> Result<Vec<String>, Error> {
    // A write is answered when this server has all that was decided before.
    observer.create("/looked-", b"", NodeKind::EphemeralSequential)?;
    let mut left = Vec::new();
    for resource in Resource::ALL {
        let path = format!("{ROOT}/{}", resource.name());
        if observer.exists(&path)?.is_some() {
            let names = observer.children(&path)?;
            left.extend(names.iter().map(|name| format!("{path}/{name} is left")));
        }
    }
    Ok(left)
}
