//! A session and its queues as one: commands in, outcomes out, driven by the time it is handed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::clock::Time;
use crate::command::{Command, HandleId, Then};
use crate::config::SessionConfig;
use crate::error::{Error, ErrorKind};
use crate::link::Link;
use crate::queue::{Context, Queues, Tag};
use crate::session::{
    Action, DialId, Event, FailedRound, Failure, Machine, Probed, Settings, Version,
};
use crate::state::SessionState;
use crate::wire::code::Code;

/// How long a session that is not needed any more may take to say goodbye.
const GOODBYE: std::time::Duration = std::time::Duration::from_secs(5);

/// A server that starts or stops may hang up in the handshake of TLS; all of them so often do not.
const ROUNDS_WITHOUT_TLS: u32 = 3;

/// A first connect that is being waited for.
struct Connecting {
    until: Time,
    /// The rounds that had failed before it was asked for: they say nothing of the servers now.
    rounds_before: u32,
    then: Then<()>,
}

/// See the module.
pub(crate) struct Engine {
    config: SessionConfig,
    link: Arc<Link>,
    machine: Machine<Tag>,
    queues: Queues,
    /// The open handles, each with how many rounds of servers had failed when it came.
    handles: BTreeMap<HandleId, u32>,
    ever_opened: bool,
    connecting: Vec<Connecting>,
    /// Who is told when the session has ended.
    goodbyes: Vec<(Time, Then<()>)>,
    give_up_at: Time,
    /// Full rounds of servers that failed so far, and the last one since there was a connection.
    rounds_failed: u32,
    last_round: Option<FailedRound>,
    /// Why no later attempt can succeed either.
    refused: Option<(ErrorKind, String)>,
    finished: bool,
}

impl Engine {
    pub(crate) fn new(config: SessionConfig, link: Arc<Link>, seed: u64, now: Time) -> Engine {
        let settings = Settings {
            servers: config.servers.servers.len(),
            session_timeout: config.options.session_timeout,
            backoff: config.options.backoff.clone(),
            auth: config.options.auth.clone(),
            confirmation: config.options.lease_confirmation,
        };
        Engine {
            machine: Machine::new(settings, seed, now),
            config,
            link,
            queues: Queues::default(),
            handles: BTreeMap::new(),
            ever_opened: false,
            connecting: Vec::new(),
            goodbyes: Vec::new(),
            give_up_at: Time::NEVER,
            rounds_failed: 0,
            last_round: None,
            refused: None,
            finished: false,
        }
    }

    /// Whether every handle that was opened is closed.
    pub(crate) fn has_no_handles(&self) -> bool {
        self.ever_opened && self.handles.is_empty()
    }

    /// Whether the session has ended and nothing is left to do.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    // ---- inputs ----

    pub(crate) fn commands(&mut self, now: Time, commands: impl Iterator<Item = Command>) {
        // A lease that ran out while this thread did not run is told before anything else (R4).
        self.settle(now);
        for command in commands {
            self.command(now, command);
        }
        self.settle(now);
    }

    pub(crate) fn dialed(&mut self, now: Time, dial: DialId) {
        self.machine.dialed(dial);
        self.settle(now);
    }

    pub(crate) fn disconnected(&mut self, now: Time, dial: DialId, failure: Failure, why: &str) {
        self.machine.disconnected(now, dial, failure, why);
        self.settle(now);
    }

    pub(crate) fn probed(&mut self, now: Time, found: Probed) {
        self.machine.probed(found);
        self.settle(now);
    }

    pub(crate) fn received(&mut self, now: Time, dial: DialId, bytes: &[u8]) {
        self.machine.received(now, dial, bytes);
        self.settle(now);
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        self.machine.handle_timeout(now);
        self.settle(now);
        let (queues, mut cx) = self.parts(now);
        queues.handle_timeout(&mut cx);
        self.expire_waiting(now);
        if self.give_up_at <= now {
            self.give_up_at = Time::NEVER;
            self.machine.abort();
        }
        self.settle(now);
    }

    /// Ends the session: nobody needs it any more.
    pub(crate) fn close(&mut self, now: Time) {
        if self.give_up_at == Time::NEVER {
            let longest = self.goodbyes.iter().map(|(until, _)| *until).max();
            self.give_up_at = longest.unwrap_or(now + GOODBYE);
        }
        if self.refused.is_some() && !self.machine.is_connected() {
            // No server is tried any more, so no connection will come to say goodbye on.
            self.machine.abort();
        } else {
            self.machine.close();
        }
        self.settle(now);
    }

    // ---- outputs ----

    /// How many requests are unanswered; `None` while none can be sent.
    pub(crate) fn in_flight(&self) -> Option<usize> {
        self.machine.in_flight()
    }

