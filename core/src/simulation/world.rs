//! Time, and everyone in it.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use zoolock_testserver::model::{Cluster, Output, Settings};

use super::checks::{self, Violation};
use super::client::{Client, Held};
use super::faults::Fault;
use super::network::{Lane, Parcel, Pipe};
use super::workload::{self, PATHS, Step};
use crate::session::{Action, DialId, Failure, Probed, Version};
use crate::state::GuardState;

const MILLI: u64 = 1_000_000;
/// How late an answer may come after its deadline (R6).
const LATE: u64 = 50 * MILLI;
/// Lines of a failing seed's trace.
const TRACE: usize = 20000;

/// What a seed stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    seed: u64,
    servers: usize,
    clients: usize,
    tick: u64,
    session: u64,
    length: u64,
    base_delay: u64,
    mean_step: u64,
    mean_fault: u64,
}

/// What happened in a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    pub(super) grants: u64,
    pub(super) losses: u64,
    pub(super) failures: u64,
    pub(super) faults: u64,
}

impl Summary {
    pub(super) fn add(&mut self, other: &Summary) {
        self.grants += other.grants;
        self.losses += other.losses;
        self.failures += other.failures;
        self.faults += other.faults;
    }
}

pub(super) struct World {
    plan: Plan,
    random: fastrand::Rng,
    now: u64,
    cluster: Cluster,
    clients: Vec<Client>,
    pipes: Vec<Pipe>,
    /// Dials under way: when they end, for whom, and where to.
    dials: Vec<(u64, usize, DialId, usize)>,
    next_step: u64,
    next_fault: u64,
    slow: u64,
    calm: bool,
    last_tokens: [i64; PATHS.len()],
    last_resumed: Vec<u64>,
    summary: Summary,
    trace: VecDeque<String>,
    children: [BTreeSet<String>; PATHS.len()],
}

impl Plan {
    pub(super) fn from_seed(seed: u64) -> Plan {
        let mut random = fastrand::Rng::with_seed(seed);
        let servers = if random.u8(..4) == 0 { 1 } else { 3 };
        let tick = random.u64(200..1000) * MILLI;
        let session = tick * 2 + random.u64(0..4) * tick;
        Plan {
            seed,
            servers,
            clients: random.usize(2..5),
            tick,
            session,
            length: session * 12,
            base_delay: random.u64(10_000..5 * MILLI),
            mean_step: session / random.u64(8..60),
            mean_fault: session / random.u64(1..8),
        }
    }
}

