//! Who leads: servers step down, look for a leader, elect one, and join it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::server::{Following, Leading, Link, Role, Server, Task, ToFollower};
use super::settings::nanos;
use super::tracker::Tracker;
use super::txn::Entry;
use super::{Cluster, ConnectionId};

impl Cluster {
    /// The leader of the youngest term.
    pub(super) fn leader_index(&self) -> Option<usize> {
        let terms = self.servers.iter().enumerate();
        terms
            .filter_map(|(at, server)| Some((server.leading()?.term, at)))
            .max()
            .map(|(_, at)| at)
    }

    fn reachable_leader(&self) -> Option<usize> {
        let leader = self.leader_index()?;
        let server = &self.servers[leader];
        (!server.paused && !server.cut_off).then_some(leader)
    }

    fn candidates(&self) -> Vec<usize> {
        let looks = |server: &Server| {
            matches!(server.role, Role::Looking { .. }) && !server.paused && !server.cut_off
        };
        let servers = self.servers.iter().enumerate();
        servers
            .filter(|(_, server)| looks(server))
            .map(|(at, _)| at)
            .collect()
    }

    /// The epoch of the last leader that a server has taken its data from, or led in.
    fn epoch_of(&self, server: usize) -> i64 {
        self.servers[server].database.zxid >> 32
    }

    /// A leader steps down that meets a younger one, or a server that has followed one: no server goes back to an
    /// earlier epoch. A follower does when it finds that its leader is gone.
    pub(super) fn step_down_if_deposed(&mut self, server: usize) -> bool {
        let here = &self.servers[server];
        if here.paused || here.cut_off {
            return false;
        }
        let deposed = match &here.role {
            Role::Leading(_) => {
                let meets = |other: &usize| {
                    let other = &self.servers[*other];
                    other.is_running() && !other.paused && !other.cut_off
                };
                let mut met = (0..self.servers.len()).filter(meets);
                met.any(|other| self.epoch_of(other) > self.epoch_of(server))
                    || self
                        .reachable_leader()
                        .is_some_and(|leader| leader != server)
            }
            Role::Following(following) => {
                let leader = &self.servers[following.leader];
                let linked = leader.leading().is_some_and(|leading| {
                    leading.term == following.term && leading.links.contains_key(&server)
                });
                !(linked || leader.cut_off && leader.is_running())
            }
            Role::Looking { .. } | Role::Stopped => false,
        };
        if deposed {
            self.step_down(server);
        }
        deposed
    }

    /// Closes all connections and looks for a leader. What it has logged, it applies.
    pub(super) fn step_down(&mut self, server: usize) {
        let connections = self.connections.iter();
        let here: Vec<ConnectionId> = connections
            .filter(|(_, connection)| connection.server == server)
            .map(|(id, _)| *id)
            .collect();
        for connection in here {
            self.close(connection);
        }
        let role = std::mem::replace(
            &mut self.servers[server].role,
            Role::Looking {
                since: self.now,
                joins_at: None,
            },
        );
        match role {
            Role::Following(following) => self.leave(server, &following),
            Role::Leading(leading) => {
                for (follower, link) in leading.links {
                    let logged = logged(link);
                    self.servers[follower].logged.extend(logged);
                }
                let undecided = leading.blocked.into_iter();
                self.servers[server].undecided = undecided
                    .filter(|work| !matches!(work.task, Task::Sync { .. }))
                    .collect();
            }
            Role::Looking { .. } | Role::Stopped => {}
        }
        let here = &mut self.servers[server];
        for entry in std::mem::take(&mut here.logged) {
            here.database.apply(&entry);
        }
        here.piled.clear();
        here.abandoned.clear();
    }

    /// The leader ends the link to a follower that it does not hear. The follower finds out when it can.
    pub(super) fn give_up(&mut self, leader: usize, follower: usize) {
        if let Some(leading) = self.servers[leader].leading_mut()
            && let Some(link) = leading.links.remove(&follower)
            && !link.follower_gone
        {
            self.servers[follower].logged.extend(logged(link));
        }
    }

