//! R11: who gets a lock again, and who queues.

mod rig;
mod support;

use std::time::Duration;

use rig::{Outcome, assert_kind, connect, observe, requested, wait_children};
use support::{children, eventually, one, path};
use zoolock::{ErrorKind, GuardState, LockOptions, Naming, Owner, Session};
use zoolock_ensemble::{Ensemble, Op};

/// Requests that belong to a lock, but the watch that a guard sets on its own node after 0.5 s.
fn lock_requests(ensemble: &Ensemble) -> usize {
    let requests = support::requests(ensemble);
    let watches = requests.get(&Op::GetData).copied().unwrap_or(0);
    requests.values().sum::<usize>() - watches
}

#[test]
fn r11_the_owner_gets_it_again_at_no_request_with_the_same_token() {
    let ensemble = one();
    let mutex = connect(&ensemble).reentrant_mutex(&path("again")).unwrap();
    let owner = Owner::new();
    let first = mutex.lock(&owner).done();
    let before = lock_requests(&ensemble);
    let mut again = Vec::new();
    for _ in 0..100 {
        again.push(mutex.lock(&owner).done());
        again.push(mutex.try_lock(&owner).done().expect("its own lock"));
        again.push(mutex.lock_timeout(&owner, Duration::from_secs(9)).done());
    }
    assert_eq!(lock_requests(&ensemble), before);
    for guard in &again {
        assert_eq!(guard.fencing_token(), first.fencing_token());
        assert_eq!(guard.node_path(), first.node_path());
        assert_eq!(guard.state(), GuardState::Held);
    }
}

#[test]
fn r11_the_contender_goes_when_the_count_is_back_to_zero() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("count");
    let mutex = connect(&ensemble).reentrant_mutex(&path).unwrap();
    let owner = Owner::new();
    let mut guards: Vec<_> = (0..5).map(|_| mutex.lock(&owner).done()).collect();
    // In any order, by release and by drop.
    guards.swap(0, 3);
    let last = guards.pop().unwrap();
    for (index, guard) in guards.into_iter().enumerate() {
        if index % 2 == 0 {
            guard.release().done();
        } else {
            drop(guard);
        }
        assert_eq!(children(&observer, &path).len(), 1);
        assert!(last.is_held());
    }
    assert_eq!(requested(&ensemble, Op::Delete).len(), 0);
    last.release().done();
    assert_eq!(children(&observer, &path), [""; 0]);
    assert_eq!(
        requested(&ensemble, Op::Create2).len(),
        2,
        "one found no parent"
    );
}

#[test]
fn r11_it_counts_per_session_and_owner_not_per_object_or_handle() {
    let ensemble = one();
    let path = path("objects");
    // Two handles that share a session.
    let open = || {
        Session::builder()
            .session_timeout(rig::UNHURRIED)
            .connect(&ensemble.hosts())
            .done()
    };
    let (one_handle, other_handle) = (open(), open());
    assert_eq!(one_handle.session_id(), other_handle.session_id());
    let owner = Owner::new();
    let first = one_handle
        .reentrant_mutex(&path)
        .unwrap()
        .lock(&owner)
        .done();
    let second_object = one_handle.reentrant_mutex(&path).unwrap();
    let second = second_object
        .try_lock(&owner)
        .done()
        .expect("another object");
    let other_object = other_handle.reentrant_mutex(&path).unwrap();
    let third = other_object
        .try_lock(&owner.clone())
        .done()
        .expect("another handle");
    assert_eq!(first.fencing_token(), second.fencing_token());
    assert_eq!(first.fencing_token(), third.fencing_token());
    // What one handle holds stays when the other closes.
    first.release().done();
    second.release().done();
    one_handle.close().done();
    assert!(third.is_held());
    assert_eq!(children(&observe(&ensemble), &path).len(), 1);
}

#[test]
fn r11_another_owner_session_naming_or_path_is_somebody_else() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("others");
    let mutex = session.reentrant_mutex(&path).unwrap();
    let (owner, other) = (Owner::new(), Owner::new());
    let guard = mutex.lock(&owner).done();
    assert!(mutex.try_lock(&other).done().is_none(), "another owner");
    let elsewhere = connect(&ensemble).reentrant_mutex(&path).unwrap();
    assert!(
        elsewhere.try_lock(&owner).done().is_none(),
        "another session"
    );
    let kazoo = LockOptions::new().naming(Naming::Kazoo);
    let named = session.reentrant_mutex_with(&path, kazoo).unwrap();
    assert!(named.try_lock(&owner).done().is_none(), "another naming");
    let below = session.reentrant_mutex(&support::path("others")).unwrap();
    let elsewhere = below.try_lock(&owner).done().expect("another path is free");
    assert_ne!(elsewhere.fencing_token(), guard.fencing_token());

    let mut queued = mutex.lock(&other);
    wait_children(&observe(&ensemble), &path, 2);
    assert!(queued.is_under_way());
    guard.release().done();
    let theirs = queued.done();
    assert!(mutex.try_lock(&owner).done().is_none(), "theirs now");
    theirs.release().done();
}

#[test]
fn r11_threads_are_owners_of_their_own() {
    let ensemble = one();
    let session = connect(&ensemble);
    let mutex = session.reentrant_mutex(&path("threads")).unwrap();
    let guard = mutex.lock(&Owner::current_thread()).done();
    let again = mutex.try_lock(&Owner::current_thread()).done();
    assert!(again.is_some());
    let from_another = std::thread::scope(|scope| {
        let look = scope.spawn(|| mutex.try_lock(&Owner::current_thread()).done().is_some());
        look.join().unwrap()
    });
    assert!(!from_another);
    drop((guard, again));
}

