//! R1: at no moment do guards of two owners on one path both believe.

mod support;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use support::{
    Belief, Child, S, clock, connect, connect_with, eventually, granted, mutex, one, options, path,
    queued, server_of, three, waits,
};
use zoolock::{Guard, LeaseConfirmation, Session};

child_process!();

#[test]
fn r01_two_sessions_exclude_each_other() {
    let ensemble = one();
    let (first, second) = (connect(&ensemble), connect(&ensemble));
    let path = path("sessions");
    let held = mutex(&first, &path).lock().wait().expect("lock");
    let mut waiting = mutex(&second, &path).lock();
    let observer = ensemble.observer(1).expect("observer");
    queued(&observer, &path, 2);
    assert!(waits(&mut waiting, S), "granted while another holds");
    assert!(held.is_held());
    held.release().wait().expect("release");
    assert!(waiting.wait().expect("lock").is_held());
}

#[test]
fn r01_two_attempts_of_one_session_exclude_each_other() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("session");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let mut waiting = mutex(&session, &path).lock();
    assert!(waits(&mut waiting, S), "granted while another holds");
    assert!(
        mutex(&session, &path)
            .try_lock()
            .wait()
            .expect("try")
            .is_none()
    );
    held.release().wait().expect("release");
    assert!(waiting.wait().expect("lock").is_held());
}

#[test]
fn r01_two_processes_exclude_each_other() {
    let ensemble = one();
    let path = path("processes");
    let mut first = Child::start(&ensemble.hosts(), S);
    let mut second = Child::start(&ensemble.hosts(), S);
    first.lock("a", &path);
    second.send(&format!("lock b {path} -1"));
    assert_eq!(second.within("b granted", S), None);
    first.send("release a");
    let released = support::child::at(&first.expect("a released")[0]);
    let (_, at) = second.granted("b");
    assert!(at > released, "granted before the release was called");
}

/// The server of the holder is cut off from the leader. It answers pings all the same (Z2).
#[test]
fn r01_holder_behind_a_cut_off_follower_stops_before_another_is_granted() {
    let ensemble = three();
    let follower = ensemble.followers()[0];
    let leader = ensemble.leader().expect("a leader");
    let to = |server| {
        let host = ensemble.host(server).expect("host");
        options().connect(&host).wait().expect("connect")
    };
    let (first, second) = (to(follower), to(leader));
    let path = path("follower");
    let held = Arc::new(mutex(&first, &path).lock().wait().expect("lock"));
    let waiting = mutex(&second, &path).lock();
    queued(&ensemble.observer(leader).expect("observer"), &path, 2);

    let belief = Belief::of(&held);
    ensemble.quorum_link(follower).expect("link").freeze();
    let (_second, at) = granted(waiting);
    let ended = belief.ended();
    assert!(ended < at, "believed until {ended:?}, granted at {at:?}");
}

/// One server that is stuck costs a failover, not the lock (R3, R16).
#[test]
fn r01_holder_leaves_a_cut_off_follower_and_keeps_the_lock() {
    let ensemble = three();
    let follower = ensemble.followers()[0];
    // Long enough for a busy machine to fail over within the lease.
    let timeout = S * 3;
    let patient = options().session_timeout(timeout);
    let session = support::connect_to(patient, &ensemble, follower);
    let leader = ensemble.leader().expect("a leader");
    let host = ensemble.host(leader).expect("host");
    let other = options().connect(&host).wait().expect("connect");
    let path = path("failover");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let mut waiting = mutex(&other, &path).lock();
    assert_eq!(server_of(&ensemble, &session), follower);

    ensemble.quorum_link(follower).expect("link").freeze();
    assert!(
        waits(&mut waiting, timeout * 3 / 2),
        "granted while another holds"
    );
    assert!(held.is_held());
    assert_ne!(server_of(&ensemble, &session), follower);
    held.release().wait().expect("release");
    drop(granted(waiting));
}

