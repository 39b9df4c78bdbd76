//! The links between leaders and followers, and everything that can go on without time passing.

use super::server::{Role, ToFollower, ToLeader};
use super::{Cluster, ConnectionId};
use crate::wire::code::Code;
use crate::wire::writer::Writer;

impl Cluster {
    /// Whether what a leader sends reaches the follower's process.
    pub(super) fn delivers(&self, leader: usize, follower: usize) -> bool {
        let to = &self.servers[follower];
        !self.servers[leader].cut_off && !to.cut_off && !to.paused && to.is_running()
    }

    fn delivers_back(&self, leader: usize, follower: usize) -> bool {
        !self.servers[leader].cut_off
            && !self.servers[leader].paused
            && !self.servers[follower].cut_off
    }

    pub(super) fn has_majority(&self, leader: usize) -> bool {
        let Some(leading) = self.servers[leader].leading() else {
            return false;
        };
        let reachable = leading
            .links
            .iter()
            .filter(|(follower, link)| !link.follower_gone && self.delivers(leader, **follower));
        reachable.count() + 1 >= self.settings.majority()
    }

    /// Moves everything that is due until nothing moves.
    pub(super) fn settle(&mut self) {
        loop {
            let mut progress = self.feed_ready();
            for server in 0..self.servers.len() {
                progress |= self.step_down_if_deposed(server);
                progress |= self.settle_leader(server);
            }
            if !progress {
                break;
            }
        }
        self.consider_election();
    }

    fn feed_ready(&mut self) -> bool {
        let mut progress = false;
        while let Some(id) = self.ready.pop_front() {
            self.feed(id);
            progress = true;
        }
        progress
    }

    fn settle_leader(&mut self, leader: usize) -> bool {
        let Some(leading) = self.servers[leader].leading() else {
            return false;
        };
        let mut progress = false;
        for follower in leading.links.keys().copied().collect::<Vec<_>>() {
            if self.delivers_back(leader, follower) {
                progress |= self.drain_to_leader(leader, follower);
            }
            if self.delivers(leader, follower) {
                progress |= self.drain_to_follower(leader, follower);
            }
        }
        if !self.servers[leader].paused {
            progress |= self.unblock(leader);
        }
        progress
    }

    fn drain_to_leader(&mut self, leader: usize, follower: usize) -> bool {
        let mut progress = false;
        while let Some(leading) = self.servers[leader].leading_mut() {
            let Some(link) = leading.links.get_mut(&follower) else {
                break;
            };
            let gone = link.follower_gone;
            match link.to_leader.pop_front() {
                Some(message) => self.at_leader(leader, follower, message),
                None if gone => {
                    leading.links.remove(&follower);
                }
                None => break,
            }
            progress = true;
        }
        progress
    }

    fn drain_to_follower(&mut self, leader: usize, follower: usize) -> bool {
        let now = self.now;
        let mut progress = false;
        while let Some(leading) = self.servers[leader].leading_mut() {
            let term = leading.term;
            let Some(link) = leading.links.get_mut(&follower) else {
                break;
            };
            if link.follower_gone {
                break;
            }
            for packet in &mut link.to_follower {
                packet.received = true;
            }
            if link
                .to_follower
                .front()
                .is_none_or(|packet| packet.due > now)
            {
                break;
            }
            let Some(packet) = link.to_follower.pop_front() else {
                break;
            };
            self.at_follower(follower, term, packet.content);
            progress = true;
        }
        progress
    }

    fn at_follower(&mut self, follower: usize, term: u64, content: ToFollower) {
        let now = self.now;
        let Role::Following(following) = &mut self.servers[follower].role else {
            return;
        };
        if following.term != term {
            return;
        }
        following.last_heard = now;
        match content {
            ToFollower::Commit(entry) => {
                self.apply(follower, &entry);
            }
            ToFollower::Synced {
                connection,
                xid,
                path,
            } => self.synced(follower, connection, xid, path.as_deref()),
            ToFollower::Revalidated { connection, valid } => {
                self.finish_session(connection, valid);
            }
            ToFollower::Ping => {
                let touched = std::mem::take(&mut following.touched);
                self.tell_leader(follower, ToLeader::Pong(touched));
            }
        }
    }

    fn synced(&mut self, server: usize, id: ConnectionId, xid: i32, path: Option<&str>) {
        if self.connections.contains_key(&id) {
            self.take_forwarded(id);
            let zxid = self.servers[server].database.zxid;
            let mut reply = Writer::reply(xid, zxid, Code::OK);
            reply.nullable_string(path);
            self.send(id, reply.finish());
            self.drain(id);
        } else {
            self.done_for_nobody(server, id);
        }
    }
}
