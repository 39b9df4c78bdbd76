//! Sessions, their end, and a directory that is not empty.

mod common;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::{Client, LONG};
use zoolock_ensemble::{Ensemble, NodeKind};

const EPHEMERAL: i32 = 1;

#[test]
fn a_session_can_be_ended_from_outside() {
    let ensemble = Ensemble::builder().start().expect("start");
    let observer = ensemble.observer(1).expect("observer");
    let mut client = Client::to(&ensemble);
    client.send_create("/mine", EPHEMERAL);
    client.receive().expect("reply");
    let (_, stat) = observer.get("/mine").expect("get");
    assert_eq!(stat.ephemeral_owner, client.session);
    let sessions = ensemble.sessions().expect("sessions");
    let known = sessions.iter().find(|known| known.id == client.session);
    let known = known.expect("the session is known");
    assert_eq!((known.timeout_ms, known.server), (10_000, Some(1)));

    ensemble.expire(client.session).expect("expire");
    assert!(observer.exists("/mine").expect("exists").is_none());
    assert!(client.receive().is_err(), "the connection should be closed");
    assert!(
        ensemble.expire(client.session).is_err(),
        "it is gone already"
    );
}

#[test]
fn a_session_expires_behind_a_frozen_link() {
    let ensemble = Ensemble::builder().start().expect("start");
    let host = ensemble.host(1).expect("host");
    let client = Client::connect(&host, 1_000).expect("connect");
    // It pings, so nothing but the freeze can end its session.
    let mut stream = client.stream.try_clone().expect("clone");
    let stop = Arc::new(AtomicBool::new(false));
    let pinger = thread::spawn({
        let stop = stop.clone();
        move || {
            let ping = [8, -2, common::PING].map(i32::to_be_bytes).concat();
            while !stop.load(Ordering::SeqCst) && stream.write_all(&ping).is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
        }
    });
    let alive = ensemble.wait_expired(client.session, Duration::from_secs(3));
    assert!(alive.is_err(), "a session that pings should live");
    ensemble
        .expire_by_freeze(client.session, LONG)
        .expect("expire");
    stop.store(true, Ordering::SeqCst);
    pinger.join().expect("pinger");
    let sessions = ensemble.sessions().expect("sessions");
    assert!(sessions.iter().all(|known| known.id != client.session));
    Client::to(&ensemble).ping().expect("thawed");
}

#[test]
fn a_snapshot_sets_the_next_sequence_number() {
    let builder = Ensemble::builder().servers(3);
    let builder = builder.snapshot([("/locks/full", 2_147_483_645), ("/locks/fresh", 0)]);
    let ensemble = builder.start().expect("start");
    let observer = ensemble.observer(1).expect("observer");
    let create = |path: &str| {
        observer
            .create(path, b"", NodeKind::EphemeralSequential)
            .expect("create")
    };
    assert_eq!(create("/locks/full/a-"), "/locks/full/a-2147483645");
    assert_eq!(create("/locks/full/b-"), "/locks/full/b-2147483646");
    assert_eq!(create("/locks/full/c-"), "/locks/full/c-2147483647");
    // The counter sticks.
    assert_eq!(create("/locks/full/d-"), "/locks/full/d-2147483647");
    assert_eq!(create("/locks/fresh/a-"), "/locks/fresh/a-0000000000");
    assert!(
        Ensemble::builder()
            .snapshot([("locks", 0)])
            .start()
            .is_err()
    );
}
