//! From a dial to a connection that the session is open on: the handshake, and what has to be known
//! before the connection is announced.

use std::time::Duration;

use super::super::connection::{Connection, SMALL_REPLY};
use super::super::dialer::{DialId, Dialer, Failure, Handshake, Probed, Situation, Step};
use super::{Action, Announcement, Event, Identity, Machine, OLDEST, Tag, VersionState};
use crate::clock::Time;
use crate::mutant::{Mutant, broken};
use crate::wire::frames::{FrameBuffer, MAX_FRAME};
use crate::wire::handshake::ConnectResponse;
use crate::wire::request::Request;

impl<T> Machine<T> {
    /// The connection of a dial is up.
    pub(crate) fn dialed(&mut self, dial: DialId) {
        if self.nothing_failed {
            "a server was connected to, and has not answered yet"
                .clone_into(&mut self.last_failure);
        }
        if let Some(open) = self.dialer.get_mut(dial) {
            open.handshake = Handshake::Due;
            self.handshakes.push((dial, FrameBuffer::new(MAX_FRAME)));
        } else {
            self.hang_up(dial);
        }
    }

    /// A dial failed, or the connection that came of it ended.
    pub(crate) fn disconnected(&mut self, now: Time, dial: DialId, failure: Failure, why: &str) {
        if self
            .connection
            .as_ref()
            .is_some_and(|connection| connection.dial == dial)
        {
            self.drop_connection(now, why);
            return;
        }
        let in_handshake = self
            .dialer
            .get_mut(dial)
            .is_some_and(|open| matches!(open.handshake, Handshake::Sent(_)));
        match failure {
            // A server that speaks in the clear says something to the probe, whatever its state.
            Failure::Other if in_handshake && self.hung_up_on => {
                let why = "the server hangs up on whatever it is sent: it may expect TLS here";
                self.dial_failed(now, dial, Failure::NotTls, why);
            }
            Failure::Other if in_handshake => {
                self.dial_failed(now, dial, Failure::ClosedInHandshake, why);
            }
            failure => self.dial_failed(now, dial, failure, why),
        }
    }

    fn dial_failed(&mut self, now: Time, dial: DialId, failure: Failure, why: &str) {
        tracing::debug!(?dial, why, "an attempt to connect failed");
        self.note_failure(why);
        self.handshakes.retain(|(known, _)| *known != dial);
        self.dialer.failed(now, dial, failure);
    }

    pub(super) fn note_failure(&mut self, why: &str) {
        why.clone_into(&mut self.last_failure);
        self.nothing_failed = false;
    }

    /// What the version probe found.
    pub(crate) fn probed(&mut self, found: Probed) {
        if self.version != VersionState::Asked {
            return;
        }
        self.hung_up_on = found == Probed::Nothing;
        match found {
            Probed::Version(version) if version < OLDEST => {
                self.version = VersionState::Known;
                self.events.push_back(Event::Unsupported { version });
            }
            // The server that was asked may be down; ask the next one.
            Probed::Nothing | Probed::Unreached if self.connection.is_none() => {
                self.version = VersionState::Unknown;
            }
            _ => {
                self.version = VersionState::Known;
                self.announce_if_ready();
            }
        }
    }

