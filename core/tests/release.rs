//! R10: release.

mod support;

use std::thread;
use std::time::Duration;

use support::{
    LONG, S, children, clock, connect, eventually, granted, is_empty, mutex, one, options, path,
    queued, requests, three,
};
use zoolock::{ErrorKind, GuardState};
use zoolock_ensemble::Op;

#[test]
fn r10_release_resolves_when_the_contender_is_gone() {
    let ensemble = one();
    let session = connect(&ensemble);
    let observer = ensemble.observer(1).expect("observer");
    let path = path("gone");
    for _ in 0..20 {
        let held = mutex(&session, &path).lock().wait().expect("lock");
        assert_eq!(children(&observer, &path).len(), 1);
        held.release().wait().expect("release");
        assert_eq!(children(&observer, &path).len(), 0);
    }
}

#[test]
fn r10_belief_ends_when_release_is_called() {
    let ensemble = one();
    let session = connect(&ensemble);
    let held = mutex(&session, &path("ends")).lock().wait().expect("lock");
    ensemble.client_link(1).expect("link").freeze();
    let release = held.release_shared();
    assert!(!held.is_held());
    assert_eq!(held.state(), GuardState::Released);
    let error = held.ensure_held().expect_err("released");
    assert_eq!(error.kind(), ErrorKind::NotHeld);
    ensemble.client_link(1).expect("link").thaw();
    release.wait().expect("release");
}

/// The section ended while the lock was held: no reason to wait for a server.
#[test]
fn r10_release_resolves_within_the_lease_when_the_server_is_frozen() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let observer = ensemble.observer(1).expect("observer");
    let path = path("frozen");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let waiting = mutex(&other, &path).lock();
    queued(&observer, &path, 2);
    ensemble.client_link(1).expect("link").freeze();
    let called = clock();
    let outcome = held.release().wait_for(S);
    let took = clock() - called;
    outcome
        .expect("not before the lease's end")
        .expect("it ended while held");
    assert!(took <= S / 2 + Duration::from_millis(200), "{took:?}");
    assert_eq!(
        children(&observer, &path).len(),
        2,
        "it cannot have been told"
    );
    ensemble.client_link(1).expect("link").thaw();
    // Clean-up goes on.
    granted(waiting).0.release().wait().expect("release");
    is_empty(&observer, &path, Duration::from_millis(200));
}

#[test]
fn r10_release_resolves_when_the_session_is_over() {
    let ensemble = one();
    let session = connect(&ensemble);
    let link = ensemble.client_link(1).expect("link");
    let held = mutex(&session, &path("over")).lock().wait().expect("lock");
    let id = session.session_id();
    link.refuse();
    link.reset();
    let release = held.release();
    ensemble.expire(id).expect("expire");
    link.accept().expect("accept");
    let called = clock();
    release.wait().expect("it ended while held");
    assert!(clock() - called < S / 2);
}

#[test]
fn r10_second_release_is_not_held_and_touches_nothing() {
    let ensemble = one();
    let session = connect(&ensemble);
    let observer = ensemble.observer(1).expect("observer");
    let path = path("second");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let (first, second) = (held.release_shared(), held.release_shared());
    assert_eq!(
        second.wait().expect_err("a second one").kind(),
        ErrorKind::NotHeld
    );
    first.wait().expect("release");
    // The next holder is not harmed by a third one, or by the drop.
    let next = mutex(&session, &path).lock().wait().expect("lock");
    ensemble.log().clear();
    let third = held.release_shared().wait().expect_err("a third one");
    assert_eq!(third.kind(), ErrorKind::NotHeld);
    drop(held);
    assert_eq!(requests(&ensemble).get(&Op::Delete), None);
    assert!(next.is_held());
    assert_eq!(children(&observer, &path).len(), 1);
}

