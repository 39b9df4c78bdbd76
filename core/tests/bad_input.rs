//! R20: what is refused, by whom, and how it is said.

mod rig;
mod support;

use std::time::Duration;

use rig::{Outcome, assert_kind, connect, observe, requested, unhurried, wait_children};
use support::{LONG, children, one, path};
use zoolock::{
    Acl, AclEntry, Backoff, Error, ErrorKind, LockOptions, Owner, Session, SessionBuilder, Tls,
    Wait,
};
use zoolock_ensemble::{Acl as ServerAcl, Ensemble, NodeKind, Op, Permission, Role};

#[track_caller]
fn assert_invalid(error: &Error, argument: &str) {
    assert_kind(error, ErrorKind::InvalidArgument);
    let message = error.message();
    assert!(message.starts_with(&format!("{argument}: ")), "{error}");
    // What is wrong with it, on one line that ends.
    assert!(message.len() > argument.len() + 8, "{error}");
    assert!(
        !message.contains(char::is_control) && message.len() < 400,
        "{error}"
    );
}

#[test]
fn r20_bad_connect_strings_are_refused_before_anything_is_sent() {
    let ensemble = one();
    let host = ensemble.hosts();
    let long = "x".repeat(300);
    let huge = format!("{host}/{}", "x".repeat(1 << 20));
    for hosts in [
        "",
        " ",
        ",",
        "/",
        "/chroot",
        &format!("{host},"),
        &format!(",{host}"),
        &format!("{host},,{host}"),
        &format!("{host},{host}"),
        &format!("{host}:1"),
        "localhost:",
        "localhost:0",
        "localhost:65536",
        "localhost:-1",
        "localhost:+1",
        "localhost:2181x",
        "localhost: 2181",
        ":2181",
        "local host:2181",
        "zk://localhost:2181",
        "user@localhost:2181",
        "localhost\0:2181",
        "localhost\n:2181",
        "::1",
        "::1:2181",
        "[::1",
        "[::1]2181",
        "[::1]:",
        "[::1]:99999",
        "[localhost]:2181",
        "[]:2181",
        "[fe80::1%]:2181",
        &format!("{long}:2181"),
        &format!("{host}/a/"),
        &format!("{host}//"),
        &format!("{host}/a//b"),
        &format!("{host}/."),
        &format!("{host}/a/../b"),
        &format!("{host}/zookeeper"),
        &format!("{host}/zookeeper/a"),
        &format!("{host}/a\0"),
        &format!("{host}/a\u{1f}b"),
        &format!("{host}/😀"),
        &huge,
    ] {
        let error = unhurried().connect(hosts).refused();
        assert_invalid(&error, "hosts");
        assert_eq!(error.operation(), "connect");
    }
    assert_eq!(ensemble.log().entries().len(), 0, "nothing is sent");
}

#[test]
fn r20_bad_options_of_a_session_are_refused_before_anything_is_sent() {
    let ensemble = one();
    let ages = Duration::from_secs(20 * 366 * 86_400);
    let acl = |permissions: u32, scheme: &str| {
        Acl::List(vec![AclEntry {
            permissions,
            scheme: scheme.into(),
            id: String::new(),
        }])
    };
    let exponential = |base: u64, max: u64| Backoff::Exponential {
        base: Duration::from_millis(base),
        max: Duration::from_millis(max),
        retries: None,
    };
    let fixed = Backoff::Fixed {
        delay: ages,
        retries: None,
    };
    let cases: Vec<(&str, SessionBuilder)> = vec![
        (
            "session_timeout",
            unhurried().session_timeout(Duration::ZERO),
        ),
        (
            "session_timeout",
            unhurried().session_timeout(Duration::from_micros(10)),
        ),
        (
            "session_timeout",
            unhurried().session_timeout(Duration::from_secs(2_147_484)),
        ),
        (
            "session_timeout",
            unhurried().session_timeout(Duration::MAX),
        ),
        (
            "connect_timeout",
            unhurried().connect_timeout(Duration::ZERO),
        ),
        ("connect_timeout", unhurried().connect_timeout(ages)),
        (
            "connect_timeout",
            unhurried().connect_timeout(Duration::MAX),
        ),
        ("auth", unhurried().auth("", "a:b")),
        ("auth", unhurried().auth("dig est", "a:b")),
        ("auth", unhurried().auth("digest\0", "a:b")),
        ("acl", unhurried().acl(Acl::Creator)),
        ("acl", unhurried().acl(Acl::List(Vec::new()))),
        ("acl", unhurried().acl(acl(0, "world"))),
        ("acl", unhurried().acl(acl(32, "world"))),
        ("acl", unhurried().acl(acl(31, ""))),
        ("backoff", unhurried().backoff(exponential(0, 10))),
        ("backoff", unhurried().backoff(exponential(20, 10))),
        ("backoff", unhurried().backoff(fixed)),
        ("identity", unhurried().identity("x".repeat(1 << 20))),
    ];
    for (argument, options) in cases {
        assert_invalid(&options.connect(&ensemble.hosts()).refused(), argument);
    }
    let tls = Tls {
        ca: Some("missing.pem".into()),
        ..Tls::default()
    };
    let error = unhurried().tls(tls).connect(&ensemble.hosts()).refused();
    assert_invalid(&error, "tls.ca");
    assert_eq!(ensemble.log().entries().len(), 0, "nothing is sent");
}

