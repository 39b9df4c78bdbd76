//! What the clients of a world do, and what their callers ask and hear.

use std::time::Duration;

use super::checks::{self, Violation};
use super::client::{Held, Releasing};
use super::plan::{Family, MILLI};
use super::trace::Actor;
use super::workload::{self, MUTEX, PATHS, Step};
use super::world::World;
use crate::command::Command;
use crate::queue::names::Kind;
use crate::session::{Action, Probed, Version};
use crate::state::GuardState;

/// How late an answer may come after its deadline (R6).
const LATE: u64 = 50 * MILLI;

impl World {
    pub(super) fn run_client(&mut self, index: usize) -> Result<(), Violation> {
        if let Some(until) = self.clients[index].paused_until {
            if until > self.now {
                return Ok(());
            }
            self.clients[index].paused_until = None;
            self.last_resumed[index] = self.now;
            self.note(Actor::Client(index), || "goes on".to_owned());
            self.ask_first(index);
        }
        let session = self.clients[index].link.session_id();
        let places = self.clients[index].places();
        self.clients[index].take_letters(self.now);
        self.act(index);
        if self.clients[index].keeps {
            // What was granted before it hears more.
            self.take_answers(index)?;
        }
        self.deliver_to_client(index);
        if std::mem::take(&mut self.clients[index].asks_soon) {
            self.ask_first(index);
        }
        self.transmit(index);
        let time = self.clients[index].clock(self.now);
        // As the driver does: what is due is done after what has arrived.
        for _ in 0..100 {
            if self.clients[index].engine.next_timeout(time) > time {
                break;
            }
            self.clients[index].engine.handle_timeout(time);
            self.act(index);
            self.transmit(index);
        }
        self.clients[index].run_jobs();
        if session != 0 && self.clients[index].link.session_id() != session {
            self.clients[index].former = places;
        }
        self.check_given_up(index)?;
        self.take_answers(index)?;
        self.take_releases(index)?;
        self.take_closings(index)?;
        // Also of guards that were lost before anybody had them.
        self.clients[index].run_jobs();
        if !self.clients[index].is_paused() {
            checks::finality(index, &mut self.clients[index], self.now)?;
        }
        Ok(())
    }

    /// When a process goes on, its callers may be quicker than its network thread: they find what is
    /// kept as it was before. And when it has been told of an end, they find what it made of that.
    fn ask_first(&mut self, index: usize) {
        if self.calm || !self.clients[index].keeps || self.random.bool() {
            return;
        }
        let call = self.clients[index].lock(self.now, MUTEX, Kind::Exclusive, None, None);
        self.note(Actor::Client(index), || {
            format!("asks {} at once, call {call}", PATHS[MUTEX].0)
        });
    }