/// The holder is cut off together with the leader, which answers `sync` until it steps down.
#[test]
fn r01_holder_behind_a_cut_off_leader_stops_before_another_is_granted() {
    for confirmation in [LeaseConfirmation::Sync, LeaseConfirmation::Write] {
        let ensemble = three();
        let leader = ensemble.leader().expect("a leader");
        let host = ensemble.host(leader).expect("host");
        let options = || options().lease_confirmation(confirmation);
        let first = options().connect(&host).wait().expect("connect");
        let others: Vec<String> = (1..=3)
            .filter(|server| *server != leader)
            .map(|server| ensemble.host(server).expect("host"))
            .collect();
        let second = options()
            .connect(&others.join(","))
            .wait()
            .expect("connect");
        let path = path("leader");
        let held = Arc::new(mutex(&first, &path).lock().wait().expect("lock"));
        let waiting = mutex(&second, &path).lock();
        queued(&ensemble.observer(leader).expect("observer"), &path, 2);

        let belief = Belief::of(&held);
        let cut = clock();
        ensemble.quorum_link(leader).expect("link").freeze();
        let (_second, at) = granted(waiting);
        let ended = belief.ended();
        assert!(ended < at, "believed until {ended:?}, granted at {at:?}");
        if confirmation == LeaseConfirmation::Write {
            assert!(
                ended < cut + S / 2,
                "a write without a quorum renewed the lease"
            );
        }
    }
}

/// Everybody's connections are reset over and over, and whoever is granted looks for other believers.
#[test]
fn r01_no_two_believers_while_connections_are_reset() {
    let ensemble = three();
    let path = path("resets");
    let believers: Believers = Arc::default();
    let workers: Vec<_> = (0..6)
        .map(|_| {
            let session = connect(&ensemble);
            let (path, believers) = (path.clone(), Arc::clone(&believers));
            thread::spawn(move || work(&session, &path, &believers))
        })
        .collect();
    let mut server = 0;
    let end = clock() + Duration::from_secs(10);
    while clock() < end && workers.iter().any(|worker| !worker.is_finished()) {
        server = server % 3 + 1;
        ensemble.client_link(server).expect("link").reset();
        thread::sleep(Duration::from_millis(40));
    }
    for worker in workers {
        worker.join().expect("no two believers");
    }
}

const ROUNDS: usize = 25;

type Believers = Arc<Mutex<Vec<Arc<Guard>>>>;

fn work(session: &Session, path: &str, believers: &Believers) {
    let mutex = mutex(session, path);
    for _ in 0..ROUNDS {
        let guard = Arc::new(mutex.lock().wait().expect("lock"));
        let mut known = believers.lock().unwrap_or_else(PoisonError::into_inner);
        let others: Vec<_> = known.iter().filter(|other| other.is_held()).collect();
        assert!(
            others.is_empty() || !guard.is_held(),
            "{others:?} believed while {guard:?} did"
        );
        known.retain(|other| other.is_held());
        known.push(Arc::clone(&guard));
        drop(known);
        thread::yield_now();
        // Lost to a long outage it may be; the next round is another guard.
        if let Err(error) = guard.release_shared().wait() {
            assert_eq!(error.kind(), zoolock::ErrorKind::LockLost);
        }
    }
}

/// The holder's process is stopped; another gets the lock after its session; the first never
/// believes again.
#[test]
fn r01_stopped_holder_does_not_believe_when_it_goes_on() {
    let ensemble = one();
    let path = path("stopped");
    let mut child = Child::start(&ensemble.hosts(), S);
    let other = connect_with(options(), &ensemble);
    let (first_token, _) = child.lock("a", &path);
    let waiting = mutex(&other, &path).lock();
    queued(&ensemble.observer(1).expect("observer"), &path, 2);
    child.send("watch a");
    child.expect("a watching");
    child.stop();
    let (second, at) = granted(waiting);
    child.go_on();
    let words = child.expect("a watched");
    let (last_true, first_false) = (support::child::at(&words[0]), support::child::at(&words[1]));
    assert!(
        last_true < at && at < first_false,
        "{last_true:?} {at:?} {first_false:?}"
    );
    let (gap, after) = (support::child::at(&words[2]), &words[3]);
    assert!(gap > S / 2, "it was not stopped, gap {gap:?}");
    assert_eq!(after, "false", "what the first look said after it went on");
    assert!(second.fencing_token() > first_token);
    child.expect("a lost");
    assert!(second.is_held());
    eventually("the first one's refusal", || {
        child.send("release a");
        child
            .within("a refused LockLost", Duration::from_secs(5))
            .is_some()
    });
}
