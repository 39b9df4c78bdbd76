//! Time, and everyone in it.

use std::collections::BTreeSet;
use std::time::Duration;

use zoolock_testserver::model::{Cluster, Settings};

use super::checks::Violation;
use super::client::{Client, Setup};
use super::faults::Fault;
use super::herd::Herd;
use super::network::Pipe;
use super::plan::{Family, MILLI, Plan};
use super::trace::{Actor, Trace};
use super::truth::Truth;
use super::workload::PATHS;
use crate::queue::names::Naming;
use crate::session::DialId;

/// No schedule takes so many turns, unless something goes round in circles.
const MOST_TURNS: u64 = 400_000;
/// Some clients have it as their chroot.
pub(super) const CHROOT: &str = "/app";

/// What happened in a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    pub(super) grants: u64,
    pub(super) losses: u64,
    pub(super) failures: u64,
    pub(super) faults: u64,
    /// Grants by kept contenders.
    pub(super) kept: u64,
}

impl Summary {
    pub(super) fn add(&mut self, other: &Summary) {
        self.grants += other.grants;
        self.losses += other.losses;
        self.failures += other.failures;
        self.faults += other.faults;
        self.kept += other.kept;
    }
}

pub(super) struct World {
    pub(super) plan: Plan,
    pub(super) random: fastrand::Rng,
    pub(super) now: u64,
    pub(super) cluster: Cluster,
    pub(super) clients: Vec<Client>,
    pub(super) pipes: Vec<Pipe>,
    /// Dials under way: when they end, for whom, and where to.
    pub(super) dials: Vec<(u64, usize, DialId, usize)>,
    next_step: u64,
    next_fault: u64,
    /// Faults that follow from earlier ones, and when.
    pub(super) later: Vec<(u64, Fault)>,
    pub(super) cut_off: BTreeSet<usize>,
    pub(super) paused_servers: BTreeSet<usize>,
    /// Until when a client reaches no server, or none but this one.
    pub(super) confined: Vec<Option<(u64, Option<usize>)>>,
    /// For how long a client is stopped at its next handshake, and how soon it is stranded after that.
    pub(super) stop_at_hello: Vec<Option<(u64, u64)>>,
    /// Until when the callers of a client do nothing.
    pub(super) idle: Vec<u64>,
    pub(super) slow: u64,
    pub(super) calm: bool,
    pub(super) last_tokens: [(i64, u64); PATHS.len()],
    pub(super) last_resumed: Vec<u64>,
    pub(super) summary: Summary,
    pub(super) trace: Trace,
    pub(super) truth: Truth,
    pub(super) herd: Herd,
    /// Contenders that others took away.
    pub(super) taken_away: BTreeSet<String>,
    /// Sessions that an administrator ended.
    pub(super) ended_sessions: BTreeSet<i64>,
    /// Children that are of no client, by their full paths.
    pub(super) foreign: Vec<String>,
    /// Paths on which numbers were taken away.
    pub(super) exhausted: [bool; PATHS.len()],
    /// Paths on which a right was taken from everybody.
    pub(super) denied: [bool; PATHS.len()],
    /// Paths that have not got it back.
    pub(super) restricted: [bool; PATHS.len()],
    /// The servers, as clients name them.
    pub(super) hosts: String,
    /// Creates may have been refused or undone by others: the order of calls tells nothing any more.
    pub(super) disordered: bool,
}

