//! Watches: one shot, before any reply that shows the change, and re-armed after a reconnect.
mod common;

use common::encode::*;
use common::simulation::{one_server, three_servers};
use zoolock_testserver::model::permission;

#[test]
fn each_kind_fires_once_and_before_the_reply() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 40_000);
    let (b, _) = sim.connect(0, 40_000);
    let check =
        |sim: &mut common::simulation::Simulation, op, body: &Record, kinds: &[(i32, &str)]| {
            sim.post(a, op, body);
            let mut zxids = Vec::new();
            for (kind, path) in kinds {
                let event = sim.event(a);
                assert_eq!((event.kind, event.path.as_str()), (*kind, *path));
                zxids.push(event.zxid);
            }
            let reply = sim.reply(a);
            assert_eq!(reply.code, 0);
            assert!(
                zxids.iter().all(|zxid| *zxid == reply.zxid),
                "{zxids:?} {reply:?}"
            );
            assert_eq!(sim.message(a), None);
        };
    let armed = |sim: &mut common::simulation::Simulation| {
        sim.ask(a, EXISTS, &path_and_flag("/n", true));
        sim.ask(a, GET_CHILDREN2, &path_and_flag("/", true));
    };
    armed(&mut sim);
    check(
        &mut sim,
        CREATE,
        &create("/n", b"", &open(), 0),
        &[(1, "/n"), (4, "/")],
    );
    check(&mut sim, SET_DATA, &set_data("/n", b"", -1), &[]);
    armed(&mut sim);
    check(&mut sim, SET_DATA, &set_data("/n", b"", -1), &[(3, "/n")]);
    sim.ask(a, GET_DATA, &path_and_flag("/n", true));
    sim.ask(a, GET_CHILDREN, &path_and_flag("/n", true));
    assert_eq!(sim.cluster.watch_count(0), 3);
    check(
        &mut sim,
        DELETE,
        &path_and_number("/n", -1),
        &[(2, "/n"), (4, "/")],
    );
    assert_eq!(sim.cluster.watch_count(0), 0);
    assert_eq!(sim.message(b), None);
}

#[test]
fn watches_end_with_their_connection() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 40_000);
    sim.ask(a, GET_DATA, &path_and_flag("/", true));
    sim.ask(a, EXISTS, &path_and_flag("/none", true));
    assert_eq!(sim.cluster.watch_count(0), 2, "also on a missing node");
    sim.cluster.client_closed(sim.now, a);
    assert_eq!(sim.cluster.watch_count(0), 0);
}

#[test]
fn watches_can_be_looked_for_and_removed() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 40_000);
    sim.ask(a, GET_DATA, &path_and_flag("/", true));
    for (code, op, kind) in [
        (0, CHECK_WATCHES, 2),
        (-121, CHECK_WATCHES, 1),
        (0, CHECK_WATCHES, 3),
        (-121, REMOVE_WATCHES, 1),
        (0, REMOVE_WATCHES, 2),
        (-121, REMOVE_WATCHES, 3),
        (-5, REMOVE_WATCHES, 9),
    ] {
        assert_eq!(
            sim.ask(a, op, &path_and_number("/", kind)).code,
            code,
            "{op} {kind}"
        );
    }
    assert_eq!(sim.cluster.watch_count(0), 0);
}

#[test]
fn set_watches_tells_what_was_missed_and_watches_the_rest() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(1, 40_000);
    for path in ["/same", "/data", "/gone", "/children"] {
        sim.ask(a, CREATE, &create(path, b"", &open(), 0));
    }
    let zxid = sim.ask(a, EXISTS, &path_and_flag("/", false)).zxid;
    sim.ask(a, SET_DATA, &set_data("/data", b"", -1));
    sim.ask(a, DELETE, &path_and_number("/gone", -1));
    sim.ask(a, CREATE, &create("/children/c", b"", &open(), 0));
    let body = set_watches(
        zxid,
        &["/gone", "/same", "/data"],
        &["/none", "/same"],
        &["/children", "/same", "/gone"],
    );
    sim.send(a, &request(-8, SET_WATCHES, &body));
    for (kind, path) in [
        (2, "/gone"),
        (3, "/data"),
        (1, "/same"),
        (4, "/children"),
        (2, "/gone"),
    ] {
        let event = sim.event(a);
        assert_eq!(
            (event.kind, event.path.as_str(), event.zxid),
            (kind, path, -1)
        );
    }
    let reply = sim.reply(a);
    assert_eq!((reply.xid, reply.code, reply.body.len()), (-8, 0, 0));
    assert_eq!(sim.cluster.watch_count(1), 3);
    sim.post(a, DELETE, &path_and_number("/same", -1));
    assert_eq!(sim.event(a).kind, 2);
    assert_eq!(sim.reply(a).code, 0, "told once, though watched twice");
}

#[test]
fn who_may_not_read_a_node_is_not_told() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 40_000);
    sim.ask(a, EXISTS, &path_and_flag("/n", true));
    let secret = acl("digest", "other:hash", permission::ALL);
    assert_eq!(sim.ask(a, CREATE, &create("/n", b"", &secret, 0)).code, 0);
    assert_eq!(sim.cluster.watch_count(0), 0, "but the watch is used up");
}