    /// How many attempts wait.
    pub(crate) fn waiting(&self) -> usize {
        self.queues.waiting()
    }

    pub(crate) fn has_actions(&self) -> bool {
        self.machine.has_actions()
    }

    pub(crate) fn poll_action(&mut self) -> Option<Action> {
        self.machine.poll_action()
    }

    pub(crate) fn poll_transmit(&mut self, now: Time) -> Option<(DialId, Vec<u8>)> {
        self.machine.poll_transmit(now)
    }

    pub(crate) fn next_timeout(&self, now: Time) -> Time {
        if self.finished {
            return Time::NEVER;
        }
        let connecting = self.connecting.iter().map(|waiting| waiting.until).min();
        let goodbyes = self.goodbyes.iter().map(|(until, _)| *until).min();
        self.machine
            .next_timeout(now)
            .min(self.queues.next_timeout())
            .min(connecting.unwrap_or(Time::NEVER))
            .min(goodbyes.unwrap_or(Time::NEVER))
            .min(self.give_up_at)
    }

    /// See [`Queues::take_given_up`].
    #[cfg(test)]
    pub(crate) fn take_given_up(&mut self) -> Vec<(uuid::Uuid, Time)> {
        self.queues.take_given_up()
    }

    /// The session, 0 from when it is known to be over.
    #[cfg(test)]
    pub(crate) fn session_id(&self) -> i64 {
        self.machine.session_id()
    }

    /// See [`Queues::kept_by`].
    #[cfg(test)]
    pub(crate) fn kept_by(&self, handle: HandleId) -> Vec<(String, String)> {
        self.queues.kept_by(handle)
    }

    /// The attempts with contenders of their own on a path, in the order of these.
    #[cfg(test)]
    pub(crate) fn places(&self, path: &str) -> Vec<crate::command::AttemptId> {
        let chroot = &self.config.servers.chroot;
        self.queues.places(&format!("{chroot}{path}"))
    }

    /// The queues, for the reader of a failed simulation.
    #[cfg(test)]
    pub(crate) fn describe(&self) -> String {
        self.queues.describe()
    }

    /// Nothing is driven any more, and not in order: who holds is told.
    pub(crate) fn abandon(&self, now: Time) {
        self.queues.abandon_guards(now);
    }

    // ---- inside ----

    fn parts(&mut self, now: Time) -> (&mut Queues, Context<'_>) {
        (
            &mut self.queues,
            Context {
                now,
                machine: &mut self.machine,
                link: &self.link,
                config: &self.config,
            },
        )
    }

    fn command(&mut self, now: Time, command: Command) {
        match command {
            Command::Open { handle } => {
                self.handles.insert(handle, self.rounds_failed);
                self.ever_opened = true;
                // The session goes on for it: whoever closed the last handle before it waits for
                // contenders to be deleted instead.
                for (until, then) in std::mem::take(&mut self.goodbyes) {
                    let (queues, _) = self.parts(now);
                    queues.await_deletions(|_, _| true, until, then);
                }
            }
            Command::Connect {
                handle,
                until,
                then,
            } => self.connect(now, handle, until, then),
            Command::Lock(request) => {
                let past = request.past.clone();
                if let Some(error) = self.refusal("lock") {
                    request.to.fail(error.with_path(&*request.target.path));
                } else if self.handles.contains_key(&request.handle) {
                    let (queues, mut cx) = self.parts(now);
                    queues.lock(&mut cx, request);
                } else {
                    let error = crate::link::closed("lock").with_path(&*request.target.path);
                    request.to.fail(error);
                }
                // Not before: whoever comes now finds what this one wants.
                if let Some(slot) = past {
                    slot.arrived();
                }
            }
            Command::KeptFreed { slot } => self.queues.kept_freed(&slot),
            Command::Cancel { attempt } => {
                let (queues, mut cx) = self.parts(now);
                queues.cancel(&mut cx, attempt);
            }
            Command::Release { guard, then } => {
                let (queues, mut cx) = self.parts(now);
                queues.release(&mut cx, guard, then);
            }
            Command::Contenders {
                handle,
                target,
                until,
                then,
            } => {
                if let Some(error) = self.refusal("contenders") {
                    then(Err(error.with_path(&*target.path)));
                } else if self.handles.contains_key(&handle) {
                    let (queues, mut cx) = self.parts(now);
                    queues.ask_contenders(&mut cx, handle, target, until, then);
                } else {
                    then(Err(crate::link::closed("contenders")));
                }
            }
            Command::Close {
                handle,
                until,
                then,
            } => self.close_handle(now, handle, until, then),
            Command::Shutdown { then } => {
                self.lose_everything(now);
                self.handles.clear();
                self.ever_opened = true;
                self.goodbyes.push((now + GOODBYE, then));
            }
        }
    }