    fn leave(&mut self, server: usize, following: &Following) {
        if let Some(leading) = self.servers[following.leader].leading_mut()
            && leading.term == following.term
            && let Some(link) = leading.links.get_mut(&server)
        {
            link.follower_gone = true;
            let packets = std::mem::take(&mut link.to_follower);
            let logged = logged(Link {
                to_follower: packets,
                ..Link::default()
            });
            self.servers[server].logged.extend(logged);
        }
    }

    pub(super) fn consider_election(&mut self) {
        let at = self.now + nanos(self.settings.election);
        let leader = self.reachable_leader();
        let candidates = self.candidates();
        for (index, server) in self.servers.iter_mut().enumerate() {
            if let Role::Looking { joins_at, .. } = &mut server.role {
                if leader.is_some() && candidates.contains(&index) {
                    joins_at.get_or_insert(at);
                } else {
                    *joins_at = None;
                }
            }
        }
        if leader.is_none() && candidates.len() >= self.settings.majority() {
            self.election_at.get_or_insert(at);
        } else {
            self.election_at = None;
        }
    }

    /// The candidate that has seen most leads, a random one of several.
    pub(super) fn hold_election(&mut self) {
        self.election_at = None;
        let candidates = self.candidates();
        if self.reachable_leader().is_some() || candidates.len() < self.settings.majority() {
            return;
        }
        let seen = |server: &&usize| self.servers[**server].database.zxid;
        let most = candidates.iter().map(|server| seen(&server)).max();
        let best: Vec<usize> = candidates
            .iter()
            .filter(|server| Some(seen(server)) == most)
            .copied()
            .collect();
        let leader = best[self.random.below(best.len())];
        let followers: Vec<usize> = candidates
            .into_iter()
            .filter(|server| *server != leader)
            .collect();
        self.establish(leader, &followers, true);
    }

    /// Makes a leader, with followers that have its data. Of what it had logged itself before, and no majority had, any
    /// beginning may survive.
    pub(super) fn establish(&mut self, leader: usize, followers: &[usize], new_epoch: bool) {
        self.terms += 1;
        let term = self.terms;
        let tick = self.settings.tick_ns();
        let phase_ms = self
            .random
            .below(usize::try_from(tick / 1_000_000).unwrap_or(1)) as u64;
        let now = self.now;
        if new_epoch && self.settings.servers > 1 {
            self.epoch += 1;
            self.servers[leader].database.zxid = self.epoch << 32;
        }
        let here = &mut self.servers[leader];
        let mut undecided = std::mem::take(&mut here.undecided);
        let leading = Leading {
            term,
            tracker: Tracker::new(tick, phase_ms, &here.database.sessions, now),
            links: BTreeMap::new(),
            blocked: VecDeque::new(),
            arrived: 0,
            next_zxid: here.database.zxid + 1,
            next_beat: now + tick / 2,
            beats: 0,
            next_container_check: now.saturating_add(nanos(self.settings.container_check)),
        };
        here.role = Role::Leading(Box::new(leading));
        self.end_read_only(leader);
        // Followers take it over with everything else, before anybody is served.
        let survive = self.random.below(undecided.len() + 1);
        for work in undecided.drain(..survive) {
            self.perform(leader, work);
        }
        for follower in followers {
            self.link(leader, *follower, term);
        }
    }

    pub(super) fn join(&mut self, server: usize) {
        let Some(leader) = self.reachable_leader() else {
            return;
        };
        if let Some(leading) = self.servers[leader].leading() {
            self.link(leader, server, leading.term);
        }
    }

    fn link(&mut self, leader: usize, follower: usize, term: u64) {
        let now = self.now;
        self.end_read_only(follower);
        let database = self.servers[leader].database.clone();
        let here = &mut self.servers[follower];
        here.database = database;
        here.undecided.clear();
        here.role = Role::Following(Following {
            leader,
            term,
            last_heard: now,
            touched: BTreeMap::new(),
        });
        if let Some(leading) = self.servers[leader].leading_mut() {
            let link = Link {
                last_ack: now,
                ..Link::default()
            };
            leading.links.insert(follower, link);
        }
    }
}

/// The transactions that a follower has in its log and not in its data.
fn logged(link: Link) -> Vec<Arc<Entry>> {
    let packets = link.to_follower.into_iter();
    packets
        .filter(|packet| packet.received)
        .filter_map(|packet| match packet.content {
            ToFollower::Commit(entry) => Some(entry),
            _ => None,
        })
        .collect()
}
