//! The certificates of the present: the files that the TLS options name are read again before every
//! connection, since certificates are renewed while a session lives.
//!
//! What cannot be read, or does not fit together (a renewal that is half done, a file that a mount
//! has lost), changes nothing: the session goes on with what it had, and says so.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio_rustls::rustls::{ClientConfig, Error as TlsError};

use crate::config::Tls;
use crate::runtime;
use crate::sync::primitive::Mutex;
use crate::trust::Trust;

/// How much longer than the connection itself the files may take. They lie on disks that hang, too,
/// and an attempt has little time while a guard believes (R16).
const PATIENCE: Duration = Duration::from_millis(100);

/// See the module.
pub(crate) struct Certificates(Arc<Shared>);

struct Shared {
    options: Tls,
    state: Mutex<State>,
}

struct State {
    trust: Trust,
    config: Arc<ClientConfig>,
    /// One reader at a time, however many attempts: a disk that hangs must not cost a thread each.
    reading: bool,
    /// Why the last reading failed: told once.
    problem: Option<String>,
}

/// A reading under way, if this attempt began it.
pub(crate) struct Reading(Option<oneshot::Receiver<()>>);

impl Certificates {
    /// Begins with what was read when the session was configured.
    pub(crate) fn new(options: Tls, trust: Trust) -> Result<Certificates, TlsError> {
        let config = trust.client_config()?;
        Ok(Certificates(Arc::new(Shared {
            options,
            state: Mutex::new(State {
                trust,
                config,
                reading: false,
                problem: None,
            }),
        })))
    }

    /// What connections are made with at the moment.
    pub(crate) fn present(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0.state.lock().config)
    }

    /// Begins to read the files, on a thread of their own.
    pub(crate) fn read_again(&self) -> Reading {
        let Tls { ca, cert, .. } = &self.0.options;
        if ca.is_none() && cert.is_none() {
            return Reading(None);
        }
        {
            let mut state = self.0.state.lock();
            if state.reading {
                return Reading(None);
            }
            state.reading = true;
        }
        let shared = Arc::clone(&self.0);
        let (done, reading) = oneshot::channel();
        let spawned = runtime::spawn("zoolock-files", move || {
            shared.read();
            // Who waited may have given up.
            let _told = done.send(());
        });
        if let Err(error) = spawned {
            self.0.settle(Err(error.to_string()));
        }
        Reading(Some(reading))
    }
}

impl Reading {
    /// Waits for the reading, but not for long.
    pub(crate) async fn finish(self) {
        if let Some(reading) = self.0
            && tokio::time::timeout(PATIENCE, reading).await.is_err()
        {
            tracing::warn!("the certificates' files take long to read; those of before are used");
        }
    }
}

impl Shared {
    fn read(&self) {
        let read = Trust::read_files(&self.options).map_err(|error| error.message().to_owned());
        let before = self.state.lock().trust.clone();
        self.settle(match read {
            // The same configuration remembers the servers, which makes the next handshake shorter.
            Ok(trust) if trust.is_same_as(&before) => Ok(None),
            Ok(trust) => match trust.client_config() {
                Ok(config) => Ok(Some((trust, config))),
                Err(error) => Err(error.to_string()),
            },
            Err(problem) => Err(problem),
        });
    }

    fn settle(&self, read: Result<Option<(Trust, Arc<ClientConfig>)>, String>) {
        let changed = matches!(read, Ok(Some(_)));
        if let Some(problem) = self.take_over(read) {
            tracing::warn!(
                problem,
                "the certificates cannot be read again; those of before are used"
            );
        } else if changed {
            tracing::info!("certificates have changed; connections use the new ones");
        }
    }

    /// A problem that has to be told. Not told here: a log may be slow, and the network thread asks
    /// for this lock.
    fn take_over(
        &self,
        read: Result<Option<(Trust, Arc<ClientConfig>)>, String>,
    ) -> Option<String> {
        let mut state = self.state.lock();
        state.reading = false;
        let problem = read.as_ref().err().cloned();
        if let Ok(Some((trust, config))) = read {
            state.trust = trust;
            state.config = config;
        }
        let news = state.problem != problem;
        state.problem.clone_from(&problem);
        problem.filter(|_| news)
    }
}

#[cfg(test)]
#[path = "certificates_tests.rs"]
mod tests;
