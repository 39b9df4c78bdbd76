//! Starting, stopping, killing, pausing.

use std::time::Duration;

use zoolock_ensemble::{Ensemble, NodeKind, Role, eventually};

const LONG: Duration = Duration::from_secs(30);

#[test]
fn one_server_starts_serves_and_leaves_nothing() {
    let ensemble = Ensemble::builder().start().expect("start");
    assert_eq!(ensemble.role(1).expect("role"), Role::Standalone);
    let observer = ensemble.observer(1).expect("observer");
    observer
        .create("/a", b"data", NodeKind::Persistent)
        .expect("create");
    let (data, stat) = observer.get("/a").expect("get");
    assert_eq!((data.as_slice(), stat.ephemeral_owner), (&b"data"[..], 0));
    assert!(stat.czxid > 0);
    drop(observer);
    let (dir, pid) = (ensemble.dir().to_owned(), ensemble.pid(1).expect("pid"));
    let process = format!("/proc/{}", pid.expect("running"));
    assert!(dir.exists() && std::path::Path::new(&process).exists());
    drop(ensemble);
    assert!(!dir.exists(), "{} is still there", dir.display());
    assert!(
        !std::path::Path::new(&process).exists(),
        "{process} is still there"
    );
}

#[test]
fn three_servers_survive_the_loss_of_their_leader() {
    let ensemble = Ensemble::builder().servers(3).start().expect("start");
    let leader = ensemble.leader().expect("a leader");
    assert_eq!(ensemble.followers().len(), 2);
    ensemble
        .observer(leader)
        .expect("observer")
        .ensure("/kept")
        .expect("create");

    ensemble.kill(leader).expect("kill");
    assert_eq!(ensemble.role(leader).expect("role"), Role::Down);
    assert!(
        eventually(LONG, || ensemble.leader().is_some()),
        "{:?}",
        ensemble.roles()
    );
    let next = ensemble.leader().expect("a leader");
    assert_ne!(next, leader);

    ensemble.restart(leader).expect("restart");
    ensemble.wait_serving(LONG).expect("all serve");
    assert_eq!(ensemble.role(leader).expect("role"), Role::Follower);
    let back = ensemble.observer(leader).expect("observer");
    assert!(back.exists("/kept").expect("exists").is_some());

    ensemble.pause(next).expect("pause");
    assert_eq!(ensemble.role(next).expect("role"), Role::Paused);
    assert!(
        eventually(LONG, || ensemble.leader().is_some()),
        "{:?}",
        ensemble.roles()
    );
    ensemble.resume(next).expect("continue");
    assert!(
        eventually(LONG, || ensemble.followers().contains(&next)),
        "{:?}",
        ensemble.roles()
    );
    ensemble.stop(next).expect("stop");
    assert_eq!(ensemble.role(next).expect("role"), Role::Down);
    assert!(
        ensemble.stop(next).is_err(),
        "a server that is down cannot be stopped"
    );
}
