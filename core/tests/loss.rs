//! R4: loss is told, once, in time, and is final.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use support::{
    LONG, S, children, clock, connect, eventually, granted, mutex, one, options, path, queued,
    three, waits,
};
use zoolock::{ErrorKind, Guard, GuardState};

fn count_losses(guard: &Guard) -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let told = Arc::clone(&count);
    guard.on_lost(move || {
        told.fetch_add(1, Ordering::SeqCst);
    });
    count
}

/// The link is frozen until the lease has run out, but not the session.
#[test]
fn r04_loss_is_told_once_and_final_though_the_session_lives() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let id = session.session_id();
    let path = path("final");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let observer = ensemble.observer(1).expect("observer");
    let contender = children(&observer, &path)[0].clone();
    let told = [count_losses(&held), count_losses(&held)];

    ensemble.client_link(1).expect("link").freeze();
    assert!(held.wait_lost(Some(LONG)));
    assert_eq!(held.state(), GuardState::Lost);
    assert_eq!(
        children(&observer, &path),
        [contender],
        "its session has not ended"
    );
    ensemble.client_link(1).expect("link").thaw();

    // The contender of a guard that is lost goes, and the next one is granted.
    let (_next, _) = granted(mutex(&other, &path).lock());
    assert_eq!(session.session_id(), id, "the session should have lived on");
    assert_eq!(held.state(), GuardState::Lost);
    eventually("both are told", || {
        told.iter().all(|count| count.load(Ordering::SeqCst) == 1)
    });
    // At once if registered later, by every way of asking.
    let late = count_losses(&held);
    assert!(held.wait_lost(Some(Duration::ZERO)));
    futures(held.lost());
    eventually("the late one is told", || late.load(Ordering::SeqCst) == 1);
    // The session's end, too, is told to nobody again.
    ensemble.expire(id).expect("expire");
    eventually("a new session", || ![0, id].contains(&session.session_id()));
    thread::sleep(Duration::from_millis(200));
    let counts: Vec<_> = told
        .iter()
        .chain([&late])
        .map(|c| c.load(Ordering::SeqCst))
        .collect();
    assert_eq!(counts, [1, 1, 1]);
    assert_eq!(
        held.release().wait().expect_err("it is lost").kind(),
        ErrorKind::LockLost
    );
}

fn futures(lost: zoolock::Lost) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let in_time = runtime.block_on(async { tokio::time::timeout(LONG, lost).await });
    in_time.expect("the loss is told");
}

#[test]
fn r04_loss_is_told_to_futures_callbacks_and_blocked_threads() {
    let ensemble = one();
    let session = connect(&ensemble);
    let held = Arc::new(mutex(&session, &path("ways")).lock().wait().expect("lock"));
    let told = count_losses(&held);
    let waiter = thread::spawn({
        let held = Arc::clone(&held);
        move || (held.wait_lost(Some(LONG)), clock())
    });
    let future = thread::spawn({
        let lost = held.lost();
        move || futures(lost)
    });
    let frozen = clock();
    ensemble.client_link(1).expect("link").freeze();
    let (lost, at) = waiter.join().expect("no panic");
    assert!(
        lost && at - frozen < S,
        "told {:?} after the freeze",
        at - frozen
    );
    future.join().expect("the future ends");
    eventually("the callback", || told.load(Ordering::SeqCst) == 1);
}

/// The holder's server is cut off from its leader, and another client waits at the leader.
#[test]
fn r04_loss_is_told_before_another_is_granted() {
    let ensemble = three();
    let follower = ensemble.followers()[0];
    let leader = ensemble.leader().expect("a leader");
    let to = |server| {
        let host = ensemble.host(server).expect("host");
        options().connect(&host).wait().expect("connect")
    };
    let (session, other) = (to(follower), to(leader));
    let path = path("before");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let (tell, told) = std::sync::mpsc::channel();
    held.on_lost(move || tell.send(clock()).expect("the test waits"));
    let waiting = mutex(&other, &path).lock();
    queued(&ensemble.observer(leader).expect("observer"), &path, 2);
    ensemble.quorum_link(follower).expect("link").freeze();
    let (_next, at) = granted(waiting);
    let told = told.try_recv().expect("told before");
    assert!(told < at, "told at {told:?}, granted at {at:?}");
}

#[test]
fn r04_released_guard_is_never_told_lost() {
    let ensemble = one();
    let session = connect(&ensemble);
    let held = mutex(&session, &path("released"))
        .lock()
        .wait()
        .expect("lock");
    let told = count_losses(&held);
    held.release_shared().wait().expect("release");
    assert_eq!(held.state(), GuardState::Released);
    ensemble.expire(session.session_id()).expect("expire");
    assert!(!held.wait_lost(Some(Duration::from_secs(2))));
    assert_eq!(told.load(Ordering::SeqCst), 0);
    assert_eq!(held.state(), GuardState::Released);
}

