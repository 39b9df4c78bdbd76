//! How faults are done to a world.

use std::time::Duration;

use zoolock_testserver::Code;
use zoolock_testserver::model::{NodeKind, Role, permission};

use super::faults::Fault;
use super::network::{Parcel, Pipe};
use super::trace::Actor;
use super::workload::{MUTEX, PATHS, READ_WRITE};
use super::world::World;
use crate::queue::names::{Family, Kind};

/// Children that count for nothing (R13).
const STRANGERS: [&str; 6] = [
    "README",
    "-lock-",
    "_c_not-a-lock",
    "leases",
    "x__READ__",
    "zürich-0000000001",
];

impl World {
    pub(super) fn inflict(&mut self, fault: Fault) {
        if !self.is_assumed_possible(fault) {
            return;
        }
        self.summary.faults += 1;
        self.note(Actor::Fault, || format!("{fault:?}"));
        match fault {
            Fault::Reset { .. }
            | Fault::Stray { .. }
            | Fault::Freeze { .. }
            | Fault::Thaw { .. }
            | Fault::Pause { .. }
            | Fault::Silence { .. }
            | Fault::Confine { .. }
            | Fault::Leave { .. }
            | Fault::Slow { .. } => self.disturb_clients(fault),
            Fault::Stranger { .. }
            | Fault::Foreign { .. }
            | Fault::ForeignGoes
            | Fault::Touch { .. }
            | Fault::DeleteWaiter { .. }
            | Fault::DeleteHolder { .. }
            | Fault::DeleteFirst
            | Fault::Undercut { .. }
            | Fault::Usurp { .. }
            | Fault::AskToRead { .. }
            | Fault::Expire { .. }
            | Fault::Exhaust { .. }
            | Fault::Deny { .. }
            | Fault::Allow { .. } => self.meddle(fault),
            Fault::OpenHandle { client } => self.open_handle(client),
            Fault::CloseHandle {
                client,
                which,
                nanos,
            } => self.close_handle(client, which, nanos),
            Fault::Kill {
                client,
                silently,
                nanos,
            } => self.kill(client, silently, nanos),
            _ => self.disturb_servers(fault),
        }
        self.take_outputs();
    }

    /// R1 assumes that no majority restarts while cut off from a leader that still serves clients,
    /// unless leases are renewed by writes.
    fn is_assumed_possible(&self, fault: Fault) -> bool {
        if self.plan.by_write {
            return true;
        }
        let leads = |server: usize| self.cluster.role(server) == Role::Leader;
        let cut_off_leader = self.cut_off.iter().any(|server| leads(*server));
        let several_lead = (0..self.plan.servers).filter(|at| leads(*at)).count() > 1;
        match fault {
            Fault::Elect(_) | Fault::Lure { .. } | Fault::StartServer(_) => !cut_off_leader,
            // A leader that was deposed as it slept steps down when it wakes, if it hears the others.
            Fault::CutOff(_) | Fault::Strand { .. } | Fault::Numb { .. } | Fault::Depose { .. } => {
                !several_lead && !(0..self.plan.servers).any(|at| leads(at) && self.is_paused(at))
            }
            Fault::PauseServer(server) => !(leads(server) && self.cut_off.contains(&server)),
            _ => true,
        }
    }

    fn is_paused(&self, server: usize) -> bool {
        self.paused_servers.contains(&server)
    }

