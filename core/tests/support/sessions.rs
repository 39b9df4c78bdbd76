//! Sessions for tests: each its own, unless a test says otherwise.

use std::time::Duration;

use zoolock::{Mutex, Session, SessionBuilder};
use zoolock_ensemble::Ensemble;

use super::look::eventually;

/// The session timeout of most tests.
pub const S: Duration = Duration::from_secs(4);

/// A session of its own, as clients use it: through the proxies.
pub fn options() -> SessionBuilder {
    Session::builder().session_timeout(S).exclusive(true)
}

/// Connects to any of the servers.
#[track_caller]
pub fn connect(ensemble: &Ensemble) -> Session {
    connect_with(options(), ensemble)
}

/// Connects with options.
#[track_caller]
pub fn connect_with(options: SessionBuilder, ensemble: &Ensemble) -> Session {
    options.connect(&ensemble.hosts()).wait().expect("connect")
}

/// Connects to one server first; the others are there to fail over to.
#[track_caller]
pub fn connect_to(options: SessionBuilder, ensemble: &Ensemble, server: usize) -> Session {
    let others = || (1..=ensemble.size()).filter(|other| *other != server);
    for other in others() {
        ensemble.client_link(other).expect("link").refuse();
    }
    let session = connect_with(options, ensemble);
    for other in others() {
        ensemble
            .client_link(other)
            .expect("link")
            .accept()
            .expect("accept");
    }
    session
}

/// The server that the session is connected to.
#[track_caller]
pub fn server_of(ensemble: &Ensemble, session: &Session) -> usize {
    let mut server = None;
    eventually("the session has a connection", || {
        let sessions = ensemble.sessions().unwrap_or_default();
        let known = sessions
            .iter()
            .find(|known| known.id == session.session_id());
        server = known.and_then(|known| known.server);
        server.is_some()
    });
    server.expect("just seen")
}

/// A mutex with default options.
#[track_caller]
pub fn mutex(session: &Session, path: &str) -> Mutex {
    session.mutex(path).expect("a path")
}
