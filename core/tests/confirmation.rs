//! The lease renewed by a quorum write (R3, R4): `lease_confirmation = write`.

mod rig;
mod support;

use std::time::Duration;

use rig::{Outcome, observe, requested};
use support::{LONG, eventually, one, path};
use zoolock::{GuardState, LeaseConfirmation, SessionBuilder};
use zoolock_ensemble::{Ensemble, Op, What};

fn writing() -> SessionBuilder {
    support::options()
        .session_timeout(Duration::from_secs(3))
        .connect_timeout(LONG)
        .lease_confirmation(LeaseConfirmation::Write)
}

#[test]
fn r03_a_lease_renewed_by_a_write_outlives_its_first_end() {
    let ensemble = one();
    let session = writing().connect(&ensemble.hosts()).done();
    let guards: Vec<_> = (0..3)
        .map(|_| session.mutex(&path("written")).unwrap().lock().done())
        .collect();
    ensemble.log().clear();
    // Every S/6: six of them outlast any lease that ran before.
    eventually("the lease is renewed", || {
        requested(&ensemble, Op::Multi).len() >= 8
    });
    assert!(guards.iter().all(|guard| guard.state() == GuardState::Held));
    // Checks on our own contenders, instead of `sync`; they change nothing that others watch.
    let paths: Vec<&str> = guards.iter().map(|guard| guard.node_path()).collect();
    for path in requested(&ensemble, Op::Multi) {
        assert!(paths.contains(&path.as_str()), "{path}");
    }
    assert_eq!(requested(&ensemble, Op::Sync), [""; 0]);
    let observer = observe(&ensemble);
    for guard in &guards {
        let stat = observer.exists(guard.node_path()).unwrap().unwrap();
        assert_eq!((stat.version, stat.mzxid), (0, stat.czxid));
    }
    // Without a guard there is nothing to write.
    for guard in guards {
        guard.release().done();
    }
    ensemble.log().clear();
    eventually("it pings", || requested(&ensemble, Op::Ping).len() >= 2);
    assert_eq!(requested(&ensemble, Op::Multi), [""; 0]);
}

#[test]
fn r03_a_held_lock_is_renewed_by_sync_otherwise() {
    let ensemble = one();
    let session = support::connect(&ensemble);
    let guard = session.mutex(&path("synced")).unwrap().lock().done();
    ensemble.log().clear();
    eventually("the lease is renewed", || {
        requested(&ensemble, Op::Sync).len() >= 3
    });
    assert_eq!(requested(&ensemble, Op::Multi), [""; 0]);
    assert!(guard.is_held());
}

#[test]
fn r04_a_write_notices_that_the_contender_was_removed() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let session = writing().connect(&ensemble.hosts()).done();
    let kept = session.mutex(&path("kept")).unwrap().lock().done();
    let removed = session.mutex(&path("removed")).unwrap().lock().done();
    // Before the guard watches its own node, so that only the write can tell; the watch does otherwise.
    observer.delete(removed.node_path()).unwrap();
    assert!(removed.wait_lost(Some(LONG)));
    assert_eq!(kept.state(), GuardState::Held);
    eventually("the other one's lease is renewed", || {
        answered_multis(&ensemble) >= 2
    });
    assert_eq!(kept.state(), GuardState::Held);
}

/// How many transactions were answered.
fn answered_multis(ensemble: &Ensemble) -> usize {
    let entries = ensemble.log().entries().into_iter();
    entries
        .filter(|entry| matches!(entry.what, What::Reply { op: Op::Multi, .. }))
        .count()
}