    fn connect(&mut self, now: Time, handle: HandleId, until: Time, then: Then<()>) {
        if let Some(error) = self.refusal("connect") {
            then(Err(error));
        } else if self.machine.is_connected() {
            then(Ok(()));
        } else {
            let opened_at = self.handles.get(&handle).copied();
            let rounds_before = opened_at.unwrap_or(self.rounds_failed);
            self.connecting.push(Connecting {
                until,
                rounds_before,
                then,
            });
            match self.last_round {
                Some(round) if self.rounds_failed > rounds_before => self.judge(round),
                // The pause of those who waited before is not this one's.
                Some(_) => self.machine.hurry(now),
                None => {}
            }
        }
    }

    fn refusal(&self, operation: &'static str) -> Option<Error> {
        self.refused
            .as_ref()
            .map(|(kind, why)| Error::new(*kind, operation, why.clone()))
    }

    fn close_handle(&mut self, now: Time, handle: HandleId, until: Time, then: Then<()>) {
        self.handles.remove(&handle);
        let callbacks = self.link.callbacks.clone();
        if self.handles.is_empty() {
            // The end of the session frees the contenders (R17).
            self.lose_everything(now);
            self.goodbyes.push((until, then));
        } else {
            let (queues, mut cx) = self.parts(now);
            queues.close_handle(&mut cx, handle, until, then);
        }
        self.link
            .states
            .close(handle, |callback| callbacks.post(callback));
    }

    fn lose_everything(&mut self, now: Time) {
        let handles = self.handles.clone();
        let (queues, mut cx) = self.parts(now);
        queues.close_everything(&mut cx);
        let callbacks = self.link.callbacks.clone();
        for handle in handles.into_keys() {
            self.link
                .states
                .close(handle, |callback| callbacks.post(callback));
        }
    }

    /// Takes what the session tells until there is nothing new, and ends the turn.
    fn settle(&mut self, now: Time) {
        loop {
            let (queues, mut cx) = self.parts(now);
            queues.follow_lease(&mut cx);
            match self.machine.poll_event() {
                Some(event) => self.event(now, event),
                None => break,
            }
        }
        let (queues, mut cx) = self.parts(now);
        queues.flush(&mut cx);
        let (believing, waiting) = (self.queues.is_believing(), self.queues.is_waiting());
        self.machine.set_interest(believing, waiting);
    }

    fn event(&mut self, now: Time, event: Event<Tag>) {
        match event {
            Event::Reply(tag, outcome) => {
                let (queues, mut cx) = self.parts(now);
                queues.reply(&mut cx, tag, outcome);
            }
            Event::Watch { kind, path } => {
                let (queues, mut cx) = self.parts(now);
                queues.event(&mut cx, kind, &path);
            }
            Event::Connected { new_session } => {
                self.last_round = None;
                let timeout = self.machine.session_timeout();
                self.link.set_session(self.machine.session_id(), timeout);
                self.link.set_connected(true);
                tracing::info!(
                    session = self.machine.session_id(),
                    new_session,
                    ?timeout,
                    "connected"
                );
                self.publish(SessionState::Connected);
                for waiting in self.connecting.drain(..) {
                    (waiting.then)(Ok(()));
                }
                let (queues, mut cx) = self.parts(now);
                // The handshake has renewed the lease; turns are looked at after that.
                queues.follow_lease(&mut cx);
                queues.connected(&mut cx);
            }
            Event::Suspended => {
                self.link.set_connected(false);
                let (queues, mut cx) = self.parts(now);
                queues.suspended(&mut cx);
                self.publish(SessionState::Suspended);
            }
            Event::SessionOver => {
                tracing::warn!("the session is over");
                self.link.set_connected(false);
                let (queues, mut cx) = self.parts(now);
                queues.session_over(&mut cx);
                self.publish(SessionState::Expired);
                self.publish(SessionState::Connecting);
            }
            Event::RoundFailed(round) => self.round_failed(round),
            Event::AuthFailed { code } => {
                self.refuse(now, ErrorKind::AuthFailed, self.refused_credentials(code));
            }
            Event::Unsupported {
                version: Version(major, minor, patch),
            } => self.refuse(
                now,
                ErrorKind::Unsupported,
                format!("ZooKeeper {major}.{minor}.{patch} is older than 3.5.5"),
            ),
            Event::Closed => self.ended(now),
        }
    }

    fn publish(&mut self, state: SessionState) {
        let callbacks = self.link.callbacks.clone();
        self.link
            .states
            .set(state, |callback| callbacks.post(callback));
    }

