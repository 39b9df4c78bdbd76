//! R3: how long a guard believes without news from the leader.

mod support;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use support::{
    Belief, Child, S, Traffic, children, clock, connect, eventually, granted, mutex, one, options,
    path, queued, three,
};
use zoolock::GuardState;
use zoolock_ensemble::{Op, What};

child_process!();

#[test]
fn r03_belief_ends_half_a_session_after_the_link_froze() {
    let ensemble = one();
    let session = connect(&ensemble);
    let held = Arc::new(
        mutex(&session, &path("frozen"))
            .lock()
            .wait()
            .expect("lock"),
    );
    let belief = Belief::of(&held);
    let frozen = clock();
    ensemble.client_link(1).expect("link").freeze();
    let ended = belief.ended();
    assert!(ended <= frozen + S / 2, "{:?}", ended - frozen);
    assert!(ended >= frozen + S / 4, "{:?}", ended - frozen);
    assert_eq!(held.state(), GuardState::Lost);
}

/// A follower without its leader answers pings and reads (Z2): they renew nothing.
#[test]
fn r03_belief_is_not_renewed_by_pings_and_reads() {
    let ensemble = three();
    let follower = ensemble.followers()[0];
    let host = ensemble.host(follower).expect("host");
    // So long that the holder's own watch is asked for well before the next sync.
    let timeout = S * 3;
    let session = options().session_timeout(timeout).connect(&host);
    let session = session.wait().expect("connect");
    let path = path("reads");
    let held = Arc::new(mutex(&session, &path).lock().wait().expect("lock"));
    let frozen = clock();
    ensemble.quorum_link(follower).expect("link").freeze();
    ensemble.log().clear();
    let belief = Belief::of(&held);
    eventually("a read is answered", || {
        let traffic = Traffic::of(&ensemble);
        let read = traffic.request(Op::GetData, 0);
        read.is_some_and(|(_, connection, xid)| traffic.reply(connection, xid).is_some())
    });
    let ended = belief.ended();
    assert!(ended <= frozen + timeout / 2, "{:?}", ended - frozen);
}

#[test]
fn r03_lease_lasts_while_the_server_answers() {
    let ensemble = one();
    let session = connect(&ensemble);
    let held = mutex(&session, &path("lasts")).lock().wait().expect("lock");
    ensemble.log().clear();
    let end = clock() + S * 3;
    while clock() < end {
        assert!(held.is_held());
        thread::sleep(Duration::from_millis(1));
    }
    // A sync for every sixth of a session, less what a busy machine is late.
    let syncs = ensemble.log().count(Op::Sync);
    assert!((9..=20).contains(&syncs), "{syncs} in three sessions' time");
    held.release().wait().expect("release");
}

#[test]
fn r03_idle_session_sends_no_sync() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("idle");
    drop(mutex(&session, &path).lock().wait().expect("lock"));
    queued(&ensemble.observer(1).expect("observer"), &path, 0);
    ensemble.log().clear();
    eventually("pings", || ensemble.log().count(Op::Ping) > 5);
    assert_eq!(ensemble.log().count(Op::Sync), 0);
}

/// What was sent while the server did not answer is silence too: a session is heard of every sixth.
#[test]
fn r03_session_is_never_silent_for_long() {
    let ensemble = one();
    let session = connect(&ensemble);
    let _held = mutex(&session, &path("silence"))
        .lock()
        .wait()
        .expect("lock");
    ensemble.log().clear();
    thread::sleep(S * 2);
    let sent: Vec<f64> = ensemble
        .log()
        .entries()
        .iter()
        .filter(|entry| matches!(entry.what, What::Request { .. }))
        .map(|entry| entry.at_ms)
        .collect();
    let limit = S.as_secs_f64() * 1e3 / 6.0;
    let longest = sent
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(0.0, f64::max);
    // The rest is for a busy machine.
    assert!(longest < limit * 1.5, "silent for {longest} ms");
}

/// A stopped process knows at its first look, before it has processed any event.
#[test]
fn r03_stopped_process_finds_the_lock_lost_at_once() {
    let ensemble = one();
    let path = path("stopped");
    let mut child = Child::start(&ensemble.hosts(), S);
    child.lock("a", &path);
    child.send("watch a");
    child.expect("a watching");
    child.stop();
    let observer = ensemble.observer(1).expect("observer");
    queued(&observer, &path, 0);
    child.go_on();
    let words = child.expect("a watched");
    assert!(support::child::at(&words[2]) >= S / 2, "it was not stopped");
    assert_eq!(words[3], "false", "what the first look said");
    child.expect("a lost");
}

/// As above, but the session lives on: shorter than the session, longer than the lease.
#[test]
fn r03_stopped_process_finds_the_lock_lost_though_its_session_lives() {
    let ensemble = one();
    let path = path("paused");
    let mut child = Child::start(&ensemble.hosts(), S * 3);
    child.lock("a", &path);
    child.send("watch a");
    child.expect("a watching");
    child.stop();
    thread::sleep(S * 3 / 2 + Duration::from_millis(200));
    let observer = ensemble.observer(1).expect("observer");
    assert_eq!(children(&observer, &path).len(), 1, "the session has ended");
    child.go_on();
    let words = child.expect("a watched");
    assert_eq!(words[3], "false", "what the first look said");
    child.expect("a lost");
    queued(&observer, &path, 0);
}

/// Z6: the process of a waiter is stopped while its turn comes. Its session ends, another gets the
/// lock and keeps it. When it goes on, it may read that its predecessor is gone.
#[test]
fn r03_stopped_waiter_does_not_enter() {
    let ensemble = one();
    let path = path("waiter");
    let session = connect(&ensemble);
    let first = mutex(&session, &path).lock().wait().expect("lock");
    let observer = ensemble.observer(1).expect("observer");
    let mut child = Child::start(&ensemble.hosts(), S);
    child.send(&format!("lock a {path} -1"));
    queued(&observer, &path, 2);
    child.stop();
    first.release().wait().expect("release");
    let (second, _) = granted(mutex(&session, &path).lock());
    queued(&observer, &path, 1);
    child.go_on();
    // It queues again, behind the holder.
    queued(&observer, &path, 2);
    assert_eq!(child.within("a granted", S), None);
    assert!(second.is_held());
    let token = second.fencing_token();
    second.release().wait().expect("release");
    assert!(child.granted("a").0 > token);
}

/// As above, but it goes on when its session is still there and its lease is not: it asks first.
#[test]
fn r03_stopped_waiter_whose_session_lives_is_granted() {
    let ensemble = one();
    let path = path("lives");
    let session = connect(&ensemble);
    let first = mutex(&session, &path).lock().wait().expect("lock");
    let observer = ensemble.observer(1).expect("observer");
    let mut child = Child::start(&ensemble.hosts(), S * 3);
    child.send(&format!("lock a {path} -1"));
    queued(&observer, &path, 2);
    let name = children(&observer, &path)[1].clone();
    child.stop();
    first.release().wait().expect("release");
    thread::sleep(S * 3 / 2 + Duration::from_millis(200));
    ensemble.log().clear();
    child.go_on();
    child.granted("a");
    assert_eq!(children(&observer, &path), [name], "the same contender");
    let syncs = ensemble.log().count(Op::Sync) + ensemble.log().count(Op::Connect);
    assert!(syncs > 0, "granted without asking");
}
