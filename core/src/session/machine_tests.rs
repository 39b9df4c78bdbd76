use std::time::Duration;

use proptest::prelude::*;

use super::super::{Failure, Probed};
use super::*;

#[path = "machine_tests/rig.rs"]
mod rig;

use rig::{Rig, S, Sent, event_frame, handshake, header, reply, settings, synced};

fn get(path: &str) -> Request {
    Request::GetData {
        path: path.into(),
        watch: false,
    }
}

fn watch(path: &str) -> Request {
    Request::GetData {
        path: path.into(),
        watch: true,
    }
}

fn delete() -> Request {
    Request::Delete {
        path: "/a".into(),
        version: -1,
    }
}

const PING: i32 = 11;
const SYNC: i32 = 9;
const MULTI: i32 = 14;
const SET_WATCHES: i32 = 101;
const CLOSE: i32 = -11;

fn ops(sent: &[Sent]) -> Vec<i32> {
    sent.iter().map(|sent| sent.op).collect()
}

// ---- opening and resuming ----

#[test]
fn r16_a_session_is_opened_and_resumed_with_what_it_was_given() {
    let mut rig = Rig::connected();
    assert_eq!(rig.machine.session_id(), 7);
    rig.lose_connection();
    assert_eq!(rig.events(), [Event::Suspended]);
    assert!(!rig.machine.is_connected());
    let dial = rig.dialed();
    let request = rig.handshake_sent(dial);
    // Last zxid, timeout, session, and the password behind its length.
    assert_eq!(request[4..12], 90_i64.to_be_bytes());
    assert_eq!(request[16..24], 7_i64.to_be_bytes());
    assert_eq!(request[28..44], [5; 16]);
    rig.answer_handshake(dial, 7, S);
    assert_eq!(rig.events(), [Event::Connected { new_session: false }]);
}

#[test]
fn r16_a_session_that_is_over_is_followed_by_a_new_one() {
    let mut rig = Rig::connected();
    rig.lose_connection();
    let dial = rig.dialed();
    rig.handshake_sent(dial);
    rig.receive(dial, &handshake(0, 0));
    assert_eq!(rig.events(), [Event::Suspended, Event::SessionOver]);
    assert_eq!(rig.machine.lease_until(), Time::default());
    let dial = rig.dialed();
    let request = rig.handshake_sent(dial);
    assert_eq!(request[16..24], 0_i64.to_be_bytes());
    assert_eq!(request[28..44], [0; 16]);
    rig.answer_handshake(dial, 8, S);
    assert_eq!(rig.events(), [Event::Connected { new_session: true }]);
    assert_eq!(rig.machine.session_id(), 8);
}

#[test]
fn r16_another_session_than_asked_for_is_a_new_one() {
    let mut rig = Rig::connected();
    rig.lose_connection();
    let dial = rig.dialed();
    rig.handshake_sent(dial);
    rig.answer_handshake(dial, 9, S);
    assert_eq!(
        rig.events(),
        [
            Event::Suspended,
            Event::SessionOver,
            Event::Connected { new_session: true }
        ]
    );
}

#[test]
fn r16_an_expiry_told_by_a_reply_ends_the_session() {
    let mut rig = Rig::connected();
    rig.machine.submit(&delete(), 1, 0);
    rig.machine.submit(&delete(), 2, 0);
    let sent = rig.transmit();
    rig.receive(rig.dial, &reply(sent[0].xid, Code::SESSION_EXPIRED, &[]));
    // Neither can be known to have happened.
    assert_eq!(
        rig.events(),
        [
            Event::Reply(1, Outcome::InDoubt),
            Event::Reply(2, Outcome::InDoubt),
            Event::Suspended,
            Event::SessionOver
        ]
    );
}

#[test]
fn r16_a_session_that_has_moved_drops_the_connection_only() {
    let mut rig = Rig::connected();
    rig.machine.submit(&delete(), 1, 0);
    let sent = rig.transmit();
    rig.receive(rig.dial, &reply(sent[0].xid, Code::SESSION_MOVED, &[]));
    assert_eq!(
        rig.events(),
        [Event::Reply(1, Outcome::InDoubt), Event::Suspended]
    );
    let dial = rig.dialed();
    assert_eq!(rig.handshake_sent(dial)[16..24], 7_i64.to_be_bytes());
}

