//! Frames, four-letter words, and bytes that are nothing.
mod common;

use common::encode::*;
use common::simulation::{one_server, three_servers};

#[test]
fn bytes_may_be_split_anyhow_and_pipelined() {
    let mut sim = one_server();
    let a = sim.open(0);
    let mut bytes = connect(0, 10_000, 0, &[0; 16]);
    bytes.extend(request(1, CREATE, &create("/a", b"", &open(), 0)));
    bytes.extend(request(2, GET_CHILDREN, &path_and_flag("/", false)));
    for byte in bytes {
        sim.send(a, &[byte]);
    }
    assert!(sim.frame(a).is_some());
    assert_eq!(sim.reply(a).path(), "/a");
    assert_eq!(sim.reply(a).fields().strings(), ["a", "zookeeper"]);
}

#[test]
fn requests_may_follow_a_handshake_that_is_not_answered_yet() {
    let mut sim = three_servers();
    sim.cluster.set_lag(1, std::time::Duration::from_millis(50));
    let a = sim.open(1);
    let mut bytes = connect(0, 10_000, 0, &[0; 16]);
    bytes.extend(request(1, CREATE, &create("/a", b"", &open(), 0)));
    sim.send(a, &bytes);
    assert_eq!(sim.frame(a), None);
    sim.pass_ms(50);
    assert!(sim.frame(a).is_some());
    sim.pass_ms(50);
    assert_eq!(sim.reply(a).path(), "/a");
}

#[test]
fn old_clients_get_no_read_only_byte() {
    let mut sim = one_server();
    let body = record().i32(0).i64(0).i32(10_000).i64(0).bytes(&[0; 16]);
    let a = sim.open(0);
    sim.send(a, &body.clone().framed());
    assert_eq!(sim.frame(a).unwrap().len(), 36);
    let b = sim.open(0);
    sim.send(b, &body.bool(true).framed());
    assert_eq!(sim.frame(b).unwrap().len(), 37);
}

#[test]
fn four_letter_words_are_answered_raw() {
    let mut sim = three_servers();
    for (server, mode) in [(0, "leader"), (1, "follower")] {
        let a = sim.open(server);
        sim.send(a, b"srvr");
        let text = String::from_utf8(sim.raw(a)).unwrap();
        assert!(text.contains(&format!("\nMode: {mode}\n")), "{text}");
        assert!(sim.is_closed(a));
    }
    let a = sim.open(0);
    sim.send(a, b"ru");
    sim.send(a, b"ok");
    assert_eq!(sim.raw(a), b"imok");
}

#[test]
fn a_frame_over_the_limit_closes() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 10_000);
    let room = 0xf_ffff - (8 + 4 + 2 + 4 + 4);
    let big = record().string("/x").bytes(&vec![7; room]).i32(-1);
    assert_eq!(sim.ask(a, SET_DATA, &big).code, -101);
    sim.send(a, &0x10_0000_i32.to_be_bytes());
    assert!(sim.is_closed(a));
    for start in [[0xff; 4], [0; 4]] {
        let b = sim.open(0);
        sim.send(b, &start);
        assert!(sim.is_closed(b), "{start:?}");
    }
}

#[test]
fn a_bad_body_is_an_error_and_a_bad_header_the_end() {
    let mut sim = one_server();
    let (a, _) = sim.connect(0, 10_000);
    for op in [
        CREATE,
        DELETE,
        EXISTS,
        GET_DATA,
        SET_DATA,
        MULTI,
        SET_WATCHES,
        SYNC,
    ] {
        let reply = sim.ask(a, op, &record().i32(1_000));
        assert_eq!((reply.code, reply.body.len()), (-5, 0), "{op}");
    }
    assert_eq!(
        sim.ask(a, GET_DATA, &record().i32(-1).bool(false)).code,
        -5,
        "a null path"
    );
    sim.send(a, &record().i32(1).framed());
    assert!(sim.is_closed(a));
}

#[test]
fn an_unknown_operation_is_unimplemented_and_the_end() {
    let mut sim = one_server();
    for op in [0, CHECK, 77, -3] {
        let (a, _) = sim.connect(0, 10_000);
        assert_eq!(sim.ask(a, op, &path_and_number("/", 0)).code, -6);
        assert!(sim.is_closed(a));
    }
}
