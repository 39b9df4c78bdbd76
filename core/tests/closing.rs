//! R17: closing a handle, and the end of a process.

mod rig;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rig::child::{self, ChildProcess};
use rig::{Outcome, assert_kind, connect, knows, observe, requested, unhurried, wait_children};
use support::{LONG, children, eventually, one, path};
use zoolock::{ErrorKind, GuardState, Owner, Session, SessionState};
use zoolock_ensemble::{Action, Ensemble, Message, Moment, Op};

/// A handle on a session that equal handles share.
fn share(ensemble: &Ensemble) -> Session {
    Session::builder()
        .session_timeout(rig::UNHURRIED)
        .connect_timeout(LONG)
        .connect(&ensemble.hosts())
        .done()
}

#[test]
fn r17_the_last_close_ends_the_session_and_frees_everything() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("last");
    let session = connect(&ensemble);
    let mutex = session.mutex(&path).unwrap();
    let guard = mutex.lock().done();
    let waiting = mutex.lock();
    wait_children(&observer, &path, 2);
    session.close().done();
    assert_eq!(guard.state(), GuardState::Lost);
    assert_kind(&waiting.refused(), ErrorKind::Closed);
    assert_eq!(children(&observer, &path), [""; 0]);
    assert!(!knows(&ensemble, session.session_id()));
    // By the end of the session, not by deletes; asked for again where a connection broke meanwhile.
    assert!(!requested(&ensemble, Op::Close).is_empty());
    assert_eq!(requested(&ensemble, Op::Delete).len(), 0);
    assert_kind(&guard.release().refused(), ErrorKind::LockLost);
}

#[test]
fn r17_while_others_share_the_session_contenders_are_freed_by_deletes() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("shared");
    let (session, other) = (share(&ensemble), share(&ensemble));
    assert_eq!(session.session_id(), other.session_id());
    let id = session.session_id();
    let theirs = other
        .mutex(&format!("{path}/theirs"))
        .unwrap()
        .lock()
        .done();
    let guard = session.mutex(&path).unwrap().lock().done();
    let waiting = session.mutex(&path).unwrap().lock();
    let mut other_waits = other.mutex(&path).unwrap().lock();
    wait_children(&observer, &path, 4); // one is a stranger's path
    session.close().done();
    assert_eq!(guard.state(), GuardState::Lost);
    assert_kind(&waiting.refused(), ErrorKind::Closed);
    // Ours are gone when close says so, theirs are there and come next.
    assert_eq!(requested(&ensemble, Op::Delete).len(), 2);
    assert_eq!(requested(&ensemble, Op::Close).len(), 0);
    assert!(knows(&ensemble, id));
    assert!(theirs.is_held());
    let granted = other_waits.wait_for(LONG).expect("granted").unwrap();
    assert!(granted.is_held());
    assert_eq!(other.state(), SessionState::Connected);
    other.close().done();
    assert!(!knows(&ensemble, id));
    assert_eq!(granted.state(), GuardState::Lost);
    assert_eq!(children(&observer, &path), ["theirs"]);
}

#[test]
fn r17_guards_are_lost_before_anything_is_sent() {
    let ensemble = one();
    let session = connect(&ensemble);
    let guard = session.mutex(&path("before")).unwrap().lock().done();
    let (sender, told) = channel();
    guard.on_lost(move || sender.send(()).unwrap());
    let link = ensemble.client_link(1).unwrap();
    // The end of the session is kept back: whatever is told now was told without it.
    let cut = link
        .cut(
            Message::Request(Some(Op::Close)),
            1,
            Moment::Before,
            Action::Hold,
        )
        .unwrap();
    let mut close = session.close_timeout(LONG);
    cut.wait(LONG).unwrap();
    assert_eq!(guard.state(), GuardState::Lost);
    told.recv_timeout(LONG).expect("told");
    assert!(close.is_under_way());
    link.thaw();
    close.done();
}

#[test]
fn r17_without_a_server_guards_are_lost_and_calls_fail_all_the_same() {
    let ensemble = one();
    let path = path("frozen");
    let session = connect(&ensemble);
    let mutex = session.mutex(&path).unwrap();
    let guard = mutex.lock().done();
    let lock = session.rwlock(&path).unwrap();
    let read = lock.read().lock(&Owner::new()).done();
    let link = ensemble.client_link(1).unwrap();
    link.freeze();
    let waiting = [mutex.lock(), lock.write().lock(&Owner::new())];
    let looking = mutex.contenders();
    let started = Instant::now();
    let mut close = session.close_timeout(Duration::from_secs(20));
    for call in waiting {
        assert_kind(&call.refused(), ErrorKind::Closed);
    }
    assert_kind(&looking.refused(), ErrorKind::Closed);
    assert!(guard.wait_lost(Some(LONG)) && read.wait_lost(Some(LONG)));
    // All of it at once, while close itself still waits for the server.
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(close.is_under_way());
    link.thaw();
    close.done();
}