#[test]
fn r16_a_server_without_a_session_to_write_in_is_passed_over() {
    for answer in [
        handshake(0, rig::millis(S)),
        rig::read_only_handshake(7, rig::millis(S)),
        rig::frame(&[0; 3]),
        rig::frame(&[]),
        (-1_i32).to_be_bytes().to_vec(),
        i32::MAX.to_be_bytes().to_vec(),
    ] {
        let mut rig = Rig::new(settings(2));
        let dial = rig.dialed();
        rig.handshake_sent(dial);
        rig.receive(dial, &answer);
        assert_eq!(rig.events(), [], "{answer:?}");
        assert!(rig.hung_up.contains(&dial));
        let next = rig.dialed();
        assert_ne!(rig.server(next), rig.server(dial));
    }
}

// ---- credentials ----

#[test]
fn r16_a_new_session_is_announced_when_its_credentials_are_taken() {
    let mut with_auth = settings(1);
    with_auth.auth = vec![
        ("digest".into(), crate::config::Secret(b"a:b".to_vec())),
        ("ip".into(), crate::config::Secret(Vec::new())),
    ];
    let mut rig = Rig::new(with_auth);
    let dial = rig.dialed();
    rig.handshake_sent(dial);
    rig.answer_handshake(dial, 7, S);
    assert_eq!(ops(&rig.transmit()), [100, 100]);
    assert_eq!(rig.events(), []);
    rig.receive(dial, &reply(-4, Code::OK, &[]));
    assert_eq!(rig.events(), []);
    rig.receive(dial, &reply(-4, Code::OK, &[]));
    assert_eq!(rig.events(), [Event::Connected { new_session: true }]);
    // On the next server they go first again.
    rig.lose_connection();
    let dial = rig.dialed();
    rig.handshake_sent(dial);
    rig.answer_handshake(dial, 7, S);
    assert_eq!(ops(&rig.transmit())[..2], [100, 100]);
}

#[test]
fn r20_refused_credentials_are_told_and_nobody_is_bothered_again() {
    let mut with_auth = settings(1);
    with_auth.auth = vec![("x".into(), crate::config::Secret(b"a:b".to_vec()))];
    let mut rig = Rig::new(with_auth);
    let dial = rig.dialed();
    rig.handshake_sent(dial);
    rig.answer_handshake(dial, 7, S);
    rig.transmit();
    rig.receive(dial, &reply(-4, Code::AUTH_FAILED, &[]));
    assert_eq!(
        rig.events(),
        [Event::AuthFailed {
            code: Code::AUTH_FAILED
        }]
    );
    rig.machine.hold_off(Time::NEVER);
    for _ in 0..100 {
        rig.pass(Duration::from_secs(1));
    }
    assert_eq!(rig.open_dials(), []);
}

// ---- the window ----

#[test]
fn r16_at_most_256_requests_are_in_flight() {
    let mut rig = Rig::connected();
    for tag in 0..1_000 {
        rig.machine.submit(&get("/a"), tag, 100);
    }
    let sent = rig.transmit();
    assert_eq!(sent.len(), 256);
    assert_eq!(rig.transmit().len(), 0);
    for answered in &sent[..3] {
        rig.receive(rig.dial, &reply(answered.xid, Code::NO_NODE, &[]));
        assert_eq!(rig.transmit().len(), 1);
    }
}

