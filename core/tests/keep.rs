//! Kept locks: what a release keeps, and when it is given up.

mod support;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use support::{children, connect, eventually, is_empty, one, path, queued, requests, waits};
use zoolock::{ErrorKind, LockOptions, Mutex, Owner, Session};

/// Longer than any test takes.
const IDLE: Duration = Duration::from_secs(600);

fn keeping(session: &Session, path: &str, idle: Duration) -> Mutex {
    let options = LockOptions::new().keep(idle);
    session.mutex_with(path, options).expect("a mutex")
}

/// The token and the number of one grant.
fn cycle(mutex: &Mutex) -> (i64, u64) {
    let held = mutex.lock().wait().expect("lock");
    let token = (held.fencing_token(), held.grant_count());
    held.release().wait().expect("release");
    token
}

#[test]
fn r02_a_kept_contender_is_granted_again_at_no_request_and_the_pair_rises() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("again");
    let mutex = keeping(&session, &path, IDLE);
    let mut tokens = vec![cycle(&mutex)];
    ensemble.log().clear();
    for _ in 0..1000 {
        tokens.push(cycle(&mutex));
    }
    assert_eq!(requests(&ensemble).into_iter().collect::<Vec<_>>(), []);
    assert!(tokens.is_sorted_by(|one, next| one < next));
    let (first, last) = (tokens[0], tokens[1000]);
    assert_eq!((first.1, last), (1, (first.0, 1001)));
    let observer = ensemble.observer(1).expect("observer");
    assert_eq!(children(&observer, &path).len(), 1);
}

#[test]
fn r07_a_stranger_ends_the_keeping_and_is_granted() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let path = path("stranger");
    let mutex = keeping(&session, &path, IDLE);
    let kept = cycle(&mutex);
    let strange = other.mutex(&path).expect("a mutex");
    let held = strange.lock().wait().expect("idle, so given up at once");
    assert!((held.fencing_token(), held.grant_count()) > kept);
    assert!(mutex.try_lock().wait().expect("an answer").is_none());
    held.release().wait().expect("release");
    let (token, count) = cycle(&mutex);
    assert!(token > kept.0 && count == 1);
}

#[test]
fn r07_a_holder_in_a_tight_loop_makes_way_for_a_stranger() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let path = path("loop");
    let (stop, stopped) = mpsc::channel::<()>();
    let looping = {
        let mutex = keeping(&session, &path, IDLE);
        thread::spawn(move || {
            let mut tokens = Vec::new();
            while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                tokens.push(cycle(&mutex));
            }
            tokens
        })
    };
    let strange = other.mutex(&path).expect("a mutex");
    let mut strangers = Vec::new();
    for _ in 0..20 {
        strangers.push(cycle(&strange));
    }
    stop.send(()).expect("the loop");
    let mut all = looping.join().expect("the loop");
    assert!(all.is_sorted_by(|one, next| one < next));
    all.extend(&strangers);
    all.sort_unstable();
    assert!(all.is_sorted_by(|one, next| one < next), "a pair twice");
}

#[test]
fn r07_local_waiters_are_served_in_order_from_the_kept_contender() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("local");
    let mutex = keeping(&session, &path, IDLE);
    let first = cycle(&mutex);
    let held = mutex.lock().wait().expect("lock");
    ensemble.log().clear();
    let waiting: Vec<_> = (0..20).map(|_| mutex.lock()).collect();
    assert!(mutex.try_lock().wait().expect("an answer").is_none());
    held.release().wait().expect("release");
    for (at, pending) in (3_u64..).zip(waiting) {
        let held = pending.wait().expect("its turn");
        assert_eq!((held.fencing_token(), held.grant_count()), (first.0, at));
        held.release().wait().expect("release");
    }
    assert_eq!(requests(&ensemble).into_iter().collect::<Vec<_>>(), []);
}

#[test]
fn r07_local_waiters_queue_behind_a_stranger_that_is_seen() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let observer = ensemble.observer(1).expect("observer");
    let path = path("behind");
    let mutex = keeping(&session, &path, IDLE);
    cycle(&mutex);
    let held = mutex.lock().wait().expect("lock");
    let mut local = mutex.lock();
    assert!(waits(&mut local, Duration::from_millis(50)));
    assert_eq!(children(&observer, &path).len(), 1);
    let mut strange = other.mutex(&path).expect("a mutex").lock();
    queued(&observer, &path, 3);
    held.release().wait().expect("release");
    let stranger = strange
        .wait_for(support::LONG)
        .expect("its turn")
        .expect("a guard");
    assert!(waits(&mut local, Duration::from_millis(50)));
    stranger.release().wait().expect("release");
    local
        .wait()
        .expect("its turn")
        .release()
        .wait()
        .expect("release");
}

#[test]
fn r05_an_idle_contender_is_given_up_in_time() {
    let ensemble = one();
    let session = connect(&ensemble);
    let observer = ensemble.observer(1).expect("observer");
    let path = path("idle");
    let mutex = keeping(&session, &path, Duration::from_millis(300));
    for _ in 0..3 {
        cycle(&mutex);
        cycle(&mutex);
        is_empty(&observer, &path, Duration::ZERO);
    }
}

