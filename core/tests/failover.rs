//! R3: one server that is stuck or gone costs a failover, not the lock.

mod support;

use std::thread;
use std::time::Duration;

use support::{
    Lease, children, connect_to, eventually, granted, mutex, options, path, queued, server_of,
    three, waits,
};
use zoolock::{Guard, GuardState, Session, SessionState};

/// Long enough for three servers on a busy machine to find another leader within the lease.
const LASTING: Duration = Duration::from_secs(10);

/// Ends the server that the holder is connected to; session, lock and queue stay.
fn keeps_the_lock(ensemble: &Lease, server: usize, timeout: Duration, end: impl Fn(usize)) {
    let options = || options().session_timeout(timeout);
    let other_server = server % 3 + 1;
    let session = connect_to(options(), ensemble, server);
    let other = connect_to(options(), ensemble, other_server);
    assert_eq!(server_of(ensemble, &session), server);
    let observer = ensemble.observer(other_server).expect("observer");
    let path = path("failover");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    // One behind it in the same session, one in another.
    let own = mutex(&session, &path).lock();
    queued(&observer, &path, 2);
    let mut behind = mutex(&other, &path).lock();
    queued(&observer, &path, 3);
    let before = children(&observer, &path);
    let id = session.session_id();
    let states = states(&session);

    end(server);
    let moved = || session.state() == SessionState::Connected && suspended(&states);
    eventually("the session moves", || {
        assert_ne!(held.state(), GuardState::Lost);
        moved()
    });
    assert_eq!(held.state(), GuardState::Held);
    assert_eq!(session.session_id(), id);
    assert!(waits(&mut behind, Duration::from_millis(500)));
    eventually("the queue is seen", || children(&observer, &path) == before);
    held.release().wait().expect("release");
    let (own, _) = granted(own);
    assert_eq!(own.node_path(), format!("{path}/{}", before[1]));
    own.release().wait().expect("release");
    let (behind, _) = granted(behind);
    assert!(Guard::is_held(&behind));
}

type States = std::sync::Arc<std::sync::Mutex<Vec<SessionState>>>;

fn states(session: &Session) -> States {
    let states = States::default();
    let seen = std::sync::Arc::clone(&states);
    session
        .on_state(move |state| seen.lock().expect("no panic").push(state))
        .expect("open");
    states
}

fn suspended(states: &States) -> bool {
    let seen = states.lock().expect("no panic");
    seen.contains(&SessionState::Suspended) && seen.last() == Some(&SessionState::Connected)
}

#[test]
fn r03_holder_keeps_the_lock_when_its_follower_is_killed() {
    let ensemble = three();
    let server = ensemble.followers()[0];
    keeps_the_lock(&ensemble, server, LASTING, |server| {
        ensemble.kill(server).expect("kill");
    });
}

#[test]
fn r03_holder_keeps_the_lock_when_its_follower_is_stopped() {
    let ensemble = three();
    let server = ensemble.followers()[0];
    keeps_the_lock(&ensemble, server, LASTING, |server| {
        ensemble.pause(server).expect("pause");
    });
}

#[test]
fn r03_holder_keeps_the_lock_when_its_link_is_frozen() {
    let ensemble = three();
    for server in 1..=3 {
        keeps_the_lock(&ensemble, server, LASTING, |server| {
            ensemble.client_link(server).expect("link").freeze();
        });
        ensemble.client_link(server).expect("link").thaw();
    }
}

#[test]
fn r03_holder_keeps_the_lock_when_the_leader_is_killed() {
    let ensemble = three();
    let server = ensemble.leader().expect("a leader");
    keeps_the_lock(&ensemble, server, LASTING, |server| {
        ensemble.kill(server).expect("kill");
    });
}

/// The others notice only when the leader has missed its pings for 8 ticks.
#[test]
fn r03_holder_keeps_the_lock_when_the_leader_is_stopped() {
    let ensemble = three();
    let server = ensemble.leader().expect("a leader");
    keeps_the_lock(&ensemble, server, LASTING * 3, |server| {
        ensemble.pause(server).expect("pause");
    });
}

/// One server after the other is restarted under a holder.
#[test]
fn r03_holder_keeps_the_lock_through_a_rolling_restart() {
    let ensemble = three();
    let session = connect_to(options().session_timeout(LASTING), &ensemble, 1);
    let held = mutex(&session, &path("rolling"))
        .lock()
        .wait()
        .expect("lock");
    for server in 1..=3 {
        ensemble.restart(server).expect("restart");
        ensemble.wait_serving(support::LONG).expect("it serves");
        eventually("the guard is held", || {
            assert_ne!(held.state(), GuardState::Lost);
            held.state() == GuardState::Held
        });
        thread::sleep(Duration::from_millis(200));
    }
    held.release().wait().expect("release");
}
