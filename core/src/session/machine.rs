//! The session as a pure state machine: bytes, time and requests in; bytes, timers and events out.

use std::collections::VecDeque;
use std::time::Duration;

use super::connection::{Connection, InFlight, SMALL_REPLY, WatchChange};
use super::dialer::{
    DialId, Dialer, FailedRound, Failure, Handshake, Probed, Situation, Step, Version,
};
use super::lease::Lease;
use super::watches::Watches;
use crate::clock::Time;
use crate::config::{Backoff, LeaseConfirmation};
use crate::mutant::{Mutant, broken};
use crate::wire::code::Code;
use crate::wire::frames::{FrameBuffer, MAX_FRAME};
use crate::wire::handshake::{ConnectRequest, ConnectResponse, SessionPassword};
use crate::wire::reply::{Reply, ReplyHeader, WatchEvent, WatchEventKind, multi_failure};
use crate::wire::request::{AUTH_XID, MultiOperation, NOTIFICATION_XID, Operation, Request};

/// The oldest server that has everything the locks need (R20).
const OLDEST: Version = Version(3, 5, 5);
/// A multi that renews the lease checks at most this many contenders.
const MOST_CHECKED: usize = 64;

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

    /// Whether guards believe that were promised writes, which only a quorum answers.
    fn renews_by_quorum(&self) -> bool {
        self.confirms_by_write() && self.believing && !broken(Mutant::PromisedWritesBySync)
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

    fn finish(&mut self) {
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

    /// Tries no server before `until`.
    pub(crate) fn hold_off(&mut self, until: Time) {
        self.dialer.hold_off(until);
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event<T>> {
        self.events.pop_front()
    }

    // ---- what the driver sees ----

    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

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

    fn note_failure(&mut self, why: &str) {
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

    // ---- connecting ----

    fn situation(&self, now: Time) -> Situation<'_> {
        Situation {
            now,
            session_timeout: self.session_timeout,
            believing: self.believing,
            refusable: self.identity.is_some() || self.last_zxid > 0,
            first_connect: (!self.ever_connected).then_some(&self.settings.backoff),
        }
    }

    fn dial(&mut self, now: Time) {
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

    fn hang_up(&mut self, dial: DialId) {
        self.actions.push_back(Action::HangUp { dial });
    }

    fn take_handshake(&mut self, now: Time, dial: DialId, bytes: &[u8]) {
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

    fn end_session(&mut self) {
        self.identity = None;
        self.lease.end();
        self.watches.clear();
        self.events.push_back(Event::SessionOver);
    }

    /// Looks for a server for a new session. Whoever lost one at the same moment does so too (Z12).
    fn start_again(&mut self, now: Time) {
        let spread = (self.session_timeout / 50).min(Duration::from_millis(200));
        let jitter = spread.mul_f64(self.random.f64());
        self.dialer.start(now + jitter, None, &mut self.random);
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
    fn announce_if_ready(&mut self) {
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

    fn drop_connection(&mut self, now: Time, why: &str) {
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

    // ---- keeping the session and the lease ----

    fn confirm_limit(&self) -> Duration {
        self.session_timeout / if self.believing { 6 } else { 3 }
    }

    fn silence_limit(&self) -> Duration {
        self.session_timeout / 3
    }

    fn needs_lease(&self) -> bool {
        (self.believing || self.waiting) && !self.closing && self.unannounced.is_none()
    }

    fn speak_at(&self, connection: &Connection<Tag<T>>) -> Time {
        let interval = self.session_timeout / 6;
        let ping = connection.last_sent + interval;
        if self.needs_lease() && !broken(Mutant::LeaseFromPing) {
            ping.min(connection.last_confirming + interval)
        } else {
            ping
        }
    }

    fn speak(&mut self, now: Time) {
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

    // ---- replies ----

    fn take_frames(&mut self, now: Time, dial: DialId) {
        loop {
            let Some(connection) = &mut self.connection else {
                return;
            };
            if connection.dial != dial {
                return;
            }
            match connection.frames.next() {
                Ok(Some(frame)) => {
                    if let Err(why) = self.take_frame(now, &frame) {
                        self.drop_connection(now, &why);
                    }
                }
                Ok(None) => return,
                Err(error) => self.drop_connection(now, &error.to_string()),
            }
        }
    }

    fn take_frame(&mut self, now: Time, frame: &[u8]) -> Result<(), String> {
        let (header, body) = ReplyHeader::decode(frame).map_err(|error| error.to_string())?;
        if header.xid == NOTIFICATION_XID {
            self.last_zxid = self.last_zxid.max(header.zxid);
            let event = WatchEvent::decode(body).map_err(|error| error.to_string())?;
            if self.watches.ended(&event.path) {
                self.events.push_back(Event::Watch {
                    kind: event.kind,
                    path: event.path,
                });
            }
            return Ok(());
        }
        let Some(connection) = &mut self.connection else {
            return Ok(());
        };
        if header.xid == AUTH_XID && header.code == Code::AUTH_FAILED {
            self.events
                .push_back(Event::AuthFailed { code: header.code });
            return Err("the server does not accept the credentials".to_owned());
        }
        let request = connection
            .answered(header.xid)
            .ok_or_else(|| format!("the server answers xid {}, which is not due", header.xid))?;
        if header.code == Code::SESSION_EXPIRED {
            connection.put_back(request);
            self.session_over_by_reply(now);
            return Ok(());
        }
        if header.code == Code::SESSION_MOVED {
            // Another connection of ours took the session over; this one is of no use any more.
            connection.put_back(request);
            return Err("the session has moved to another connection".to_owned());
        }
        if header.code == Code::SESSION_CLOSED_REQUIRE_SASL_AUTH {
            connection.put_back(request);
            self.events
                .push_back(Event::AuthFailed { code: header.code });
            return Err("the server demands another authentication".to_owned());
        }
        self.last_zxid = self.last_zxid.max(header.zxid);
        let outcome = if header.code == Code::OK {
            match Reply::decode(request.operation, body) {
                Ok(reply) => Outcome::Done(reply),
                Err(error) => {
                    connection.put_back(request);
                    return Err(error.to_string());
                }
            }
        } else {
            Outcome::Refused(header.code)
        };
        let confirmed = request.operation.is_confirming()
            && is_confirmed(&outcome)
            && !(request.operation == Operation::Sync && self.renews_by_quorum());
        let confirmed =
            confirmed || request.operation == Operation::Ping && broken(Mutant::LeaseFromPing);
        self.lease.answered(request.sent, now, confirmed);
        if let (Tag::Rearm, Outcome::Refused(code)) = (&request.tag, &outcome) {
            // A connection on which events do not come is of no use (R9).
            return Err(format!("the server does not re-arm watches: {code}"));
        }
        self.settle(request, outcome);
        Ok(())
    }

    fn settle(&mut self, request: InFlight<Tag<T>>, outcome: Outcome) {
        let refused = matches!(outcome, Outcome::Refused(_));
        if let (true, Some(WatchChange::Set(path))) = (refused, &request.watch) {
            // A read that fails leaves no watch behind (Z10).
            self.watches.ended(path);
        }
        match request.tag {
            Tag::User(tag) => self.events.push_back(Event::Reply(tag, outcome)),
            Tag::Ping | Tag::Rearm => {}
            Tag::Lease(paths) => self.settle_lease(paths, &outcome),
            Tag::Auth => {
                if let Outcome::Refused(code) = outcome {
                    self.events.push_back(Event::AuthFailed { code });
                } else if let Some(announcement) = &mut self.unannounced {
                    announcement.auth_left = announcement.auth_left.saturating_sub(1);
                    self.announce_if_ready();
                }
            }
            Tag::Close => self.finish(),
        }
    }

    /// A quorum write that checked contenders also shows which of them are gone.
    fn settle_lease(&mut self, paths: Vec<String>, outcome: &Outcome) {
        if let Outcome::Done(Reply::Multi(results)) = outcome
            && let Some((part, Code::NO_NODE)) = multi_failure(results)
            && let Some(path) = paths.into_iter().nth(part)
        {
            self.watches.ended(&path);
            self.events.push_back(Event::Watch {
                kind: WatchEventKind::Deleted,
                path,
            });
        }
    }

    fn session_over_by_reply(&mut self, now: Time) {
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
}

/// How a server of TLS answers what is none: the record of an alert, of version 3.
fn is_tls_alert(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x15, 0x03])
}

/// Whether an answer can only have come from the leader.
fn is_confirmed(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Done(Reply::Multi(results)) => {
            multi_failure(results).is_none_or(|(_, code)| code.confirmed_by_leader())
        }
        Outcome::Done(_) => true,
        Outcome::Refused(code) => code.confirmed_by_leader(),
        Outcome::InDoubt | Outcome::NotSent => false,
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
