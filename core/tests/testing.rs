//! The server inside the program, and what an application's tests do with it.

use std::error::Error as _;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use zoolock::testing::{Server, ServerBuilder};
use zoolock::{ErrorKind, SessionState, blocking};

const PATIENCE: Duration = Duration::from_secs(30);

/// Sessions expire soon.
fn quick() -> Server {
    let tick = Duration::from_millis(100);
    Server::builder().tick(tick).start().unwrap()
}

/// A session of its own.
fn connect(server: &Server) -> blocking::Session {
    let builder = zoolock::Session::builder()
        .session_timeout(Duration::from_secs(2))
        .exclusive(true);
    blocking::Session::connect_with(builder, &server.hosts()).unwrap()
}

fn id(session: &blocking::Session) -> i64 {
    session.as_async().session_id()
}

#[test]
fn locks_exclude_and_are_handed_over() {
    let server = Server::start().unwrap();
    let (a, b) = (connect(&server), connect(&server));
    let mine = a.mutex("/locks/order").unwrap();
    let yours = b.mutex("/locks/order").unwrap();
    let held = mine.lock().unwrap();
    assert!(yours.try_lock().unwrap().is_none());
    let token = held.fencing_token();
    let next = thread::scope(|scope| {
        let waiting = scope.spawn(|| yours.lock_timeout(PATIENCE));
        held.release().unwrap();
        waiting.join().unwrap().unwrap()
    });
    assert!(next.fencing_token() > token);
    next.release().unwrap();
    a.close().unwrap();
    b.close().unwrap();
}

#[test]
fn sessions_are_listed() {
    let server = Server::start().unwrap();
    let session = connect(&server);
    let held = session.mutex("/locks/order").unwrap().lock().unwrap();
    let sessions = server.sessions().unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].id, id(&session));
    assert_eq!(sessions[0].timeout, Duration::from_secs(2));
    assert!(sessions[0].connected);
    assert_eq!(sessions[0].ephemerals, [held.node_path()]);
    held.release().unwrap();
    session.close().unwrap();
    assert_eq!(server.sessions().unwrap(), []);
}

#[test]
fn r04_a_holder_is_told_when_its_session_expires_and_the_next_gets_the_lock() {
    let server = quick();
    let (a, b) = (connect(&server), connect(&server));
    let held = a.mutex("/locks/order").unwrap().lock().unwrap();
    let other = b.mutex("/locks/order").unwrap();
    let next = thread::scope(|scope| {
        let waiting = scope.spawn(|| other.lock_timeout(PATIENCE));
        assert!(server.expire_session(id(&a)).unwrap());
        assert!(held.wait_lost(Some(PATIENCE)));
        waiting.join().unwrap().unwrap()
    });
    assert!(!held.is_held());
    assert!(!server.expire_session(1).unwrap());
    assert!(server.expire_all().unwrap() >= 1);
    assert!(next.wait_lost(Some(PATIENCE)));
}

#[test]
fn r03_a_holder_that_is_cut_off_gives_up_before_the_next_gets_the_lock() {
    let server = quick();
    let (a, b) = (connect(&server), connect(&server));
    let held = a.mutex("/locks/order").unwrap().lock().unwrap();
    let frozen = id(&a);
    let other = b.mutex("/locks/order").unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let next = other.lock_timeout(PATIENCE);
            assert!(!held.is_held(), "two believe");
            next
        });
        assert!(server.freeze_session(frozen).unwrap());
        waiting.join().unwrap().unwrap().release().unwrap();
    });
    assert!(server.thaw_session(frozen).unwrap());
    let again = a.mutex("/locks/order").unwrap();
    again.lock_timeout(PATIENCE).unwrap().release().unwrap();
    assert_ne!(id(&a), frozen);
}

#[test]
fn r16_a_cut_connection_costs_neither_session_nor_lock() {
    let server = quick();
    let session = connect(&server);
    let mutex = session.mutex("/locks/order").unwrap();
    let held = mutex.lock().unwrap();
    let before = id(&session);
    assert!(server.cut_session(before).unwrap());
    assert_eq!(mutex.contenders().unwrap().len(), 1, "by a new connection");
    assert_eq!(server.cut_all().unwrap(), 1);
    held.release().unwrap();
    assert_eq!(id(&session), before);
}

