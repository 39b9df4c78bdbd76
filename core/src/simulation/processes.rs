//! Handles that are opened and closed, and processes that are killed (R17).

use std::sync::Arc;
use std::time::Duration;

use super::checks::Violation;
use super::client::{Client, Closing};
use super::faults::Fault;
use super::network::Parcel;
use super::plan::MILLI;
use super::trace::Actor;
use super::workload::PATHS;
use super::world::World;
use crate::command::{Command, HandleId};
use crate::engine::Engine;
use crate::link::Link;
use crate::sync::completion;

/// Handles of one process on its session.
const MOST_HANDLES: usize = 2;
/// How late the answer to a close may come.
const LATE: u64 = 50 * MILLI;

impl World {
    /// Opens another handle, or the first one after all were closed.
    pub(super) fn open_handle(&mut self, index: usize) {
        let now = self.now;
        let client = &self.clients[index];
        if client.is_paused() || client.handles.len() == MOST_HANDLES {
            return;
        }
        if client.retired {
            if !client.engine.is_finished() {
                // A new session beside one that ends would be another client.
                let later = now + self.plan.session / 4;
                self.later
                    .push((later, Fault::OpenHandle { client: index }));
                return;
            }
            let seed = self.random.u64(..);
            self.clients[index].begin_session(now, seed);
        }
        let handle = HandleId::next();
        let client = &mut self.clients[index];
        client.handles.push(handle);
        client.link.send(Command::Open { handle });
        client.take_letters(now);
        self.note(Actor::Client(index), || "opens a handle".to_owned());
    }

    pub(super) fn close_handle(&mut self, index: usize, which: usize, nanos: u64) {
        let now = self.now;
        let full_paths: Vec<String> = (0..PATHS.len()).map(|path| self.full_path(path)).collect();
        let client = &mut self.clients[index];
        if client.is_paused() || client.handles.is_empty() {
            return;
        }
        let handle = client.handles.swap_remove(which % client.handles.len());
        for held in client.held.iter_mut().filter(|held| held.handle == handle) {
            held.closed = true;
        }
        for call in client.calls.iter_mut().filter(|call| call.handle == handle) {
            call.closed = true;
        }
        // What the other handle holds too stays.
        let kept: Vec<(usize, String)> = client
            .held
            .iter()
            .filter(|held| held.handle != handle)
            .map(|held| (held.path, held.name().to_owned()))
            .collect();
        let names = client
            .held
            .iter()
            .filter(|held| held.handle == handle)
            .map(|held| (held.path, held.name().to_owned()))
            .filter(|name| !kept.contains(name))
            .collect::<Vec<_>>();
        let names: Vec<(usize, String)> = client
            .engine
            .kept_by(handle)
            .into_iter()
            .filter_map(|(path, name)| {
                Some((full_paths.iter().position(|known| *known == path)?, name))
            })
            .filter(|name| !kept.contains(name))
            .chain(names)
            .collect();
        let (completer, receiver) = completion();
        let until = client.clock(now) + Duration::from_nanos(nanos);
        client.closing.push(Closing {
            until,
            due: client.moment(until).unwrap_or(now),
            names,
            session: client.link.session_id(),
            receiver,
        });
        client.link.send(Command::Close {
            handle,
            until,
            then: Box::new(move |outcome| drop(completer.complete(outcome))),
        });
        client.take_letters(now);
        let left = client.handles.len();
        self.note(Actor::Client(index), || {
            format!("closes a handle, {left} left")
        });
        if left == 0 {
            let later = now + self.random.u64(..self.plan.session * 2);
            self.later
                .push((later, Fault::OpenHandle { client: index }));
        }
    }

    /// The process ends at once, and another one starts in its place after some time. `silently`: the
    /// servers do not hear of it.
    pub(super) fn kill(&mut self, index: usize, silently: bool, nanos: u64) {
        let delay = self.delay();
        self.dials.retain(|(_, client, ..)| *client != index);
        for pipe in &mut self.pipes {
            if pipe.client == index && pipe.client_open {
                pipe.client_open = false;
                if silently {
                    pipe.server_open = false;
                } else {
                    pipe.to_server.send(self.now, delay, Parcel::Broken);
                }
            }
        }
        self.stop_at_hello[index] = None;
        let fresh = World::client(&self.plan, &self.hosts, self.now, &mut self.random);
        self.clients[index] = fresh;
        self.pause(index, nanos);
    }

    /// R17: a close ends in time, and what it answers for is gone then.
    pub(super) fn take_closings(&mut self, index: usize) -> Result<(), Violation> {
        let client = &mut self.clients[index];
        if client.is_paused() {
            return Ok(());
        }
        let mut left = Vec::new();
        for closing in std::mem::take(&mut client.closing) {
            match closing.receiver.wait(Some(Duration::ZERO)) {
                Some(Ok(Ok(()))) => self.check_closed(index, &closing)?,
                Some(Ok(Err(error))) => {
                    return Err(format!("R17: client {index}: close failed: {error}"));
                }
                Some(Err(_)) => {
                    return Err(format!("R17: a close of client {index} was never answered"));
                }
                None if closing.due.max(self.last_resumed[index]) + LATE < self.now => {
                    return Err(format!("R17: a close of client {index} is late"));
                }
                None => left.push(closing),
            }
        }
        self.clients[index].closing.extend(left);
        Ok(())
    }

    fn check_closed(&self, index: usize, closing: &Closing) -> Result<(), Violation> {
        let client = &self.clients[index];
        let over = client.retired
            || client.engine.session_id() != closing.session
            || self.ended_sessions.contains(&closing.session);
        if over || client.clock(self.now) >= closing.until {
            return Ok(());
        }
        for (path, name) in &closing.names {
            if self.truth.contenders(*path).contains(name) && !self.denied[*path] {
                return Err(format!(
                    "R17: client {index} has closed a handle, and {name} is still there"
                ));
            }
        }
        Ok(())
    }
}

impl Client {
    /// Whether the engine has been told that nobody needs it any more; as the driver does.
    pub(super) fn retire(&mut self, now: u64) {
        if self.engine.has_no_handles() && !self.retired && self.link.mailbox().is_empty() {
            self.retired = true;
            let time = self.clock(now);
            self.engine.close(time);
        }
        if self.retired && self.engine.is_finished() {
            self.link.close_mailbox();
        }
    }

    /// What the manager does for the first handle after the last one was closed.
    fn begin_session(&mut self, now: u64, seed: u64) {
        let time = self.clock(now);
        self.link = Link::new(self.callbacks.clone());
        self.engine = Engine::new(self.config.clone(), Arc::clone(&self.link), seed, time);
        self.retired = false;
    }
}
