//! R14: a path whose sequence numbers are used up.

mod rig;
mod support;

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicUsize, Ordering};

use rig::{Outcome, assert_kind, connect, observe, wait_children};
use support::{children, one, path};
use zoolock::{Error, ErrorKind, Guard, Owner};
use zoolock_ensemble::{Ensemble, NodeKind};

/// The third create from here gets the last number there is.
const NEAR_THE_END: i32 = i32::MAX - 2;

fn near_the_end() -> Ensemble {
    Ensemble::builder()
        .snapshot([("/full", NEAR_THE_END), ("/other", NEAR_THE_END)])
        .start()
        .expect("a server")
}

#[track_caller]
fn assert_advises(error: &Error) {
    assert_kind(error, ErrorKind::SequenceExhausted);
    let message = error.message();
    for advice in ["empty", "delete", "another path"] {
        assert!(message.contains(advice), "{message}");
    }
    assert!(error.path().is_some());
}

fn number(guard: &Guard) -> i64 {
    let (_, digits) = guard.node_path().rsplit_once("-lock-").unwrap();
    digits.parse().unwrap()
}

#[test]
fn r14_the_last_numbers_are_granted_and_then_callers_are_told() {
    let ensemble = near_the_end();
    assert_eq!(ensemble.version(), "3.9.5");
    let observer = observe(&ensemble);
    let session = connect(&ensemble);
    let mutex = session.mutex("/full").unwrap();
    let mut last = 0;
    // A freshly numbered node is granted as long as its number means something.
    for expected in [NEAR_THE_END, NEAR_THE_END + 1] {
        let guard = mutex.lock().done();
        assert_eq!(number(&guard), i64::from(expected));
        assert!(guard.fencing_token() > last);
        last = guard.fencing_token();
        guard.release().done();
    }
    for _ in 0..3 {
        assert_advises(&mutex.lock().refused());
        assert_advises(&mutex.try_lock().refused());
    }
    wait_children(&observer, "/full", 0);
    // What the message says: deleted while empty, the path serves again, and tokens rise on.
    observer.delete("/full").unwrap();
    let guard = mutex.lock().done();
    assert_eq!(number(&guard), 0);
    assert!(guard.fencing_token() > last);
    guard.release().done();
    // Another path was never concerned.
    drop(session.mutex("/not-full").unwrap().lock().done());
}

#[test]
fn r14_a_holder_keeps_its_lock_and_those_who_come_get_none() {
    let ensemble = near_the_end();
    let observer = observe(&ensemble);
    let (session, elsewhere) = (connect(&ensemble), connect(&ensemble));
    let guard = session.mutex("/full").unwrap().lock().done();
    assert_advises_all(&ensemble, &elsewhere);
    assert!(guard.is_held());
    assert_eq!(children(&observer, "/full").len(), 1);
    guard.release().done();
    assert_eq!(children(&observer, "/full").len(), 0);

    // The read-write lock does the same, and a reader beside a reader too.
    let lock = session.rwlock("/other").unwrap();
    let read = lock.read().lock(&Owner::new()).done();
    let other = elsewhere.rwlock("/other").unwrap();
    let second = other.read().lock(&Owner::new()).done();
    assert_advises(&other.read().lock(&Owner::new()).refused());
    assert_advises(&other.write().lock(&Owner::new()).refused());
    assert!(read.is_held() && second.is_held());
}

/// Callers of another session until all that come are refused.
fn assert_advises_all(ensemble: &Ensemble, elsewhere: &zoolock::Session) {
    let mutex = elsewhere.mutex("/full").unwrap();
    let observer = observe(ensemble);
    // One waits with the last number but one.
    let waiting = mutex.lock();
    wait_children(&observer, "/full", 2);
    assert_advises(&mutex.lock().refused());
    // Numbers tell no order any more, so nobody is left to wait for ever.
    drop(waiting);
    for _ in 0..3 {
        assert_advises(&mutex.lock().refused());
    }
    wait_children(&observer, "/full", 1);
}

#[test]
fn r14_a_crowd_at_the_end_never_has_two_holders_and_everybody_ends() {
    let ensemble = near_the_end();
    let observer = observe(&ensemble);
    let (inside, granted, last) = (AtomicI32::new(0), AtomicUsize::new(0), AtomicI64::new(0));
    let sessions = [connect(&ensemble), connect(&ensemble), connect(&ensemble)];
    std::thread::scope(|scope| {
        for session in &sessions {
            for _ in 0..8 {
                scope.spawn(|| match session.mutex("/full").unwrap().lock().outcome() {
                    Ok(guard) => {
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two holders");
                        let before = last.swap(guard.fencing_token(), Ordering::SeqCst);
                        assert!(before < guard.fencing_token());
                        granted.fetch_add(1, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        guard.release().done();
                    }
                    Err(error) => assert_advises(&error),
                });
            }
        }
    });
    assert!(granted.load(Ordering::SeqCst) <= 2);
    wait_children(&observer, "/full", 0);
}

#[test]
fn r14_signs_of_an_exhausted_sequence_are_seen_in_others_contenders() {
    const ONE: &str = "_c_3c5c4e1a-1111-4222-8333-444455556666-lock-";
    const TWO: &str = "_c_77777777-1111-4222-8333-444455556666-lock-";
    let ensemble = one();
    let observer = observe(&ensemble);
    let session = connect(&ensemble);
    for names in [
        // As servers up to 3.5 write them.
        vec![format!("{ONE}-2147483648")],
        vec![format!("{ONE}-0000000001")],
        // As servers since 3.6 do.
        vec![format!("{ONE}2147483647")],
        vec![format!("{ONE}0000000005"), format!("{TWO}0000000005")],
    ] {
        let path = path("signs");
        observer.ensure(&path).unwrap();
        for name in &names {
            let path = format!("{path}/{name}");
            observer.create(&path, b"", NodeKind::Ephemeral).unwrap();
        }
        let mutex = session.mutex(&path).unwrap();
        assert_advises(&mutex.lock().refused());
        assert_advises(&mutex.try_lock().refused());
        wait_children(&observer, &path, names.len());
        for name in &names {
            observer.delete(&format!("{path}/{name}")).unwrap();
        }
        mutex.lock().done().release().done();
    }
}

#[test]
fn r14_a_write_and_its_downgraded_read_are_no_sign() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("pair");
    let session = connect(&ensemble);
    let lock = session.rwlock(&path).unwrap();
    let owner = Owner::new();
    let write = lock.write().lock(&owner).done();
    let read = lock.read().lock(&owner).done();
    let elsewhere = connect(&ensemble).rwlock(&path).unwrap();
    let mut waiting = elsewhere.write().lock(&Owner::new());
    wait_children(&observer, &path, 3);
    assert!(waiting.is_under_way());
    drop((write, read));
    drop(waiting.done());
}