#[test]
fn r10_release_of_a_lost_guard_is_lock_lost_and_touches_nothing() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let observer = ensemble.observer(1).expect("observer");
    let path = path("lost");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let waiting = mutex(&other, &path).lock();
    queued(&observer, &path, 2);
    ensemble.expire(session.session_id()).expect("expire");
    assert!(held.wait_lost(Some(LONG)));
    let (next, _) = granted(waiting);
    eventually("the session is there again", || {
        session.state() == zoolock::SessionState::Connected
    });
    ensemble.log().clear();
    for _ in 0..2 {
        let error = held.release_shared().wait().expect_err("lost");
        assert_eq!(error.kind(), ErrorKind::LockLost);
    }
    assert_eq!(held.state(), GuardState::Lost);
    drop(held);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(requests(&ensemble).get(&Op::Delete), None);
    assert!(next.is_held());
    assert_eq!(children(&observer, &path).len(), 1);
}

/// Many contenders of one session on one path: each release takes its own away, no other.
#[test]
fn r10_release_deletes_exactly_its_own_contender() {
    let ensemble = one();
    let session = connect(&ensemble);
    let observer = ensemble.observer(1).expect("observer");
    let path = path("own");
    let mut held = mutex(&session, &path).lock().wait().expect("lock");
    let mut waiting = Vec::new();
    for at in 0..5 {
        waiting.push(mutex(&session, &path).lock());
        queued(&observer, &path, at + 2);
    }
    for pending in waiting {
        let before = children(&observer, &path);
        held.release().wait().expect("release");
        assert_eq!(children(&observer, &path), before[1..]);
        held = granted(pending).0;
        assert_eq!(held.node_path(), format!("{path}/{}", before[1]));
    }
}

#[test]
fn r10_dropped_guard_is_released() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let observer = ensemble.observer(1).expect("observer");
    let path = path("dropped");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let waiting = mutex(&other, &path).lock();
    queued(&observer, &path, 2);
    drop(held);
    granted(waiting).0.release().wait().expect("release");
    is_empty(&observer, &path, Duration::from_millis(100));
}

#[test]
fn r10_release_from_another_thread_or_task() {
    let ensemble = one();
    let session = connect(&ensemble);
    let observer = ensemble.observer(1).expect("observer");
    let path = path("thread");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let thread = thread::spawn(move || held.release().wait());
    thread.join().expect("no panic").expect("release");
    is_empty(&observer, &path, Duration::ZERO);

    let held = mutex(&session, &path).lock().wait().expect("lock");
    thread::spawn(move || drop(held)).join().expect("no panic");
    queued(&observer, &path, 0);

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let task = runtime.spawn(async move { held.release().await });
    runtime.block_on(task).expect("no panic").expect("release");
    is_empty(&observer, &path, Duration::ZERO);
}

/// Two threads release at once: one of them has.
#[test]
fn r10_only_one_of_two_releases_at_once_succeeds() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("race");
    for _ in 0..50 {
        let held = mutex(&session, &path).lock().wait().expect("lock");
        let outcomes = thread::scope(|scope| {
            let release = || held.release_shared().wait().map_err(|error| error.kind());
            let threads = [scope.spawn(release), scope.spawn(release)];
            threads.map(|thread| thread.join().expect("no panic"))
        });
        assert!(
            outcomes == [Ok(()), Err(ErrorKind::NotHeld)]
                || outcomes == [Err(ErrorKind::NotHeld), Ok(())],
            "{outcomes:?}"
        );
    }
}

/// A release whose connection breaks again and again, and moves between servers.
#[test]
fn r10_release_outlasts_resets() {
    let ensemble = three();
    let observer = ensemble
        .observer(ensemble.leader().expect("a leader"))
        .expect("observer");
    let direct = options()
        .connect(&ensemble.direct())
        .wait()
        .expect("connect");
    let session = connect(&ensemble);
    let path = path("resets");
    for _ in 0..10 {
        let held = mutex(&session, &path).lock().wait().expect("lock");
        let next = mutex(&direct, &path).lock();
        queued(&observer, &path, 2);
        let release = held.release();
        for server in 1..=3 {
            ensemble.client_link(server).expect("link").reset();
        }
        release.wait().expect("release");
        granted(next).0.release().wait().expect("release");
        queued(&observer, &path, 0);
    }
}
