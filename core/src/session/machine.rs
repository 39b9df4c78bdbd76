//! The session as a pure state machine: bytes, time and requests in; bytes, timers and events out.

mod connecting;
mod ending;
mod heartbeat;
mod replies;

use std::collections::VecDeque;
use std::time::Duration;

use super::connection::{Connection, WatchChange};
use super::dialer::{DialId, Dialer, FailedRound, Handshake, Version};
use super::lease::Lease;
use super::watches::Watches;
use crate::clock::Time;
use crate::config::{Backoff, LeaseConfirmation};
use crate::mutant::{Mutant, broken};
use crate::wire::code::Code;
use crate::wire::frames::FrameBuffer;
use crate::wire::handshake::{ConnectRequest, SessionPassword};
use crate::wire::reply::{Reply, WatchEventKind};
use crate::wire::request::Request;

/// The oldest server that has everything the locks need (R20).
const OLDEST: Version = Version(3, 5, 5);

/// What is fixed for a machine's life.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) servers: usize,
    pub(crate) session_timeout: Duration,
    pub(crate) backoff: Backoff,
    pub(crate) auth: Vec<(String, crate::config::Secret)>,
    pub(crate) confirmation: LeaseConfirmation,
}

/// What the driver has to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Resolve the server's name, connect, report; give up at the deadline. With `probe`, ask the
    /// server for its version beside it.
    Dial {
        dial: DialId,
        server: usize,
        deadline: Time,
        probe: bool,
    },
    HangUp {
        dial: DialId,
    },
}

/// What became of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done(Reply),
    Refused(Code),
    /// It was sent, and the connection broke before an answer: it may or may not have happened.
    InDoubt,
    /// It never left: it has not happened.
    NotSent,
}

/// What the machine tells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event<T> {
    Reply(T, Outcome),
    Watch {
        kind: WatchEventKind,
        path: String,
    },
    /// Connected; with a new session, or resuming the one we had.
    Connected {
        new_session: bool,
    },
    Suspended,
    /// The session is over; everything it owned is gone, or goes.
    SessionOver,
    RoundFailed(FailedRound),
    AuthFailed {
        code: Code,
    },
    Unsupported {
        version: Version,
    },
    Closed,
}

enum Tag<T> {
    Ping,
    /// Renews the lease; the contenders that it checked.
    Lease(Vec<String>),
    Auth,
    Rearm,
    Close,
    User(T),
}

struct Identity {
    id: i64,
    password: SessionPassword,
}

/// See the module.
pub(crate) struct Machine<T> {
    settings: Settings,
    random: fastrand::Rng,
    session_timeout: Duration,
    identity: Option<Identity>,
    last_zxid: i64,
    dialer: Dialer,
    handshakes: Vec<(DialId, FrameBuffer)>,
    connection: Option<Connection<Tag<T>>>,
    /// Since when the connection waits for what has to be known before it is announced.
    unannounced: Option<Announcement>,
    version: VersionState,
    ever_connected: bool,
    /// Whether a server took the version probe and said nothing.
    hung_up_on: bool,
    /// How many connections in a row were lost right after the handshake.
    short_lived: u32,
    lease: Lease,
    watches: Watches,
    believing: bool,
    waiting: bool,
    /// Full paths of the contenders that back guards, for `lease_confirmation = write`.
    held_paths: Vec<String>,
    closing: bool,
    closed: bool,
    /// Why the last connection, or attempt at one, failed; before that, how far the first one is.
    last_failure: String,
    nothing_failed: bool,
    events: VecDeque<Event<T>>,
    actions: VecDeque<Action>,
}

struct Announcement {
    new_session: bool,
    auth_left: usize,
    version_until: Time,
}

#[derive(PartialEq, Eq)]
enum VersionState {
    Unknown,
    Asked,
    Known,
}