impl World {
    pub(super) fn new(plan: Plan) -> World {
        let mut random = fastrand::Rng::with_seed(plan.seed ^ 0x5eed);
        let tick = Duration::from_nanos(plan.tick);
        let settings = Settings {
            servers: plan.servers,
            tick,
            container_check: tick * 4,
            container_never_used: tick * 20,
            election: tick,
            ..Settings::default()
        };
        let hosts: Vec<String> = (1..=plan.servers).map(|n| format!("server{n}:1")).collect();
        let hosts = hosts.join(",");
        let clients = (0..plan.clients)
            .map(|_| {
                let seed = random.u64(..);
                let rate = random.u64(920..=1080);
                Client::new(
                    &hosts,
                    Duration::from_nanos(plan.session),
                    &PATHS,
                    seed,
                    rate,
                )
            })
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
            slow: 0,
            calm: false,
            last_tokens: [0; PATHS.len()],
            last_resumed: vec![0; plan.clients],
            summary: Summary::default(),
            trace: VecDeque::new(),
            children: Default::default(),
            plan,
        }
    }

    pub(super) fn trace(&self) -> Vec<String> {
        self.trace.iter().cloned().collect()
    }

    fn note(&mut self, what: impl FnOnce() -> String) {
        if self.trace.len() == TRACE {
            self.trace.pop_front();
        }
        let line = format!("{:>10.3} ms  {}", self.now as f64 / 1e6, what());
        self.trace.push_back(line);
    }

    pub(super) fn run(&mut self) -> Result<Summary, Violation> {
        while self.now < self.plan.length {
            self.turn()?;
        }
        self.settle_down();
        // Long enough for sessions that died to expire, and for everyone to have had a turn.
        let end = self.now + self.plan.session * 30;
        while self.now < end && !self.is_done() {
            self.turn()?;
        }
        self.check_end()?;
        Ok(self.summary)
    }

    fn is_done(&self) -> bool {
        self.clients.iter().all(|client| {
            client.calls.is_empty() && client.held.is_empty() && client.releases.is_empty()
        }) && PATHS.iter().all(|(path, _)| {
            self.cluster
                .children(path)
                .is_none_or(|children| children.is_empty())
        })
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
                let path = PATHS[call.path].0;
                return Err(format!(
                    "R9: client {index} still waits for {path} ({:?}); there: {:?}\n{}",
                    call.kind,
                    self.cluster.children(path),
                    self.describe(),
                ));
            }
            if !client.releases.is_empty() {
                return Err(format!("R10: a release of client {index} never ended"));
            }
        }
        for (path, _) in PATHS {
            let children = self.cluster.children(path).unwrap_or_default();
            if !children.is_empty() {
                return Err(format!("R5: contenders are left on {path}: {children:?}"));
            }
        }
        Ok(())
    }

    // ---- time ----

    fn turn(&mut self) -> Result<(), Violation> {
        let next = self.next_moment();
        self.now = self.now.max(next);
        if self.cluster.next_timeout().is_some_and(|at| at <= self.now) {
            self.cluster.handle_timeout(self.now);
            self.take_outputs();
        }
        self.end_dials();
        self.deliver_to_servers();
        if self.next_fault <= self.now {
            self.next_fault = self.now + 1 + self.random.u64(..self.plan.mean_fault * 2);
            if !self.calm {
                self.fault();
            }
        }
        if self.next_step <= self.now {
            self.next_step = self.now + 1 + self.random.u64(..self.plan.mean_step * 2);
            self.step();
        }
        for client in 0..self.clients.len() {
            self.run_client(client)?;
        }
        self.note_children();
        Ok(())
    }

    /// For the reader of a trace: which contenders came and went.
    fn note_children(&mut self) {
        for (index, (path, _)) in PATHS.iter().enumerate() {
            let now: BTreeSet<String> = self
                .cluster
                .children(path)
                .unwrap_or_default()
                .into_iter()
                .collect();
            let before = std::mem::replace(&mut self.children[index], now.clone());
            for gone in before.difference(&now) {
                self.note(|| format!("    - {gone}"));
            }
            for new in now.difference(&before) {
                self.note(|| format!("    + {new}"));
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
            .chain([self.next_step, self.next_fault])
            .min()
            .unwrap_or(self.now)
    }

    fn delay(&mut self) -> u64 {
        let base = self.plan.base_delay + self.slow;
        base / 2 + self.random.u64(..base)
    }

    // ---- network ----

    fn end_dials(&mut self) {
        let (due, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.dials)
            .into_iter()
            .partition(|(at, ..)| *at <= self.now);
        self.dials = waiting;
        for (_, client, dial, server) in due {
            let time = self.clients[client].clock(self.now);
            if let Some(connection) = self.cluster.open(self.now, server) {
                self.pipes.push(Pipe {
                    client,
                    dial,
                    connection,
                    to_server: Lane::default(),
                    to_client: Lane::default(),
                    client_open: true,
                    server_open: true,
                });
                self.note(|| format!("client {client} {dial:?} reaches server {server}"));
                self.clients[client].engine.dialed(time, dial);
            } else {
                self.clients[client]
                    .engine
                    .disconnected(time, dial, Failure::Other, "refused");
            }
            self.take_outputs();
        }
    }

    fn deliver_to_servers(&mut self) {
        for index in 0..self.pipes.len() {
            loop {
                let pipe = &mut self.pipes[index];
                let connection = pipe.connection;
                match pipe.to_server.take(self.now) {
                    Some(Parcel::Bytes(bytes)) => {
                        self.cluster.receive(self.now, connection, &bytes);
                    }
                    Some(Parcel::Close) => {
                        self.cluster.client_closed(self.now, connection);
                        self.pipes[index].server_open = false;
                    }
                    None => break,
                }
                self.take_outputs();
            }
        }
    }

    fn take_outputs(&mut self) {
        while let Some(output) = self.cluster.poll_output() {
            let delay = self.delay();
            let (connection, parcel) = match output {
                Output::Bytes { connection, bytes } => (connection, Parcel::Bytes(bytes)),
                Output::Close { connection } => (connection, Parcel::Close),
            };
            if let Some(pipe) = self
                .pipes
                .iter_mut()
                .find(|pipe| pipe.connection == connection)
            {
                pipe.to_client.send(self.now, delay, parcel);
            }
        }
    }

    fn hang_up(&mut self, client: usize, dial: DialId) {
        self.dials
            .retain(|(_, owner, known, _)| (*owner, *known) != (client, dial));
        let delay = self.delay();
        for pipe in &mut self.pipes {
            if pipe.client == client && pipe.dial == dial && pipe.client_open {
                pipe.client_open = false;
                pipe.to_server.send(self.now, delay, Parcel::Close);
            }
        }
    }

    // ---- clients ----

    fn run_client(&mut self, index: usize) -> Result<(), Violation> {
        if let Some(until) = self.clients[index].paused_until {
            if until > self.now {
                return Ok(());
            }
            self.clients[index].paused_until = None;
            self.last_resumed[index] = self.now;
            self.note(|| format!("client {index} goes on"));
        }
        self.clients[index].take_letters(self.now);
        self.deliver_to_client(index);
        self.drain_engine(index);
        let time = self.clients[index].clock(self.now);
        // As the driver does: what is due is done after what has arrived.
        for _ in 0..100 {
            if self.clients[index].engine.next_timeout(time) > time {
                break;
            }
            self.clients[index].engine.handle_timeout(time);
            self.drain_engine(index);
        }
        self.take_answers(index)?;
        checks::finality(&mut self.clients[index], self.now)?;
        self.pipes
            .retain(|pipe| pipe.client_open || pipe.server_open);
        Ok(())
    }

    fn deliver_to_client(&mut self, index: usize) {
        let time = self.clients[index].clock(self.now);
        for at in 0..self.pipes.len() {
            loop {
                let pipe = &mut self.pipes[at];
                if pipe.client != index || !pipe.client_open {
                    break;
                }
                let dial = pipe.dial;
                match pipe.to_client.take(self.now) {
                    Some(Parcel::Bytes(bytes)) => {
                        self.note(|| {
                            format!("client {index} {dial:?} gets {}", operations(&bytes))
                        });
                        self.clients[index].engine.received(time, dial, &bytes);
                    }
                    Some(Parcel::Close) => {
                        self.pipes[at].client_open = false;
                        self.pipes[at].server_open = false;
                        self.clients[index].engine.disconnected(
                            time,
                            dial,
                            Failure::Other,
                            "closed by the server",
                        );
                    }
                    None => break,
                }
                self.act(index);
            }
        }
    }

    fn act(&mut self, index: usize) {
        while let Some(action) = self.clients[index].engine.poll_action() {
            match action {
                Action::Dial {
                    dial,
                    server,
                    probe,
                    ..
                } => {
                    let at = self.now + self.delay();
                    self.dials.push((at, index, dial, server));
                    if probe {
                        let time = self.clients[index].clock(self.now);
                        let found = Probed::Version(Version(3, 9, 5));
                        self.clients[index].engine.probed(time, found);
                    }
                }
                Action::HangUp { dial } => {
                    self.note(|| format!("client {index} hangs up {dial:?}"));
                    self.hang_up(index, dial);
                }
            }
        }
    }

    fn drain_engine(&mut self, index: usize) {
        self.act(index);
        loop {
            let time = self.clients[index].clock(self.now);
            let Some((dial, bytes)) = self.clients[index].engine.poll_transmit(time) else {
                break;
            };
            self.note(|| format!("client {index} {dial:?} sends {}", operations(&bytes)));
            let delay = self.delay();
            // A process may be stopped between reading the clock and the system call.
            let stopped = if !self.calm && self.random.u16(..2000) == 0 {
                self.random.u64(..self.plan.session)
            } else {
                0
            };
            if stopped > 0 {
                self.clients[index].paused_until = Some(self.now + stopped);
            }
            let now = self.now;
            if let Some(pipe) = self
                .pipes
                .iter_mut()
                .find(|pipe| pipe.client == index && pipe.dial == dial)
            {
                pipe.to_server
                    .send(now, delay + stopped, Parcel::Bytes(bytes));
            }
            self.act(index);
        }
    }

    fn take_answers(&mut self, index: usize) -> Result<(), Violation> {
        if self.clients[index].is_paused() {
            return Ok(());
        }
        let mut at = 0;
        while at < self.clients[index].calls.len() {
            let call = &self.clients[index].calls[at];
            let Some(answer) = call.receiver.wait(Some(Duration::ZERO)) else {
                let due = call
                    .deadline
                    .map(|due| due.max(self.last_resumed[index]) + LATE);
                if due.is_some_and(|due| due < self.now) {
                    return Err(format!("R6: a call of client {index} is late"));
                }
                at += 1;
                continue;
            };
            let call = self.clients[index].calls.remove(at);
            match answer {
                Ok(Ok(Some(guard))) => {
                    let name = guard.node_path().to_owned();
                    let token = guard.fencing_token();
                    self.note(|| format!("client {index} granted {name} token {token}"));
                    self.summary.grants += 1;
                    self.clients[index].held.push(Held {
                        guard,
                        path: call.path,
                        kind: call.kind,
                        owner: call.owner,
                        seen_lost: false,
                    });
                    self.check_grant(index)?;
                }
                Ok(Ok(None)) => self.note(|| format!("client {index} try: busy")),
                Ok(Err(error)) => {
                    self.summary.failures += 1;
                    self.note(|| format!("client {index} failed: {error}"));
                    let (timed, owned) = (call.deadline.is_some(), call.owner.is_some());
                    if !checks::may_fail(error.kind(), call.cancelled, timed, owned) {
                        return Err(format!("client {index} failed: {error:?}"));
                    }
                }
                Err(_) => return Err(format!("a call of client {index} was never answered")),
            }
        }
        let mut releases = std::mem::take(&mut self.clients[index].releases);
        let mut late = None;
        releases.retain_mut(|(due, pending)| match pending.wait_for(Duration::ZERO) {
            Some(outcome) => {
                if let Err(error) = outcome
                    && error.kind() != crate::ErrorKind::LockLost
                {
                    late = Some(format!("client {index}: release failed: {error}"));
                }
                false
            }
            None => {
                if (*due).max(self.last_resumed[index]) + LATE < self.now {
                    late = Some(format!("R10: a release of client {index} is late"));
                }
                true
            }
        });
        self.clients[index].releases = releases;
        late.map_or(Ok(()), Err)
    }

    fn check_grant(&mut self, index: usize) -> Result<(), Violation> {
        let held_index = self.clients[index].held.len() - 1;
        let held = &self.clients[index].held[held_index];
        let believes = matches!(
            held.guard.cell().state(self.clients[index].clock(self.now)),
            GuardState::Held | GuardState::Suspended
        );
        if !believes {
            // Granted and lost before anyone looked.
            return Ok(());
        }
        let path = held.path;
        // What a deposed leader has that nobody hears is not the truth.
        let newest = (0..self.plan.servers)
            .map(|server| self.cluster.zxid(server))
            .max();
        let leads = |leader: usize| Some(self.cluster.zxid(leader)) >= newest;
        let children = match self.cluster.leader() {
            Some(leader) if leads(leader) => self.cluster.children(PATHS[path].0),
            _ => None,
        };
        checks::granted(
            &self.clients,
            (index, held_index),
            self.now,
            children.as_deref(),
            &mut self.last_tokens[path],
        )
    }

    fn step(&mut self) {
        let index = self.random.usize(..self.clients.len());
        let client = &mut self.clients[index];
        if client.is_paused() {
            return;
        }
        let s = Duration::from_nanos(self.plan.session);
        let step = if self.calm {
            match client.held.len() {
                0 => Step::Nothing,
                held => Step::Release(self.random.usize(..held)),
            }
        } else {
            workload::choose(&mut self.random, client, s)
        };
        match step {
            Step::Lock {
                path,
                kind,
                owner,
                wait,
            } => {
                client.lock(self.now, path, kind, owner, wait);
                let name = PATHS[path].0;
                self.note(|| format!("client {index} asks {name} {kind:?} {owner:?} {wait:?}"));
            }
            Step::Cancel(at) => {
                let call = &mut client.calls[at];
                call.cancelled = true;
                let attempt = call.attempt;
                client
                    .link
                    .send(crate::command::Command::Cancel { attempt });
                self.note(|| format!("client {index} cancels"));
            }
            Step::Release(at) | Step::Drop(at) => {
                let held = client.held.swap_remove(at);
                let time = client.clock(self.now);
                let until = held.guard.cell().term.until();
                if held.guard.cell().state(time) == GuardState::Lost {
                    self.summary.losses += 1;
                }
                if matches!(step, Step::Release(_)) {
                    let due = client.moment(until).unwrap_or(self.now).max(self.now);
                    client.releases.push((due, held.guard.release_at(time)));
                }
                let name = held.guard.node_path().to_owned();
                drop(held);
                self.note(|| format!("client {index} releases {name}"));
            }
            Step::Nothing => {}
        }
    }

    // ---- faults ----

    fn fault(&mut self) {
        let (clients, servers) = (self.clients.len(), self.plan.servers);
        let fault = Fault::any(&mut self.random, clients, servers, self.plan.session);
        self.summary.faults += 1;
        self.note(|| format!("{fault:?}"));
        let now = self.now;
        match fault {
            Fault::Reset { client } => {
                for pipe in self.pipes.iter_mut().filter(|pipe| pipe.client == client) {
                    pipe.to_client = Lane::default();
                    pipe.to_server = Lane::default();
                    pipe.to_client.send(now, 0, Parcel::Close);
                    pipe.to_server.send(now, 0, Parcel::Close);
                }
            }
            Fault::Freeze {
                client,
                to_server,
                to_client,
            } => {
                for pipe in self.pipes.iter_mut().filter(|pipe| pipe.client == client) {
                    pipe.to_server.frozen |= to_server;
                    pipe.to_client.frozen |= to_client;
                }
            }
            Fault::Thaw { client } => self.thaw(|pipe| pipe.client == client),
            Fault::Pause { client, nanos } => {
                let known = self.clients[client].paused_until.unwrap_or(now);
                self.clients[client].paused_until = Some(known.max(now + nanos));
            }
            Fault::StopServer(server) => self.cluster.stop(now, server),
            Fault::StartServer(server) => self.cluster.start(now, server),
            Fault::PauseServer(server) => self.cluster.pause(server),
            Fault::ResumeServer(server) => self.cluster.resume(now, server),
            Fault::CutOff(server) => self.cluster.cut_off(now, server),
            Fault::Rejoin(server) => self.cluster.rejoin(now, server),
            Fault::Lag { server, nanos } => {
                self.cluster.set_lag(server, Duration::from_nanos(nanos));
            }
            Fault::Elect(server) => self.cluster.elect(now, server),
            Fault::Expire { client } => {
                let id = self.clients[client].link.session_id();
                // An administrator's doing, outside R1: what its guards believe, or those about to
                // be granted, nobody has promised. Sessions that idle are ended so.
                let idle =
                    self.clients[client].held.is_empty() && self.clients[client].calls.is_empty();
                if id != 0 && idle {
                    self.cluster.expire_session(now, id);
                }
            }
            Fault::Slow { nanos } => self.slow = nanos,
        }
        self.take_outputs();
    }

    fn thaw(&mut self, which: impl Fn(&Pipe) -> bool) {
        for pipe in self.pipes.iter_mut().filter(|pipe| which(pipe)) {
            pipe.to_server.frozen = false;
            pipe.to_client.frozen = false;
        }
    }

    /// Ends every fault.
    fn settle_down(&mut self) {
        self.note(|| "calm".to_owned());
        self.calm = true;
        self.slow = 0;
        self.plan.mean_step = (self.plan.session / 200).max(1);
        self.next_step = self.now;
        self.thaw(|_| true);
        for server in 0..self.plan.servers {
            self.cluster.start(self.now, server);
            self.cluster.resume(self.now, server);
            self.cluster.rejoin(self.now, server);
            self.cluster.set_lag(server, Duration::ZERO);
        }
        self.take_outputs();
        for client in &mut self.clients {
            if client.paused_until.is_some() {
                client.paused_until = Some(self.now);
            }
        }
    }
}

/// The xids and operations of requests; a handshake has neither.
fn operations(mut bytes: &[u8]) -> String {
    let int = |bytes: &[u8], at: usize| {
        let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
        four.map_or(0, i32::from_be_bytes)
    };
    let mut text = String::new();
    while !bytes.is_empty() {
        let length = usize::try_from(int(bytes, 0)).unwrap_or(0);
        text += &format!("{}:{} ", int(bytes, 4), int(bytes, 8));
        bytes = bytes.get(4 + length..).unwrap_or_default();
    }
    text
}
