//! What the tests of R11 to R20 share beside `support`: outcomes that cannot hang, and looks at sessions and requests.

#![allow(dead_code, reason = "each test file uses a part")]

pub mod child;
pub mod forward;

use std::time::Duration;

use zoolock::{Error, ErrorKind, Pending, Result, Session, SessionBuilder};
use zoolock_ensemble::{Ensemble, Observer, Op, What};

use crate::support::{self, LONG, eventually};

/// Long enough to see that nothing comes.
pub const SHORT: Duration = Duration::from_millis(150);
/// A session timeout that no test waits for: nothing expires, and hardly anything renews a lease.
pub const UNHURRIED: Duration = Duration::from_secs(50);

/// Options of a session of its own with an unhurried timeout.
pub fn unhurried() -> SessionBuilder {
    Session::builder()
        .session_timeout(UNHURRIED)
        .connect_timeout(LONG)
        .exclusive(true)
}

/// A session of its own that no test sees expire.
#[track_caller]
pub fn connect(ensemble: &Ensemble) -> Session {
    unhurried().connect(&ensemble.hosts()).done()
}

#[track_caller]
pub fn observe(ensemble: &Ensemble) -> Observer {
    ensemble.observer(1).expect("an observer")
}

/// Waits until so many children are under `path`.
#[track_caller]
pub fn wait_children(observer: &Observer, path: &str, count: usize) {
    eventually(&format!("{count} children of {path}"), || {
        support::children(observer, path).len() == count
    });
}

/// Outcomes of calls, within [`LONG`].
pub trait Outcome<T> {
    fn outcome(self) -> Result<T>;
    fn done(self) -> T;
    fn refused(self) -> Error;
    fn is_under_way(&mut self) -> bool;
}

impl<T> Outcome<T> for Pending<T> {
    #[track_caller]
    fn outcome(mut self) -> Result<T> {
        match self.wait_for(LONG) {
            Some(outcome) => outcome,
            None => panic!("{self:?} has no outcome within {LONG:?}"),
        }
    }

    #[track_caller]
    fn done(self) -> T {
        match self.outcome() {
            Ok(value) => value,
            Err(error) => panic!("{error:?}"),
        }
    }

    #[track_caller]
    fn refused(self) -> Error {
        match self.outcome() {
            Ok(_) => panic!("it succeeded"),
            Err(error) => error,
        }
    }

    /// Whether there is no outcome, nor comes one for a while.
    #[track_caller]
    fn is_under_way(&mut self) -> bool {
        match self.wait_for(SHORT) {
            None => true,
            Some(Ok(_)) => false,
            Some(Err(error)) => panic!("{error:?}"),
        }
    }
}

#[track_caller]
pub fn assert_kind(error: &Error, kind: ErrorKind) {
    assert_eq!(error.kind(), kind, "{error:?}");
}

/// The paths of the requests of a kind that clients sent since the log was cleared.
pub fn requested(ensemble: &Ensemble, wanted: Op) -> Vec<String> {
    ensemble
        .log()
        .entries()
        .into_iter()
        .filter_map(|entry| match entry.what {
            What::Request { op, path, .. } if op == wanted => Some(path.unwrap_or_default()),
            _ => None,
        })
        .collect()
}

/// Whether the leader knows a session.
#[track_caller]
pub fn knows(ensemble: &Ensemble, session: i64) -> bool {
    let sessions = ensemble.sessions().expect("sessions");
    sessions.iter().any(|known| known.id == session)
}
