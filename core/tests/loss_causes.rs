//! R4: every `LockLost` says why, as its source.

use std::time::Duration;

use zookeeper::{WatchedEvent, ZooKeeper};
use zoolock::testing::Server;
use zoolock::{Error, ErrorKind, Guard, Owner, Session};

const LONG: Duration = Duration::from_secs(30);

/// Sessions and leases end soon.
fn server() -> Server {
    let tick = Duration::from_millis(100);
    Server::builder().tick(tick).start().expect("a server")
}

fn connect(server: &Server) -> Session {
    Session::builder()
        .session_timeout(Duration::from_secs(1))
        .exclusive(true)
        .connect(&server.hosts())
        .wait()
        .expect("connect")
}

fn lock(session: &Session, path: &str) -> Guard {
    let mutex = session.mutex(path).expect("a path");
    mutex.lock().wait().expect("lock")
}

/// Both of the ways to be told by an error.
#[track_caller]
fn assert_lost(guard: Guard, why: ErrorKind, says: &str) {
    assert!(guard.wait_lost(Some(LONG)), "it is not lost");
    let asked = guard.ensure_held().expect_err("it is lost");
    assert_cause(&asked, why, says);
    let released = guard.release().wait().expect_err("it is lost");
    assert_cause(&released, why, says);
    assert_eq!(
        released.cause().map(Error::operation),
        Some("release"),
        "the cause speaks of the same call"
    );
}

#[track_caller]
fn assert_cause(error: &Error, why: ErrorKind, says: &str) {
    assert_eq!(error.kind(), ErrorKind::LockLost);
    let cause = error.cause().expect("a cause");
    assert_eq!((cause.kind(), cause.path()), (why, error.path()));
    assert!(cause.message().contains(says), "{cause}");
}

#[test]
fn r04_a_lease_that_ran_out_is_the_cause() {
    let server = server();
    let session = connect(&server);
    let guard = lock(&session, "/locks/frozen");
    server.freeze_all().expect("freeze");
    assert_lost(guard, ErrorKind::Unavailable, "before the lease ended");
}

#[test]
fn r04_the_end_of_the_session_is_the_cause() {
    let server = server();
    let session = connect(&server);
    let guard = lock(&session, "/locks/expired");
    assert!(server.expire_session(session.session_id()).expect("expire"));
    assert_lost(guard, ErrorKind::SessionExpired, "ended the session");
}

/// Seen by the clock first, then known to be over: what was said is not taken back.
#[test]
fn r04_the_cause_is_final() {
    let server = server();
    let session = connect(&server);
    let guard = lock(&session, "/locks/final");
    let id = session.session_id();
    server.freeze_all().expect("freeze");
    assert!(guard.wait_lost(Some(LONG)));
    server.expire_all().expect("expire");
    server.thaw_all().expect("thaw");
    lock(&session, "/locks/other")
        .release()
        .wait()
        .expect("it goes on");
    assert_ne!(session.session_id(), id);
    assert_lost(guard, ErrorKind::Unavailable, "before the lease ended");
}

#[test]
fn r04_somebody_who_deleted_the_contender_is_the_cause() {
    let server = server();
    let session = connect(&server);
    let guard = lock(&session, "/locks/removed");
    let other = ZooKeeper::connect(&server.hosts(), LONG, |_: WatchedEvent| ()).expect("connect");
    other.delete(guard.node_path(), None).expect("delete");
    assert_lost(guard, ErrorKind::LockLost, "somebody else deleted");
    other.close().expect("close");
}

#[test]
fn r04_r17_the_close_of_the_handle_is_the_cause() {
    let server = server();
    let session = connect(&server);
    let guard = lock(&session, "/locks/closed");
    session.close().wait().expect("close");
    assert_lost(guard, ErrorKind::Closed, "closed");
}

#[test]
fn r04_r11_reentry_and_downgrade_of_a_lost_lock_say_why() {
    let server = server();
    let session = connect(&server);
    let owner = Owner::new();
    let reentrant = session.reentrant_mutex("/locks/reentrant").expect("a path");
    let rwlock = session.rwlock("/locks/rw").expect("a path");
    let held = [
        reentrant.lock(&owner).wait().expect("lock"),
        rwlock.write().lock(&owner).wait().expect("write"),
    ];
    assert!(server.expire_session(session.session_id()).expect("expire"));
    for guard in &held {
        assert!(guard.wait_lost(Some(LONG)));
    }
    for again in [
        reentrant.lock(&owner),
        rwlock.write().lock(&owner),
        rwlock.read().lock(&owner),
    ] {
        let error = again.wait().expect_err("the owner has lost it");
        assert_cause(&error, ErrorKind::SessionExpired, "ended the session");
    }
}