#[test]
fn r16_at_most_8_mib_of_replies_are_expected() {
    let mut rig = Rig::connected();
    for tag in 0..5 {
        rig.machine.submit(&get("/a"), tag, 3 << 20);
    }
    let sent = rig.transmit();
    assert_eq!(sent.len(), 2);
    rig.receive(rig.dial, &reply(sent[0].xid, Code::NO_NODE, &[]));
    assert_eq!(rig.transmit().len(), 1);
    // A single one that is larger has to get through, by itself.
    let mut rig = Rig::connected();
    rig.machine.submit(&get("/a"), 1, 100 << 20);
    rig.machine.submit(&get("/a"), 2, 1);
    let sent = rig.transmit();
    assert_eq!(sent.len(), 1);
    rig.receive(rig.dial, &reply(sent[0].xid, Code::NO_NODE, &[]));
    assert_eq!(rig.transmit().len(), 1);
}

#[test]
fn r16_lease_traffic_takes_the_next_free_place() {
    let mut rig = Rig::connected();
    rig.machine.set_interest(true, false);
    for tag in 0..1_000 {
        rig.machine.submit(&get("/a"), tag, 100);
    }
    let mut in_flight = rig.transmit();
    rig.pass(S / 6);
    assert_eq!(rig.transmit().len(), 0, "no place is free");
    let first = in_flight.remove(0);
    rig.receive(rig.dial, &reply(first.xid, Code::NO_NODE, &[]));
    assert_eq!(ops(&rig.transmit()), [SYNC]);
}

#[test]
fn r03_the_lease_runs_through_a_burst_whose_answers_trickle() {
    let mut rig = Rig::connected();
    rig.machine.set_interest(true, true);
    let mut in_flight = std::collections::VecDeque::new();
    for tag in 0..20_000 {
        rig.machine.submit(&get("/a"), tag, 100);
    }
    // A server that answers one request in 20 ms: 256 of them are longer than S/6.
    for _ in 0..2_000 {
        in_flight.extend(rig.transmit());
        rig.pass(Duration::from_millis(4));
        if let Some(sent) = in_flight.pop_front() {
            let answer = match sent.op {
                SYNC => synced(sent.xid),
                _ => reply(sent.xid, Code::NO_NODE, &[]),
            };
            rig.receive(rig.dial, &answer);
        }
        assert!(rig.machine.is_connected());
        assert!(rig.machine.lease_until() > rig.now);
    }
}

/// After 2³¹ requests on one connection. Negative numbers stand for pings, events and credentials (Z14).
#[test]
fn r16_request_numbers_begin_again_before_they_are_negative() {
    let mut rig = Rig::connected();
    let connection = rig.machine.connection.as_mut().unwrap();
    connection.number_from(i32::MAX - 1);
    for tag in 0..5 {
        rig.machine.submit(&get("/a"), tag, 100);
    }
    let sent = rig.transmit();
    let xids: Vec<i32> = sent.iter().map(|sent| sent.xid).collect();
    assert_eq!(xids, [i32::MAX - 1, i32::MAX, 1, 2, 3]);
    // An event in between answers nothing.
    rig.receive(rig.dial, &event_frame(3, "/a"));
    for sent in &sent {
        rig.receive(rig.dial, &reply(sent.xid, Code::NO_NODE, &[]));
    }
    let answered: Vec<u32> = rig
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Reply(tag, Outcome::Refused(Code::NO_NODE)) => Some(tag),
            _ => None,
        })
        .collect();
    assert_eq!(answered, [0, 1, 2, 3, 4]);
    assert!(rig.machine.is_connected());
}

// ---- keeping the session ----

#[test]
fn r03_a_session_is_never_silent_for_longer_than_a_sixth() {
    let mut rig = Rig::connected();
    let mut last = rig.now;
    for _ in 0..40 {
        rig.wait_for_timer();
        let sent = rig.transmit();
        assert_eq!(ops(&sent), [PING]);
        assert!(rig.now.saturating_since(last) <= S / 6);
        last = rig.now;
        rig.receive(rig.dial, &reply(-2, Code::OK, &[]));
    }
}

