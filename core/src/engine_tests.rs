//! What no server that is supported does, or a test cannot see: the engine by itself, and a test that answers for the
//! server.

use std::time::Duration;

use super::*;
use crate::command::{AttemptId, Deadline, GrantTo, LockRequest, LockTarget};
use crate::config::SessionOptions;
use crate::guard::Guard;
use crate::pending::Pending;
use crate::queue::names::{Family, Kind, Naming};
use crate::runtime::Callbacks;
use crate::stats::LockStats;
use crate::wire::code::Code;
use crate::wire::codec::Writer;

const CREATE2: i32 = 15;
const CREATE_CONTAINER: i32 = 19;

struct Rig {
    engine: Engine,
    now: Time,
    dial: DialId,
    handle: HandleId,
}

/// A request as it was sent: its xid, operation, path, and the flags at its end.
#[derive(Debug)]
struct Sent {
    xid: i32,
    op: i32,
    path: String,
    flags: i32,
}

impl Rig {
    fn connected() -> Rig {
        let now = Time(1_000_000_000_000);
        let config = SessionConfig::new(Some("h:1/chroot"), &SessionOptions::default()).unwrap();
        let (callbacks, _jobs) = Callbacks::collected();
        let link = Link::new(callbacks);
        let mut rig = Rig {
            engine: Engine::new(config, link, 5, now),
            now,
            dial: DialId(0),
            handle: HandleId::next(),
        };
        rig.engine.handle_timeout(now);
        let Some(Action::Dial { dial, .. }) = rig.engine.poll_action() else {
            panic!("no server is tried");
        };
        rig.dial = dial;
        rig.engine.probed(now, Probed::Version(Version(3, 9, 5)));
        rig.engine.dialed(now, dial);
        rig.engine.poll_transmit(now).expect("a handshake");
        rig.accept();
        let open = Command::Open { handle: rig.handle };
        rig.engine.commands(now, std::iter::once(open));
        rig
    }

    /// The connection breaks, and the session goes on over another one.
    fn reconnect(&mut self) {
        self.engine
            .disconnected(self.now, self.dial, Failure::Other, "reset");
        while self.engine.poll_action().is_some() {}
        loop {
            let next = self.engine.next_timeout(self.now);
            self.now = self.now.max(next);
            self.engine.handle_timeout(self.now);
            if let Some(Action::Dial { dial, .. }) = self.engine.poll_action() {
                self.dial = dial;
                break;
            }
        }
        self.engine.dialed(self.now, self.dial);
        self.engine.poll_transmit(self.now).expect("a handshake");
        self.accept();
    }

    /// Session 7 is granted.
    fn accept(&mut self) {
        let mut answer = Writer::frame();
        answer
            .i32(0)
            .i32(15_000)
            .i64(7)
            .buffer(&[5; 16])
            .bool(false);
        self.engine.received(self.now, self.dial, &answer.finish());
    }

    fn lock(&mut self, path: &str) -> Pending<Guard> {
        self.lock_until(path, Deadline::Never)
    }

    fn lock_until(&mut self, path: &str, deadline: Deadline) -> Pending<Guard> {
        let (completer, pending) = Pending::new("lock");
        let request = LockRequest {
            attempt: AttemptId::next(),
            handle: self.handle,
            session: None,
            target: Arc::new(LockTarget {
                path: path.into(),
                family: Family::Mutex,
                naming: Naming::Curator,
                data: None,
                acl: None,
                keep: None,
                stats: LockStats::default(),
            }),
            kind: Kind::Exclusive,
            owner: None,
            called: self.now,
            deadline,
            past: None,
            to: GrantTo::Lock(completer),
        };
        let command = Command::Lock(request);
        self.engine.commands(self.now, std::iter::once(command));
        pending
    }