#[test]
fn r06_a_call_ends_in_time_while_the_server_is_frozen_slow_or_refuses() {
    let server = quick();
    let session = connect(&server);
    let mutex = session.mutex("/locks/order").unwrap();
    let short = Duration::from_millis(200);
    server.freeze_all().unwrap();
    let error = mutex.lock_timeout(short).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    server.thaw_all().unwrap();
    mutex.lock_timeout(PATIENCE).unwrap().release().unwrap();

    server.delay_answers(short).unwrap();
    let start = Instant::now();
    let held = mutex.lock_timeout(PATIENCE).unwrap();
    assert!(start.elapsed() >= short);
    server.delay_answers(Duration::ZERO).unwrap();
    held.release().unwrap();

    server.refuse_connections().unwrap();
    let builder = || {
        zoolock::Session::builder()
            .connect_timeout(short)
            .exclusive(true)
    };
    let error = blocking::Session::connect_with(builder(), &server.hosts()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(session.state(), SessionState::Connected, "open ones stay");
    server.accept_connections().unwrap();
    let builder = zoolock::Session::builder().exclusive(true);
    let late = blocking::Session::connect_with(builder, &server.hosts()).unwrap();
    late.close().unwrap();
}

#[test]
fn a_stopped_server_is_closed_and_its_locks_are_lost() {
    let server = quick();
    let session = connect(&server);
    let held = session.mutex("/locks/order").unwrap().lock().unwrap();
    let hosts = server.hosts();
    server.stop();
    server.stop();
    assert!(held.wait_lost(Some(PATIENCE)));
    let closed = [
        server.sessions().map(drop),
        server.expire_session(1).map(drop),
        server.expire_all().map(drop),
        server.cut_session(1).map(drop),
        server.cut_all().map(drop),
        server.freeze_session(1).map(drop),
        server.thaw_session(1).map(drop),
        server.freeze_all(),
        server.thaw_all(),
        server.delay_answers(Duration::ZERO),
        server.refuse_connections(),
        server.accept_connections(),
    ];
    for result in closed {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Closed);
    }
    assert_eq!(server.hosts(), hosts);
}

#[test]
fn r20_bad_options_are_named() {
    let ms = Duration::from_millis;
    let bad: [(ServerBuilder, &str); 6] = [
        (Server::builder().tick(ms(9)), "tick: 9ms"),
        (Server::builder().tick(ms(60_001)), "tick: 60.001s"),
        (
            Server::builder().min_session_timeout(ms(999)),
            "min_session_timeout: 999ms",
        ),
        (
            Server::builder().max_session_timeout(ms(999)),
            "max_session_timeout: 999ms",
        ),
        (
            Server::builder().container_check(ms(0)),
            "container_check: 0ns",
        ),
        (
            Server::builder()
                .min_session_timeout(ms(5000))
                .max_session_timeout(ms(4999)),
            "max_session_timeout: 4.999s",
        ),
    ];
    for (builder, problem) in bad {
        let error = builder.start().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!(error.operation(), "start");
        assert!(error.message().starts_with(problem), "{error}");
    }
    let server = Server::start().unwrap();
    let error = server.delay_answers(Duration::from_secs(3601)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().starts_with("delay: "), "{error}");
}

#[test]
fn a_port_that_is_taken_is_told_with_the_systems_reason() {
    let first = Server::start().unwrap();
    let port = first.address().port();
    // Also after it was closed for a moment.
    for closed in [false, true] {
        if closed {
            first.refuse_connections().unwrap();
            first.accept_connections().unwrap();
        }
        let error = Server::builder().port(port).start().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        let message = format!("cannot listen on 127.0.0.1:{port}: ");
        assert!(error.message().starts_with(&message), "{error}");
        let reason = error.source().and_then(std::error::Error::source);
        let reason = reason.and_then(|e| e.downcast_ref::<io::Error>());
        assert_eq!(reason.unwrap().kind(), io::ErrorKind::AddrInUse);
    }
    drop(first);
    assert_eq!(
        Server::builder()
            .port(port)
            .start()
            .unwrap()
            .address()
            .port(),
        port
    );
}
