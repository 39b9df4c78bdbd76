//! The end of a connection, of the session, and of the machine: what was asked is told its outcome.

use std::time::Duration;

use super::super::connection::{Connection, InFlight, SMALL_REPLY};
use super::{Event, Machine, Outcome, Tag};
use crate::clock::Time;
use crate::wire::request::Request;

impl<T> Machine<T> {
    /// Ends the session, once a connection allows it; `Closed` tells when.
    pub(crate) fn close(&mut self) {
        if self.closing {
            return;
        }
        self.closing = true;
        if let Some(connection) = &mut self.connection {
            let unsent = connection.withdraw_queued();
            connection.submit(&Request::CloseSession, Tag::Close, SMALL_REPLY, true);
            self.tell_not_sent(unsent);
        } else if self.identity.is_none() {
            self.finish();
        }
    }

    /// Gives everything up at once.
    pub(crate) fn abort(&mut self) {
        self.closing = true;
        self.finish();
    }

    pub(super) fn finish(&mut self) {
        if self.closed {
            return;
        }
        self.closed = true;
        self.lease.end();
        if let Some(connection) = self.connection.take() {
            self.hang_up(connection.dial);
            self.tell_unanswered(connection);
        }
        for dial in self.dialer.stop() {
            self.hang_up(dial);
        }
        self.events.push_back(Event::Closed);
    }

    pub(super) fn end_session(&mut self) {
        self.identity = None;
        self.lease.end();
        self.watches.clear();
        self.events.push_back(Event::SessionOver);
    }

    /// Looks for a server for a new session. Whoever lost one at the same moment does so too (Z12).
    pub(super) fn start_again(&mut self, now: Time) {
        let spread = (self.session_timeout / 50).min(Duration::from_millis(200));
        let jitter = spread.mul_f64(self.random.f64());
        self.dialer.start(now + jitter, None, &mut self.random);
    }

    pub(super) fn drop_connection(&mut self, now: Time, why: &str) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        tracing::info!(server = connection.server, why, "the connection is lost");
        self.note_failure(why);
        let announced = self.unannounced.take().is_none();
        let (lost, adopted) = (connection.server, connection.adopted);
        self.hang_up(connection.dial);
        let closed = self.tell_unanswered(connection);
        if announced {
            self.events.push_back(Event::Suspended);
        }
        if closed {
            // The server hangs up after it has ended a session.
            self.finish();
            return;
        }
        let not_before = now + self.pause_after_short_life(now, adopted);
        self.dialer.start(not_before, Some(lost), &mut self.random);
    }

    pub(super) fn session_over_by_reply(&mut self, now: Time) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        let announced = self.unannounced.take().is_none();
        self.hang_up(connection.dial);
        self.tell_unanswered(connection);
        if announced {
            self.events.push_back(Event::Suspended);
        }
        self.end_session();
        if self.closing {
            self.finish();
        } else {
            self.start_again(now);
        }
    }

    /// A server that takes us and hangs up at once, again and again, is not to be stormed.
    fn pause_after_short_life(&mut self, now: Time, adopted: Time) -> Duration {
        let cap = Duration::from_secs(1).min(self.session_timeout / 10);
        if now.saturating_since(adopted) >= cap {
            self.short_lived = 0;
            return Duration::ZERO;
        }
        self.short_lived = self.short_lived.saturating_add(1);
        if self.short_lived < 3 {
            return Duration::ZERO;
        }
        let growing = Duration::from_millis(20) * (1 << self.short_lived.min(8));
        growing
            .min(cap)
            .mul_f64(self.random.f64().mul_add(0.5, 0.5))
    }

    /// Tells what became of everything unanswered; true if that includes the end of the session.
    fn tell_unanswered(&mut self, connection: Connection<Tag<T>>) -> bool {
        let (in_flight, unsent) = connection.into_unanswered();
        let mut closed = false;
        for InFlight { tag, .. } in in_flight {
            match tag {
                Tag::User(tag) => self.events.push_back(Event::Reply(tag, Outcome::InDoubt)),
                Tag::Close => closed = true,
                _ => {}
            }
        }
        self.tell_not_sent(unsent);
        closed
    }

    fn tell_not_sent(&mut self, tags: Vec<Tag<T>>) {
        for tag in tags {
            if let Tag::User(tag) = tag {
                self.events.push_back(Event::Reply(tag, Outcome::NotSent));
            }
        }
    }
}