#[test]
fn r17_close_takes_at_most_its_time() {
    let ensemble = one();
    let (session, shared, other) = (connect(&ensemble), share(&ensemble), share(&ensemble));
    let guards = [
        session.mutex(&path("bounded")).unwrap().lock().done(),
        shared.mutex(&path("bounded")).unwrap().lock().done(),
    ];
    ensemble.client_link(1).unwrap().freeze();
    // The session lives for 50 s, so that only its own limit can end the call.
    for handle in [&session, &shared] {
        let started = Instant::now();
        handle.close_timeout(Duration::from_millis(300)).done();
        let took = started.elapsed();
        assert!(took >= Duration::from_millis(299), "{took:?}");
        assert!(took < Duration::from_secs(15), "{took:?}");
    }
    assert!(guards.iter().all(|guard| !guard.is_held()));
    drop(other);
}

#[test]
fn r17_by_default_close_takes_at_most_five_seconds() {
    let ensemble = one();
    let session = connect(&ensemble);
    ensemble.client_link(1).unwrap().freeze();
    let started = Instant::now();
    session.close().done();
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(4_900), "{took:?}");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn r17_closing_is_idempotent_and_final() {
    let ensemble = one();
    let session = connect(&ensemble);
    let clone = session.clone();
    let mutex = session.mutex(&path("again")).unwrap();
    let (first, second) = (session.close(), clone.close());
    first.done();
    second.done();
    session.close().done();
    for handle in [&session, &clone] {
        assert_eq!(handle.state(), SessionState::Closed);
        let refused = handle.mutex("/a").map(drop).unwrap_err();
        assert_kind(&refused, ErrorKind::Closed);
    }
    assert_kind(&mutex.lock().refused(), ErrorKind::Closed);
    assert_kind(&mutex.try_lock().refused(), ErrorKind::Closed);
    assert_kind(&mutex.contenders().refused(), ErrorKind::Closed);
    assert_eq!(requested(&ensemble, Op::Close).len(), 1);
    // Equal options open another session.
    let next = connect(&ensemble);
    assert_ne!(next.session_id(), session.session_id());
}

#[test]
fn r17_a_handle_opened_while_the_last_one_closes_hinders_neither() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("reopened");
    for _ in 0..30 {
        let session = share(&ensemble);
        let guard = session.mutex(&path).unwrap().lock().done();
        let started = Instant::now();
        let closing = session.close_timeout(LONG);
        let next = Session::builder()
            .session_timeout(rig::UNHURRIED)
            .connect_timeout(LONG)
            .connect(&ensemble.hosts());
        closing.done();
        assert!(
            started.elapsed() < LONG / 2,
            "it did not wait for its limit"
        );
        assert_eq!(guard.state(), GuardState::Lost);
        let next = next.done();
        next.mutex(&path).unwrap().lock().done().release().done();
        assert_eq!(children(&observer, &path), [""; 0]);
        next.close().done();
    }
}

#[test]
fn r17_a_connect_that_fails_leaves_nothing() {
    let ensemble = one();
    let link = ensemble.client_link(1).unwrap();
    link.freeze();
    let options = unhurried().connect_timeout(Duration::from_millis(300));
    let error = options.connect(&ensemble.hosts()).refused();
    assert_kind(&error, ErrorKind::Unavailable);
    // Frozen, the proxy would not notice that its client is gone.
    link.thaw();
    eventually("the connection is given up", || link.connections() == 0);
}

#[test]
fn r17_a_handle_that_is_dropped_with_its_locks_and_guards_closes() {
    let ensemble = one();
    let path = path("dropped");
    let session = connect(&ensemble);
    let id = session.session_id();
    let mutex = session.mutex(&path).unwrap();
    drop(session);
    // A lock keeps its session, so does a call, and so does a guard.
    let guard = mutex.lock().done();
    let mut waiting = mutex.lock();
    drop(mutex);
    assert!(waiting.is_under_way());
    assert!(guard.is_held());
    guard.release().done();
    let guard = waiting.done();
    assert!(knows(&ensemble, id));
    drop(guard);
    eventually("the session is ended", || !knows(&ensemble, id));
}