#[test]
fn r11_an_owners_second_attempt_waits_for_its_first() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("second");
    let mutex = connect(&ensemble).reentrant_mutex(&path).unwrap();
    let holder = mutex.lock(&Owner::new()).done();
    let owner = Owner::new();
    let mut first = mutex.lock(&owner);
    wait_children(&observer, &path, 2);
    let mut second = mutex.lock(&owner);
    let mut third = mutex.lock(&owner);
    let mut later = mutex.lock(&Owner::new());
    wait_children(&observer, &path, 3);
    assert!(first.is_under_way() && second.is_under_way() && third.is_under_way());
    // No contenders of their own, so none waits for its own owner.
    assert_eq!(children(&observer, &path).len(), 3);
    holder.release().done();
    let (first, second, third) = (first.done(), second.done(), third.done());
    assert_eq!(first.fencing_token(), second.fencing_token());
    assert_eq!(first.fencing_token(), third.fencing_token());
    assert!(later.is_under_way());
    drop((first, second));
    assert!(later.is_under_way(), "held three times");
    drop(third);
    drop(later.done());
}

#[test]
fn r11_when_the_first_attempt_ends_the_second_takes_its_place() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("successor");
    let mutex = connect(&ensemble).reentrant_mutex(&path).unwrap();
    let holder = mutex.lock(&Owner::new()).done();
    let owner = Owner::new();
    let first = mutex.lock_timeout(&owner, Duration::from_millis(400));
    let dropped = mutex.lock(&owner);
    let second = mutex.lock(&owner);
    drop(dropped);
    assert_kind(&first.refused(), ErrorKind::Timeout);
    wait_children(&observer, &path, 2);
    holder.release().done();
    second.done().release().done();
    assert_eq!(children(&observer, &path), [""; 0]);
}

#[test]
fn r11_a_second_attempt_has_a_deadline_of_its_own() {
    let ensemble = one();
    let path = path("deadline");
    let mutex = connect(&ensemble).reentrant_mutex(&path).unwrap();
    let holder = mutex.lock(&Owner::new()).done();
    let owner = Owner::new();
    let mut first = mutex.lock(&owner);
    let second = mutex.lock_timeout(&owner, Duration::from_millis(200));
    assert_kind(&second.refused(), ErrorKind::Timeout);
    assert!(first.is_under_way());
    holder.release().done();
    drop(first.done());
}

#[test]
fn r11_re_entering_a_lost_lock_is_lock_lost_until_it_is_released() {
    let ensemble = one();
    let session = connect(&ensemble);
    let mutex = session.reentrant_mutex(&path("lost")).unwrap();
    let owner = Owner::new();
    let (first, second) = (mutex.lock(&owner).done(), mutex.lock(&owner).done());
    ensemble.expire(session.session_id()).unwrap();
    eventually("the loss is told", || first.state() == GuardState::Lost);
    assert_eq!(second.state(), GuardState::Lost);
    for _ in 0..2 {
        assert_kind(&mutex.lock(&owner).refused(), ErrorKind::LockLost);
        assert_kind(&mutex.try_lock(&owner).refused(), ErrorKind::LockLost);
    }
    // Somebody else is not concerned.
    let theirs = mutex.lock(&Owner::new()).done();
    let token = first.fencing_token();
    assert!(theirs.fencing_token() > token);
    theirs.release().done();
    assert_kind(&first.release().refused(), ErrorKind::LockLost);
    assert_kind(&mutex.lock(&owner).refused(), ErrorKind::LockLost);
    drop(second);
    let new = mutex.lock(&owner).done();
    assert!(new.fencing_token() > token);
}

#[test]
fn r11_a_lock_lost_by_a_deletion_is_not_re_entered_either() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let mutex = connect(&ensemble)
        .reentrant_mutex(&path("deleted"))
        .unwrap();
    let owner = Owner::new();
    let guard = mutex.lock(&owner).done();
    // The contender is watched from 0.5 s on.
    eventually("the own node is watched", || {
        !requested(&ensemble, Op::GetData).is_empty()
    });
    observer.delete(guard.node_path()).unwrap();
    assert!(guard.wait_lost(Some(support::LONG)));
    assert_kind(&mutex.lock(&owner).refused(), ErrorKind::LockLost);
    assert_kind(&guard.release().refused(), ErrorKind::LockLost);
    drop(mutex.lock(&owner).done());
}

#[test]
fn r11_the_plain_mutex_is_not_re_entrant_and_excludes_the_re_entrant_one() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("plain");
    let (plain, reentrant) = (
        session.mutex(&path).unwrap(),
        session.reentrant_mutex(&path).unwrap(),
    );
    let owner = Owner::new();
    let guard = plain.lock().done();
    assert!(plain.try_lock().done().is_none());
    let again = plain.lock_timeout(Duration::from_millis(200));
    assert_kind(&again.refused(), ErrorKind::Timeout);
    assert!(reentrant.try_lock(&owner).done().is_none());
    guard.release().done();
    let guard = reentrant.lock(&owner).done();
    assert!(plain.try_lock().done().is_none());
    guard.release().done();
}

#[test]
fn r11_each_side_of_a_read_write_lock_is_re_entrant() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("sides");
    let lock = connect(&ensemble).rwlock(&path).unwrap();
    let owner = Owner::new();
    for side in [lock.read(), lock.write()] {
        let first = side.lock(&owner).done();
        let again = side.lock(&owner).done();
        assert_eq!(first.fencing_token(), again.fencing_token());
        assert_eq!(children(&observer, &path).len(), 1);
        first.release().done();
        assert!(again.is_held());
        assert_eq!(children(&observer, &path).len(), 1);
        again.release().done();
        assert_eq!(children(&observer, &path).len(), 0);
    }
}
