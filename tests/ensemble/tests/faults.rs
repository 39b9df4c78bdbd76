//! Each fault of a client link, seen from a client.

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::{Client, wait};
use zoolock_ensemble::{Direction, Ensemble, Fault, Op, Scope, What};

fn start() -> Ensemble {
    Ensemble::builder().start().expect("start")
}

#[test]
fn freeze_holds_everything_and_thaw_forwards_it() {
    let ensemble = start();
    let link = ensemble.client_link(1).expect("link");
    let mut client = Client::to(&ensemble);
    link.freeze();
    client.send_create("/held", 0);
    assert!(client.is_silent());
    let observer = ensemble.observer(1).expect("observer");
    assert!(observer.exists("/held").expect("exists").is_none());
    link.thaw();
    assert_eq!(client.receive().expect("reply").err, 0);

    // One way only: the request arrives, the reply does not.
    link.begin(Fault::Freeze, Direction::ToClient, Scope::All);
    client.send_create("/arrives", 0);
    wait("the node", || {
        observer.exists("/arrives").is_ok_and(|stat| stat.is_some())
    });
    assert!(client.is_silent());
    link.thaw();
    assert_eq!(client.receive().expect("reply").err, 0);
}

#[test]
fn faults_can_concern_old_or_new_connections_only() {
    let ensemble = start();
    let link = ensemble.client_link(1).expect("link");
    let mut old = Client::to(&ensemble);
    link.begin(Fault::Freeze, Direction::Both, Scope::New);
    assert_eq!(old.ping().expect("ping").xid, -2);
    let mut new = TcpStream::connect(ensemble.host(1).expect("host")).expect("connect");
    new.write_all(b"srvr").expect("send");
    new.set_read_timeout(Some(common::SHORT)).expect("timeout");
    assert!(
        new.read(&mut [0; 8]).is_err(),
        "a frozen connection answered"
    );
    link.heal().expect("heal");
    link.begin(Fault::Freeze, Direction::Both, Scope::Existing);
    old.send(common::PING, &[]);
    assert!(old.is_silent());
    assert_eq!(Client::to(&ensemble).ping().expect("ping").xid, -2);
}

#[test]
fn delay_counts_each_way_and_does_not_add_up() {
    let ensemble = start();
    let mut client = Client::to(&ensemble);
    let delay = Duration::from_millis(150);
    ensemble.client_link(1).expect("link").delay(delay);
    let begin = Instant::now();
    let requests = 20;
    for _ in 0..requests {
        client.send(common::PING, &[]);
    }
    for _ in 0..requests {
        client.receive().expect("reply");
    }
    let took = begin.elapsed();
    assert!(took >= 2 * delay, "{took:?}");
    assert!(
        took < requests * delay,
        "requests in flight waited for each other: {took:?}"
    );
}

#[test]
fn drop_swallows_and_says_so_in_the_log() {
    let ensemble = start();
    let link = ensemble.client_link(1).expect("link");
    let mut client = Client::to(&ensemble);
    link.drop_bytes(Direction::ToServer);
    client.send_create("/swallowed", 0);
    assert!(client.is_silent());
    link.end(Fault::Drop, Direction::Both, Scope::All);
    assert_eq!(client.create("/passed").expect("reply").err, 0);
    let observer = ensemble.observer(1).expect("observer");
    assert!(observer.exists("/swallowed").expect("exists").is_none());
    let entries = ensemble.log().entries();
    let dropped = entries.iter().any(|entry| {
        matches!(&entry.what, What::Request { path: Some(path), dropped: true, .. } if path == "/swallowed")
    });
    assert!(dropped, "{entries:?}");
}

#[test]
fn reset_is_a_reset_and_close_is_a_close() {
    let ensemble = start();
    let link = ensemble.client_link(1).expect("link");
    let mut client = Client::to(&ensemble);
    link.reset();
    let error = client.receive().expect_err("the connection should be gone");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let mut client = Client::to(&ensemble);
    link.close();
    let error = client.receive().expect_err("the connection should be gone");
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    link.wait_connections(common::LONG, |count| count == 0)
        .expect("no connection");
}

#[test]
fn refuse_refuses_new_connections_only() {
    let ensemble = start();
    let link = ensemble.client_link(1).expect("link");
    let host = ensemble.host(1).expect("host");
    let mut client = Client::to(&ensemble);
    link.refuse();
    let error = TcpStream::connect(&host).expect_err("should be refused");
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    client.ping().expect("an open connection stays");
    link.accept().expect("accept");
    Client::to(&ensemble).ping().expect("ping");
}

#[test]
fn a_dead_server_refuses_through_its_proxy_too() {
    let ensemble = start();
    let host = ensemble.host(1).expect("host");
    let mut client = Client::to(&ensemble);
    ensemble.kill(1).expect("kill");
    assert!(client.receive().is_err());
    let error = TcpStream::connect(&host).expect_err("should be refused");
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    ensemble.restart(1).expect("restart");
    ensemble.wait_serving(common::LONG).expect("serving");
    Client::to(&ensemble).ping().expect("ping");
}

#[test]
fn a_paused_server_is_silent_and_then_answers() {
    let ensemble = start();
    let mut client = Client::to(&ensemble);
    ensemble.pause(1).expect("pause");
    client.send(common::PING, &[]);
    assert!(client.is_silent());
    ensemble.resume(1).expect("continue");
    assert_eq!(client.receive().expect("reply").xid, -2);
}

#[test]
fn four_letter_words_pass() {
    let ensemble = start();
    let host = ensemble.host(1).expect("host");
    let mut stream = TcpStream::connect(host).expect("connect");
    stream.write_all(b"srvr").expect("send");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answer");
    assert!(answer.contains("Mode: standalone"), "{answer}");
    assert!(
        ensemble
            .log()
            .entries()
            .iter()
            .any(|entry| entry.what == What::Raw)
    );
}

#[test]
fn the_log_names_requests_replies_and_events() {
    let ensemble = start();
    let mut client = Client::to(&ensemble);
    client.create("/logged").expect("create");
    let mut body = common::string("/logged");
    body.push(1); // watch
    client.send(common::GET_DATA, &body);
    client.receive().expect("data");
    client.ping().expect("ping");
    let observer = ensemble.observer(1).expect("observer");
    observer.delete("/logged").expect("delete");
    assert_eq!(client.receive().expect("event").xid, -1);

    let log = ensemble.log();
    let counts = log.counts();
    for op in [Op::Connect, Op::Create2, Op::GetData, Op::Ping] {
        assert_eq!(counts.get(&op), Some(&1), "{op} in {counts:?}");
    }
    assert_eq!(log.total(), 2);
    let entries = log.entries();
    let seen = |wanted: &dyn Fn(&What) -> bool| entries.iter().any(|entry| wanted(&entry.what));
    assert!(seen(
        &|what| matches!(what, What::Request { op: Op::Create2, xid: 1, path: Some(path), .. } if path == "/logged")
    ));
    assert!(seen(
        &|what| matches!(what, What::Reply { op: Op::Create2, xid: 1, err: 0, zxid, .. } if *zxid > 0)
    ));
    assert!(seen(
        &|what| matches!(what, What::Reply { op: Op::Connect, session: Some(id), .. } if *id == client.session)
    ));
    assert!(seen(
        &|what| matches!(what, What::Event { kind: 2, path, .. } if path == "/logged")
    ));
    log.clear();
    assert!(log.entries().is_empty() && log.counts().is_empty());
}