impl<T> Machine<T> {
    pub(crate) fn new(settings: Settings, seed: u64, now: Time) -> Machine<T> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut dialer = Dialer::new(settings.servers);
        dialer.start(now, None, &mut random);
        Machine {
            session_timeout: settings.session_timeout,
            lease: Lease::new(settings.session_timeout),
            settings,
            random,
            identity: None,
            last_zxid: 0,
            dialer,
            handshakes: Vec::new(),
            connection: None,
            unannounced: None,
            version: VersionState::Unknown,
            ever_connected: false,
            hung_up_on: false,
            short_lived: 0,
            watches: Watches::default(),
            believing: false,
            waiting: false,
            held_paths: Vec::new(),
            closing: false,
            closed: false,
            last_failure: "no connection was made yet".to_owned(),
            nothing_failed: true,
            events: VecDeque::new(),
            actions: VecDeque::new(),
        }
    }

    // ---- what the queue sees ----

    /// Whether requests can be sent: a session is open on the present connection.
    pub(crate) fn is_connected(&self) -> bool {
        self.connection.is_some() && self.unannounced.is_none() && !self.closing
    }

    pub(crate) fn session_id(&self) -> i64 {
        self.identity.as_ref().map_or(0, |identity| identity.id)
    }

    pub(crate) fn session_timeout(&self) -> Duration {
        self.session_timeout
    }

    /// Until when guards may believe (R3).
    pub(crate) fn lease_until(&self) -> Time {
        self.lease.until()
    }

    /// Why the last attempt to connect failed.
    pub(crate) fn last_failure(&self) -> &str {
        &self.last_failure
    }

    pub(crate) fn random(&mut self) -> &mut fastrand::Rng {
        &mut self.random
    }

    /// Whether a guard believes, or an attempt waits: the lease is then kept running.
    pub(crate) fn set_interest(&mut self, believing: bool, waiting: bool) {
        self.believing = believing;
        self.waiting = waiting;
    }

    pub(crate) fn set_held_paths(&mut self, paths: Vec<String>) {
        self.held_paths = paths;
    }

    pub(crate) fn confirms_by_write(&self) -> bool {
        self.settings.confirmation == LeaseConfirmation::Write
    }

    /// Sends a request on the present connection; without one it is `NotSent` at once.
    pub(crate) fn submit(&mut self, request: &Request, tag: T, expected: usize) {
        let connected = self.is_connected();
        match &mut self.connection {
            Some(connection) if connected => {
                connection.submit(request, Tag::User(tag), expected, false);
            }
            _ => self.events.push_back(Event::Reply(tag, Outcome::NotSent)),
        }
    }

    /// Somebody new waits for the first connection: the servers are tried now.
    pub(crate) fn hurry(&mut self, now: Time) {
        if !self.ever_connected {
            self.dialer.hurry(now);
        }
    }

    /// Tries no server before `until`.
    pub(crate) fn hold_off(&mut self, until: Time) {
        self.dialer.hold_off(until);
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event<T>> {
        self.events.pop_front()
    }

    // ---- what the driver sees ----

    /// How many requests are unanswered; `None` while none can be sent.
    pub(crate) fn in_flight(&self) -> Option<usize> {
        let connection = self.connection.as_ref()?;
        self.is_connected().then(|| connection.in_flight())
    }

    pub(crate) fn has_actions(&self) -> bool {
        !self.actions.is_empty()
    }

    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Bytes from a dial's socket; `now` was read after they were.
    pub(crate) fn received(&mut self, now: Time, dial: DialId, bytes: &[u8]) {
        match &mut self.connection {
            Some(connection) if connection.dial == dial => {
                connection.last_received = now;
                connection.frames.push(bytes);
                self.take_frames(now, dial);
            }
            _ => self.take_handshake(now, dial, bytes),
        }
    }

    /// Bytes for a dial's socket, to be handed over at once; `now` was read just before.
    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<(DialId, Vec<u8>)> {
        let timeout_ms =
            i32::try_from(self.settings.session_timeout.as_millis()).unwrap_or(i32::MAX);
        for open in self.dialer.open_mut() {
            if open.handshake == Handshake::Due {
                open.handshake = Handshake::Sent(now);
                let request = match &self.identity {
                    Some(identity) if !open.fresh => ConnectRequest {
                        last_zxid_seen: if broken(Mutant::ResumedWithoutZxid) {
                            0
                        } else {
                            self.last_zxid
                        },
                        timeout_ms,
                        session_id: identity.id,
                        password: identity.password.clone(),
                    },
                    _ => ConnectRequest {
                        last_zxid_seen: if open.fresh { 0 } else { self.last_zxid },
                        timeout_ms,
                        session_id: 0,
                        password: SessionPassword::none(),
                    },
                };
                return Some((open.id, request.encode()));
            }
        }
        let connection = self.connection.as_mut()?;
        let watches = &mut self.watches;
        let bytes = connection.transmit(now, |change| match change {
            WatchChange::Set(path) => watches.requested(path),
            WatchChange::Remove(path) => drop(watches.ended(path)),
        });
        (!bytes.is_empty()).then_some((connection.dial, bytes))
    }

    /// When [`handle_timeout`](Machine::handle_timeout) has something to do.
    pub(crate) fn next_timeout(&self, now: Time) -> Time {
        if self.closed {
            return Time::NEVER;
        }
        let Some(connection) = &self.connection else {
            return self.dialer.next_timeout(&self.situation(now));
        };
        let mut next = connection.stuck_at(self.confirm_limit(), self.silence_limit());
        if let Some(announcement) = &self.unannounced
            && self.version == VersionState::Asked
        {
            next = next.min(announcement.version_until);
        }
        if !connection.has_urgent() {
            next = next.min(self.speak_at(connection));
        }
        next
    }

    /// Does what is due at `now`.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if self.closed {
            return;
        }
        if let Some(connection) = &self.connection {
            if connection.stuck_at(self.confirm_limit(), self.silence_limit()) <= now {
                self.drop_connection(now, "the server does not answer");
            } else if !connection.has_urgent() && self.speak_at(connection) <= now {
                self.speak(now);
            }
        }
        if let Some(announcement) = &self.unannounced
            && announcement.version_until <= now
            && self.version == VersionState::Asked
        {
            self.version = VersionState::Known;
            self.announce_if_ready();
        }
        if self.connection.is_none() {
            self.dial(now);
        }
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
