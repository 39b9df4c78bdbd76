//! Several servers, and what can be done to them.
mod common;

use std::time::Duration;

use common::decode::Message;
use common::encode::*;
use common::simulation::{Simulation, three_servers};
use zoolock_testserver::model::{NodeKind, Role, Settings};

#[test]
fn a_follower_answers_its_own_client_after_it_has_applied_the_write() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(1, 40_000);
    let (b, _) = sim.connect(2, 40_000);
    sim.cluster.set_lag(1, Duration::from_millis(300));
    sim.post(a, CREATE, &create("/a", b"", &open(), 0));
    sim.post(a, EXISTS, &path_and_flag("/a", false));
    assert_eq!(
        sim.message(a),
        None,
        "the read waits for the write before it"
    );
    assert_eq!(sim.ask(b, EXISTS, &path_and_flag("/a", false)).code, 0);
    sim.pass_ms(299);
    assert_eq!(sim.message(a), None);
    sim.pass_ms(1);
    assert_eq!(sim.reply(a).path(), "/a");
    assert_eq!(sim.reply(a).code, 0);
}

#[test]
fn a_lagging_follower_is_behind_until_sync() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(1, 40_000);
    let (b, _) = sim.connect(2, 40_000);
    sim.cluster.set_lag(1, Duration::from_millis(300));
    sim.ask(b, CREATE, &create("/a", b"", &open(), 0));
    assert_eq!(sim.ask(a, EXISTS, &path_and_flag("/a", false)).code, -101);
    sim.post(a, SYNC, &record().string("/a"));
    sim.post(a, EXISTS, &path_and_flag("/a", false));
    assert_eq!(sim.message(a), None);
    sim.pass_ms(300);
    assert_eq!(sim.reply(a).path(), "/a", "sync answers with its path");
    assert_eq!(sim.reply(a).code, 0);
}

#[test]
fn a_cut_off_follower_answers_pings_and_reads_only_and_then_closes() {
    let mut sim = three_servers();
    let (a, session) = sim.connect(1, 4_000);
    let (b, _) = sim.connect(2, 40_000);
    sim.ask(a, CREATE, &create("/e", b"", &open(), EPHEMERAL));
    sim.pass_ms(1_000);
    sim.cluster.cut_off(sim.now, 1);
    sim.post(a, SYNC, &record().string("/"));
    let (c, unanswered) = sim.handshake(1, 0, 4_000, None);
    assert_eq!(unanswered, None, "a handshake needs the leader");
    let (d, unanswered) = sim.handshake(1, 0, 4_000, Some(&session));
    assert_eq!(unanswered, None);
    for _ in 0..8 {
        sim.pass_ms(1_000);
    }
    assert!(
        sim.cluster.node("/e").is_none(),
        "the leader has expired it"
    );
    assert_eq!(sim.cluster.role(1), Role::Follower);
    let e = sim.open(1);
    assert!(
        sim.cluster.node_at(1, "/e").is_some(),
        "and the follower still shows it"
    );
    sim.pass_ms(2_100);
    for connection in [a, c, d] {
        assert!(sim.is_closed(connection));
    }
    assert!(sim.is_closed(e));
    assert_eq!(sim.cluster.role(1), Role::Looking);
    assert_eq!(sim.ask(b, EXISTS, &path_and_flag("/e", false)).code, -101);
    let refused = sim.open(1);
    sim.send(refused, &connect(0, 4_000, 0, &[0; 16]));
    assert!(sim.is_closed(refused), "it listens and does not serve");
    sim.cluster.rejoin(sim.now, 1);
    sim.pass_ms(500);
    assert_eq!(sim.cluster.role(1), Role::Follower);
    assert!(sim.cluster.node_at(1, "/e").is_none());
}

#[test]
fn a_cut_off_follower_answers_reads_and_pings() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(1, 4_000);
    sim.cluster.cut_off(sim.now, 1);
    for _ in 0..9 {
        sim.pass_ms(1_000);
        assert_eq!(sim.ask(a, EXISTS, &path_and_flag("/", false)).code, 0);
        sim.post(a, PING, &record());
        assert_eq!(sim.reply(a).xid, -2);
    }
    assert!(
        sim.cluster.sessions().is_empty(),
        "though its session is over"
    );
    sim.post(a, SYNC, &record().string("/"));
    assert_eq!(sim.message(a), None);
}

