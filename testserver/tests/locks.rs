//! The locks themselves against the listener.

use std::time::Duration;

use zoolock::{ErrorKind, GuardState, SessionState, blocking};
use zoolock_testserver::server::Server;

const PATIENCE: Duration = Duration::from_secs(20);

fn session(server: &Server) -> blocking::Session {
    let builder = zoolock::Session::builder()
        .session_timeout(Duration::from_secs(3))
        .exclusive(true);
    blocking::Session::connect_with(builder, &server.hosts()).unwrap()
}

#[test]
fn a_lock_excludes_and_is_handed_over() {
    let server = Server::builder().start().unwrap();
    let (a, b) = (session(&server), session(&server));
    let (mine, yours) = (
        a.mutex("/locks/order").unwrap(),
        b.mutex("/locks/order").unwrap(),
    );
    let held = mine.lock().unwrap();
    assert!(held.fencing_token() > 0);
    assert!(yours.try_lock().unwrap().is_none());
    let error = yours.lock_timeout(Duration::from_millis(50)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let next = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| yours.lock_timeout(PATIENCE));
        held.release().unwrap();
        waiting.join().unwrap().unwrap()
    });
    assert_eq!(next.state(), GuardState::Held);
    next.release().unwrap();
    let reader = b.rwlock("/locks/book").unwrap();
    reader.read().lock().unwrap().release().unwrap();
    a.close().unwrap();
    b.close().unwrap();
    assert!(server.sessions().unwrap().is_empty());
}

#[test]
fn a_lock_is_lost_with_its_session_and_kept_over_a_cut() {
    let server = Server::builder().start().unwrap();
    let a = session(&server);
    let mutex = a.mutex("/locks/order").unwrap();
    let held = mutex.lock().unwrap();
    assert_eq!(server.cut_all(), Ok(1));
    assert_eq!(
        mutex.contenders().unwrap().len(),
        1,
        "over a new connection"
    );
    assert!(held.is_held());
    let id = a.as_async().session_id();
    assert_eq!(server.expire_session(id), Ok(true));
    assert!(held.wait_lost(Some(PATIENCE)));
    assert!(!held.is_held());
    assert_eq!(held.release().unwrap_err().kind(), ErrorKind::LockLost);
    let again = mutex.lock_timeout(PATIENCE).unwrap();
    assert_eq!(a.state(), SessionState::Connected);
    again.release().unwrap();
}

#[test]
fn a_frozen_server_ends_the_lease_and_not_the_caller() {
    let server = Server::builder().start().unwrap();
    let a = session(&server);
    let held = a.mutex("/locks/order").unwrap().lock().unwrap();
    server.freeze_all().unwrap();
    assert!(held.wait_lost(Some(PATIENCE)));
    server.thaw_all().unwrap();
    let again = a
        .mutex("/locks/order")
        .unwrap()
        .lock_timeout(PATIENCE)
        .unwrap();
    again.release().unwrap();
}