#[test]
fn r04_end_of_the_session_is_told() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("expired");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let told = count_losses(&held);
    ensemble.expire(session.session_id()).expect("expire");
    assert!(held.wait_lost(Some(S / 2)), "known from the handshake");
    eventually("the callback", || told.load(Ordering::SeqCst) == 1);
    // And the session manager begins anew.
    assert!(granted(mutex(&session, &path).lock()).0.is_held());
}

#[test]
fn r04_short_outage_suspends_the_guard() {
    let ensemble = one();
    let session = connect(&ensemble);
    let id = session.session_id();
    let held = mutex(&session, &path("outage"))
        .lock()
        .wait()
        .expect("lock");
    let told = count_losses(&held);
    for _ in 0..3 {
        let link = ensemble.client_link(1).expect("link");
        link.refuse();
        link.reset();
        eventually("the guard is suspended", || {
            held.state() == GuardState::Suspended
        });
        assert!(held.is_held());
        held.ensure_held().expect("it is held");
        link.accept().expect("accept");
        eventually("the guard is held", || held.state() == GuardState::Held);
    }
    assert_eq!(session.session_id(), id);
    assert_eq!(told.load(Ordering::SeqCst), 0);
    held.release().wait().expect("release");
}

/// A waiter's place belongs to its session: the end of the lease does not take it away.
#[test]
fn r04_waiter_keeps_its_place_when_the_lease_runs_out() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let direct = options()
        .connect(&ensemble.direct())
        .wait()
        .expect("connect");
    let session = connect(&ensemble);
    let path = path("place");
    let other = mutex(&direct, &path).lock().wait().expect("lock");
    let held = mutex(&session, &support::path("held"))
        .lock()
        .wait()
        .expect("lock");
    let waiting = mutex(&session, &path).lock();
    queued(&observer, &path, 2);
    let mut behind = mutex(&direct, &path).lock();
    queued(&observer, &path, 3);
    let before = children(&observer, &path);
    ensemble.client_link(1).expect("link").freeze();
    // Another guard of the session tells when its lease has run out.
    assert!(held.wait_lost(Some(LONG)));
    ensemble.client_link(1).expect("link").thaw();
    other.release().wait().expect("release");
    let (second, _) = granted(waiting);
    assert_eq!(children(&observer, &path), before[1..]);
    assert!(waits(&mut behind, Duration::from_millis(500)));
    second.release().wait().expect("release");
    drop(granted(behind));
}

#[test]
fn r04_holder_learns_that_its_contender_was_removed() {
    let ensemble = one();
    let session = connect(&ensemble);
    let observer = ensemble.observer(1).expect("observer");
    // Long held: it watches. Fresh: it will within half a second.
    for age in [Duration::from_millis(700), Duration::ZERO] {
        let path = path("removed");
        let held = mutex(&session, &path).lock().wait().expect("lock");
        let told = count_losses(&held);
        thread::sleep(age);
        observer.delete(held.node_path()).expect("delete");
        let limit = Duration::from_secs(1) + Duration::from_millis(500).saturating_sub(age);
        assert!(held.wait_lost(Some(limit)), "not told within {limit:?}");
        eventually("the callback", || told.load(Ordering::SeqCst) == 1);
        let error = held.ensure_held().expect_err("lost");
        assert_eq!(error.kind(), ErrorKind::LockLost);
        // The session is well, and the path free.
        let (next, _) = granted(mutex(&session, &path).lock());
        next.release().wait().expect("release");
    }
}

#[test]
fn r04_waiter_whose_contender_was_removed_queues_again() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let path = path("requeue");
    let observer = ensemble.observer(1).expect("observer");
    let held = mutex(&other, &path).lock().wait().expect("lock");
    let waiting = mutex(&session, &path).lock();
    queued(&observer, &path, 2);
    let removed = children(&observer, &path)[1].clone();
    observer
        .delete(&format!("{path}/{removed}"))
        .expect("delete");
    eventually("another contender", || {
        let names = children(&observer, &path);
        names.len() == 2 && names[1] != removed
    });
    held.release().wait().expect("release");
    assert!(granted(waiting).0.is_held());
}

/// It will list again before its turn, so it need not know of its own node for that.
#[test]
fn r04_waiter_behind_several_whose_contender_was_removed_queues_again() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let path = path("requeue-behind");
    let observer = ensemble.observer(1).expect("observer");
    let held = mutex(&other, &path).lock().wait().expect("lock");
    let between = mutex(&other, &path).lock();
    queued(&observer, &path, 2);
    let waiting = mutex(&session, &path).lock();
    queued(&observer, &path, 3);
    let removed = children(&observer, &path)[2].clone();
    observer
        .delete(&format!("{path}/{removed}"))
        .expect("delete");
    let limit = Duration::from_secs(2);
    let again = zoolock_ensemble::eventually(limit, || {
        let names = children(&observer, &path);
        names.len() == 3 && names[2] != removed
    });
    assert!(again, "not within {limit:?}");
    held.release().wait().expect("release");
    granted(between).0.release().wait().expect("release");
    assert!(granted(waiting).0.is_held());
}