#[test]
fn r20_bad_paths_options_and_times_of_a_lock_are_refused_before_anything_is_sent() {
    let ensemble = one();
    let session = connect(&ensemble);
    ensemble.log().clear();
    let (huge, long) = (
        format!("/{}", "x".repeat(1 << 20)),
        format!("/{}", "x/".repeat(100_000)),
    );
    for path in [
        "",
        "a",
        "a/b",
        "/",
        "//",
        "//a",
        "/a/",
        "/a//b",
        "/.",
        "/..",
        "/a/.",
        "/a/../b",
        "/zookeeper",
        "/zookeeper/config",
        "/a\0b",
        "/\u{1}",
        "/a\nb",
        "/\u{7f}",
        "/\u{85}",
        "/\u{e000}",
        "/\u{fffd}",
        "/😀",
        &huge,
        &long,
    ] {
        for refused in [
            session.mutex(path).map(drop),
            session.reentrant_mutex(path).map(drop),
            session.rwlock(path).map(drop),
        ] {
            assert_invalid(&refused.unwrap_err(), "path");
        }
    }
    let error = session.mutex("a/b").unwrap_err();
    assert_eq!(
        error.message(),
        r#"path: "a/b": it does not begin with '/'"#
    );
    let bad = [
        ("data", LockOptions::new().data(vec![0; (512 << 10) + 1])),
        ("acl", LockOptions::new().acl(Acl::Creator)),
        ("acl", LockOptions::new().acl(Acl::List(Vec::new()))),
    ];
    for (argument, options) in bad {
        let refused = session.mutex_with("/a", options.clone()).map(drop);
        assert_invalid(&refused.unwrap_err(), argument);
        let refused = session.rwlock_with("/a", options).map(drop);
        assert_invalid(&refused.unwrap_err(), argument);
    }
    let mutex = session.mutex("/locks/a").unwrap();
    for timeout in [Duration::MAX, Duration::from_secs(11 * 366 * 86_400)] {
        let error = mutex.lock_timeout(timeout).refused();
        assert_invalid(&error, "timeout");
        assert_eq!(error.path(), Some("/locks/a"));
    }
    for seconds in [
        -2.0,
        -0.001,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        4e8,
    ] {
        assert_invalid(&Wait::from_seconds("lock", seconds).unwrap_err(), "timeout");
    }
    for millis in [-2, i64::MIN, i64::MAX] {
        assert_invalid(
            &Wait::from_millis("lock", millis).unwrap_err(),
            "timeout_ms",
        );
    }
    // The session may have pinged.
    assert_eq!(ensemble.log().total(), 0, "nothing is sent");
}

#[test]
fn r20_what_is_unusual_but_good_is_taken() {
    let ensemble = one();
    let session = connect(&ensemble);
    let top = path("good");
    // Up to the limit of a path, a downgrade's transaction included.
    let longest = format!("{top}/{}", "x".repeat((128 << 10) - top.len() - 1));
    for path in [
        format!("{top}/..."),
        format!("{top}/.a"),
        format!("{top}/with space"),
        format!("{top}/schlüssel/鍵"),
        format!("{top}/-lock-0000000000"),
        longest,
    ] {
        let mutex = session.mutex(&path).unwrap();
        mutex.lock().done().release().done();
        let lock = session.rwlock(&path).unwrap();
        let owner = Owner::new();
        let write = lock.write().lock(&owner).done();
        lock.read().lock(&owner).done().release().done();
        write.release().done();
    }
    let data = vec![b'd'; 512 << 10];
    let options = LockOptions::new().data(data.clone());
    let mutex = session.mutex_with(&format!("{top}/data"), options).unwrap();
    let guard = mutex.lock().done();
    let (found, _) = observe(&ensemble).get(guard.node_path()).unwrap();
    assert_eq!(found.len(), data.len());
}

// ---- rights ----

fn anyone(rights: Permission) -> Vec<ServerAcl> {
    vec![ServerAcl::new(rights, "world", "anyone")]
}

