//! A process of one language, asked for one thing after the other.

use std::path::Path;
use std::time::{Duration, Instant};

use zoolock_conformance::actor::Actor;
use zoolock_conformance::message::Message;
use zoolock_conformance::trace::Trace;
use zoolock_ensemble::Identity;

use crate::stage::Digest;

/// Beyond this nobody waits; everything here takes much less.
pub const LONG: Duration = Duration::from_secs(40);
/// What is said "at once" is said within this, on a busy machine: far below the time to connect, which is 30 s.
pub const AT_ONCE: Duration = Duration::from_secs(8);

/// The options of a session.
#[derive(Clone, Default)]
pub struct Who(Vec<(String, String)>);

impl Who {
    /// Nobody in particular.
    pub fn anonymous() -> Who {
        Who::default()
    }

    /// With credentials.
    pub fn digest(user: Digest) -> Who {
        Who::anonymous().with("auth", user.credentials)
    }

    /// Over TLS, trusting an authority.
    pub fn trusting(ca: &Path) -> Who {
        Who::anonymous().tls(ca)
    }

    /// Over TLS, trusting an authority.
    pub fn tls(self, ca: &Path) -> Who {
        self.with("tls", "yes")
            .with("tls_ca", &ca.to_string_lossy())
    }

    /// With a client's certificate.
    pub fn certified(self, identity: &Identity) -> Who {
        self.with("tls_cert", &identity.cert.to_string_lossy())
            .with("tls_key", &identity.key.to_string_lossy())
    }

    /// Any option.
    pub fn with(mut self, key: &str, value: &str) -> Who {
        self.0.retain(|(known, _)| known != key);
        self.0.push((key.to_owned(), value.to_owned()));
        self
    }
}

/// See the module.
pub struct Client {
    actor: Actor,
    name: String,
}

/// An answer that has to come.
pub struct Asked(String);

impl Client {
    /// Starts the process, and waits until it answers: how long interpreters take is not what is looked at.
    pub fn start(name: &str, command: &[String], trace: &Trace) -> Result<Client, String> {
        let mut client = Client {
            actor: Actor::start(name, command, trace)?,
            name: name.to_owned(),
        };
        client.show()?;
        Ok(client)
    }

    /// Asks, and goes on.
    pub fn begin(&mut self, word: &str, fields: &[(&str, &str)]) -> Result<Asked, String> {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let fields: Vec<_> = fields.iter().map(owned).collect();
        self.actor.send(word, &fields).map(Asked)
    }

    /// The answer, good or bad.
    pub fn answer(&self, asked: &Asked) -> Result<Message, String> {
        self.actor.answer(&asked.0, LONG)
    }

    /// Whether the answer has come.
    pub fn has_answered(&self, asked: &Asked) -> bool {
        self.actor.has_answered(&asked.0)
    }

    /// The answer, which has to be a good one.
    pub fn done(&self, asked: &Asked) -> Result<Message, String> {
        let answer = self.answer(asked)?;
        match answer.word.as_str() {
            "ok" => Ok(answer),
            _ => Err(format!("{}: {answer}", self.name)),
        }
    }

    /// Asks for what has to succeed.
    pub fn ask(&mut self, word: &str, fields: &[(&str, &str)]) -> Result<Message, String> {
        let asked = self.begin(word, fields)?;
        self.done(&asked)
    }

    /// Asks for what has to fail, so, and soon: the message says what is wrong, by all of these words.
    pub fn refused(
        &mut self,
        word: &str,
        fields: &[(&str, &str)],
        kind: &str,
        says: &[&str],
    ) -> Result<Message, String> {
        let asked = self.begin(word, fields)?;
        self.has_failed(&asked, kind, says)
    }

    /// That what was begun fails, so, and soon.
    pub fn has_failed(&self, asked: &Asked, kind: &str, says: &[&str]) -> Result<Message, String> {
        let began = Instant::now();
        let answer = self.answer(asked)?;
        let message = answer.get("message").unwrap_or_default();
        if answer.word != "error" || answer.get("kind") != Some(kind) {
            return Err(format!("{}: not {kind}, but {answer}", self.name));
        }
        if let Some(missing) = says.iter().find(|part| !message.contains(**part)) {
            return Err(format!(
                "{}: `{message}` does not say `{missing}`",
                self.name
            ));
        }
        if began.elapsed() > AT_ONCE {
            return Err(format!("{}: `{message}` came late", self.name));
        }
        Ok(answer)
    }