#[test]
fn what_was_on_its_way_arrives_after_a_short_cut() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(1, 40_000);
    let (b, _) = sim.connect(2, 40_000);
    sim.cluster.cut_off(sim.now, 1);
    sim.post(a, CREATE, &create("/a", b"", &open(), 0));
    sim.ask(b, CREATE, &create("/b", b"", &open(), 0));
    sim.pass_ms(3_000);
    assert_eq!(sim.message(a), None);
    sim.cluster.rejoin(sim.now, 1);
    assert_eq!(sim.reply(a).path(), "/a");
    assert_eq!(sim.ask(a, EXISTS, &path_and_flag("/b", false)).code, 0);
}

#[test]
fn without_a_majority_writes_wait_and_sync_does_not() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(0, 40_000);
    let (b, _) = sim.connect(1, 40_000);
    sim.cluster.cut_off(sim.now, 0);
    assert_eq!(
        sim.ask(a, SYNC, &record().string("/")).code,
        0,
        "a leader syncs alone"
    );
    sim.post(a, CREATE, &create("/a", b"", &open(), 0));
    sim.post(a, PING, &record());
    assert_eq!(sim.message(a), None);
    sim.post(b, SYNC, &record().string("/"));
    assert_eq!(sim.message(b), None);
    sim.pass_ms(9_000);
    assert_eq!(sim.cluster.role(0), Role::Leader);
    sim.pass_ms(4_000);
    assert!(sim.is_closed(a));
    assert_ne!(sim.cluster.leader(), Some(0));
    assert!(
        sim.cluster.leader().is_some(),
        "the others have elected one"
    );
    assert!(sim.cluster.node("/a").is_none());
    sim.cluster.rejoin(sim.now, 0);
    sim.pass_ms(1_000);
    assert_eq!(sim.cluster.role(0), Role::Follower);
}

#[test]
fn a_followers_sync_needs_no_majority_unless_a_write_waits_before_it() {
    let settings = Settings {
        servers: 5,
        ..Settings::default()
    };
    let mut sim = Simulation::new(settings, 1);
    sim.cluster.elect(0, 0);
    let (a, _) = sim.connect(1, 40_000);
    for server in 2..5 {
        sim.cluster.cut_off(sim.now, server);
    }
    assert_eq!(sim.ask(a, SYNC, &record().string("/")).code, 0);
    sim.post(a, CREATE, &create("/a", b"", &open(), 0));
    sim.post(a, SYNC, &record().string("/"));
    assert_eq!(sim.message(a), None);
    sim.cluster.rejoin(sim.now, 2);
    assert_eq!(sim.reply(a).path(), "/a");
    assert_eq!(sim.reply(a).path(), "/");
}

#[test]
fn waiting_writes_are_done_when_the_majority_is_back() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(0, 40_000);
    sim.cluster.cut_off(sim.now, 0);
    sim.post(a, CREATE, &create("/a", b"", &open(), 0));
    sim.pass_ms(2_000);
    sim.cluster.rejoin(sim.now, 0);
    assert_eq!(sim.reply(a).path(), "/a");
}

#[test]
fn what_no_majority_had_may_survive_or_not() {
    let (mut survived, mut lost) = (0, 0);
    for seed in 0..40 {
        let settings = Settings {
            servers: 3,
            ..Settings::default()
        };
        let mut sim = Simulation::new(settings, seed);
        sim.cluster.elect(0, 0);
        let (a, _) = sim.connect(0, 40_000);
        sim.cluster.stop(sim.now, 1);
        sim.cluster.stop(sim.now, 2);
        sim.post(a, CREATE, &create("/a", b"", &open(), 0));
        assert_eq!(sim.message(a), None);
        sim.pass_ms(3_000);
        assert!(sim.is_closed(a));
        assert_eq!(sim.cluster.role(0), Role::Looking);
        sim.cluster.start(sim.now, 1);
        sim.pass_ms(1_000);
        assert!(sim.cluster.leader().is_some());
        match sim.cluster.node("/a") {
            Some(_) => survived += 1,
            None => lost += 1,
        }
    }
    assert!(survived > 0 && lost > 0, "{survived} {lost}");
}

#[test]
fn what_a_new_leader_keeps_of_its_log_is_there_before_anybody_is_served() {
    let mut survived = 0;
    for seed in 0..40 {
        let settings = Settings {
            servers: 3,
            ..Settings::default()
        };
        let mut sim = Simulation::new(settings, seed);
        sim.cluster.elect(0, 0);
        sim.cluster.set_lag(1, Duration::from_millis(300));
        let (a, _) = sim.connect(0, 40_000);
        sim.cluster.stop(sim.now, 1);
        sim.cluster.stop(sim.now, 2);
        sim.post(a, CREATE, &create("/a", b"", &open(), 0));
        sim.pass_ms(3_000);
        sim.cluster.start(sim.now, 1);
        while sim.cluster.role(1) == Role::Looking {
            sim.pass_ms(1);
        }
        if sim.cluster.node("/a").is_some() {
            survived += 1;
            assert!(sim.cluster.node_at(1, "/a").is_some(), "seed {seed}");
        }
    }
    assert!(survived > 0);
}

