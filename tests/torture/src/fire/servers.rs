//! Faults of servers and of links. Behind each of them everything works again, and the locks have to go on.

use std::thread;
use std::time::Duration;

use fastrand::Rng;
use zoolock_ensemble::{Ensemble, Error, eventually, until};

use crate::board::Board;
use crate::clock;
use crate::fire::Kind;
use crate::fire::record::Record;

/// Until three servers serve again on a busy machine.
const SERVE: Duration = Duration::from_secs(120);
/// Until every call that waited when all was well again has ended. Generous: only whether is asked, not how fast.
const PROGRESS: Duration = Duration::from_secs(120);

pub(crate) struct Servers<'a> {
    pub(crate) ensemble: &'a Ensemble,
    pub(crate) board: &'a Board,
    pub(crate) record: &'a Record,
    pub(crate) rng: Rng,
    /// `S`.
    pub(crate) session_timeout: Duration,
}

impl Servers<'_> {
    /// Injects a fault, takes it back, and waits until every lock was granted again and every call that waited has
    /// ended. `Ok` has what did not go on.
    pub(crate) fn inject(&mut self, kind: Kind) -> Result<Vec<String>, String> {
        let from = clock::now();
        let done = match kind {
            Kind::KillServer => self.kill(),
            Kind::PauseServer => self.pause(),
            Kind::FreezeClientLink => self.freeze_client_link(),
            Kind::FreezeQuorumLink => self.freeze_quorum_link(),
            Kind::ResetConnections => self.reset(),
            Kind::Latency => self.delay(),
            Kind::RollingRestart => self.roll(),
            Kind::KillLeaders => self.kill_leaders(),
            Kind::StopClient | Kind::KillClient => Ok(()),
        };
        let served = done.and_then(|()| self.ensemble.wait_serving(SERVE));
        served.map_err(|error| format!("{}: {error}", kind.name()))?;
        let stuck = self.demand_progress();
        self.record.add(kind, from);
        Ok(stuck)
    }

    fn demand_progress(&self) -> Vec<String> {
        let since = clock::now();
        let calls = self.board.waiting();
        let mut stuck = Vec::new();
        eventually(PROGRESS, || {
            thread::sleep(Duration::from_millis(20));
            stuck = self.board.still_waiting(&calls);
            let idle = self.board.without_grant_since(since);
            stuck.extend(idle.iter().map(|path| format!("nobody gets {path}")));
            stuck.is_empty()
        });
        stuck
    }

    /// Mostly the leader, or the server with most sessions: there a fault hits holders.
    fn victim(&mut self) -> Result<(usize, &'static str), Error> {
        let choice = self.rng.u32(0..6);
        if choice < 3 {
            return Ok((self.leader()?, "the leader"));
        }
        if choice < 5 {
            let sessions = self.ensemble.sessions()?;
            let of = |server: usize| sessions.iter().filter(|s| s.server == Some(server)).count();
            let busiest = (1..=self.ensemble.size()).max_by_key(|server| of(*server));
            return Ok((busiest.unwrap_or(1), "with most sessions"));
        }
        Ok((self.rng.usize(1..=self.ensemble.size()), "any"))
    }

    fn leader(&self) -> Result<usize, Error> {
        until(SERVE, || self.ensemble.leader()).ok_or_else(|| Error::new("nobody leads"))
    }

    /// Shorter than a lease, as long as one, or longer than a session.
    fn some_time(&mut self) -> Duration {
        const PARTS: [f64; 4] = [0.2, 0.6, 1.0, 1.4];
        self.session_timeout
            .mul_f64(PARTS[self.rng.usize(0..PARTS.len())])
    }

    fn kill(&mut self) -> Result<(), Error> {
        let (server, why) = self.victim()?;
        let time = self.session_timeout.mul_f64(self.rng.f64() * 0.5);
        self.ensemble.kill(server)?;
        self.say(
            Kind::KillServer,
            &format!("server {server} ({why}) for {time:.1?}"),
        );
        thread::sleep(time);
        self.ensemble.restart(server)
    }

    /// One, or a majority: then there is no failover, and all leases run out if it takes long.
    fn pause(&mut self) -> Result<(), Error> {
        let (first, why) = self.victim()?;
        let time = self.some_time();
        let mut servers = vec![first];
        if self.rng.u32(..3) == 0 {
            servers.push(first % self.ensemble.size() + 1);
        }
        for server in &servers {
            self.ensemble.pause(*server)?;
        }
        let what = format!("{servers:?} (the first {why}) for {time:.1?}");
        self.say(Kind::PauseServer, &what);
        thread::sleep(time);
        for server in &servers {
            self.ensemble.resume(*server)?;
        }
        Ok(())
    }

    /// The link to one server, or all of them.
    fn freeze_client_link(&mut self) -> Result<(), Error> {
        let (first, why) = self.victim()?;
        let time = self.some_time();
        let mut servers = vec![first];
        if self.rng.u32(..3) == 0 {
            servers = (1..=self.ensemble.size()).collect();
        }
        for server in &servers {
            self.ensemble.client_link(*server)?.freeze();
        }
        let what = format!("to {servers:?} (chosen: {first}, {why}) for {time:.1?}");
        self.say(Kind::FreezeClientLink, &what);
        thread::sleep(time);
        for server in &servers {
            self.ensemble.client_link(*server)?.heal()?;
        }
        Ok(())
    }

    fn freeze_quorum_link(&mut self) -> Result<(), Error> {
        let (server, why) = self.victim()?;
        let time = self.some_time();
        let link = self.ensemble.quorum_link(server)?;
        link.freeze();
        self.say(
            Kind::FreezeQuorumLink,
            &format!("of server {server} ({why}) for {time:.1?}"),
        );
        thread::sleep(time);
        link.heal()
    }

    fn reset(&mut self) -> Result<(), Error> {
        let times = self.rng.usize(3..8);
        self.say(Kind::ResetConnections, &format!("{times} times"));
        for _ in 0..times {
            let (server, _) = self.victim()?;
            self.ensemble.client_link(server)?.reset();
            thread::sleep(Duration::from_millis(self.rng.u64(20..300)));
        }
        Ok(())
    }

    fn delay(&mut self) -> Result<(), Error> {
        let client = Duration::from_millis(self.rng.u64(5..100));
        let quorum = Duration::from_millis(self.rng.u64(1..25));
        let time = self.session_timeout.mul_f64(0.5 + self.rng.f64() * 0.5);
        for server in 1..=self.ensemble.size() {
            self.ensemble.client_link(server)?.delay(client);
            self.ensemble.quorum_link(server)?.delay(quorum);
        }
        let what = format!("{client:?} to clients and {quorum:?} between servers for {time:.1?}");
        self.say(Kind::Latency, &what);
        thread::sleep(time);
        for server in 1..=self.ensemble.size() {
            self.ensemble.client_link(server)?.heal()?;
            self.ensemble.quorum_link(server)?.heal()?;
        }
        Ok(())
    }

    fn roll(&mut self) -> Result<(), Error> {
        let mut servers: Vec<usize> = (1..=self.ensemble.size()).collect();
        self.rng.shuffle(&mut servers);
        self.say(Kind::RollingRestart, &format!("servers {servers:?}"));
        for server in servers {
            self.ensemble.restart(server)?;
            self.ensemble.wait_serving(SERVE)?;
        }
        Ok(())
    }

    fn kill_leaders(&mut self) -> Result<(), Error> {
        for _ in 0..2 {
            let leader = self.leader()?;
            self.ensemble.kill(leader)?;
            self.say(Kind::KillLeaders, &format!("server {leader}"));
            let next = self.leader()?;
            self.say(Kind::KillLeaders, &format!("server {next} leads"));
            self.ensemble.restart(leader)?;
            self.ensemble.wait_serving(SERVE)?;
        }
        Ok(())
    }

    fn say(&self, kind: Kind, what: &str) {
        self.record.say(kind, what);
    }
}