    pub(super) fn disturb_clients(&mut self, fault: Fault) {
        let now = self.now;
        match fault {
            Fault::Reset {
                client,
                lose_requests,
                lose_answers,
            } => {
                for pipe in self.pipes.iter_mut().filter(|pipe| pipe.client == client) {
                    pipe.to_client.end(now, lose_answers, Parcel::Broken);
                    pipe.to_server.end(now, lose_requests, Parcel::Broken);
                }
            }
            Fault::Stray { client, late } => {
                for pipe in self.pipes.iter_mut().filter(|pipe| pipe.client == client) {
                    pipe.to_client.end(now, true, Parcel::Broken);
                    pipe.to_server.hold_up(late);
                    pipe.to_server.send(now, late, Parcel::Broken);
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
            Fault::Pause { client, nanos } => self.pause(client, nanos),
            Fault::Silence {
                client,
                nanos,
                gap,
                reset,
            } => {
                if self.idle.iter().any(|until| *until > now) {
                    return;
                }
                let client = self.give_way().unwrap_or(client);
                if reset {
                    // Stopped when it has sent its next handshake.
                    self.stop_at_hello[client] = Some((nanos, gap));
                    self.disturb_clients(Fault::Reset {
                        client,
                        lose_requests: true,
                        lose_answers: true,
                    });
                } else {
                    self.silence(client, nanos, gap);
                }
            }
            Fault::Confine {
                client,
                server,
                nanos,
            } => {
                self.confined[client] = Some((now + nanos, server));
                for pipe in self.pipes.iter_mut().filter(|pipe| pipe.client == client) {
                    if Some(pipe.server) != server {
                        pipe.to_server.frozen = true;
                        pipe.to_client.frozen = true;
                    }
                }
            }
            Fault::Leave { client } => {
                for call in 0..self.clients[client].calls.len() {
                    self.cancel(client, call);
                }
            }
            Fault::Slow { nanos } => self.slow = nanos,
            _ => {}
        }
    }

    pub(super) fn pause(&mut self, client: usize, nanos: u64) {
        let known = self.clients[client].paused_until.unwrap_or(self.now);
        self.clients[client].paused_until = Some(known.max(self.now + nanos));
    }

    fn disturb_servers(&mut self, fault: Fault) {
        let now = self.now;
        match fault {
            Fault::StopServer(server) => {
                self.paused_servers.remove(&server);
                self.cluster.stop(now, server);
            }
            Fault::StartServer(server) => self.cluster.start(now, server),
            Fault::PauseServer(server) => {
                self.paused_servers.insert(server);
                self.cluster.pause(server);
            }
            Fault::ResumeServer(server) => {
                self.paused_servers.remove(&server);
                self.cluster.resume(now, server);
            }
            Fault::CutOff(server) => self.cut(server),
            Fault::Strand { client, nanos } => {
                let pipe = self.pipes.iter().rev().find(|pipe| pipe.client == client);
                if let Some(server) = pipe.map(|pipe| pipe.server) {
                    self.cut(server);
                    self.later.push((now + nanos, Fault::Rejoin(server)));
                }
                self.disturb_clients(Fault::Confine {
                    client,
                    server: None,
                    nanos,
                });
            }
            Fault::Numb { which, nanos } => {
                let Some(client) = self.a_holder(which) else {
                    return;
                };
                let pipe = self.pipes.iter().rev().find(|pipe| pipe.client == client);
                if let Some(server) = pipe.map(|pipe| pipe.server) {
                    self.cut(server);
                    self.later.push((now + nanos, Fault::Rejoin(server)));
                    self.idle[client] = now + nanos;
                }
            }
            Fault::Depose {
                nanos,
                client,
                confine,
            } => {
                let Some(leader) = self.cluster.leader() else {
                    return;
                };
                self.cut(leader);
                self.later.push((now + nanos, Fault::Rejoin(leader)));
                // Whoever holds something tells more.
                let client = self.a_holder(client).unwrap_or(client);
                if confine {
                    self.idle[client] = now + nanos;
                }
                let (server, nanos) = if confine {
                    (Some(leader), nanos)
                } else {
                    (None, self.plan.session + self.plan.tick)
                };
                self.disturb_clients(Fault::Confine {
                    client,
                    server,
                    nanos,
                });
                if self.plan.by_write {
                    let next = self.random.usize(..self.plan.servers);
                    let soon = now + self.random.u64(..self.plan.tick);
                    self.later.push((soon, Fault::Elect(next)));
                }
            }
            Fault::Lure { client, after } => self.lure(client, after),
            Fault::Rejoin(server) => {
                self.cut_off.remove(&server);
                self.cluster.rejoin(now, server);
            }
            Fault::Lag { server, nanos } => {
                self.cluster.set_lag(server, Duration::from_nanos(nanos));
            }
            Fault::Elect(server) => self.cluster.elect(now, server),
            Fault::Throttle { server, requests } => {
                self.disordered = true;
                self.cluster.throttle(server, requests);
            }
            _ => {}
        }
    }

    pub(super) fn cut(&mut self, server: usize) {
        self.cut_off.insert(server);
        self.cluster.cut_off(self.now, server);
    }

    // ---- what others do on the servers ----

    fn meddle(&mut self, fault: Fault) {
        let now = self.now;
        match fault {
            Fault::Expire { client, idle } => self.expire(client, idle),
            Fault::Stranger { path, name } => {
                let name = STRANGERS[name % STRANGERS.len()];
                let child = format!("{}/{name}", self.full_path(path));
                let made = self
                    .cluster
                    .create_node(now, &child, b"", NodeKind::Persistent);
                self.foreign.extend(made);
            }
            Fault::Foreign { path, reads } => {
                let marker = match (PATHS[path].1, reads) {
                    (Family::ReadWrite, true) => "__rlock__",
                    _ => "__lock__",
                };
                let guid = self.random.u128(..);
                let child = format!("{}/{guid:032x}{marker}", self.full_path(path));
                let made =
                    self.cluster
                        .create_node(now, &child, b"", NodeKind::PersistentSequential);
                self.foreign.extend(made);
            }
            Fault::ForeignGoes => self.foreign_goes(),
            Fault::Touch { path, which } => {
                let queue = self.queue(path);
                if !queue.is_empty() {
                    let name = &queue[which % queue.len()];
                    let child = format!("{}/{name}", self.full_path(path));
                    // It may be gone on a leader that is younger than the truth.
                    let _gone = self.cluster.set_node(now, &child, b"revoke");
                }
            }
            Fault::DeleteWaiter { path, which } if PATHS[path].1 == Family::Mutex => {
                let waiting = self.queue(path).split_off(1.min(self.queue(path).len()));
                if !waiting.is_empty() {
                    self.delete(path, &waiting[which % waiting.len()]);
                }
            }
            Fault::DeleteHolder { which } => {
                let holds: Vec<(usize, usize)> = (0..self.clients.len())
                    .flat_map(|client| {
                        (0..self.clients[client].held.len()).map(move |held| (client, held))
                    })
                    .collect();
                if holds.is_empty() {
                    return;
                }
                let (client, held) = holds[which % holds.len()];
                let held = &self.clients[client].held[held];
                let (path, name) = (held.path, held.name().to_owned());
                // Whoever shares the contender loses it too.
                for held in &mut self.clients[client].held {
                    held.meddled |= held.path == path && held.name() == name;
                }
                self.delete(path, &name);
            }
            Fault::DeleteFirst => {
                let Some(first) = self.queue(MUTEX).into_iter().next() else {
                    return;
                };
                for held in self.clients.iter_mut().flat_map(|client| &mut client.held) {
                    held.meddled |= held.path == MUTEX && held.name() == first;
                }
                self.delete(MUTEX, &first);
            }
            Fault::Usurp { which } => self.usurp(which),
            Fault::AskToRead { client, owner } if !self.clients[client].is_paused() => {
                let call = self.clients[client].lock(now, READ_WRITE, Kind::Read, owner, None);
                self.note(Actor::Client(client), || format!("reads on, call {call}"));
            }
            Fault::Undercut { path } if PATHS[path].1 == Family::Mutex => self.undercut(path),
            // Once: the counter never goes back.
            Fault::Exhaust { path, left } if !self.exhausted[path] => {
                self.exhausted[path] = true;
                self.disordered = true;
                let full_path = self.full_path(path);
                self.cluster.set_next_sequence(&full_path, i32::MAX - left);
            }
            Fault::Deny { path, right, nanos } => {
                let full_path = self.full_path(path);
                let others = permission::ALL & !right;
                if self
                    .cluster
                    .set_permissions(now, &full_path, others)
                    .is_ok()
                {
                    self.denied[path] = true;
                    self.restricted[path] = true;
                    self.disordered = true;
                    self.later.push((now + nanos, Fault::Allow { path }));
                }
            }
            Fault::Allow { path } => self.allow(path),
            _ => {}
        }
    }

    /// Gives everybody all rights on a path again. What no majority decides is tried later.
    pub(super) fn allow(&mut self, path: usize) {
        if !self.restricted[path] {
            return;
        }
        let full_path = self.full_path(path);
        let set = self
            .cluster
            .set_permissions(self.now, &full_path, permission::ALL);
        self.restricted[path] = set == Err(Code::CONNECTION_LOSS);
        self.note(Actor::Fault, || {
            format!("gives back the rights on {full_path}: {set:?}")
        });
    }

    pub(super) fn delete(&mut self, path: usize, name: &str) {
        self.disordered = true;
        self.taken_away.insert(name.to_owned());
        let child = format!("{}/{name}", self.full_path(path));
        let deleted = self.cluster.delete_node(self.now, &child);
        self.note(Actor::Fault, || format!("deletes {name}: {deleted:?}"));
    }

    pub(super) fn foreign_goes(&mut self) {
        if self.foreign.is_empty() {
            return;
        }
        let at = self.random.usize(..self.foreign.len());
        match self.cluster.delete_node(self.now, &self.foreign[at]) {
            // What no majority decides is tried again.
            Err(code) if code == Code::CONNECTION_LOSS => {}
            Ok(()) | Err(_) => {
                self.foreign.swap_remove(at);
            }
        }
    }

    fn expire(&mut self, client: usize, idle: bool) {
        let id = self.clients[client].link.session_id();
        // An administrator's doing, outside R1: what its guards believe, or those about to be
        // granted, nobody has promised.
        let is_idle = self.clients[client].held.is_empty() && self.clients[client].calls.is_empty();
        if id == 0 || idle && !is_idle {
            return;
        }
        let is_idle = is_idle && !self.clients[client].keeps;
        if self.cluster.expire_session(self.now, id) && !is_idle {
            self.ended_sessions.insert(id);
            for held in &mut self.clients[client].held {
                held.meddled = true;
            }
        }
    }

    pub(super) fn thaw(&mut self, which: impl Fn(&Pipe) -> bool) {
        for pipe in self.pipes.iter_mut().filter(|pipe| which(pipe)) {
            pipe.to_server.frozen = false;
            pipe.to_client.frozen = false;
        }
    }
}