#[test]
fn r03_confirmations_are_asked_for_while_a_guard_believes_or_an_attempt_waits() {
    for interest in [(true, false), (false, true)] {
        let mut rig = Rig::connected();
        rig.machine.set_interest(interest.0, interest.1);
        let mut last = rig.now;
        // Reads go on all the time: they keep the session, not the lease.
        for step in 0..200 {
            rig.pass(S / 60);
            rig.machine.submit(&get("/a"), step, 100);
            for sent in rig.transmit() {
                match sent.op {
                    SYNC => {
                        assert!(rig.now.saturating_since(last) <= S / 6 + S / 60);
                        last = rig.now;
                        rig.receive(rig.dial, &synced(sent.xid));
                    }
                    _ => rig.receive(rig.dial, &reply(sent.xid, Code::NO_NODE, &[])),
                }
            }
        }
        assert!(rig.now.saturating_since(last) <= S / 6 + S / 60);
        assert!(rig.machine.lease_until() > rig.now);
    }
}

#[test]
fn r03_an_unanswered_confirmation_drops_the_connection_at_that_moment() {
    for (believing, limit) in [(true, S / 6), (false, S / 3)] {
        let mut rig = Rig::connected();
        rig.machine.set_interest(believing, true);
        rig.machine.submit(&delete(), 1, 100);
        let asked = rig.now;
        rig.transmit();
        // Whatever else arrives, nothing makes up for it: the pings in between are answered.
        while rig.machine.is_connected() {
            rig.wait_for_timer();
            for sent in rig.transmit() {
                if sent.op == PING {
                    rig.receive(rig.dial, &reply(-2, Code::OK, &[]));
                }
            }
        }
        assert_eq!(rig.now.saturating_since(asked), limit);
        assert_eq!(
            rig.events(),
            [Event::Reply(1, Outcome::InDoubt), Event::Suspended]
        );
    }
}

#[test]
fn r03_a_silent_server_is_given_up_after_a_third() {
    let mut rig = Rig::connected();
    rig.wait_for_timer();
    let asked = rig.now;
    assert_eq!(ops(&rig.transmit()), [PING]);
    while rig.machine.is_connected() {
        rig.wait_for_timer();
        rig.transmit();
    }
    assert_eq!(rig.now.saturating_since(asked), S / 3);
}

#[test]
fn r03_a_lease_renewed_by_a_write_checks_contenders_and_notices_their_end() {
    let mut by_write = settings(1);
    by_write.confirmation = LeaseConfirmation::Write;
    let mut rig = Rig::open(by_write);
    rig.machine.set_interest(true, false);
    // Without a guard's contender there is nothing to check.
    rig.pass(S / 6);
    let sent = rig.transmit();
    assert_eq!(ops(&sent), [SYNC]);
    rig.receive(rig.dial, &synced(sent[0].xid));
    rig.machine
        .set_held_paths(vec!["/l/a".into(), "/l/b".into()]);
    rig.pass(S / 6);
    let sent = rig.transmit();
    assert_eq!(ops(&sent), [MULTI]);
    // Two errors: none for the first, NoNode for the second.
    let mut body = Vec::new();
    for code in [Code::OK, Code::NO_NODE] {
        body.extend((-1_i32).to_be_bytes());
        body.push(0);
        body.extend(code.0.to_be_bytes());
        body.extend(code.0.to_be_bytes());
    }
    body.extend((-1_i32).to_be_bytes());
    body.push(1);
    body.extend((-1_i32).to_be_bytes());
    let before = rig.machine.lease_until();
    rig.receive(rig.dial, &reply(sent[0].xid, Code::OK, &body));
    assert_eq!(
        rig.events(),
        [Event::Watch {
            kind: WatchEventKind::Deleted,
            path: "/l/b".into()
        }]
    );
    assert!(
        rig.machine.lease_until() > before,
        "the leader has answered"
    );
}

// ---- watches ----

