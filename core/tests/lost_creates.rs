//! R5, Z5: a create that a cut-off server holds, and passes on when nobody expects it any more,
//! leaves no contender either.

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use support::{LONG, S, children, connect_with, eventually, granted, mutex, options, path};
use zoolock::{ErrorKind, Pending};
use zoolock_ensemble::{Ensemble, Op, What};

const PATHS: usize = 20;

/// Over how many connections a server was asked for transactions.
fn connections_with_transactions(ensemble: &Ensemble, server: usize) -> usize {
    let entries = ensemble.log().entries().into_iter();
    let asked = entries.filter(|entry| {
        entry.server == server && matches!(&entry.what, What::Request { op: Op::Multi, .. })
    });
    asked
        .map(|entry| entry.connection)
        .collect::<BTreeSet<_>>()
        .len()
}

/// The leader is cut off from its followers. Creates sent through a follower wait there; the
/// session moves to the leader, back to the follower without an answer, and to the leader again.
/// When the cut heals, the leader answers what it was asked last before the follower's late
/// handshake gives the session, and with it the right to those creates, to the follower again.
#[test]
fn r05_creates_that_come_true_after_their_recovery_are_deleted() {
    // Servers that are cut off do not give each other up meanwhile.
    let ensemble = Ensemble::builder()
        .servers(3)
        .sync_limit(20)
        .start()
        .expect("servers");
    let leader = ensemble.leader().expect("a leader");
    let followers: Vec<usize> = (1..=3).filter(|server| *server != leader).collect();
    let (first, second) = (followers[0], followers[1]);
    let link = |server| ensemble.client_link(server).expect("a link");
    link(leader).refuse();
    link(second).refuse();
    let session = connect_with(
        options().session_timeout(S).connect_timeout(LONG),
        &ensemble,
    );
    let parent = path("late");
    let locks: Vec<_> = (0..PATHS)
        .map(|at| mutex(&session, &format!("{parent}/{at:02}")))
        .collect();
    for lock in &locks {
        lock.lock()
            .wait()
            .expect("lock")
            .release()
            .wait()
            .expect("release");
    }
    ensemble.log().clear();
    let quorum = ensemble.quorum_link(leader).expect("a link");
    quorum.freeze();
    let attempts: Vec<Pending<_>> = locks
        .iter()
        .map(|lock| lock.lock_timeout(Duration::from_millis(300)))
        .collect();
    for attempt in attempts {
        assert_eq!(
            attempt.wait().expect_err("too late").kind(),
            ErrorKind::Timeout
        );
    }
    link(leader).accept().expect("accept");
    link(first).refuse();
    link(first).reset();
    eventually("the session asks the leader", || {
        connections_with_transactions(&ensemble, leader) == 1
    });
    link(first).accept().expect("accept");
    eventually("the session is back at the leader", || {
        connections_with_transactions(&ensemble, leader) >= 2
    });
    ensemble.log().clear();
    quorum.thaw();
    link(second).accept().expect("accept");
    let paths: Vec<String> = (0..PATHS).map(|at| format!("{parent}/{at:02}")).collect();
    eventually("the paths are seen to", || {
        paths.iter().all(|path| is_seen_to(&ensemble, path))
    });
    let observer = ensemble.observer(leader).expect("observer");
    for path in &paths {
        eventually("nothing is left", || children(&observer, path).is_empty());
    }
    for lock in &locks {
        granted(lock.lock()).0.release().wait().expect("release");
    }
}

/// Whether a contender was deleted there, or none found twice.
fn is_seen_to(ensemble: &Ensemble, path: &str) -> bool {
    let count = |wanted: Op| {
        let entries = ensemble.log().entries().into_iter();
        let of_path = entries.filter(|entry| {
            matches!(&entry.what, What::Request { op, path: Some(of), .. } if *op == wanted && of.starts_with(path))
        });
        of_path.count()
    };
    count(Op::Delete) >= 1 || count(Op::GetChildren2) >= 2
}
