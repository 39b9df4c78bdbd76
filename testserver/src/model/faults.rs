//! What can be done to the ensemble. Everything takes effect at once.

use std::time::Duration;

use super::Cluster;
use super::acl;
use super::database::{Database, Outcome};
use super::leader::internal;
use super::server::{Piled, Role, Task};
use super::settings::nanos;
use crate::wire::code::Code;
use crate::wire::op;
use crate::wire::request::{Create, Request};

/// The kinds of node that [`Cluster::create_node`] makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum NodeKind {
    Persistent,
    PersistentSequential,
    Container,
}

/// The data and sessions of an ensemble at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    database: Database,
    epoch: i64,
}

impl Cluster {
    /// Kills the server: its connections close and its port refuses. Its followers look for a new leader.
    pub fn stop(&mut self, now: u64, server: usize) {
        self.advance(now);
        if self.servers[server].is_running() {
            self.step_down(server);
            let here = &mut self.servers[server];
            here.role = Role::Stopped;
            here.paused = false;
            self.settle();
        }
    }

    /// Starts a server that is down. It serves once it has joined a leader.
    pub fn start(&mut self, now: u64, server: usize) {
        self.advance(now);
        if !self.servers[server].is_running() {
            self.servers[server].role = Role::Looking {
                since: self.now,
                joins_at: None,
            };
            if self.settings.servers == 1 {
                self.establish(server, &[], false);
            }
            self.settle();
        }
    }

    /// As SIGSTOP: what arrives piles up, and nothing is answered.
    pub fn pause(&mut self, server: usize) {
        self.servers[server].paused = true;
        self.settle();
    }

    /// As SIGCONT. Sessions that should have expired meanwhile do so before what has piled up is read.
    pub fn resume(&mut self, now: u64, server: usize) {
        self.advance(now);
        let here = &mut self.servers[server];
        if !std::mem::replace(&mut here.paused, false) {
            return;
        }
        match &mut here.role {
            Role::Leading(leading) => leading.next_beat = leading.next_beat.max(now),
            Role::Following(following) => following.last_heard = now,
            Role::Looking { .. } | Role::Stopped => {}
        }
        self.settle();
        self.advance(now);
        while let Some(piled) = self.servers[server].piled.pop_front() {
            match piled {
                Piled::Bytes(connection, bytes) => {
                    if let Some(state) = self.connections.get_mut(&connection) {
                        state.input.extend_from_slice(&bytes);
                        self.feed(connection);
                    }
                }
                Piled::Closed(connection) => {
                    self.forget(connection);
                }
            }
            self.settle();
        }
    }

    /// Freezes the server's links to the others. A follower goes on answering reads and pings for `sync_limit` ticks, a
    /// leader also syncs; then it closes its connections (Z2).
    pub fn cut_off(&mut self, now: u64, server: usize) {
        self.advance(now);
        self.servers[server].cut_off = true;
        self.settle();
    }

    /// Thaws the links; what was on its way arrives.
    pub fn rejoin(&mut self, now: u64, server: usize) {
        self.advance(now);
        self.servers[server].cut_off = false;
        self.settle();
    }

    /// Lets everything from the leader reach this follower so much later, from now on.
    pub fn set_lag(&mut self, server: usize, lag: Duration) {
        self.servers[server].lag = nanos(lag);
    }

    /// Elects this server now: all connections close, and all sessions' timers start afresh. Nothing happens unless it
    /// runs and a majority with it does, neither paused nor cut off.
    pub fn elect(&mut self, now: u64, new_leader: usize) {
        self.advance(now);
        let takes_part: Vec<usize> = (0..self.servers.len())
            .filter(|server| {
                let server = &self.servers[*server];
                server.is_running() && !server.paused && !server.cut_off
            })
            .collect();
        if !takes_part.contains(&new_leader) || takes_part.len() < self.settings.majority() {
            return;
        }
        // The leader first: its followers log what it has committed.
        let leader = self.leader_index();
        for server in leader.iter().chain(&takes_part) {
            if takes_part.contains(server) && self.servers[*server].is_serving() {
                self.step_down(*server);
            }
        }
        let newest = takes_part
            .iter()
            .max_by_key(|server| self.servers[**server].database.zxid)
            .copied()
            .unwrap_or(new_leader);
        self.servers[new_leader].database = self.servers[newest].database.clone();
        if newest != new_leader {
            self.servers[new_leader].undecided.clear();
        }
        let followers: Vec<usize> = takes_part
            .into_iter()
            .filter(|server| *server != new_leader)
            .collect();
        self.election_at = None;
        self.establish(new_leader, &followers, true);
        self.settle();
    }