#[test]
fn r17_observers_of_the_state_hear_of_the_close() {
    let ensemble = one();
    let (session, other) = (share(&ensemble), share(&ensemble));
    let (sender, told) = channel();
    session
        .on_state(move |state| sender.send(state).unwrap())
        .expect("open");
    let silent = Arc::new(AtomicBool::new(true));
    let heard = Arc::clone(&silent);
    other
        .on_state(move |_| heard.store(false, Ordering::SeqCst))
        .expect("open");
    session.close().done();
    let refused = session.on_state(|_| ()).expect_err("closed");
    assert_eq!(refused.kind(), zoolock::ErrorKind::Closed);
    assert_eq!(told.recv_timeout(LONG), Ok(SessionState::Closed));
    assert!(told.recv_timeout(rig::SHORT).is_err(), "once");
    assert!(silent.load(Ordering::SeqCst), "the other one is open");
    assert_eq!(other.state(), SessionState::Connected);
}

// ---- the end of a process ----

/// Holds locks, releases some in the background at the very end, and returns from its main function, or waits to be
/// killed.
#[test]
#[ignore = "the child of the tests below"]
fn holds_and_exits() {
    let Some(argument) = child::argument() else {
        return;
    };
    let [hosts, path, timeout_ms] = argument.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{argument}");
    };
    let timeout = Duration::from_millis(timeout_ms.parse().unwrap());
    let session = Session::builder()
        .session_timeout(timeout)
        .connect(hosts)
        .done();
    let own = unhurried().connect(hosts).done();
    let held = session.mutex(path).unwrap().lock().done();
    let kept = own.mutex(&format!("{path}-own")).unwrap().lock().done();
    let released: Vec<_> = (0..20)
        .map(|index| {
            let path = format!("{path}-{index}");
            session.mutex(&path).unwrap().lock().done()
        })
        .collect();
    child::tell(
        "sessions",
        format!("{} {}", session.session_id(), own.session_id()),
    );
    child::wait_for_parent();
    drop(released);
    // As a program does that ends without closing anything.
    std::mem::forget((session, own, held, kept));
}

fn start_holder(ensemble: &Ensemble, path: &str, timeout_ms: u32) -> (ChildProcess, Vec<i64>) {
    let argument = format!("{} {path} {timeout_ms}", ensemble.hosts());
    let child = ChildProcess::start("holds_and_exits", &argument);
    let told = child.told("sessions");
    let sessions = told.split(' ').map(|id| id.parse().unwrap()).collect();
    (child, sessions)
}

#[test]
fn r17_a_process_that_exits_closes_its_sessions() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("exit");
    let (mut child, sessions) = start_holder(&ensemble, &path, 50_000);
    assert!(sessions.iter().all(|session| knows(&ensemble, *session)));
    let before_exit = Instant::now();
    assert!(child.finish().success());
    // They would live for 50 s.
    assert!(!sessions.iter().any(|session| knows(&ensemble, *session)));
    assert!(before_exit.elapsed() < Duration::from_secs(20));
    for index in 0..20 {
        assert_eq!(children(&observer, &format!("{path}-{index}")), [""; 0]);
    }
    assert_eq!(children(&observer, &path), [""; 0]);
    assert_eq!(requested(&ensemble, Op::Close).len(), 2);
}

#[test]
fn r17_a_process_that_exits_waits_for_no_dead_server() {
    let ensemble = one();
    let path = path("exit");
    let (mut child, _) = start_holder(&ensemble, &path, 50_000);
    ensemble.client_link(1).unwrap().freeze();
    let before_exit = Instant::now();
    assert!(child.finish().success());
    // A second, and what a process takes on a busy machine.
    assert!(before_exit.elapsed() < Duration::from_secs(10));
}

#[test]
fn r17_a_process_that_is_killed_frees_its_locks_after_its_timeout() {
    let ensemble = one();
    let path = path("killed");
    let (mut child, _) = start_holder(&ensemble, &path, 2_000);
    let mut waiting = connect(&ensemble).mutex(&path).unwrap().lock();
    assert!(waiting.is_under_way());
    let killed = Instant::now();
    child.kill();
    let guard = waiting.done();
    let took = killed.elapsed();
    // The timeout counts from the last ping, at most S/6 before, and the server rounds up by a tick and a half.
    assert!(took > Duration::from_millis(1_500), "{took:?}");
    assert!(took < Duration::from_secs(15), "{took:?}");
    assert!(guard.is_held());
}
