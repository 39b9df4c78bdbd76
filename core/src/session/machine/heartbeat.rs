//! What keeps the session and the lease alive (R3): when to speak, what to say, and how long an answer
//! may take.

use std::time::Duration;

use super::super::connection::{Connection, SMALL_REPLY};
use super::{Machine, Tag};
use crate::clock::Time;
use crate::mutant::{Mutant, broken};
use crate::wire::request::{MultiOperation, Request};

/// A multi that renews the lease checks at most this many contenders.
const MOST_CHECKED: usize = 64;

impl<T> Machine<T> {
    /// Whether guards believe that were promised writes, which only a quorum answers.
    pub(super) fn renews_by_quorum(&self) -> bool {
        self.confirms_by_write() && self.believing && !broken(Mutant::PromisedWritesBySync)
    }

    pub(super) fn confirm_limit(&self) -> Duration {
        self.session_timeout / if self.believing { 6 } else { 3 }
    }

    pub(super) fn silence_limit(&self) -> Duration {
        self.session_timeout / 3
    }

    fn needs_lease(&self) -> bool {
        (self.believing || self.waiting) && !self.closing && self.unannounced.is_none()
    }

    pub(super) fn speak_at(&self, connection: &Connection<Tag<T>>) -> Time {
        let interval = self.session_timeout / 6;
        let ping = connection.last_sent + interval;
        if self.needs_lease() && !broken(Mutant::LeaseFromPing) {
            ping.min(connection.last_confirming + interval)
        } else {
            ping
        }
    }

    pub(super) fn speak(&mut self, now: Time) {
        let needs_lease = self.needs_lease();
        let by_write = self.confirms_by_write() && !self.held_paths.is_empty();
        let interval = self.session_timeout / 6;
        let Some(connection) = &mut self.connection else {
            return;
        };
        let asks = !broken(Mutant::LeaseFromPing);
        if asks && needs_lease && connection.last_confirming + interval <= now {
            if by_write {
                let paths: Vec<String> =
                    self.held_paths.iter().take(MOST_CHECKED).cloned().collect();
                let checks = paths
                    .iter()
                    .map(|path| MultiOperation::Check {
                        path: path.clone(),
                        version: -1,
                    })
                    .collect();
                connection.submit(
                    &Request::Multi(checks),
                    Tag::Lease(paths),
                    SMALL_REPLY,
                    true,
                );
            } else {
                let request = Request::Sync { path: "/".into() };
                connection.submit(&request, Tag::Lease(Vec::new()), SMALL_REPLY, true);
            }
        } else {
            connection.submit(&Request::Ping, Tag::Ping, SMALL_REPLY, true);
        }
    }
}