    fn transmit(&mut self) -> Vec<Sent> {
        let mut sent = Vec::new();
        while let Some((_, bytes)) = self.engine.poll_transmit(self.now) {
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let int = |at: usize| i32::from_be_bytes(rest[at..at + 4].try_into().unwrap());
                let len = 4 + usize::try_from(int(0)).unwrap();
                let path_len = usize::try_from(int(12)).unwrap_or(0);
                let path = rest.get(16..16 + path_len).unwrap_or_default();
                sent.push(Sent {
                    xid: int(4),
                    op: int(8),
                    path: String::from_utf8_lossy(path).into_owned(),
                    flags: int(len - 4),
                });
                rest = &rest[len..];
            }
        }
        sent
    }

    fn refuse(&mut self, sent: &Sent, code: Code) {
        self.answer(sent.xid, code, |_| ());
    }

    fn answer(&mut self, xid: i32, code: Code, body: impl FnOnce(&mut Writer)) {
        let mut answer = Writer::frame();
        answer.i32(xid).i64(90).i32(code.0);
        body(&mut answer);
        self.engine.received(self.now, self.dial, &answer.finish());
    }

    /// The node is there, made by transaction 90 of session 7.
    fn create(&mut self, sent: &Sent, path: &str) {
        self.answer(sent.xid, Code::OK, |body| {
            body.string(path).i64(90).i64(90).i64(0).i64(0);
            body.i32(0).i32(0).i32(0).i64(7).i32(0).i32(0).i64(90);
        });
    }

    /// A contender's data, none, and its owner.
    fn data(&mut self, sent: &Sent, owner: i64) {
        self.answer(sent.xid, Code::OK, |body| {
            body.buffer(&[]).i64(80).i64(80).i64(0).i64(0);
            body.i32(0).i32(0).i32(0).i64(owner).i32(0).i32(0).i64(80);
        });
    }

    /// The event of a watch.
    fn deleted(&mut self, path: &str) {
        const NOTIFICATION_XID: i32 = -1;
        self.answer(NOTIFICATION_XID, Code::OK, |body| {
            body.i32(2).i32(3).string(path);
        });
    }

    fn list(&mut self, sent: &Sent, names: &[&str]) {
        self.answer(sent.xid, Code::OK, |body| {
            body.len(names.len());
            for name in names {
                body.string(name);
            }
            for _ in 0..17 {
                body.i32(0);
            }
        });
    }
}

#[test]
fn r15_parents_are_plain_where_the_server_has_no_containers() {
    let mut rig = Rig::connected();
    let mut call = rig.lock("/a/b");
    let sent = rig.transmit();
    assert_eq!(sent[0].op, CREATE2);
    for request in &sent {
        rig.refuse(request, Code::NO_NODE);
    }
    let asked = rig.transmit();
    let paths = ["/chroot", "/chroot/a", "/chroot/a/b"];
    assert_eq!(
        asked.iter().map(|sent| &*sent.path).collect::<Vec<_>>(),
        paths
    );
    assert!(asked.iter().all(|sent| sent.op == CREATE_CONTAINER));
    for request in &asked {
        rig.refuse(request, Code::UNIMPLEMENTED);
    }
    // The contender finds no parent once more, and then they are made without containers.
    for request in rig.transmit() {
        rig.refuse(&request, Code::NO_NODE);
    }
    let plain = rig.transmit();
    assert!(
        plain
            .iter()
            .all(|sent| sent.op == CREATE2 && sent.flags == 0)
    );
    let made: Vec<&str> = plain.iter().map(|sent| &*sent.path).collect();
    assert_eq!(made, paths);
    for request in &plain {
        rig.create(request, &request.path);
    }
    let sent = rig.transmit();
    assert_eq!(sent[0].op, CREATE2);
    let contender = format!("{}0000000000", sent[0].path);
    rig.create(&sent[0], &contender);
    let name = contender.rsplit('/').next().unwrap();
    for request in &sent[1..] {
        rig.list(request, &[name]);
    }
    let granted = call.wait_for(Duration::ZERO).expect("granted").unwrap();
    assert_eq!(granted.fencing_token(), 90);
    assert_eq!(
        granted.node_path(),
        contender.strip_prefix("/chroot").unwrap()
    );
    std::mem::forget(granted);
}

