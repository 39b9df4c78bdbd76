//! One case in one language: its clients, its paths, and what nobody may have said in the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use zoolock_conformance::message::unescape;
use zoolock_conformance::trace::Trace;
use zoolock_ensemble::{Relay, eventually};

use crate::client::{Client, LONG};
use crate::secrets::Secret;
use crate::stage::{ALICE, BOB, Stage};

static NEXT: AtomicUsize = AtomicUsize::new(1);

/// See the module.
pub struct Scene<'a> {
    /// What all cases share.
    pub stage: &'a Stage,
    /// What was said.
    pub trace: Trace,
    /// Which it is.
    pub language: String,
    command: &'a [String],
    path: String,
    secrets: Vec<Secret>,
}

impl<'a> Scene<'a> {
    /// Nothing has been done yet.
    pub fn new(stage: &'a Stage, case: &str, language: &str, command: &'a [String]) -> Scene<'a> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut secrets = Vec::new();
        for user in [ALICE, BOB] {
            let password = user
                .credentials
                .split_once(':')
                .map_or("", |(_, word)| word);
            let hash = user.id.split_once(':').map_or("", |(_, hash)| hash);
            secrets.push(Secret::new("a password", password.as_bytes()));
            secrets.push(Secret::new("a password's hash", hash.as_bytes()));
        }
        Scene {
            stage,
            trace: Trace::new(),
            language: language.to_owned(),
            command,
            path: format!("/{}-{language}-{number}", case.replace(' ', "-")),
            secrets,
        }
    }

    /// A path of this case's own.
    pub fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }

    /// Starts a client.
    pub fn client(&self, name: &str) -> Result<Client, String> {
        Client::start(name, self.command, &self.trace)
    }

    /// A way of this case's own to the server that takes everybody, for TLS.
    pub fn relay(&self) -> Result<Relay, String> {
        self.stage
            .open
            .secure_address(1)
            .and_then(Relay::start)
            .map_err(|error| error.to_string())
    }

    /// Something more that must not be seen.
    pub fn hides(&mut self, secret: Secret) {
        self.secrets.push(secret);
    }

    /// R19: nothing that a client wrote, in answers or to its log, shows a secret.
    pub fn end(&self) -> Result<(), String> {
        for line in self.trace.lines() {
            // What the runner itself sent holds the secrets, of course.
            if line.split(' ').any(|word| word == ">") && !line.contains(" stderr: ") {
                continue;
            }
            let plain = unescape(&line).unwrap_or_else(|_| line.clone());
            for secret in &self.secrets {
                for text in [&line, &plain] {
                    if let Some(form) = secret.seen_in(text.as_bytes()) {
                        return Err(format!("R19: {} is shown {form}: {line}", secret.what));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Waits until something is so.
pub fn wait(what: &str, so: impl FnMut() -> bool) -> Result<(), String> {
    match eventually(LONG, so) {
        true => Ok(()),
        false => Err(format!("never seen: {what}")),
    }
}

/// That something stays so for a while: what is looked for is that nothing happens.
pub fn stays(what: &str, time: Duration, mut so: impl FnMut() -> bool) -> Result<(), String> {
    match eventually(time, || !so()) {
        true => Err(format!("not any more: {what}")),
        false => Ok(()),
    }
}
