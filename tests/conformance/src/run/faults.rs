//! What a scenario does to links, servers and sessions.

use std::time::Duration;

use zoolock_ensemble::{Action, Link, Message, Moment, Op};

use super::{Run, eventually};
use crate::scenario::{Fault, ServerFate};

/// A JVM's start, an election and a busy machine.
const SERVING: Duration = Duration::from_secs(60);

impl Run<'_> {
    fn number(&self, server: &str) -> Result<usize, String> {
        server
            .parse()
            .map_err(|_| format!("`{server}` is no server's number"))
    }

    fn links(&self, server: &str) -> Result<Vec<&Link>, String> {
        let numbers = match server {
            "all" => (1..=self.ensemble.size()).collect(),
            number => vec![self.number(number)?],
        };
        let link = |number| self.ensemble.client_link(number);
        let links = numbers.into_iter().map(link).collect::<Result<_, _>>();
        links.map_err(|error| error.to_string())
    }

    pub(super) fn link(&mut self, server: &str, fault: Fault) -> Result<(), String> {
        self.trace.add(format!("link {server} {fault:?}"));
        for link in self.links(server)? {
            match fault {
                Fault::Freeze => link.freeze(),
                Fault::Thaw => link.thaw(),
                Fault::Reset => link.reset(),
                Fault::Refuse => link.refuse(),
                Fault::Accept => link.accept().map_err(|error| error.to_string())?,
            }
        }
        Ok(())
    }

    pub(super) fn order_cut(&mut self, server: &str, op: &str) -> Result<(), String> {
        let op = op
            .parse()
            .map_err(|error: zoolock_ensemble::Error| error.to_string())?;
        let [link] = self.links(server)?[..] else {
            return Err("only one link can be cut".into());
        };
        let cut = link.cut(Message::Reply(Some(op)), 1, Moment::Before, Action::Reset);
        self.cut = Some(cut.map_err(|error| error.to_string())?);
        Ok(())
    }

    pub(super) fn cut_done(&mut self, within: Duration) -> Result<(), String> {
        let cut = self.cut.as_ref().ok_or("no cut was ordered")?;
        cut.wait(within).map_err(|error| error.to_string())
    }

    pub(super) fn server(&mut self, server: &str, fate: ServerFate) -> Result<(), String> {
        let number = self.number(server)?;
        self.trace.add(format!("server {number} {fate:?}"));
        if matches!(fate, ServerFate::Kill | ServerFate::Pause) {
            self.watcher.leave(number);
        }
        let outcome = match fate {
            ServerFate::Kill => self.ensemble.kill(number),
            ServerFate::Start => self.ensemble.restart(number),
            ServerFate::Pause => self.ensemble.pause(number),
            ServerFate::Continue => self.ensemble.resume(number),
        };
        outcome.map_err(|error| error.to_string())
    }

    pub(super) fn find(
        &mut self,
        variable: &str,
        node: &str,
        within: Duration,
    ) -> Result<(), String> {
        let session = self.watcher.owner(node, within)?;
        let mut server = String::new();
        eventually(within, || {
            let sessions = self
                .ensemble
                .sessions()
                .map_err(|error| error.to_string())?;
            let known = sessions.iter().find(|known| known.id == session);
            server = known
                .and_then(|known| known.server)
                .ok_or_else(|| format!("session 0x{session:x} is connected nowhere"))?
                .to_string();
            Ok(())
        })?;
        self.trace.add(format!("{variable} is server {server}"));
        self.variables.insert(variable.to_owned(), server);
        Ok(())
    }

    pub(super) fn leader(&mut self, variable: &str, within: Duration) -> Result<(), String> {
        let mut leader = String::new();
        eventually(within, || {
            leader = self.ensemble.leader().ok_or("no server leads")?.to_string();
            Ok(())
        })?;
        self.trace.add(format!("{variable} is server {leader}"));
        self.variables.insert(variable.to_owned(), leader);
        Ok(())
    }

    pub(super) fn serving(&mut self) -> Result<(), String> {
        self.ensemble
            .wait_serving(SERVING)
            .map_err(|error| error.to_string())
    }

    /// Requests that depend on time and not on what is done are left out.
    pub(super) fn requests(&mut self, most: u64) -> Result<(), String> {
        let counts = self.ensemble.log().counts();
        self.trace.add(format!("requests: {counts:?}"));
        let by_time = [Op::Ping, Op::Connect, Op::Sync];
        let counted = counts.iter().filter(|(op, _)| !by_time.contains(op));
        let total: u64 = counted.map(|(_, count)| count).sum();
        if total <= most {
            return Ok(());
        }
        Err(format!("{total} requests: {counts:?}"))
    }

    pub(super) fn expire(&mut self, node: &str, within: Duration) -> Result<(), String> {
        let session = self.watcher.owner(node, within)?;
        self.trace.add(format!("session 0x{session:x} ends"));
        self.ensemble
            .expire(session)
            .map_err(|error| error.to_string())
    }

    /// Takes back everything that was done to links and servers.
    pub(super) fn heal(&mut self) -> Result<(), String> {
        let heal = || -> zoolock_ensemble::Result<()> {
            for number in 1..=self.ensemble.size() {
                self.ensemble.client_link(number)?.heal()?;
                match self.ensemble.role(number)? {
                    zoolock_ensemble::Role::Paused => self.ensemble.resume(number)?,
                    zoolock_ensemble::Role::Down => self.ensemble.restart(number)?,
                    _ => {}
                }
            }
            self.ensemble.wait_serving(SERVING)
        };
        heal().map_err(|error| format!("the ensemble does not heal: {error}"))
    }
}
