//! R2: every grant carries a token that rises from grant to grant on a path.

mod support;

use std::time::Duration;

use support::{Child, S, children, connect, eventually, mutex, one, path, three};
use zoolock::Owner;

child_process!();

#[test]
fn r02_token_is_the_czxid_of_the_contender() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("czxid");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let observer = ensemble.observer(1).expect("observer");
    let names = children(&observer, &path);
    assert_eq!(held.node_path(), format!("{path}/{}", names[0]));
    let (_, stat) = observer.get(held.node_path()).expect("the contender");
    assert_eq!(held.fencing_token(), stat.czxid);
    assert!(held.fencing_token() > 0);
}

#[test]
fn r02_tokens_rise_across_sessions_processes_and_servers() {
    let ensemble = three();
    let path = path("rise");
    let sessions: Vec<_> = (1..=3)
        .map(|server| support::connect_to(support::options(), &ensemble, server))
        .collect();
    let mut child = Child::start(&ensemble.hosts(), S);
    let mut tokens = Vec::new();
    for round in 0..5 {
        for session in &sessions {
            let held = mutex(session, &path).lock().wait().expect("lock");
            tokens.push(held.fencing_token());
            held.release().wait().expect("release");
        }
        let name = format!("r{round}");
        tokens.push(child.lock(&name, &path).0);
        child.send(&format!("release {name}"));
        child.expect(&format!("{name} released"));
    }
    assert_eq!(tokens.len(), 20);
    assert!(tokens.is_sorted_by(|one, next| one < next), "{tokens:?}");
}

/// Numbers restart with the path; tokens do not (Z9).
#[test]
fn r02_token_rises_when_the_path_is_made_anew() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("anew");
    let observer = ensemble.observer(1).expect("observer");
    let mut last = 0;
    for _ in 0..3 {
        let held = mutex(&session, &path).lock().wait().expect("lock");
        assert!(held.node_path().ends_with("-lock-0000000000"));
        assert!(held.fencing_token() > last);
        last = held.fencing_token();
        held.release().wait().expect("release");
        observer.delete(&path).expect("delete the path");
    }
}

#[test]
fn r02_token_rises_when_the_holder_is_killed() {
    let ensemble = one();
    let path = path("killed");
    let mut child = Child::start(&ensemble.hosts(), Duration::from_secs(1));
    let (first, _) = child.lock("a", &path);
    child.kill();
    let session = connect(&ensemble);
    let held = mutex(&session, &path).lock().wait().expect("lock");
    assert!(held.fencing_token() > first);
}

#[test]
fn r02_reentry_repeats_the_token() {
    let ensemble = one();
    let session = connect(&ensemble);
    let lock = session.reentrant_mutex(&path("reentry")).expect("a lock");
    let owner = Owner::new();
    let outer = lock.lock(&owner).wait().expect("lock");
    let inner = lock.lock(&owner).wait().expect("lock again");
    assert_eq!(inner.fencing_token(), outer.fencing_token());
    let token = outer.fencing_token();
    inner.release().wait().expect("release");
    outer.release().wait().expect("release");
    let next = lock.lock(&owner).wait().expect("lock anew");
    assert!(next.fencing_token() > token);
}

/// The read node of a downgrade is younger than writers that queue already.
#[test]
fn r02_downgrade_repeats_the_token() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let path = path("downgrade");
    let lock = session.rwlock(&path).expect("a lock");
    let (owner, stranger) = (Owner::new(), Owner::new());
    let write = lock.write().lock(&owner).wait().expect("write");
    let queued = other.rwlock(&path).expect("a lock").write().lock(&stranger);
    let observer = ensemble.observer(1).expect("observer");
    support::queued(&observer, &path, 2);
    let read = lock.read().lock(&owner).wait().expect("downgrade");
    let token = write.fencing_token();
    assert_eq!(read.fencing_token(), token);
    let (_, stat) = observer.get(read.node_path()).expect("the read node");
    assert!(stat.czxid > token, "the node's own number is a later one");
    write.release().wait().expect("release");
    read.release().wait().expect("release");
    let next = queued.wait().expect("write");
    assert!(next.fencing_token() > token);
    eventually("the readers are gone", || {
        children(&observer, &path).len() == 1
    });
}

#[test]
fn r02_writers_tokens_rise_in_grant_order() {
    let ensemble = one();
    let path = path("writers");
    let sessions = [connect(&ensemble), connect(&ensemble)];
    let observer = ensemble.observer(1).expect("observer");
    let owners: Vec<Owner> = (0..8).map(|_| Owner::new()).collect();
    let mut waiting = Vec::new();
    for (at, owner) in owners.iter().enumerate() {
        let lock = sessions[at % 2].rwlock(&path).expect("a lock");
        let side = if at % 3 == 2 {
            lock.read()
        } else {
            lock.write()
        };
        waiting.push((at % 3 == 2, side.lock(owner)));
        support::queued(&observer, &path, at + 1);
    }
    let mut last = 0;
    for (reads, pending) in waiting {
        let held = pending.wait().expect("lock");
        if !reads {
            assert!(held.fencing_token() > last);
            last = held.fencing_token();
        }
        held.release().wait().expect("release");
    }
}