#[test]
fn r16_watches_that_are_pending_are_armed_again() {
    let mut rig = Rig::connected();
    for (tag, path) in ["/fires", "/stays", "/missing"].iter().enumerate() {
        let tag = u32::try_from(tag).unwrap();
        rig.machine.submit(&watch(path), tag, 100);
    }
    let sent = rig.transmit();
    rig.receive(rig.dial, &reply(sent[0].xid, Code::OK, &rig::data()));
    rig.receive(rig.dial, &reply(sent[1].xid, Code::OK, &rig::data()));
    rig.receive(rig.dial, &reply(sent[2].xid, Code::NO_NODE, &[]));
    rig.receive(rig.dial, &event_frame(2, "/fires"));
    // Nobody has asked for this one, and once is enough for the other: if there was another watch, it was
    // one on children.
    rig.receive(rig.dial, &event_frame(2, "/unknown"));
    rig.receive(rig.dial, &event_frame(2, "/fires"));
    let fired = Event::Watch {
        kind: WatchEventKind::Deleted,
        path: "/fires".into(),
    };
    let events = rig.events();
    assert_eq!(events.iter().filter(|event| **event == fired).count(), 1);
    for path in ["/unknown", "/fires"] {
        let of_children = Event::Watch {
            kind: WatchEventKind::ChildrenChanged,
            path: path.into(),
        };
        assert!(events.contains(&of_children), "{events:?}");
    }
    assert_eq!(events.len(), 6);
    // One whose answer is lost may be armed or not; it is armed again.
    rig.machine.submit(&watch("/doubtful"), 9, 100);
    rig.transmit();
    rig.lose_connection();
    let dial = rig.dialed();
    rig.handshake_sent(dial);
    rig.answer_handshake(dial, 7, S);
    let sent = rig.transmit();
    assert_eq!(ops(&sent), [SET_WATCHES]);
    let text = String::from_utf8_lossy(&sent[0].bytes).into_owned();
    assert!(text.contains("/stays") && text.contains("/doubtful"));
    assert!(!text.contains("/fires") && !text.contains("/missing"));
}

#[test]
fn r09_a_server_that_does_not_arm_them_again_is_left() {
    let mut rig = Rig::connected();
    rig.machine.submit(&watch("/stays"), 1, 100);
    let sent = rig.transmit();
    rig.receive(rig.dial, &reply(sent[0].xid, Code::OK, &rig::data()));
    rig.lose_connection();
    let dial = rig.dialed();
    rig.handshake_sent(dial);
    rig.answer_handshake(dial, 7, S);
    let sent = rig.transmit();
    assert_eq!(ops(&sent), [SET_WATCHES]);
    rig.events();
    rig.receive(dial, &reply(sent[0].xid, Code::THROTTLED_OP, &[]));
    assert_eq!(rig.events(), [Event::Suspended]);
    // The next one is asked for the same.
    let dial = rig.dialed();
    rig.handshake_sent(dial);
    rig.answer_handshake(dial, 7, S);
    let sent = rig.transmit();
    assert_eq!(ops(&sent), [SET_WATCHES]);
    assert!(String::from_utf8_lossy(&sent[0].bytes).contains("/stays"));
}

// ---- closing ----

#[test]
fn r17_closing_passes_the_queue_and_ends_with_the_answer_or_the_connection() {
    for answered in [true, false] {
        let mut rig = Rig::connected();
        for tag in 0..300 {
            rig.machine.submit(&get("/a"), tag, 100);
        }
        let mut sent = rig.transmit();
        rig.machine.close();
        let not_sent = rig.events();
        assert_eq!(not_sent.len(), 300 - 256);
        assert!(
            not_sent
                .iter()
                .all(|event| matches!(event, Event::Reply(_, Outcome::NotSent)))
        );
        rig.receive(rig.dial, &reply(sent.remove(0).xid, Code::NO_NODE, &[]));
        let close = rig.transmit();
        assert_eq!(ops(&close), [CLOSE]);
        if answered {
            for sent in sent.iter().chain(&close) {
                let code = if sent.op == CLOSE {
                    Code::OK
                } else {
                    Code::NO_NODE
                };
                rig.receive(rig.dial, &reply(sent.xid, code, &[]));
            }
        } else {
            rig.lose_connection();
        }
        assert_eq!(rig.events().last(), Some(&Event::Closed));
        rig.pass(S * 10);
        assert_eq!(rig.open_dials(), []);
    }
}

