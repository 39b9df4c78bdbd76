//! Sessions: handshakes, timeouts, moving, and the leader's view of them.
mod common;

use common::encode::*;
use common::simulation::{SECOND, Simulation, one_server, three_servers};
use zoolock_testserver::model::{Role, Settings};

#[test]
fn timeouts_are_negotiated_between_two_and_twenty_ticks() {
    let mut sim = one_server();
    for (asked, got) in [
        (0, 4_000),
        (-5, 4_000),
        (10_000, 10_000),
        (i32::MAX, 40_000),
    ] {
        assert_eq!(sim.connect(0, asked).1.timeout_ms, got);
    }
}

#[test]
fn a_session_expires_late_by_at_most_a_tick_and_never_early() {
    for seed in 0..50 {
        let mut sim = Simulation::new(Settings::default(), seed);
        let (_, session) = sim.connect(0, 5_000);
        let due = sim.cluster.sessions()[0].expires_at.unwrap();
        assert!((5 * SECOND..=7 * SECOND).contains(&due), "{due}");
        sim.now = due - 1;
        sim.cluster.handle_timeout(sim.now);
        assert_eq!(sim.cluster.sessions()[0].id, session.id);
        sim.pass_ms(1);
        assert!(sim.cluster.sessions().is_empty());
    }
}

#[test]
fn any_request_keeps_a_session_alive_and_silence_ends_it_with_its_nodes() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 4_000);
    let (b, _) = sim.connect(0, 40_000);
    sim.ask(a, CREATE, &create("/e", b"", &open(), EPHEMERAL));
    sim.ask(b, EXISTS, &path_and_flag("/e", true));
    for _ in 0..10 {
        sim.pass_ms(3_900);
        assert_eq!(sim.ask(a, GET_CHILDREN, &path_and_flag("/", false)).code, 0);
        sim.post(b, PING, &record());
        assert_eq!(sim.reply(b).xid, -2);
    }
    sim.pass_ms(6_000);
    assert!(sim.is_closed(a));
    let event = sim.event(b);
    assert_eq!((event.kind, event.path.as_str()), (2, "/e"));
    assert!(sim.cluster.node("/e").is_none());
}

#[test]
fn a_session_is_resumed_with_its_password_only() {
    let mut sim = one_server();
    let (a, session) = sim.connect(0, 10_000);
    let (b, resumed) = sim.handshake(0, 0, 10_000, Some(&session));
    assert_eq!(resumed.as_ref(), Some(&session));
    assert!(sim.is_closed(a), "the same session on the same server");
    let mut wrong = session.clone();
    wrong.password[0] ^= 1;
    let (c, refused) = sim.handshake(0, 0, 10_000, Some(&wrong));
    let refused = refused.unwrap();
    assert_eq!((refused.timeout_ms, refused.id), (0, 0));
    assert!(sim.is_closed(c));

    assert!(sim.cluster.expire_session(sim.now, session.id));
    assert!(sim.is_closed(b));
    let (d, refused) = sim.handshake(0, 0, 10_000, Some(&session));
    assert_eq!(refused.unwrap().timeout_ms, 0);
    assert!(sim.is_closed(d));
    assert!(!sim.cluster.expire_session(sim.now, session.id));
}

#[test]
fn close_session_is_answered_and_removes_its_nodes() {
    let mut sim = three_servers();
    let (a, _) = sim.connect(1, 10_000);
    let (b, _) = sim.connect(2, 10_000);
    sim.ask(a, CREATE, &create("/e", b"", &open(), EPHEMERAL));
    sim.ask(b, GET_DATA, &path_and_flag("/e", true));
    assert_eq!(sim.ask(a, CLOSE, &record()).code, 0);
    assert!(sim.is_closed(a));
    assert_eq!(sim.event(b).kind, 2);
    assert_eq!(sim.cluster.sessions().len(), 1);
}

#[test]
fn a_server_behind_the_client_closes() {
    let mut sim = one_server();
    let (a, session) = sim.handshake(0, 1, 10_000, None);
    assert_eq!(session, None);
    assert!(sim.is_closed(a));
}