    /// Does what a client's session wants done.
    pub(super) fn act(&mut self, index: usize) {
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
                    self.note(Actor::Client(index), || format!("hangs up dial {}", dial.0));
                    self.hang_up(index, dial);
                }
            }
        }
    }

    /// At any message a caller may leave.
    pub(super) fn may_leave(&mut self, index: usize) {
        if self.calm || self.plan.cancels == 0 || self.random.u16(..1000) >= self.plan.cancels {
            return;
        }
        let calls = self.clients[index].calls.len();
        if calls > 0 {
            let call = self.random.usize(..calls);
            self.cancel(index, call);
            self.clients[index].take_letters(self.now);
        }
    }

    pub(super) fn cancel(&mut self, index: usize, call: usize) {
        let client = &mut self.clients[index];
        let call = &mut client.calls[call];
        call.cancelled = true;
        let (attempt, number, path) = (call.attempt, call.number, call.path);
        client.link.send(Command::Cancel { attempt });
        self.note(Actor::Client(index), || {
            format!("cancels call {number} at {}", PATHS[path].0)
        });
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
                if call.closed {
                    return Err(format!(
                        "R17: a call of client {index} waits on, though its handle was closed"
                    ));
                }
                at += 1;
                continue;
            };
            let call = self.clients[index].calls.remove(at);
            match answer {
                Ok(Ok(Some(guard))) => {
                    let session = self.clients[index].engine.session_id();
                    let held = Held::new(guard, &call, session);
                    let (name, token) = (held.name().to_owned(), held.guard.fencing_token());
                    self.note(Actor::Client(index), || {
                        format!("granted {name} token {token:#x} for call {}", call.number)
                    });
                    self.summary.grants += 1;
                    self.summary.kept += u64::from(held.guard.grant_count() > 1);
                    let there = self.truth.contenders(held.path);
                    checks::kept(index, &mut self.clients[index], &held, &call, there)?;
                    self.clients[index].held.push(held);
                    self.check_grant(index)?;
                    if !self.disordered {
                        checks::former_order(index, &mut self.clients[index], call.attempt)?;
                    }
                }
                Ok(Ok(None)) => self.note(Actor::Client(index), || {
                    format!("call {} finds it busy", call.number)
                }),
                Ok(Err(error)) => {
                    self.summary.failures += 1;
                    self.note(Actor::Client(index), || {
                        format!("call {} failed: {error}", call.number)
                    });
                    let (exhausted, denied) = (self.exhausted[call.path], self.denied[call.path]);
                    if !checks::may_fail(error.kind(), &call, exhausted, denied) {
                        return Err(format!("client {index} failed: {error:?}"));
                    }
                }
                Err(_) => return Err(format!("a call of client {index} was never answered")),
            }
        }
        Ok(())
    }

    fn take_releases(&mut self, index: usize) -> Result<(), Violation> {
        if self.clients[index].is_paused() {
            return Ok(());
        }
        let mut left = Vec::new();
        for mut releasing in std::mem::take(&mut self.clients[index].releases) {
            match releasing.pending.wait_for(Duration::ZERO) {
                Some(Ok(())) => self.check_released(index, &releasing)?,
                Some(Err(error)) if error.kind() == crate::ErrorKind::LockLost => {}
                Some(Err(error))
                    if error.kind() == crate::ErrorKind::NoAuth && self.denied[releasing.path] => {}
                Some(Err(error)) => {
                    return Err(format!("R10: client {index}: release failed: {error}"));
                }
                None => {
                    if releasing.due.max(self.last_resumed[index]) + LATE < self.now {
                        return Err(format!("R10: a release of client {index} is late"));
                    }
                    left.push(releasing);
                }
            }
        }
        self.clients[index].releases = left;
        Ok(())
    }

    /// R10: it has succeeded when the deletion is confirmed, the session is over, or the lease ended.
    fn check_released(&self, index: usize, releasing: &Releasing) -> Result<(), Violation> {
        let client = &self.clients[index];
        let over = client.retired
            || client.engine.session_id() != releasing.session
            || self.ended_sessions.contains(&releasing.session);
        let shared = client
            .held
            .iter()
            .any(|held| held.path == releasing.path && held.name() == releasing.name);
        let there = self
            .truth
            .contenders(releasing.path)
            .contains(&releasing.name);
        // What is kept stays, whoever ends that later.
        let stays = shared || releasing.kept;
        if there && !over && !stays && client.clock(self.now) < releasing.until {
            return Err(format!(
                "R10: client {index} has released {}, which is still there",
                releasing.name
            ));
        }
        Ok(())
    }

    fn check_grant(&mut self, index: usize) -> Result<(), Violation> {
        let session = self.clients[index].engine.session_id();
        let held_index = self.clients[index].held.len() - 1;
        let held = &self.clients[index].held[held_index];
        let shared = self.clients[index]
            .held
            .iter()
            .any(|other| other.meddled && other.path == held.path && other.name() == held.name());
        let gone = self.plan.family == Family::Kept && self.taken_away.contains(held.name());
        if shared || gone || self.ended_sessions.contains(&session) {
            // Somebody else has taken its contender away, or ended its session, and it is not known
            // here yet: R1 assumes that away.
            self.clients[index].held[held_index].meddled = true;
            return Ok(());
        }
        let held = &self.clients[index].held[held_index];
        if !checks::believes(&self.clients[index], held, self.now) {
            // Granted and lost before anyone looked.
            return Ok(());
        }
        let path = held.path;
        let children = self.truth_now(path);
        checks::granted(
            &self.clients,
            (index, held_index),
            self.now,
            children.as_deref(),
            &mut self.last_tokens[path],
        )
    }

    pub(super) fn step(&mut self) {
        if self.calm {
            self.foreign_goes();
            for path in 0..PATHS.len() {
                self.allow(path);
            }
            self.take_outputs();
        }
        let index = self.random.usize(..self.clients.len());
        let idle = self.idle[index] > self.now && !self.calm;
        if idle || self.clients[index].is_paused() {
            return;
        }
        let client = &mut self.clients[index];
        let step = if self.calm {
            match client.held.len() {
                0 => Step::Nothing,
                held => Step::Release(self.random.usize(..held)),
            }
        } else {
            workload::choose(&mut self.random, client, &self.plan)
        };
        match step {
            Step::Lock {
                path,
                kind,
                owner,
                wait,
            } => {
                let number = client.lock(self.now, path, kind, owner, wait);
                let name = PATHS[path].0;
                self.note(Actor::Client(index), || {
                    let owner = owner.map_or(String::new(), |owner| format!(" owner {owner}"));
                    let wait = wait.map_or(String::new(), |wait| format!(" within {wait:?}"));
                    format!("asks {name} {kind:?}{owner}{wait}, call {number}")
                });
            }
            Step::Cancel(at) => self.cancel(index, at),
            Step::Release(at) | Step::Drop(at) => {
                let dropped = matches!(step, Step::Drop(_));
                self.release(index, at, dropped);
            }
            Step::Nothing => {}
        }
    }

    pub(super) fn release(&mut self, index: usize, at: usize, dropped: bool) {
        let client = &mut self.clients[index];
        let held = client.held.swap_remove(at);
        let time = client.clock(self.now);
        let until = held.guard.cell().term.until();
        let name = held.name().to_owned();
        if held.guard.cell().state(time) == GuardState::Lost {
            self.summary.losses += 1;
        }
        if !dropped {
            let due = client.moment(until).unwrap_or(self.now).max(self.now);
            let kept = client.kept().any(|(_, known)| known == name);
            client.releases.push(Releasing {
                until,
                due,
                path: held.path,
                name: name.clone(),
                session: held.session,
                kept,
                pending: held.guard.release_at(time),
            });
        }
        drop(held);
        self.note(Actor::Client(index), || format!("releases {name}"));
    }
}