#[test]
fn r17_a_session_is_closed_on_the_next_connection_if_there_is_none() {
    let mut rig = Rig::connected();
    rig.lose_connection();
    rig.machine.close();
    let dial = rig.dialed();
    rig.handshake_sent(dial);
    rig.answer_handshake(dial, 7, S);
    let close = rig.transmit();
    assert_eq!(ops(&close), [CLOSE]);
    rig.receive(dial, &reply(close[0].xid, Code::OK, &[]));
    let events = rig.events();
    assert_eq!(events.last(), Some(&Event::Closed));
    assert!(!events.contains(&Event::SessionOver));
}

// ---- other servers' mischief ----

/// Everything that is in doubt or was not sent is told of, once.
#[track_caller]
fn assert_dropped(rig: &mut Rig, why: &str) {
    assert!(!rig.machine.is_connected(), "{why}");
    assert!(rig.hung_up.contains(&rig.dial), "{why}");
    let events = rig.events();
    assert!(
        events.contains(&Event::Reply(1, Outcome::InDoubt)),
        "{why}: {events:?}"
    );
    assert_eq!(events.last(), Some(&Event::Suspended), "{why}");
    assert_ne!(rig.machine.last_failure(), "", "{why}");
}

#[test]
fn r16_hostile_frames_drop_the_connection() {
    // The first request that the server has not answered, and the one behind it.
    const DUE: i32 = 2;
    let truncated_header = |len| rig::frame(&header(DUE, Code::OK)[..len]);
    let mut cases: Vec<(String, Vec<u8>)> = Vec::new();
    for len in 0..16 {
        cases.push((format!("{len} bytes of a header"), truncated_header(len)));
    }
    for (why, bytes) in [
        ("a negative length", (-2_i32).to_be_bytes().to_vec()),
        (
            "a length over the limit",
            (65_i32 << 20).to_be_bytes().to_vec(),
        ),
        ("an unknown xid", reply(77, Code::OK, &[])),
        ("an xid out of turn", reply(DUE + 1, Code::NO_NODE, &[])),
        ("a ping that was not sent", reply(-2, Code::OK, &[])),
        ("an unknown reserved xid", reply(-3, Code::OK, &[])),
        ("the least xid", reply(i32::MIN, Code::OK, &[])),
        ("no body", reply(DUE, Code::OK, &[])),
        ("half a body", reply(DUE, Code::OK, &rig::data()[..20])),
        (
            "a huge count",
            reply(DUE, Code::OK, &i32::MAX.to_be_bytes()),
        ),
        (
            "a negative count",
            reply(DUE, Code::OK, &(-5_i32).to_be_bytes()),
        ),
        ("an event without a body", reply(-1, Code::OK, &[])),
        ("an event that is no text", {
            let mut body = vec![0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2];
            body.extend([0xff, 0xfe]);
            reply(-1, Code::OK, &body)
        }),
    ] {
        cases.push((why.to_owned(), bytes));
    }
    for (why, bytes) in cases {
        let mut rig = Rig::connected();
        rig.machine.submit(&get("/a"), 1, 100);
        rig.machine.submit(&delete(), 2, 100);
        let sent = rig.transmit();
        assert_eq!((sent[0].xid, sent.len()), (DUE, 2));
        rig.receive(rig.dial, &bytes);
        assert_dropped(&mut rig, &why);
        // And the session goes on elsewhere.
        let dial = rig.dialed();
        rig.handshake_sent(dial);
        rig.answer_handshake(dial, 7, S);
        assert!(rig.machine.is_connected(), "{why}");
    }
}

#[test]
fn r16_bytes_of_a_connection_that_was_given_up_count_for_nothing() {
    let mut rig = Rig::connected();
    let old = rig.dial;
    rig.machine.submit(&get("/a"), 1, 100);
    let sent = rig.transmit();
    rig.lose_connection();
    rig.receive(old, &reply(sent[0].xid, Code::NO_NODE, &[]));
    rig.receive(old, &reply(-2, Code::OK, &[]));
    rig.machine
        .disconnected(rig.now, old, Failure::Other, "again");
    assert_eq!(
        rig.events(),
        [Event::Reply(1, Outcome::InDoubt), Event::Suspended]
    );
}

