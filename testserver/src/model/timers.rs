//! Everything that happens because time passes.

use super::Cluster;
use super::server::{Role, ToFollower};
use super::settings::nanos;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// A packet reaches a lagging follower.
    Delivery,
    Expiry(usize),
    Beat(usize),
    Containers(usize),
    FollowerTimeout(usize),
    Election,
    Join(usize),
}

impl Cluster {
    /// The earliest timer. Paused servers have none.
    pub(super) fn next_timer(&self) -> Option<(u64, Timer)> {
        let mut first = self.election_at.map(|at| (at, Timer::Election));
        let mut consider = |timer: (u64, Timer)| {
            first = Some(first.map_or(timer, |first| first.min(timer)));
        };
        for (index, server) in self.servers.iter().enumerate() {
            match &server.role {
                Role::Leading(leading) => {
                    for (follower, link) in &leading.links {
                        if self.delivers(index, *follower)
                            && !link.follower_gone
                            && let Some(packet) = link.to_follower.front()
                        {
                            consider((packet.due, Timer::Delivery));
                        }
                    }
                    if server.paused {
                        continue;
                    }
                    if let Some(at) = leading.tracker.next_expiry() {
                        consider((at, Timer::Expiry(index)));
                    }
                    if self.settings.servers > 1 {
                        consider((leading.next_beat, Timer::Beat(index)));
                    }
                    consider((leading.next_container_check, Timer::Containers(index)));
                }
                Role::Following(following) if !server.paused => {
                    let at = following.last_heard + self.settings.patience_ns();
                    consider((at, Timer::FollowerTimeout(index)));
                }
                Role::Looking {
                    joins_at: Some(at), ..
                } if !server.paused => consider((*at, Timer::Join(index))),
                _ => {}
            }
        }
        first
    }

    /// Lets time pass, and everything happen in its order.
    pub(super) fn advance(&mut self, now: u64) {
        while let Some((at, timer)) = self.next_timer()
            && at <= now
        {
            self.now = self.now.max(at);
            self.run(timer);
            self.settle();
        }
        self.now = self.now.max(now);
    }

    fn run(&mut self, timer: Timer) {
        match timer {
            // Settling does it.
            Timer::Delivery => {}
            Timer::Expiry(leader) => self.expire(leader),
            Timer::Beat(leader) => self.beat(leader),
            Timer::Containers(leader) => {
                let interval = nanos(self.settings.container_check).max(1_000_000);
                if let Some(leading) = self.servers[leader].leading_mut() {
                    leading.next_container_check =
                        leading.next_container_check.saturating_add(interval);
                }
                self.reap_containers(leader);
            }
            Timer::FollowerTimeout(server) => self.step_down(server),
            Timer::Election => self.hold_election(),
            Timer::Join(server) => self.join(server),
        }
    }

    fn expire(&mut self, leader: usize) {
        let now = self.now;
        let Some(leading) = self.servers[leader].leading_mut() else {
            return;
        };
        for session in leading.tracker.expired(now) {
            self.end_session(leader, session);
        }
    }

    /// Every half tick a leader pings its followers, and gives up those that are silent; every tick it looks whether it
    /// still has a majority.
    fn beat(&mut self, leader: usize) {
        let now = self.now;
        let half_tick = self.settings.tick_ns() / 2;
        let patience = self.settings.patience_ns();
        let majority = self.settings.majority();
        let Some(leading) = self.servers[leader].leading_mut() else {
            return;
        };
        leading.next_beat += half_tick;
        leading.beats += 1;
        let silent: Vec<usize> = leading
            .links
            .iter()
            .filter(|(_, link)| link.last_ack + patience < now)
            .map(|(follower, _)| *follower)
            .collect();
        if leading.beats.is_multiple_of(2) && leading.links.len() - silent.len() + 1 < majority {
            return self.step_down(leader);
        }
        for follower in silent {
            self.give_up(leader, follower);
        }
        let followers: Vec<usize> = self.servers[leader]
            .leading()
            .map(|leading| leading.links.keys().copied().collect())
            .unwrap_or_default();
        for follower in followers {
            self.tell_follower(leader, follower, ToFollower::Ping);
        }
    }
}