    /// Ends a session as its expiry does. False if there is no leader, or it is paused or does not know the
    /// session.
    pub fn expire_session(&mut self, now: u64, id: i64) -> bool {
        self.advance(now);
        let Some(leader) = self
            .leader_index()
            .filter(|leader| !self.servers[*leader].paused)
        else {
            return false;
        };
        let knows = self.servers[leader]
            .leading_mut()
            .is_some_and(|leading| leading.tracker.close(id));
        if knows {
            self.end_session(leader, id);
            self.settle();
        }
        knows
    }

    /// Creates a node with all rights for everyone, as an administrator; answers with its path.
    ///
    /// # Errors
    /// A server's, or [`Code::CONNECTION_LOSS`] where no leader has a majority.
    pub fn create_node(
        &mut self,
        now: u64,
        path: &str,
        data: &[u8],
        kind: NodeKind,
    ) -> Result<String, Code> {
        let (op, flags) = match kind {
            NodeKind::Persistent => (op::CREATE, 0),
            NodeKind::PersistentSequential => (op::CREATE, 2),
            NodeKind::Container => (op::CREATE_CONTAINER, 4),
        };
        let request = Request::Create(Create {
            op,
            path: Some(path.to_owned()),
            data: Some(data.to_vec()),
            acl: Some(acl::open().to_vec()),
            flags,
            ttl: -1,
        });
        match self.administer(now, request)? {
            Outcome::Created { path } | Outcome::Created2 { path, .. } => Ok(path),
            _ => Err(Code::RUNTIME_INCONSISTENCY),
        }
    }

    /// Deletes a node, whatever its version, owner and rights.
    ///
    /// # Errors
    /// As [`create_node`](Self::create_node).
    pub fn delete_node(&mut self, now: u64, path: &str) -> Result<(), Code> {
        let path = Some(path.to_owned());
        let version = -1;
        self.administer(now, Request::Delete { path, version })?;
        Ok(())
    }

    /// Sets a node's data.
    ///
    /// # Errors
    /// As [`create_node`](Self::create_node).
    pub fn set_node(&mut self, now: u64, path: &str, data: &[u8]) -> Result<(), Code> {
        let request = Request::SetData {
            path: Some(path.to_owned()),
            data: Some(data.to_vec()),
            version: -1,
        };
        self.administer(now, request)?;
        Ok(())
    }

    /// Sets which rights everybody has on a node, as a sum of [`permission`](super::permission)s.
    ///
    /// # Errors
    /// As [`create_node`](Self::create_node).
    pub fn set_permissions(&mut self, now: u64, path: &str, permissions: i32) -> Result<(), Code> {
        let request = Request::SetAcl {
            path: Some(path.to_owned()),
            acl: Some(acl::world(permissions).to_vec()),
            version: -1,
        };
        self.administer(now, request)?;
        Ok(())
    }

    fn administer(&mut self, now: u64, request: Request) -> Result<Outcome, Code> {
        self.advance(now);
        let leader = self
            .leader_index()
            .filter(|leader| !self.servers[*leader].paused && self.has_majority(*leader))
            .ok_or(Code::CONNECTION_LOSS)?;
        let outcome = self.commit(leader, &internal(0, Task::Write(request)));
        self.settle();
        match outcome {
            Outcome::Error(code) => Err(code),
            outcome => Ok(outcome),
        }
    }

    /// What the leader has now, for [`restore`](Self::restore).
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            database: self.truth().clone(),
            epoch: self.epoch,
        }
    }

    /// Brings the whole ensemble back to an earlier state, as from a backup: connections close, data and sessions are
    /// those of the snapshot, and zxids go on from there, so that some are given out a second time.
    pub fn restore(&mut self, now: u64, snapshot: &Snapshot) {
        self.advance(now);
        let leader = self.leader_index();
        self.epoch = snapshot.epoch;
        let mut followers = Vec::new();
        for server in 0..self.servers.len() {
            if self.servers[server].is_serving() {
                self.step_down(server);
                if Some(server) != leader {
                    followers.push(server);
                }
            }
            let here = &mut self.servers[server];
            here.database = snapshot.database.clone();
            here.undecided.clear();
            here.logged.clear();
        }
        if let Some(leader) = leader {
            followers.retain(|follower| !self.servers[*follower].paused);
            self.establish(leader, &followers, false);
        }
        self.settle();
    }

    /// Refuses the next so many requests of this server's clients with -127, unexecuted. Pings are not refused.
    pub fn throttle(&mut self, server: usize, requests: u32) {
        self.servers[server].throttle = requests;
    }

    /// Sets the number that the next sequential child of a node gets, everywhere.
    pub fn set_next_sequence(&mut self, parent: &str, next: i32) {
        for server in &mut self.servers {
            server.database.set_next_sequence(parent, next);
        }
    }
}
