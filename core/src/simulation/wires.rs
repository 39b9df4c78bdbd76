//! What the network of a world does.

use std::collections::BTreeSet;

use zoolock_testserver::model::Output;

use super::network::{Lane, Parcel, Pipe};
use super::plan::Family;
use super::trace::{self, Actor, Asked};
use super::workload::PATHS;
use super::world::World;
use crate::session::{DialId, Failure};

impl World {
    pub(super) fn end_dials(&mut self) {
        let (due, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.dials)
            .into_iter()
            .partition(|(at, ..)| *at <= self.now);
        self.dials = waiting;
        for (_, client, dial, server) in due {
            let time = self.clients[client].clock(self.now);
            match self.confined[client] {
                // Nothing answers; the client gives it up.
                Some((_, None)) => continue,
                Some((_, Some(only))) if only != server => {
                    let engine = &mut self.clients[client].engine;
                    engine.disconnected(time, dial, Failure::Other, "unreachable");
                    continue;
                }
                _ => {}
            }
            if let Some(connection) = self.cluster.open(self.now, server) {
                self.pipes.push(Pipe {
                    client,
                    dial,
                    server,
                    connection,
                    to_server: Lane::default(),
                    to_client: Lane::default(),
                    client_open: true,
                    server_open: true,
                    greeted: false,
                    asked: Asked::default(),
                });
                self.note(Actor::Client(client), || {
                    format!("is connected to server {server} by dial {}", dial.0)
                });
                self.clients[client].engine.dialed(time, dial);
            } else {
                self.clients[client]
                    .engine
                    .disconnected(time, dial, Failure::Other, "refused");
            }
            self.take_outputs();
        }
    }

    pub(super) fn deliver_to_servers(&mut self) {
        for index in 0..self.pipes.len() {
            loop {
                let pipe = &mut self.pipes[index];
                let connection = pipe.connection;
                match pipe.to_server.take(self.now) {
                    Some(Parcel::Bytes(bytes)) => {
                        self.cluster.receive(self.now, connection, &bytes);
                    }
                    Some(Parcel::Close | Parcel::Broken) => {
                        self.cluster.client_closed(self.now, connection);
                        self.pipes[index].server_open = false;
                    }
                    None => break,
                }
                self.take_outputs();
            }
        }
    }

    pub(super) fn take_outputs(&mut self) {
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

    pub(super) fn hang_up(&mut self, client: usize, dial: DialId) {
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

    /// What arrives at a client.
    pub(super) fn deliver_to_client(&mut self, index: usize) {
        let time = self.clients[index].clock(self.now);
        for at in 0..self.pipes.len() {
            loop {
                let pipe = &mut self.pipes[at];
                if pipe.client != index || !pipe.client_open {
                    break;
                }
                let (dial, server) = (pipe.dial, pipe.server);
                match pipe.to_client.take(self.now) {
                    Some(Parcel::Bytes(bytes)) => {
                        self.hears(index, at, &bytes);
                        self.clients[index].engine.received(time, dial, &bytes);
                    }
                    Some(parcel) => {
                        pipe.client_open = false;
                        // A server that has closed hears no more.
                        pipe.server_open &= matches!(parcel, Parcel::Broken);
                        self.note(Actor::Server(server), || {
                            format!("no longer has client {index} by dial {}", dial.0)
                        });
                        let why = "closed by the server";
                        self.clients[index]
                            .engine
                            .disconnected(time, dial, Failure::Other, why);
                    }
                    None => break,
                }
                self.act(index);
                self.may_leave(index);
            }
        }
    }

    /// The contenders on a path that are not this client's.
    fn strangers_to(&self, client: usize, path: usize) -> BTreeSet<String> {
        let session = self.clients[client].engine.session_id();
        let is_strange = |name: &String| {
            let child = format!("{}/{name}", self.full_path(path));
            let owner = self
                .cluster
                .node(&child)
                .map(|node| node.stat.ephemeral_owner);
            owner.is_some_and(|owner| owner != session)
        };
        let mut strangers: BTreeSet<String> = self.queue(path).into_iter().collect();
        strangers.retain(is_strange);
        strangers
    }

    /// Whatever has changed: what it keeps and is not there must not be granted from now on.
    fn hears_of_children(&mut self, client: usize, path: usize) {
        let full_path = self.full_path(path);
        let kept = self.clients[client].kept();
        let gone: Vec<String> = kept
            .filter(|(at, name)| *at == full_path && !self.truth.contenders(path).contains(name))
            .map(|(_, name)| name)
            .collect();
        self.clients[client].asks_soon |= !gone.is_empty();
        self.clients[client].kept_in_vain.extend(gone);
    }

    fn hears(&mut self, client: usize, at: usize, bytes: &[u8]) {
        if self.clients[client].keeps {
            for changed in trace::events(bytes, 4) {
                let told = (0..PATHS.len()).find(|path| self.full_path(*path) == changed);
                if let Some(path) = told {
                    let strangers = self.strangers_to(client, path);
                    self.clients[client].since_told[path] = (strangers, 0);
                    self.hears_of_children(client, path);
                }
            }
            for gone in trace::deletions(bytes) {
                let name = gone.rsplit('/').next().unwrap_or_default().to_owned();
                self.clients[client].ends_told.insert(name);
                self.clients[client].asks_soon = true;
            }
        }
        if self.plan.family == Family::Quiet {
            for path in trace::deletions(bytes) {
                self.herd.woken(path, client);
            }
        }
        if self.trace.is_on() {
            let pipe = &mut self.pipes[at];
            let (server, text) = (pipe.server, pipe.asked.answers(bytes));
            self.note(Actor::Server(server), || {
                format!("-> client {client}: {text}")
            });
        }
    }

    /// Hands over what a client has to send.
    pub(super) fn transmit(&mut self, index: usize) {
        loop {
            let time = self.clients[index].clock(self.now);
            let Some((dial, bytes)) = self.clients[index].engine.poll_transmit(time) else {
                break;
            };
            let delay = self.delay();
            // A process may be stopped between reading the clock and the system call.
            let stopped = if !self.calm
                && self.plan.family != Family::Quiet
                && self.random.u16(..2000) == 0
            {
                self.random.u64(..self.plan.session)
            } else {
                0
            };
            if stopped > 0 {
                self.clients[index].paused_until = Some(self.now + stopped);
                self.note(Actor::Client(index), || "is stopped as it sends".to_owned());
            }
            if self.plan.family == Family::Quiet {
                self.herd.asked(trace::operations(&bytes));
            }
            let now = self.now;
            let tracing = self.trace.is_on();
            let (mut text, mut hello) = (None, false);
            if let Some(pipe) = self
                .pipes
                .iter_mut()
                .find(|pipe| pipe.client == index && pipe.dial == dial && pipe.client_open)
            {
                if tracing {
                    text = Some((pipe.server, pipe.asked.requests(&bytes)));
                }
                hello = !std::mem::replace(&mut pipe.greeted, true);
                pipe.to_server
                    .send(now, delay + stopped, Parcel::Bytes(bytes));
            }
            if hello && let Some((nanos, gap)) = self.stop_at_hello[index].take() {
                self.note(Actor::Client(index), || {
                    "is stopped in its handshake".to_owned()
                });
                self.silence(index, nanos, gap);
            }
            if let Some((server, text)) = text {
                self.note(Actor::Client(index), || {
                    format!("-> server {server}: {text}")
                });
            }
            self.act(index);
            self.may_leave(index);
        }
    }
}