#[test]
fn r16_connections_that_end_at_once_cause_no_storm() {
    let mut rig = Rig::new(settings(3));
    let (mut dials, start) = (0, rig.now);
    // Every server takes us and hangs up.
    while rig.now.saturating_since(start) < Duration::from_secs(20) {
        for dial in rig.open_dials() {
            dials += 1;
            rig.machine.dialed(dial);
            rig.transmit();
            rig.answer_handshake(dial, 7, S);
            rig.machine
                .disconnected(rig.now, dial, Failure::Other, "closed");
        }
        rig.wait_for_timer();
    }
    // A pause between two is half of a tenth of S at least, once they have grown.
    assert!((20..200).contains(&dials), "{dials} in 20 s");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn r16_no_bytes_whatever_make_it_panic_or_lose_an_answer(
        chunks in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..40),
                // Well-formed, with anything inside.
                (any::<i32>(), any::<i32>(), proptest::collection::vec(any::<u8>(), 0..60))
                    .prop_map(|(xid, code, body)| reply(xid, Code(code), &body)),
                (-8..20_i32, -130..2_i32, proptest::collection::vec(any::<u8>(), 0..100))
                    .prop_map(|(xid, code, body)| reply(xid, Code(code), &body)),
                (any::<i64>(), any::<i32>()).prop_map(|(id, ms)| handshake(id, ms)),
            ],
            0..40,
        ),
        pauses in proptest::collection::vec(0..3_000_u64, 40),
    ) {
        let mut rig = Rig::connected();
        let mut submitted = 0;
        for (chunk, pause) in chunks.iter().zip(pauses) {
            for request in [get("/a"), watch("/b"), delete()] {
                rig.machine.submit(&request, submitted, 100);
                submitted += 1;
            }
            rig.transmit();
            for dial in rig.open_dials() {
                rig.machine.dialed(dial);
                rig.transmit();
                rig.receive(dial, chunk);
            }
            let dial = rig.dial;
            rig.receive(dial, chunk);
            rig.pass(Duration::from_millis(pause));
            rig.transmit();
        }
        rig.machine.abort();
        let mut told = vec![0; submitted as usize];
        for event in rig.all_events {
            if let Event::Reply(tag, _) = event {
                told[tag as usize] += 1;
            }
        }
        while let Some(event) = rig.machine.poll_event() {
            if let Event::Reply(tag, _) = event {
                told[tag as usize] += 1;
            }
        }
        prop_assert!(told.iter().all(|times| *times == 1), "{told:?}");
    }
}

// ---- versions ----

#[test]
fn r20_an_old_server_is_told_of_and_a_silent_one_taken() {
    let mut rig = Rig::asking_versions(settings(1));
    rig.dialed();
    assert!(rig.probed);
    rig.machine.probed(Probed::Version(Version(3, 5, 4)));
    assert_eq!(
        rig.events(),
        [Event::Unsupported {
            version: Version(3, 5, 4)
        }]
    );
    for answer in [
        Probed::Version(Version(3, 5, 5)),
        Probed::Version(Version(4, 0, 0)),
        Probed::Untold,
        Probed::Nothing,
        Probed::Unreached,
    ] {
        let mut rig = Rig::asking_versions(settings(1));
        let dial = rig.dialed();
        rig.handshake_sent(dial);
        rig.answer_handshake(dial, 7, S);
        assert_eq!(rig.events(), [], "not before it is known");
        rig.machine.probed(answer);
        assert_eq!(rig.events(), [Event::Connected { new_session: true }]);
    }
    // A server that does not answer the question is not waited for.
    let mut rig = Rig::asking_versions(settings(1));
    let dial = rig.dialed();
    rig.handshake_sent(dial);
    rig.answer_handshake(dial, 7, S);
    rig.pass(S / 12);
    assert_eq!(rig.events(), [Event::Connected { new_session: true }]);
}