#[test]
fn r05_a_contender_that_is_used_is_not_given_up() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("used");
    let mutex = keeping(&session, &path, Duration::from_millis(300));
    let (first, _) = cycle(&mutex);
    for _ in 0..8 {
        let held = mutex.lock().wait().expect("lock");
        thread::sleep(Duration::from_millis(100));
        assert_eq!(held.fencing_token(), first);
        held.release().wait().expect("release");
    }
}

#[test]
fn r04_a_guard_taken_from_what_is_kept_is_told_of_its_removal() {
    let ensemble = one();
    let session = connect(&ensemble);
    let observer = ensemble.observer(1).expect("observer");
    let mutex = keeping(&session, &path("removed"), IDLE);
    cycle(&mutex);
    let held = mutex.lock().wait().expect("lock");
    assert_eq!(held.grant_count(), 2);
    observer.delete(held.node_path()).expect("delete");
    assert!(held.wait_lost(Some(support::LONG)));
    let error = held.release().wait().expect_err("lost");
    assert_eq!(error.kind(), ErrorKind::LockLost);
    assert_eq!(cycle(&mutex).1, 1);
}

#[test]
fn r03_a_contender_is_not_kept_over_a_lost_connection() {
    let ensemble = one();
    let session = connect(&ensemble);
    let observer = ensemble.observer(1).expect("observer");
    let path = path("reset");
    let mutex = keeping(&session, &path, IDLE);
    let (first, _) = cycle(&mutex);
    ensemble.client_link(1).expect("link").reset();
    eventually("the contender is given up", || {
        children(&observer, &path).is_empty()
    });
    let (token, count) = cycle(&mutex);
    assert!(token > first && count == 1);
}

#[test]
fn r17_close_frees_what_is_kept() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let path = path("close");
    let options = || support::options().exclusive(false);
    let one = support::connect_with(options(), &ensemble);
    let two = support::connect_with(options(), &ensemble);
    assert_eq!(one.session_id(), two.session_id());
    let (first, second) = (keeping(&one, &path, IDLE), keeping(&two, &path, IDLE));
    cycle(&first);
    let held = second.lock().wait().expect("lock");
    assert_eq!(
        held.grant_count(),
        2,
        "handles of one session share what is kept"
    );
    one.close().wait().expect("close");
    assert!(held.is_held(), "it is the other handle's");
    held.release().wait().expect("release");
    assert_eq!(children(&observer, &path).len(), 0);
    cycle(&second);
    assert_eq!(children(&observer, &path).len(), 1);
    two.close().wait().expect("close");
    assert_eq!(children(&observer, &path).len(), 0);
}

#[test]
fn r11_owners_share_what_is_kept() {
    let ensemble = one();
    let session = connect(&ensemble);
    let options = LockOptions::new().keep(IDLE);
    let mutex = session
        .reentrant_mutex_with(&path("owners"), options)
        .expect("a mutex");
    let (one, two) = (Owner::new(), Owner::new());
    let outer = mutex.lock(&one).wait().expect("lock");
    let token = outer.fencing_token();
    let inner = mutex.lock(&one).wait().expect("re-enter");
    assert_eq!((inner.fencing_token(), inner.grant_count()), (token, 1));
    outer.release().wait().expect("release");
    assert!(mutex.try_lock(&two).wait().expect("an answer").is_none());
    ensemble.log().clear();
    inner.release().wait().expect("release");
    let other = mutex.lock(&two).wait().expect("lock");
    assert_eq!((other.fencing_token(), other.grant_count()), (token, 2));
    assert!(mutex.try_lock(&one).wait().expect("an answer").is_none());
    other.release().wait().expect("release");
    assert_eq!(requests(&ensemble).into_iter().collect::<Vec<_>>(), []);
}

#[test]
fn r07_a_lock_without_keep_ends_the_keeping_in_its_process() {
    let ensemble = one();
    let session = connect(&ensemble);
    let observer = ensemble.observer(1).expect("observer");
    let path = path("mixed");
    let mutex = keeping(&session, &path, IDLE);
    let kept = cycle(&mutex);
    let plain = session.mutex(&path).expect("a mutex");
    let held = plain.lock().wait().expect("lock");
    assert!(held.fencing_token() > kept.0);
    assert!(mutex.try_lock().wait().expect("an answer").is_none());
    held.release().wait().expect("release");
    // The try's contender goes in the background.
    queued(&observer, &path, 0);
}

#[test]
fn r20_bad_lengths_and_read_write_locks_are_refused() {
    let ensemble = one();
    let session = connect(&ensemble);
    for idle in [Duration::ZERO, Duration::from_secs(24 * 3600 + 1)] {
        let options = LockOptions::new().keep(idle);
        let error = session.mutex_with("/locks/a", options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("keep"), "{error}");
    }
    let options = LockOptions::new().keep(IDLE);
    let error = session.rwlock_with("/locks/a", options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}