#[test]
fn r20_a_denial_is_told_once_with_the_path_and_the_right() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let session = connect(&ensemble);
    for (rights, missing) in [
        (Permission::READ | Permission::DELETE, "CREATE"),
        (Permission::CREATE | Permission::DELETE, "READ"),
    ] {
        let path = path("denied");
        observer.ensure("/locks").unwrap();
        let acl = anyone(rights | Permission::ADMIN);
        observer
            .create_with_acl(&path, b"", NodeKind::Persistent, acl)
            .unwrap();
        ensemble.log().clear();
        let error = session.mutex(&path).unwrap().lock().refused();
        assert_kind(&error, ErrorKind::NoAuth);
        assert_eq!(error.path(), Some(path.as_str()));
        let told = format!("{missing} on {path}");
        assert!(error.message().contains(&told), "{error}");
        let asked = requested(&ensemble, Op::Create2).len()
            + requested(&ensemble, Op::CreateContainer).len();
        assert_eq!(asked, 1, "once");
        let error = session.mutex(&path).unwrap().try_lock().refused();
        assert_kind(&error, ErrorKind::NoAuth);
        // What was created before it was denied is removed again.
        observer.set_acl(&path, anyone(Permission::ALL)).unwrap();
        wait_children(&observer, &path, 0);
    }
}

#[test]
fn r20_a_contender_that_may_not_be_watched_is_told() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let session = connect(&ensemble);
    let path = path("unreadable");
    observer.ensure(&path).unwrap();
    let closed = anyone(Permission::WRITE);
    let theirs = observer
        .create_with_acl(
            &format!("{path}/x-lock-"),
            b"",
            NodeKind::EphemeralSequential,
            closed,
        )
        .unwrap();
    let error = session.mutex(&path).unwrap().lock().refused();
    assert_kind(&error, ErrorKind::NoAuth);
    let name = theirs.rsplit('/').next().unwrap();
    assert!(error.message().contains("READ"), "{error}");
    assert!(error.message().contains(name), "{error}");
    wait_children(&observer, &path, 1);
}

#[test]
fn r20_an_acl_that_the_server_does_not_take_is_the_callers_mistake() {
    let ensemble = one();
    let session = connect(&ensemble);
    let acl = Acl::List(vec![AclEntry {
        permissions: 31,
        scheme: "digest".into(),
        id: "no hash".into(),
    }]);
    let top = path("acl");
    observe(&ensemble).ensure(&top).unwrap();
    for path in [top.clone(), format!("{top}/below")] {
        let options = LockOptions::new().acl(acl.clone());
        let mutex = session.mutex_with(&path, options).unwrap();
        let error = mutex.lock().refused();
        assert_invalid(&error, "acl");
        assert_eq!(error.path(), Some(path.as_str()));
    }
    assert_eq!(children(&observe(&ensemble), &top), [""; 0]);
}

#[test]
fn r20_credentials_of_an_unknown_scheme_are_refused_at_once() {
    let ensemble = one();
    let options = || unhurried().connect_timeout(LONG * 2);
    let error = options()
        .auth("nonsense", "a:b")
        .connect(&ensemble.hosts())
        .refused();
    assert_kind(&error, ErrorKind::AuthFailed);
    assert_eq!(
        error.message(),
        "the server does not accept the credentials (scheme nonsense)"
    );
    // One attempt was enough.
    assert_eq!(requested(&ensemble, Op::Auth).len(), 1);
    // Whoever shares such a session hears the same.
    let sharing = || {
        Session::builder()
            .auth("digest", "a:b")
            .auth("nonsense", "c:d")
            .connect_timeout(LONG * 2)
            .connect(&ensemble.hosts())
    };
    let (first, second) = (sharing(), sharing());
    assert_kind(&first.refused(), ErrorKind::AuthFailed);
    assert_kind(&second.refused(), ErrorKind::AuthFailed);
    options()
        .auth("digest", "a:b")
        .connect(&ensemble.hosts())
        .done();
}

// ---- servers ----

#[test]
fn r20_a_server_older_than_3_5_5_is_unsupported() {
    for version in ["3.4.14", "3.5.4-beta"] {
        let ensemble = Ensemble::builder().version(version).start().unwrap();
        assert_eq!(ensemble.role(1).unwrap(), Role::Standalone);
        let error = unhurried().connect(&ensemble.hosts()).refused();
        assert_kind(&error, ErrorKind::Unsupported);
        let number = version.trim_end_matches("-beta");
        assert!(error.message().contains(number), "{error}");
        assert!(error.message().contains("3.5.5"), "{error}");
        // Nothing was made there.
        assert_eq!(
            ensemble.observer(1).unwrap().children("/").unwrap(),
            ["zookeeper"]
        );
    }
}

#[test]
fn r20_the_oldest_server_that_is_supported_serves() {
    let ensemble = Ensemble::builder().version("3.5.5").start().unwrap();
    let session = connect(&ensemble);
    let mutex = session.mutex("/locks/old").unwrap();
    let guard = mutex.lock().done();
    let mut waiting = mutex.lock();
    assert!(waiting.is_under_way());
    guard.release().done();
    drop(waiting.done());
    let lock = session.rwlock("/locks/old-rw").unwrap();
    let owner = Owner::new();
    let write = lock.write().lock(&owner).done();
    let read = lock.read().lock(&owner).done();
    assert_eq!(read.fencing_token(), write.fencing_token());
}
