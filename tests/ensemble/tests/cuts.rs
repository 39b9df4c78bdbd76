//! Cuts at an exact message.

mod common;

use std::io::ErrorKind;
use std::net::TcpStream;

use common::{Client, LONG, wait};
use zoolock_ensemble::{Action, Ensemble, Message, Moment, Observer, Op};

const REQUEST: Message = Message::Request(Some(Op::Create2));
const REPLY: Message = Message::Reply(Some(Op::Create2));

fn start() -> (Ensemble, Observer) {
    let ensemble = Ensemble::builder().start().expect("start");
    let observer = ensemble.observer(1).expect("observer");
    (ensemble, observer)
}

fn exists(observer: &Observer, path: &str) -> bool {
    observer.exists(path).expect("exists").is_some()
}

#[test]
fn after_the_second_reply_of_create2() {
    let (ensemble, observer) = start();
    let link = ensemble.client_link(1).expect("link");
    let cut = link
        .cut(REPLY, 2, Moment::After, Action::Close)
        .expect("cut");
    let mut client = Client::to(&ensemble);
    client.ping().expect("ping");
    assert_eq!(client.create("/a").expect("first reply").err, 0);
    assert!(!cut.fired());
    assert_eq!(client.create("/b").expect("second reply").err, 0);
    cut.wait(LONG).expect("cut");
    assert_eq!(
        client.receive().expect_err("cut").kind(),
        ErrorKind::UnexpectedEof
    );
    assert!(exists(&observer, "/b"));
    // It fires once.
    assert_eq!(Client::to(&ensemble).create("/c").expect("reply").err, 0);
}

#[test]
fn before_a_reply_the_node_is_there_and_nobody_knows() {
    let (ensemble, observer) = start();
    let link = ensemble.client_link(1).expect("link");
    let cut = link
        .cut_and_refuse(REPLY, 1, Moment::Before, Action::Reset)
        .expect("cut");
    let mut client = Client::to(&ensemble);
    client.send_create("/a", 0);
    assert_eq!(
        client.receive().expect_err("cut").kind(),
        ErrorKind::ConnectionReset
    );
    assert!(cut.fired());
    assert!(exists(&observer, "/a"));
    let host = ensemble.host(1).expect("host");
    let error = TcpStream::connect(&host).expect_err("should be refused");
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    link.accept().expect("accept");
    Client::to(&ensemble).ping().expect("ping");
}

#[test]
fn before_a_request_it_is_not_executed_and_after_it_is() {
    let (ensemble, observer) = start();
    let link = ensemble.client_link(1).expect("link");
    link.cut(REQUEST, 1, Moment::Before, Action::Reset)
        .expect("cut");
    let mut client = Client::to(&ensemble);
    client.send_create("/before", 0);
    assert_eq!(
        client.receive().expect_err("cut").kind(),
        ErrorKind::ConnectionReset
    );

    link.cut(REQUEST, 1, Moment::After, Action::Reset)
        .expect("cut");
    let mut client = Client::to(&ensemble);
    client.send_create("/after", 0);
    assert_eq!(
        client.receive().expect_err("cut").kind(),
        ErrorKind::ConnectionReset
    );
    wait("the node", || exists(&observer, "/after"));
    assert!(!exists(&observer, "/before"));
}

#[test]
fn hold_keeps_the_message_until_the_thaw() {
    let (ensemble, observer) = start();
    let link = ensemble.client_link(1).expect("link");
    let cut = link
        .cut(REPLY, 1, Moment::Before, Action::Hold)
        .expect("cut");
    let mut client = Client::to(&ensemble);
    client.send_create("/a", 0);
    cut.wait(LONG).expect("hold");
    assert!(exists(&observer, "/a"));
    assert!(client.is_silent());
    link.thaw();
    assert_eq!(client.receive().expect("reply").err, 0);
    client.ping().expect("ping");
}

#[test]
fn nonsense_is_refused_in_words() {
    let (ensemble, _observer) = start();
    let link = ensemble.client_link(1).expect("link");
    let error = link
        .cut(REPLY, 0, Moment::After, Action::Close)
        .expect_err("zero");
    assert!(error.to_string().contains("counted from 1"), "{error}");
    let error = ensemble.client_link(2).expect_err("there is one server");
    assert!(error.to_string().contains("no server 2"), "{error}");
    assert!(ensemble.quorum_link(1).is_err());
    assert!(Ensemble::builder().servers(2).start().is_err());
}