    pub(super) fn situation(&self, now: Time) -> Situation<'_> {
        Situation {
            now,
            session_timeout: self.session_timeout,
            believing: self.believing,
            refusable: self.identity.is_some() || self.last_zxid > 0,
            first_connect: (!self.ever_connected).then_some(&self.settings.backoff),
        }
    }

    pub(super) fn dial(&mut self, now: Time) {
        let mut random = self.random.clone();
        let mut dialer = std::mem::replace(&mut self.dialer, Dialer::new(0));
        let step: Step = dialer.step(&self.situation(now), &mut random);
        self.dialer = dialer;
        self.random = random;
        for dial in step.give_up {
            self.handshakes.retain(|(known, _)| *known != dial);
            self.note_failure("the server did not answer in time");
            self.hang_up(dial);
        }
        if let Some(round) = step.round_failed {
            self.events.push_back(Event::RoundFailed(round));
        }
        for (dial, server, deadline) in step.dial {
            let probe = self.version == VersionState::Unknown && !self.ever_connected;
            if probe {
                self.version = VersionState::Asked;
            }
            self.actions.push_back(Action::Dial {
                dial,
                server,
                deadline,
                probe,
            });
        }
    }

    pub(super) fn hang_up(&mut self, dial: DialId) {
        self.actions.push_back(Action::HangUp { dial });
    }

    pub(super) fn take_handshake(&mut self, now: Time, dial: DialId, bytes: &[u8]) {
        let Some((_, frames)) = self.handshakes.iter_mut().find(|(known, _)| *known == dial) else {
            return;
        };
        frames.push(bytes);
        let frame = match frames.next() {
            Ok(Some(frame)) => frame,
            Ok(None) => return,
            // No length that a server sends begins so.
            Err(_) if is_tls_alert(bytes) => {
                self.hang_up(dial);
                let why = "the server speaks TLS on this port";
                return self.dial_failed(now, dial, Failure::NotTls, why);
            }
            Err(error) => return self.refuse_handshake(now, dial, &error.to_string()),
        };
        let response = match ConnectResponse::decode(&frame) {
            Ok(response) => response,
            Err(error) => return self.refuse_handshake(now, dial, &error.to_string()),
        };
        let Some(open) = self.dialer.get_mut(dial) else {
            return;
        };
        let (Handshake::Sent(sent), server, fresh) = (&open.handshake, open.server, open.fresh)
        else {
            return self.refuse_handshake(now, dial, "an answer to no question");
        };
        let sent = *sent;
        if response.session_is_over() {
            self.session_refused(now, dial);
        } else if response.session_id == 0 || response.read_only == Some(true) {
            self.refuse_handshake(
                now,
                dial,
                "the server answers without a session to write in",
            );
        } else {
            let rest = self
                .handshakes
                .iter()
                .position(|(known, _)| *known == dial)
                .map(|at| self.handshakes.swap_remove(at).1);
            self.adopt(now, dial, server, sent, fresh, response);
            if let (Some(rest), Some(connection)) = (rest, &mut self.connection) {
                connection.frames = rest;
                self.take_frames(now, dial);
            }
        }
    }

    fn refuse_handshake(&mut self, now: Time, dial: DialId, why: &str) {
        self.hang_up(dial);
        self.dial_failed(now, dial, Failure::Other, why);
    }

    /// The ensemble does not know our session any more.
    fn session_refused(&mut self, now: Time, dial: DialId) {
        if self.identity.is_none() {
            return self.refuse_handshake(now, dial, "the server refuses to open a session");
        }
        self.end_session();
        self.hang_up(dial);
        for other in self.dialer.stop() {
            self.hang_up(other);
        }
        self.handshakes.clear();
        if self.closing {
            self.finish();
            return;
        }
        self.start_again(now);
    }

    fn adopt(
        &mut self,
        now: Time,
        dial: DialId,
        server: usize,
        sent: Time,
        fresh: bool,
        response: ConnectResponse,
    ) {
        for other in self.dialer.stop() {
            if other != dial {
                self.hang_up(other);
            }
        }
        self.handshakes.clear();
        let resumed = self
            .identity
            .as_ref()
            .is_some_and(|identity| identity.id == response.session_id);
        if self.identity.is_some() && !resumed {
            self.end_session();
        }
        if fresh {
            self.last_zxid = 0;
        }
        let granted = u64::try_from(response.timeout_ms).unwrap_or(0);
        self.session_timeout = Duration::from_millis(granted);
        let by_quorum = self.renews_by_quorum();
        let sent = if broken(Mutant::LeaseFromAnswer) {
            now
        } else {
            sent
        };
        if resumed && by_quorum {
            self.lease.moved(sent, self.session_timeout);
        } else {
            self.lease.handshake(sent, self.session_timeout);
        }
        self.identity = Some(Identity {
            id: response.session_id,
            password: response.password,
        });
        let mut connection = Connection::new(dial, server, sent, now);
        if resumed && by_quorum {
            // The lease still counts from the last connection: a write is due at once.
            connection.last_confirming = sent.minus(self.session_timeout / 6);
        }
        for (scheme, credentials) in &self.settings.auth {
            let request = Request::Auth {
                scheme: scheme.clone(),
                credentials: credentials.0.clone(),
            };
            connection.submit(&request, Tag::Auth, SMALL_REPLY, true);
        }
        if self.closing {
            connection.submit(&Request::CloseSession, Tag::Close, SMALL_REPLY, true);
        }
        for request in self.watches.rearm(self.last_zxid) {
            if broken(Mutant::NotRearmed) {
                continue;
            }
            connection.submit(&request, Tag::Rearm, SMALL_REPLY, true);
        }
        self.connection = Some(connection);
        self.unannounced = Some(Announcement {
            new_session: !resumed,
            auth_left: self.settings.auth.len(),
            version_until: now + self.session_timeout / 12,
        });
        self.announce_if_ready();
    }

    /// Announces the connection once the credentials are taken and, on the first one, the
    /// server's version is known or will not be told.
    pub(super) fn announce_if_ready(&mut self) {
        let Some(announcement) = &self.unannounced else {
            return;
        };
        // A resumed session's credentials are dealt with by the server in order.
        let auth_pending = announcement.new_session && announcement.auth_left > 0;
        if auth_pending || self.version == VersionState::Asked {
            return;
        }
        let new_session = announcement.new_session;
        self.unannounced = None;
        self.ever_connected = true;
        self.events.push_back(Event::Connected { new_session });
    }
}

/// How a server of TLS answers what is none: the record of an alert, of version 3.
fn is_tls_alert(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x15, 0x03])
}