/// An engine whose servers answer nothing, and somebody who waits for them.
struct Outage {
    engine: Engine,
    now: Time,
}

impl Outage {
    fn begin(options: &SessionOptions) -> Outage {
        let now = Time(1_000_000_000_000);
        let config = SessionConfig::new(Some("h:1"), options).unwrap();
        let (callbacks, _jobs) = Callbacks::collected();
        Outage {
            engine: Engine::new(config, Link::new(callbacks), 5, now),
            now,
        }
    }

    fn join(&mut self) -> Pending<()> {
        let handle = self.open();
        self.connect(handle)
    }

    fn open(&mut self) -> HandleId {
        let handle = HandleId::next();
        let open = Command::Open { handle };
        self.engine.commands(self.now, [open].into_iter());
        handle
    }

    fn connect(&mut self, handle: HandleId) -> Pending<()> {
        let (completer, pending) = Pending::new("connect");
        let until = self.now + Duration::from_secs(60);
        let then = Box::new(move |outcome| drop(completer.complete(outcome)));
        let connect = Command::Connect {
            handle,
            until,
            then,
        };
        self.engine.commands(self.now, [connect].into_iter());
        pending
    }

    /// The next attempt ends so; how long it took to begin.
    fn fail(&mut self, failure: Failure) -> Duration {
        let began = self.now;
        let dial = loop {
            self.engine.handle_timeout(self.now);
            if let Some(Action::Dial { dial, .. }) = self.engine.poll_action() {
                break dial;
            }
            self.now = self.engine.next_timeout(self.now).max(self.now);
        };
        let took = self.now.saturating_since(began);
        self.engine
            .disconnected(self.now, dial, failure, "so it is");
        self.engine.handle_timeout(self.now);
        took
    }
}

fn patient(retries: u32) -> SessionOptions {
    SessionOptions {
        backoff: crate::config::Backoff::Fixed {
            delay: Duration::from_secs(10),
            retries: Some(retries),
        },
        ..SessionOptions::default()
    }
}

#[test]
fn r16_who_joins_a_session_whose_rounds_have_failed_has_rounds_of_its_own() {
    let mut outage = Outage::begin(&patient(3));
    let mut first = outage.join();
    outage.fail(Failure::Other);
    outage.fail(Failure::Other);
    let mut second = outage.join();
    outage.fail(Failure::Other);
    first
        .wait_for(Duration::ZERO)
        .expect("hopeless")
        .unwrap_err();
    assert!(
        second.wait_for(Duration::ZERO).is_none(),
        "one of its three"
    );
    outage.fail(Failure::Other);
    assert!(
        second.wait_for(Duration::ZERO).is_none(),
        "two of its three"
    );
    outage.fail(Failure::Other);
    let error = second.wait_for(Duration::ZERO).expect("hopeless");
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unavailable);
}

#[test]
fn r16_who_joins_does_not_sit_out_the_pause_of_others() {
    let mut outage = Outage::begin(&patient(2));
    let _first = outage.join();
    outage.fail(Failure::Other);
    let _second = outage.join();
    assert_eq!(outage.fail(Failure::Other), Duration::ZERO);
    assert_eq!(outage.fail(Failure::Other), Duration::from_secs(10));
}

/// The certificates may have been renewed since.
#[test]
fn r16_who_joins_a_session_that_was_not_trusted_is_judged_by_the_next_round() {
    let mut outage = Outage::begin(&SessionOptions::default());
    let mut first = outage.join();
    outage.fail(Failure::Untrusted);
    let error = first.wait_for(Duration::ZERO).expect("refused");
    assert_eq!(error.unwrap_err().kind(), ErrorKind::AuthFailed);
    let mut second = outage.join();
    assert!(second.wait_for(Duration::ZERO).is_none());
    outage.fail(Failure::Untrusted);
    let error = second.wait_for(Duration::ZERO).expect("refused");
    assert_eq!(error.unwrap_err().kind(), ErrorKind::AuthFailed);
}