#[test]
fn a_moved_session_writes_only_through_its_new_server() {
    for (from, to) in [(1, 2), (1, 0)] {
        let mut sim = three_servers();
        let (old, session) = sim.connect(from, 10_000);
        sim.ask(old, CREATE, &create("/a", b"", &open(), 0));
        let (new, _) = sim.handshake(to, 0, 10_000, Some(&session));
        assert_eq!(sim.cluster.sessions()[0].server, Some(to));
        assert_eq!(
            sim.ask(old, EXISTS, &path_and_flag("/a", false)).code,
            0,
            "a follower does not know"
        );
        sim.post(old, CREATE, &create("/b", b"", &open(), 0));
        assert!(sim.is_closed(old), "session moved closes the connection");
        assert!(sim.cluster.node("/b").is_none());
        let created = sim.ask(new, CREATE, &create("/b", b"", &open(), 0));
        assert_eq!(created.code, 0);
    }
}

#[test]
fn a_leader_closes_the_connection_of_a_session_that_has_moved_away() {
    for (op, body) in [
        (EXISTS, path_and_flag("/", false)),
        (PING, record()),
        (CREATE, create("/b", b"", &open(), 0)),
    ] {
        let mut sim = three_servers();
        let (old, session) = sim.connect(0, 10_000);
        sim.handshake(1, 0, 10_000, Some(&session));
        sim.post(old, op, &body);
        assert!(sim.is_closed(old), "{op}");
    }
}

#[test]
fn a_follower_reports_its_clients_every_half_tick() {
    let mut sim = three_servers();
    let (a, session) = sim.connect(1, 6_000);
    let due = |sim: &Simulation| sim.cluster.sessions()[0].expires_at.unwrap();
    sim.pass_ms(900);
    let before = due(&sim);
    sim.pass_ms(1_950);
    sim.post(a, PING, &record());
    assert_eq!(sim.reply(a).xid, -2);
    assert_eq!(due(&sim), before, "the leader has not heard of it");
    sim.pass_ms(1_000);
    assert!(due(&sim) > before);
    assert_eq!(sim.cluster.sessions()[0].id, session.id);
    // A forwarded write alone does not touch the session (Z3).
    let before = due(&sim);
    sim.pass_ms(2_010);
    sim.ask(a, CREATE, &create("/a", b"", &open(), 0));
    assert_eq!(due(&sim), before);
}

#[test]
fn a_stall_longer_than_the_timeout_kills_healthy_sessions() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 4_000);
    sim.cluster.pause(0);
    sim.post(a, PING, &record());
    sim.pass_ms(10_000);
    assert_eq!(sim.message(a), None);
    sim.cluster.resume(sim.now, 0);
    assert!(sim.is_closed(a));
    assert!(sim.cluster.sessions().is_empty());
}

#[test]
fn what_piles_up_in_a_short_stall_is_answered() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 40_000);
    sim.cluster.pause(0);
    sim.post(a, CREATE, &create("/a", b"", &open(), 0));
    let late = sim.open(0);
    sim.send(late, &connect(0, 10_000, 0, &[0; 16]));
    sim.pass_ms(3_000);
    assert_eq!(sim.message(a), None);
    sim.cluster.resume(sim.now, 0);
    assert_eq!(sim.reply(a).path(), "/a");
    assert!(sim.frame(late).is_some());
}

#[test]
fn a_new_leader_starts_all_timers_afresh_and_keeps_ephemeral_nodes() {
    let mut sim = three_servers();
    let (a, session) = sim.connect(1, 4_000);
    sim.ask(a, CREATE, &create("/e", b"", &open(), EPHEMERAL));
    sim.pass_ms(3_500);
    sim.cluster.elect(sim.now, 2);
    assert!(sim.is_closed(a));
    assert_eq!(sim.cluster.leader(), Some(2));
    assert_eq!(sim.cluster.role(0), Role::Follower);
    assert!(sim.cluster.sessions()[0].expires_at.unwrap() >= sim.now + 4 * SECOND);
    sim.pass_ms(3_500);
    let (b, resumed) = sim.handshake(0, 0, 4_000, Some(&session));
    assert_eq!(resumed.unwrap().id, session.id);
    let stat = sim
        .ask(b, EXISTS, &path_and_flag("/e", false))
        .fields()
        .stat();
    assert_eq!(stat.ephemeral_owner, session.id);
}