impl World {
    pub(super) fn new(plan: Plan, trace: Trace) -> World {
        let mut random = fastrand::Rng::with_seed(plan.seed ^ 0x5eed);
        let tick = Duration::from_nanos(plan.tick);
        let settings = Settings {
            servers: plan.servers,
            tick,
            container_check: tick * 4,
            container_never_used: tick * 20,
            election: tick,
            sequence_sticks: plan.sequence_sticks,
            ..Settings::default()
        };
        let hosts: Vec<String> = (1..=plan.servers).map(|n| format!("server{n}:1")).collect();
        let hosts = hosts.join(",");
        let clients = (0..plan.clients)
            .map(|_| World::client(&plan, &hosts, 0, &mut random))
            .collect();
        World {
            random,
            now: 0,
            cluster: Cluster::new(settings, plan.seed),
            clients,
            pipes: Vec::new(),
            dials: Vec::new(),
            next_step: MILLI,
            next_fault: plan.session,
            later: Vec::new(),
            cut_off: BTreeSet::new(),
            paused_servers: BTreeSet::new(),
            confined: vec![None; plan.clients],
            stop_at_hello: vec![None; plan.clients],
            idle: vec![0; plan.clients],
            slow: 0,
            calm: false,
            last_tokens: [(0, 0); PATHS.len()],
            last_resumed: vec![0; plan.clients],
            summary: Summary::default(),
            trace,
            truth: Truth::default(),
            herd: Herd::default(),
            taken_away: BTreeSet::new(),
            ended_sessions: BTreeSet::new(),
            foreign: Vec::new(),
            exhausted: [false; PATHS.len()],
            denied: [false; PATHS.len()],
            restricted: [false; PATHS.len()],
            hosts,
            disordered: false,
            plan,
        }
    }

    pub(super) fn client(plan: &Plan, hosts: &str, now: u64, random: &mut fastrand::Rng) -> Client {
        let chrooted = plan.chroot && random.bool();
        let hosts = if chrooted {
            format!("{hosts}{CHROOT}")
        } else {
            hosts.to_owned()
        };
        let setup = Setup {
            hosts: &hosts,
            now,
            session_timeout: Duration::from_nanos(plan.session),
            prefix: if plan.chroot && !chrooted { CHROOT } else { "" },
            naming: match random.u8(..4) {
                0 => Naming::Kazoo,
                _ => Naming::Curator,
            },
            by_write: plan.by_write,
            keep: plan.keep(random),
            seed: random.u64(..),
            rate: random.u64(920..=1080),
        };
        Client::new(&setup)
    }

    pub(super) fn note(&mut self, actor: Actor, what: impl FnOnce() -> String) {
        self.trace.note(self.now, actor, what);
    }

    /// The lock path as the servers know it.
    pub(super) fn full_path(&self, path: usize) -> String {
        let chroot = if self.plan.chroot { CHROOT } else { "" };
        format!("{chroot}{}", PATHS[path].0)
    }

    pub(super) fn run(&mut self) -> Result<Summary, Violation> {
        let mut turns = 0;
        while self.now < self.plan.length {
            self.turn(&mut turns)?;
        }
        self.settle_down()?;
        // Long enough for sessions that died to expire, and for everyone to have had a turn.
        let end = self.now + self.plan.session * 30;
        while self.now < end && !self.is_done() {
            self.turn(&mut turns)?;
        }
        self.check_end()?;
        Ok(self.summary)
    }

    fn is_done(&self) -> bool {
        self.clients.iter().all(|client| {
            client.calls.is_empty()
                && client.held.is_empty()
                && client.releases.is_empty()
                && client.closing.is_empty()
        }) && (0..PATHS.len()).all(|path| self.truth.contenders(path).is_empty())
    }

    fn describe(&self) -> String {
        let clients = self.clients.iter().enumerate();
        clients
            .map(|(index, client)| format!("client {index}\n{}", client.engine.describe()))
            .collect()
    }

    fn check_end(&self) -> Result<(), Violation> {
        for (index, client) in self.clients.iter().enumerate() {
            if let Some(call) = client.calls.first() {
                return Err(format!(
                    "R9: client {index} still waits for {} ({:?}); there: {:?}\n{}",
                    PATHS[call.path].0,
                    call.kind,
                    self.truth.contenders(call.path),
                    self.describe(),
                ));
            }
            if !client.releases.is_empty() {
                return Err(format!("R10: a release of client {index} never ended"));
            }
            if !client.closing.is_empty() {
                return Err(format!("R17: a close of client {index} never ended"));
            }
        }
        for (path, (name, _)) in PATHS.iter().enumerate() {
            let children = self.truth.contenders(path);
            if !children.is_empty() {
                return Err(format!(
                    "R5: contenders are left on {name}: {children:?}\n{}",
                    self.describe()
                ));
            }
        }
        if self.plan.family == Family::Quiet {
            self.herd.check(self.summary.grants)?;
        }
        Ok(())
    }