    fn round_failed(&mut self, round: FailedRound) {
        self.rounds_failed = self.rounds_failed.saturating_add(1);
        self.last_round = Some(round);
        tracing::debug!(rounds = round.rounds, "no server takes us");
        self.judge(round);
    }

    /// Fails those connects for which enough rounds have failed.
    fn judge(&mut self, round: FailedRound) {
        for waiting in std::mem::take(&mut self.connecting) {
            let rounds = self.rounds_failed.saturating_sub(waiting.rounds_before);
            match self.hopeless(rounds, round.all) {
                Some(error) => (waiting.then)(Err(error)),
                None => self.connecting.push(waiting),
            }
        }
    }

    /// Why a connect fails before its time is over: by the rounds that have failed since it was
    /// asked for, and how every server failed in the last one, if all did so alike.
    fn hopeless(&self, rounds: u32, all: Option<Failure>) -> Option<Error> {
        if rounds == 0 {
            return None;
        }
        let retries = self.config.options.backoff.retries();
        match all {
            // Nothing but a change of certificates helps.
            Some(Failure::Untrusted) => {
                let why = self.machine.last_failure();
                Some(Error::new(ErrorKind::AuthFailed, "connect", why))
            }
            Some(Failure::NotTls) if rounds >= ROUNDS_WITHOUT_TLS => {
                Some(self.unavailable("no server can be talked to"))
            }
            _ if retries.is_some_and(|retries| rounds >= retries.max(1)) => {
                Some(self.unavailable("no server can be reached"))
            }
            _ => None,
        }
    }

    fn unavailable(&self, what: &str) -> Error {
        Error::new(
            ErrorKind::Unavailable,
            "connect",
            format!("{what} ({})", self.machine.last_failure()),
        )
    }

    fn given_identities(&self) -> String {
        let options = &self.config.options;
        let certified = options.tls.as_ref().is_some_and(|tls| tls.cert.is_some());
        let certificate = certified.then(|| "a client certificate".to_owned());
        let schemes = Some(options.schemes()).filter(|schemes| !schemes.is_empty());
        let given: Vec<_> = schemes.into_iter().chain(certificate).collect();
        match given.is_empty() {
            true => "none".to_owned(),
            false => given.join(", "),
        }
    }

    fn refused_credentials(&self, code: Code) -> String {
        match code {
            Code::AUTH_FAILED => format!(
                "the server does not accept the credentials (scheme {})",
                self.config.options.schemes()
            ),
            Code::SESSION_CLOSED_REQUIRE_SASL_AUTH => {
                format!(
                    "the server demands an identity of another kind than was given ({}): \
                     credentials of a scheme that it enforces, a client certificate, or SASL, \
                     which zoolock does not speak ({code})",
                    self.given_identities()
                )
            }
            code => format!("the server does not accept the session: {code}"),
        }
    }

    /// No attempt to connect can succeed: whoever waits is told so, and no server is bothered.
    fn refuse(&mut self, now: Time, kind: ErrorKind, why: String) {
        tracing::error!(%kind, why, "the session cannot be used");
        self.refused = Some((kind, why));
        for waiting in std::mem::take(&mut self.connecting) {
            if let Some(error) = self.refusal("connect") {
                (waiting.then)(Err(error));
            }
        }
        if let Some(error) = self.refusal("lock") {
            let (queues, mut cx) = self.parts(now);
            queues.fail_all(&mut cx, None, &error);
        }
        self.machine.hold_off(Time::NEVER);
    }

    fn expire_waiting(&mut self, now: Time) {
        let error = self.unavailable("no server answered within the connect timeout");
        let (due, waiting) = std::mem::take(&mut self.connecting)
            .into_iter()
            .partition::<Vec<_>, _>(|waiting| waiting.until <= now);
        self.connecting = waiting;
        for waiting in due {
            (waiting.then)(Err(error.clone()));
        }
        let (due, waiting) = std::mem::take(&mut self.goodbyes)
            .into_iter()
            .partition::<Vec<_>, _>(|(until, _)| *until <= now);
        self.goodbyes = waiting;
        for (_, then) in due {
            then(Ok(()));
        }
    }

    /// The session has ended.
    fn ended(&mut self, now: Time) {
        self.link.set_connected(false);
        self.lose_everything(now);
        let (queues, mut cx) = self.parts(now);
        queues.session_over(&mut cx);
        for waiting in self.connecting.drain(..) {
            (waiting.then)(Err(crate::link::closed("connect")));
        }
        self.publish(SessionState::Closed);
        for (_, then) in self.goodbyes.drain(..) {
            then(Ok(()));
        }
        self.finished = true;
    }
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