/// Its handle was there when the round failed; the other's was not.
#[test]
fn r16_who_connects_late_fails_nobody_else() {
    let mut outage = Outage::begin(&SessionOptions::default());
    let old = outage.open();
    let mut first = outage.join();
    outage.fail(Failure::Untrusted);
    first
        .wait_for(Duration::ZERO)
        .expect("refused")
        .unwrap_err();
    let mut young = outage.join();
    let mut late = outage.connect(old);
    late.wait_for(Duration::ZERO).expect("refused").unwrap_err();
    assert!(young.wait_for(Duration::ZERO).is_none());
}

#[test]
fn r17_a_session_that_was_refused_is_closed_at_once() {
    const AUTH_XID: i32 = -4;
    let mut rig = Rig::connected();
    rig.answer(AUTH_XID, Code::AUTH_FAILED, |_| ());
    let error = rig.lock("/a").wait_for(Duration::ZERO).expect("refused");
    assert_eq!(error.unwrap_err().kind(), ErrorKind::AuthFailed);
    let (completer, mut closing) = Pending::new("close");
    let close = Command::Close {
        handle: rig.handle,
        until: rig.now + Duration::from_secs(5),
        then: Box::new(move |outcome| drop(completer.complete(outcome))),
    };
    rig.engine.commands(rig.now, std::iter::once(close));
    assert!(rig.engine.has_no_handles());
    rig.engine.close(rig.now);
    assert!(rig.engine.is_finished());
    closing.wait_for(Duration::ZERO).expect("closed").unwrap();
}

/// The leader's word may be throttled while the listing behind it is not.
#[test]
fn r07_a_listing_whose_sync_was_refused_verifies_nothing() {
    const SYNC: i32 = 9;
    const GET_DATA: i32 = 4;
    const REARM_XID: i32 = -8;
    let mut rig = Rig::connected();
    let mut call = rig.lock("/a");
    let sent = rig.transmit();
    let contender = format!("{}0000000001", sent[0].path);
    let own = contender.rsplit('/').next().unwrap().to_owned();
    let other = "_c_00000000-0000-4000-8000-000000000000-lock-0000000000";
    rig.create(&sent[0], &contender);
    rig.list(&sent[1], &[other, &own]);
    let watches = rig.transmit();
    assert!(
        watches.iter().all(|sent| sent.op == GET_DATA),
        "{watches:?}"
    );
    let of_other = format!("/chroot/a/{other}");
    for watch in &watches {
        rig.data(watch, if watch.path == of_other { 9 } else { 7 });
    }
    rig.reconnect();
    for request in rig.transmit() {
        if request.xid == REARM_XID {
            rig.answer(REARM_XID, Code::OK, |_| ());
        }
    }
    rig.deleted(&of_other);
    let mut asked = rig.transmit();
    asked.retain(|sent| sent.path == "/chroot/a");
    assert_eq!(asked[0].op, SYNC, "{asked:?}");
    rig.refuse(&asked[0], Code::THROTTLED_OP);
    rig.list(&asked[1], &[&own]);
    assert!(
        call.wait_for(Duration::ZERO).is_none(),
        "granted unverified"
    );
    let mut again = rig.transmit();
    again.retain(|sent| sent.path == "/chroot/a");
    assert_eq!(again[0].op, SYNC, "{again:?}");
    let word = again[0].path.clone();
    rig.answer(again[0].xid, Code::OK, |body| {
        body.string(&word);
    });
    rig.list(&again[1], &[&own]);
    let granted = call.wait_for(Duration::ZERO).expect("granted").unwrap();
    std::mem::forget(granted);
}

impl Rig {
    /// Time passes, and what is due is done.
    fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        while self.engine.next_timeout(self.now) <= until {
            self.now = self.now.max(self.engine.next_timeout(self.now));
            self.engine.handle_timeout(self.now);
        }
        self.now = until;
        self.engine.handle_timeout(until);
    }

    /// What is asked of one contender.
    fn asked_of(&mut self, contender: &str) -> Option<Sent> {
        let mut sent = self.transmit();
        sent.retain(|sent| sent.path == contender);
        sent.pop()
    }
}