#[test]
fn nobody_follows_a_leader_of_an_earlier_epoch() {
    let mut sim = three_servers();
    sim.cluster.cut_off(sim.now, 0);
    sim.cluster.elect(sim.now, 1);
    let (a, _) = sim.connect(2, 40_000);
    sim.ask(a, CREATE, &create("/a", b"", &open(), 0));
    // The younger leader goes before the older one is heard again.
    sim.cluster.stop(sim.now, 1);
    sim.cluster.rejoin(sim.now, 0);
    sim.pass_ms(3_000);
    let leader = sim.cluster.leader().expect("the two have elected one");
    assert_eq!(leader, 2, "it has seen most");
    assert!(sim.cluster.node("/a").is_some());
}

/// Of five, only one follower is with the leader, so nothing is committed.
fn five_servers_without_a_majority() -> Simulation {
    let settings = Settings {
        servers: 5,
        ..Settings::default()
    };
    let mut sim = Simulation::new(settings, 1);
    sim.cluster.elect(0, 0);
    sim
}

#[test]
fn a_leader_keeps_a_sessions_order_whatever_server_a_request_came_through() {
    let mut sim = five_servers_without_a_majority();
    let (a, session) = sim.connect(1, 40_000);
    for server in 2..5 {
        sim.cluster.cut_off(sim.now, server);
    }
    sim.post(a, CREATE, &create("/a", b"", &open(), 0));
    let (b, resumed) = sim.handshake(0, 0, 40_000, Some(&session));
    assert_eq!(resumed.unwrap().id, session.id);
    sim.post(b, EXISTS, &path_and_flag("/a", false));
    assert_eq!(sim.message(b), None, "the create is before it");
    sim.cluster.rejoin(sim.now, 2);
    assert_eq!(sim.reply(b).code, 0);
}

#[test]
fn a_read_waits_for_no_request_that_reached_the_leader_after_it() {
    let mut sim = five_servers_without_a_majority();
    let (a, session) = sim.connect(1, 40_000);
    for server in 1..5 {
        sim.cluster.cut_off(sim.now, server);
    }
    sim.post(a, CREATE, &create("/late", b"", &open(), 0));
    let (b, _) = sim.handshake(0, 0, 40_000, Some(&session));
    let first = sim.post(b, CREATE, &create("/first", b"", &open(), 0));
    let read = sim.post(b, EXISTS, &path_and_flag("/first", false));
    let second = sim.post(b, CREATE, &create("/second", b"", &open(), 0));
    sim.cluster.rejoin(sim.now, 1);
    assert_eq!(sim.message(b), None);
    sim.cluster.rejoin(sim.now, 2);
    for xid in [first, read, second] {
        let reply = sim.reply(b);
        assert_eq!((reply.xid, reply.code), (xid, 0));
    }
    assert!(sim.is_closed(a), "the session has moved");
    assert!(sim.cluster.node("/late").is_none());
}

#[test]
fn a_stopped_leader_is_replaced_and_nothing_committed_is_lost() {
    for seed in 0..20 {
        let settings = Settings {
            servers: 3,
            ..Settings::default()
        };
        let mut sim = Simulation::new(settings, seed);
        let leader = sim.cluster.leader().unwrap();
        for server in 0..3 {
            sim.cluster
                .set_lag(server, Duration::from_millis(200 * server as u64));
        }
        let (a, _) = sim.connect(leader, 40_000);
        let zxid = sim.ask(a, CREATE, &create("/a", b"", &open(), 0)).zxid;
        sim.cluster.stop(sim.now, leader);
        assert!(sim.is_closed(a));
        assert_eq!(sim.cluster.open(sim.now, leader), None);
        sim.pass_ms(500);
        let next = sim.cluster.leader().expect("a new leader");
        assert_ne!(next, leader);
        assert!(sim.cluster.node("/a").is_some());
        assert!(sim.cluster.zxid(next) > zxid && sim.cluster.zxid(next) >> 32 == (zxid >> 32) + 1);
        sim.cluster.start(sim.now, leader);
        assert_eq!(sim.cluster.role(leader), Role::Looking);
        sim.pass_ms(500);
        assert_eq!(sim.cluster.role(leader), Role::Follower);
    }
}

