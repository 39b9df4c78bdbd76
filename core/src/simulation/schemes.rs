//! Faults that are several at once: what by chance alone hardly ever meets.

use super::faults::Fault;
use super::trace::Actor;
use super::workload::{MUTEX, PATHS, READ_WRITE};
use super::world::World;
use crate::queue::names::Kind;

impl World {
    /// A client asks the new leader of the majority for a lock, loses the answer and its interest, and
    /// then meets only the old leader, which does not know that it is deposed.
    pub(super) fn lure(&mut self, client: usize, after: u64) {
        let now = self.now;
        let Some(old) = self.cluster.leader() else {
            return;
        };
        let next = (old + 1) % self.plan.servers;
        if self.plan.servers < 3 || self.clients[client].is_paused() {
            return;
        }
        let lost = |lose_requests| Fault::Reset {
            client,
            lose_requests,
            lose_answers: true,
        };
        let confine = |server, nanos| Fault::Confine {
            client,
            server: Some(server),
            nanos,
        };
        self.cut(old);
        self.cluster.elect(now, next);
        self.disturb_clients(lost(true));
        self.disturb_clients(confine(next, after));
        let call = self.clients[client].lock(now, MUTEX, Kind::Exclusive, None, None);
        self.note(Actor::Client(client), || {
            format!("is lured with call {call}")
        });
        let long = self.plan.tick * 2;
        self.later.extend([
            (now + after, lost(false)),
            (now + after, confine(old, long)),
            (now + after + 1, Fault::Leave { client }),
            (now + after + long, Fault::Rejoin(old)),
        ]);
    }

    /// A client is stopped, and stranded soon after it goes on.
    pub(super) fn silence(&mut self, client: usize, nanos: u64, gap: u64) {
        let resumed = self.now + nanos;
        let stranded = self.plan.session * 3 / 2;
        self.pause(client, nanos);
        self.idle[client] = resumed + gap + stranded;
        let strand = Fault::Strand {
            client,
            nanos: stranded,
        };
        self.later.push((resumed + gap, strand));
    }

    pub(super) fn usurp(&mut self, which: usize) {
        let writers: Vec<(usize, String, Option<u64>)> = self
            .clients
            .iter()
            .enumerate()
            .flat_map(|(index, client)| {
                let held = client.held.iter().filter(|held| held.kind == Kind::Write);
                held.map(move |held| (index, held.name().to_owned(), held.owner))
            })
            .collect();
        if writers.is_empty() {
            return;
        }
        let (client, name, owner) = writers[which % writers.len()].clone();
        for held in &mut self.clients[client].held {
            held.meddled |= held.path == READ_WRITE && held.name() == name;
        }
        self.delete(READ_WRITE, &name);
        let soon = self.now + self.plan.base_delay * 10;
        self.idle[client] = soon;
        self.later.push((soon, Fault::AskToRead { client, owner }));
    }

    pub(super) fn undercut(&mut self, path: usize) {
        let Some(second) = self.queue(path).into_iter().nth(1) else {
            return;
        };
        if let Some((waiter, (holder, held))) = self.first_two(path) {
            self.disturb_clients(Fault::Reset {
                client: waiter,
                lose_requests: true,
                lose_answers: true,
            });
            self.delete(path, &second);
            self.release(holder, held, false);
        }
    }

    /// One of the clients that hold something.
    pub(super) fn a_holder(&self, which: usize) -> Option<usize> {
        let holders: Vec<usize> = (0..self.clients.len())
            .filter(|at| !self.clients[*at].held.is_empty())
            .collect();
        let at = which.checked_rem(holders.len())?;
        holders.get(at).copied()
    }

    /// On some path somebody releases the lock; whoever waits for it then is the answer.
    pub(super) fn give_way(&mut self) -> Option<usize> {
        let from = self.random.usize(..PATHS.len());
        let mut paths = (from..PATHS.len()).chain(0..from);
        let (waiter, (holder, held)) = paths.find_map(|path| self.first_two(path))?;
        self.release(holder, held, false);
        Some(waiter)
    }

    /// The client that waits first on a path, and who holds the lock: which client, and which hold.
    fn first_two(&self, path: usize) -> Option<(usize, (usize, usize))> {
        let queue = self.queue(path);
        let [first, second, ..] = queue.as_slice() else {
            return None;
        };
        let child = format!("{}/{second}", self.full_path(path));
        let owner = self.cluster.node(&child)?.stat.ephemeral_owner;
        let mut clients = self.clients.iter();
        let waiter = clients.position(|client| client.link.session_id() == owner)?;
        let clients = self.clients.iter().enumerate();
        let holder = clients
            .filter_map(|(index, client)| {
                let mut held = client.held.iter();
                let at = held.position(|held| held.path == path && held.name() == first)?;
                Some((index, at))
            })
            .next()?;
        (holder.0 != waiter && !self.clients[holder.0].is_paused()).then_some((waiter, holder))
    }
}