fn name_of(contender: &str) -> String {
    contender.rsplit('/').next().unwrap().to_owned()
}

fn other(number: u32) -> String {
    format!("_c_00000000-0000-4000-8000-000000000000-lock-{number:010}")
}

/// It may be free: nobody has said otherwise.
#[test]
fn r06_a_time_out_in_a_servers_silence_has_its_reason_as_source() {
    let mut rig = Rig::connected();
    let limit = Duration::from_secs(1);
    let mut silent = rig.lock_until("/a", Deadline::At(rig.now + limit));
    assert!(!rig.transmit().is_empty());
    rig.wait(limit);
    let error = silent.wait_for(Duration::ZERO).expect("late").unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Timeout);
    let cause = error.cause().map(crate::Error::kind);
    assert_eq!(cause, Some(crate::ErrorKind::Unavailable), "{error}");
    // Somebody is before this one.
    let mut rig = Rig::connected();
    let mut contended = rig.lock_until("/b", Deadline::At(rig.now + limit));
    let sent = rig.transmit();
    let contender = format!("{}0000000001", sent[0].path);
    rig.create(&sent[0], &contender);
    rig.list(&sent[1], &[&other(0), &name_of(&contender)]);
    rig.wait(limit);
    let error = contended
        .wait_for(Duration::ZERO)
        .expect("late")
        .unwrap_err();
    assert!(error.cause().is_none(), "{error}");
}

/// A server that throttles refuses a watch once; the holder is told of its contender's end nevertheless.
#[test]
fn r04_a_holder_whose_watch_was_refused_asks_again() {
    let mut rig = Rig::connected();
    let mut call = rig.lock("/a");
    let sent = rig.transmit();
    let contender = format!("{}0000000000", sent[0].path);
    rig.create(&sent[0], &contender);
    rig.list(&sent[1], &[&name_of(&contender)]);
    let guard = call.wait_for(Duration::ZERO).expect("granted").unwrap();
    rig.wait(Duration::from_millis(600));
    let watch = rig.asked_of(&contender).expect("it watches its contender");
    rig.refuse(&watch, Code::THROTTLED_OP);
    rig.wait(Duration::from_millis(200));
    let again = rig.asked_of(&contender).expect("it asks again");
    rig.data(&again, 7);
    rig.deleted(&contender);
    assert_eq!(guard.state(), crate::GuardState::Lost);
}

/// Its watch was due while it had no contender; the next one is watched all the same.
#[test]
fn r04_a_waiter_that_queues_again_watches_its_new_contender() {
    let mut rig = Rig::connected();
    let call = rig.lock("/a");
    let sent = rig.transmit();
    let contender = format!("{}0000000002", sent[0].path);
    rig.create(&sent[0], &contender);
    rig.list(&sent[1], &[&other(0), &other(1), &name_of(&contender)]);
    let blocker = format!("/chroot/a/{}", other(1));
    let watch = rig.asked_of(&blocker).expect("it watches the one before");
    rig.data(&watch, 9);
    rig.wait(Duration::from_millis(300));
    // Both are gone: the listing after the event shows it.
    rig.deleted(&blocker);
    let listing = rig.transmit().pop().expect("a listing");
    rig.list(&listing, &[&other(0)]);
    let sent = rig.transmit();
    assert_eq!(sent[0].op, CREATE2, "{sent:?}");
    rig.wait(Duration::from_millis(500));
    let again = format!("{}0000000004", sent[0].path);
    rig.create(&sent[0], &again);
    rig.list(&sent[1], &[&other(0), &other(3), &name_of(&again)]);
    let watch = rig.asked_of(&format!("/chroot/a/{}", other(3)));
    rig.data(&watch.expect("it watches the one before"), 9);
    rig.wait(Duration::from_millis(700));
    assert!(rig.asked_of(&again).is_some(), "its own is not watched");
    std::mem::forget(call);
}
