//! Servers that take no more connections, or nothing but reads.
mod common;

use std::time::Duration;

use common::encode::*;
use common::simulation::Simulation;
use zoolock_testserver::model::{Role, Settings};

const NOT_READ_ONLY: i32 = -119;

#[test]
fn a_connection_beyond_the_limit_is_taken_and_closed() {
    let settings = Settings {
        max_connections: Some(2),
        ..Settings::default()
    };
    let mut sim = Simulation::new(settings, 1);
    let (a, _) = sim.connect(0, 10_000);
    sim.connect(0, 10_000);
    let beyond = sim.open(0);
    sim.pass_ms(0);
    assert!(sim.is_closed(beyond));
    sim.post(a, CLOSE, &record());
    sim.reply(a);
    assert!(sim.is_closed(a));
    sim.connect(0, 10_000);
}

/// Server 2 alone, for two seconds.
fn without_majority(read_only_after: Option<Duration>) -> Simulation {
    let mut sim = Simulation::new(
        Settings {
            servers: 3,
            read_only_after,
            ..Settings::default()
        },
        1,
    );
    for server in [0, 1] {
        sim.cluster.stop(sim.now, server);
    }
    sim.pass_ms(20_000);
    assert_eq!(sim.cluster.role(2), Role::Looking);
    sim
}

#[test]
fn a_server_without_majority_serves_nobody_unless_told_to() {
    let mut sim = without_majority(None);
    let id = sim.open(2);
    sim.send(id, &connect_to(0, 10_000, 0, &[0; 16], true));
    assert!(sim.is_closed(id));
}

#[test]
fn a_server_that_only_reads_answers_no_handshake_until_it_has_a_majority() {
    let mut sim = without_majority(Some(Duration::from_secs(2)));
    let writer = sim.open(2);
    sim.send(writer, &connect(0, 10_000, 0, &[0; 16]));
    assert!(sim.is_closed(writer), "it wants more than reads");
    let reader = sim.open(2);
    sim.send(reader, &connect_to(0, 10_000, 0, &[0; 16], true));
    let refusal = sim.reply(reader);
    assert_eq!((refusal.xid, refusal.code), (0, NOT_READ_ONLY));
    sim.post(reader, GET_CHILDREN, &path_and_flag("/", true));
    assert!(!sim.is_closed(reader));
    sim.cluster.start(sim.now, 0);
    sim.pass_ms(2_000);
    assert!(sim.is_closed(reader));
    sim.connect(2, 10_000);
}

#[test]
fn a_server_serves_no_reads_before_its_time() {
    let mut sim = without_majority(Some(Duration::from_secs(2)));
    sim.cluster.stop(sim.now, 2);
    sim.cluster.start(sim.now, 2);
    for (wait, served) in [(1_900, false), (200, true)] {
        sim.pass_ms(wait);
        let id = sim.open(2);
        sim.send(id, &connect_to(0, 10_000, 0, &[0; 16], true));
        assert_eq!(sim.is_closed(id), !served);
    }
}
