//! Faults between servers.

mod common;

use common::{LONG, wait};
use zoolock_ensemble::{Ensemble, NodeKind, Role};

#[test]
fn a_follower_that_is_cut_off_serves_old_data_until_it_notices() {
    let ensemble = Ensemble::builder()
        .servers(3)
        .sync_limit(8)
        .start()
        .expect("start");
    let leader = ensemble.leader().expect("leader");
    let follower = ensemble.followers()[0];
    let at_leader = ensemble.observer(leader).expect("observer");
    let at_follower = ensemble.observer(follower).expect("observer");

    ensemble.quorum_link(follower).expect("link").freeze();
    at_leader
        .create("/new", b"", NodeKind::Persistent)
        .expect("create");
    assert!(
        at_follower
            .exists("/new")
            .expect("it still serves")
            .is_none()
    );
    assert_eq!(ensemble.role(follower).expect("role"), Role::Follower);

    wait("the follower notices", || {
        ensemble
            .role(follower)
            .is_ok_and(|role| role == Role::Looking)
    });
    ensemble.quorum_link(follower).expect("link").thaw();
    wait("the follower is back", || {
        ensemble
            .role(follower)
            .is_ok_and(|role| role == Role::Follower)
    });
    let at_follower = ensemble.observer(follower).expect("observer");
    wait("it caught up", || {
        at_follower.exists("/new").is_ok_and(|stat| stat.is_some())
    });
}

#[test]
fn a_leader_that_is_cut_off_is_replaced() {
    let ensemble = Ensemble::builder()
        .servers(3)
        .sync_limit(4)
        .start()
        .expect("start");
    let old = ensemble.leader().expect("leader");
    ensemble.quorum_link(old).expect("link").freeze();
    wait("another leader", || {
        let roles = ensemble.roles();
        roles[&old] == Role::Looking && roles.values().any(|role| *role == Role::Leader)
    });
    let new = ensemble.leader().expect("leader");
    assert_ne!(new, old);
    ensemble
        .observer(new)
        .expect("observer")
        .ensure("/during")
        .expect("create");
    ensemble.quorum_link(old).expect("link").thaw();
    ensemble.wait_serving(LONG).expect("all serve");
    assert_eq!(ensemble.role(old).expect("role"), Role::Follower);
}