    /// Fields of a connect.
    pub fn connecting<'a>(hosts: &'a str, who: &'a Who) -> Vec<(&'a str, &'a str)> {
        let usual = [
            ("session", "s"),
            ("hosts", hosts),
            ("session_timeout_ms", "12000"),
            ("connect_timeout_ms", "30000"),
            ("exclusive", "yes"),
        ];
        let given = |key: &str| who.0.iter().any(|(known, _)| known == key);
        let mut fields: Vec<_> = usual.into_iter().filter(|(key, _)| !given(key)).collect();
        fields.extend(
            who.0
                .iter()
                .map(|(key, value)| (key.as_str(), value.as_str())),
        );
        fields
    }

    /// Connects.
    pub fn connect(&mut self, hosts: &str, who: &Who) -> Result<(), String> {
        self.ask("connect", &Client::connecting(hosts, who))
            .map(drop)
    }

    /// Makes a mutex, of the session `s`.
    pub fn mutex(&mut self, lock: &str, path: &str, more: &[(&str, &str)]) -> Result<(), String> {
        let mut fields = vec![("session", "s"), ("lock", lock), ("path", path)];
        fields.extend_from_slice(more);
        self.ask("mutex", &fields).map(drop)
    }

    /// Locks; the token and the contender's path.
    pub fn lock(&mut self, lock: &str, guard: &str) -> Result<(i64, String), String> {
        let asked = self.begin_lock(lock, guard)?;
        self.granted(&asked)
    }

    /// Begins to lock.
    pub fn begin_lock(&mut self, lock: &str, guard: &str) -> Result<Asked, String> {
        self.begin("lock", &[("lock", lock), ("guard", guard)])
    }

    /// The token and the contender's path of what was granted.
    pub fn granted(&self, asked: &Asked) -> Result<(i64, String), String> {
        let answer = self.done(asked)?;
        let token = answer.get("token").and_then(|token| token.parse().ok());
        let node = answer.get("node").unwrap_or_default().to_owned();
        token
            .map(|token| (token, node))
            .ok_or_else(|| format!("{}: no token in {answer}", self.name))
    }

    /// Releases.
    pub fn release(&mut self, guard: &str) -> Result<(), String> {
        self.ask("release", &[("guard", guard)]).map(drop)
    }

    /// The state of a guard.
    pub fn guard_state(&mut self, guard: &str) -> Result<String, String> {
        let answer = self.ask("state", &[("guard", guard)])?;
        Ok(answer.get("state").unwrap_or_default().to_owned())
    }

    /// The state of the session `s`.
    pub fn session_state(&mut self) -> Result<String, String> {
        let answer = self.ask("session_state", &[("session", "s")])?;
        Ok(answer.get("state").unwrap_or_default().to_owned())
    }

    /// The sessions of all contenders, in the order of the queue.
    pub fn sessions(&mut self, lock: &str) -> Result<Vec<i64>, String> {
        let answer = self.ask("contenders", &[("lock", lock)])?;
        let session = |text: &str| text.split(',').nth(2)?.parse().ok();
        Ok(answer.all("contender").filter_map(session).collect())
    }

    /// Waits until it was told of the loss of a guard.
    pub fn told(&self, guard: &str) -> Result<(), String> {
        self.actor
            .wait_events(LONG, |events| {
                events
                    .iter()
                    .any(|event| event.word == "lost" && event.get("guard") == Some(guard))
            })
            .map_err(|why| format!("{} was not told that {guard} is lost {why}", self.name))
    }

    /// Whether it was told of a loss.
    pub fn has_lost(&self) -> bool {
        self.actor.events().iter().any(|event| event.word == "lost")
    }

    /// How everything shows itself to who debugs.
    pub fn show(&mut self) -> Result<String, String> {
        let answer = self.ask("show", &[])?;
        Ok(answer.get("text").unwrap_or_default().to_owned())
    }

    /// Ends the process as programs end.
    pub fn exit(&mut self) -> Result<(), String> {
        self.actor.exit(LONG)
    }
}