#[test]
fn a_paused_leader_is_deposed_and_steps_down_when_it_wakes() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(0, 4_000);
    sim.cluster.pause(0);
    sim.post(a, SYNC, &record().string("/"));
    sim.pass_ms(10_400);
    assert_eq!(sim.cluster.leader(), Some(0));
    sim.pass_ms(200);
    assert_ne!(sim.cluster.leader(), Some(0));
    assert!(!sim.is_closed(a));
    sim.cluster.resume(sim.now, 0);
    assert!(sim.is_closed(a));
    assert_eq!(sim.message(a), None);
    sim.pass_ms(500);
    assert_eq!(sim.cluster.role(0), Role::Follower);
}

#[test]
fn a_paused_follower_catches_up() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(1, 40_000);
    let (b, _) = sim.connect(2, 40_000);
    sim.ask(a, EXISTS, &path_and_flag("/a", true));
    sim.cluster.pause(1);
    sim.ask(b, CREATE, &create("/a", b"", &open(), 0));
    sim.post(a, EXISTS, &path_and_flag("/a", false));
    sim.pass_ms(5_000);
    assert_eq!(sim.message(a), None);
    sim.cluster.resume(sim.now, 1);
    assert_eq!(sim.event(a).kind, 1);
    assert_eq!(sim.reply(a).code, 0);
}

#[test]
fn a_restored_ensemble_is_behind_its_clients() {
    let mut sim = three_servers();
    let (a, session) = sim.connect(1, 40_000);
    let before = sim.cluster.snapshot();
    let zxid = sim.ask(a, CREATE, &create("/a", b"", &open(), 0)).zxid;
    sim.cluster.restore(sim.now, &before);
    assert!(sim.is_closed(a));
    assert!(sim.cluster.node("/a").is_none());
    let (b, refused) = sim.handshake(1, zxid, 40_000, Some(&session));
    assert_eq!(refused, None);
    assert!(sim.is_closed(b));
    let (c, resumed) = sim.handshake(1, 0, 40_000, Some(&session));
    assert_eq!(resumed.unwrap().id, session.id);
    assert_eq!(
        sim.ask(c, CREATE, &create("/b", b"", &open(), 0)).zxid,
        zxid,
        "given out twice"
    );
}

#[test]
fn throttled_requests_are_answered_in_turn_and_not_executed() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(1, 40_000);
    sim.cluster.throttle(1, 2);
    assert_eq!(
        sim.ask(a, CREATE, &create("/a", b"", &open(), 0)).code,
        -127
    );
    sim.post(a, PING, &record());
    assert_eq!(sim.reply(a).code, 0);
    assert_eq!(sim.ask(a, SYNC, &record().string("/")).code, -127);
    assert!(sim.cluster.node("/a").is_none());
    assert_eq!(sim.ask(a, CREATE, &create("/a", b"", &open(), 0)).code, 0);
}

#[test]
fn an_administrator_needs_a_majority_and_fires_watches() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(1, 40_000);
    sim.ask(a, EXISTS, &path_and_flag("/x", true));
    let path = sim
        .cluster
        .create_node(sim.now, "/x", b"1", NodeKind::Persistent);
    assert_eq!(path.as_deref(), Ok("/x"));
    assert_eq!(sim.event(a).kind, 1);
    sim.ask(a, GET_DATA, &path_and_flag("/x", true));
    assert_eq!(sim.cluster.set_node(sim.now, "/x", b"2"), Ok(()));
    assert_eq!(sim.event(a).kind, 3);
    sim.ask(a, GET_DATA, &path_and_flag("/x", true));
    assert_eq!(sim.cluster.delete_node(sim.now, "/x"), Ok(()));
    assert_eq!(sim.event(a).kind, 2);
    assert_eq!(sim.cluster.delete_node(sim.now, "/x").unwrap_err().0, -101);
    sim.cluster.cut_off(sim.now, 0);
    assert_eq!(sim.cluster.delete_node(sim.now, "/x").unwrap_err().0, -4);
}

#[test]
fn the_same_seed_gives_the_same_answers() {
    let run = |seed| {
        let settings = Settings {
            servers: 3,
            ..Settings::default()
        };
        let mut sim = Simulation::new(settings, seed);
        let mut seen: Vec<Message> = Vec::new();
        let (a, session) = sim.connect(1, 4_000);
        for round in 0..20 {
            let path = format!("/n{round}-");
            sim.post(a, CREATE2, &create(&path, b"", &open(), SEQUENTIAL));
            sim.pass_ms(700);
            seen.extend(std::iter::from_fn(|| sim.message(a)));
            if round == 10 {
                sim.cluster.stop(sim.now, 2);
            }
        }
        (session, seen, sim.cluster.leader())
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5).0, run(6).0);
}