    // ---- time ----

    fn turn(&mut self, turns: &mut u64) -> Result<(), Violation> {
        *turns += 1;
        if *turns > MOST_TURNS {
            return Err("R8: it goes round in circles".to_owned());
        }
        let next = self.next_moment();
        self.now = self.now.max(next);
        if self.cluster.next_timeout().is_some_and(|at| at <= self.now) {
            self.cluster.handle_timeout(self.now);
            self.take_outputs();
        }
        self.end_dials();
        self.deliver_to_servers();
        self.follow_truth()?;
        self.have_faults();
        self.follow_truth()?;
        if self.next_step <= self.now {
            self.next_step = self.now + 1 + self.random.u64(..self.plan.mean_step * 2);
            self.step();
        }
        for client in 0..self.clients.len() {
            self.run_client(client)?;
        }
        self.pipes
            .retain(|pipe| pipe.client_open || pipe.server_open);
        Ok(())
    }

    fn have_faults(&mut self) {
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.later)
            .into_iter()
            .partition(|(at, _)| *at <= self.now);
        self.later = later;
        for client in 0..self.clients.len() {
            if self.confined[client].is_some_and(|(until, _)| until <= self.now) {
                self.confined[client] = None;
                self.note(Actor::Client(client), || "reaches all servers".to_owned());
                self.thaw(|pipe| pipe.client == client);
            }
        }
        if !self.calm {
            for (_, fault) in due {
                self.inflict(fault);
            }
        }
        if self.next_fault <= self.now {
            self.next_fault = self.now + 1 + self.random.u64(..self.plan.mean_fault * 2);
            if !self.calm
                && let Some(fault) = Fault::any(&mut self.random, &self.plan)
            {
                self.inflict(fault);
            }
        }
    }

    fn next_moment(&self) -> u64 {
        let pipes = self.pipes.iter().flat_map(|pipe| {
            let paused = self.clients[pipe.client].is_paused();
            let listens = !paused && pipe.client_open;
            [
                pipe.to_server.next().filter(|_| pipe.server_open),
                pipe.to_client.next().filter(|_| listens),
            ]
        });
        let clients = self.clients.iter().map(|client| match client.paused_until {
            Some(until) => Some(until),
            None => client.moment(client.engine.next_timeout(client.clock(self.now))),
        });
        pipes
            .chain(clients)
            .flatten()
            .chain(self.cluster.next_timeout())
            .chain(self.dials.iter().map(|(at, ..)| *at))
            .chain(self.later.iter().map(|(at, _)| *at))
            .chain(self.confined.iter().flatten().map(|(until, _)| *until))
            .chain([self.next_step, self.next_fault])
            .min()
            .unwrap_or(self.now)
    }

    pub(super) fn delay(&mut self) -> u64 {
        let base = self.plan.base_delay + self.slow;
        let delay = base / 2 + self.random.u64(..base);
        let one_in = self.plan.straggler_one_in;
        if !self.calm && one_in > 0 && self.random.u32(..one_in) == 0 {
            return delay + self.random.u64(..self.plan.session / 8);
        }
        delay
    }

    /// Ends every fault.
    fn settle_down(&mut self) -> Result<(), Violation> {
        self.note(Actor::Fault, || "calm".to_owned());
        self.calm = true;
        self.slow = 0;
        self.confined.fill(None);
        self.stop_at_hello.fill(None);
        self.plan.mean_step = (self.plan.session / 200).max(1);
        self.next_step = self.now;
        self.thaw(|_| true);
        self.cut_off.clear();
        self.paused_servers.clear();
        for server in 0..self.plan.servers {
            self.cluster.start(self.now, server);
            self.cluster.resume(self.now, server);
            self.cluster.rejoin(self.now, server);
            self.cluster.set_lag(server, Duration::ZERO);
            self.cluster.throttle(server, 0);
        }
        self.take_outputs();
        for client in &mut self.clients {
            if client.paused_until.is_some() {
                client.paused_until = Some(self.now);
            }
        }
        self.follow_truth()
    }
}
