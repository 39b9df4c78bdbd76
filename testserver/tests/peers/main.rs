//! Other libraries' locks on the test server, with each other and with zoolock.

mod peer;
mod setup;

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use peer::Peer;
use setup::{class_path, python, source};
use zoolock::{LockOptions, Naming, blocking};
use zoolock_testserver::server::Server;

const PATIENCE: Duration = Duration::from_secs(60);
const PATH: &str = "/locks/peers";

#[test]
fn kazoos_lock_works() {
    let command = |hosts: &str| {
        let mut command = Command::new(python());
        command.arg(source("kazoo_peer.py")).args([hosts, PATH]);
        command
    };
    take_turns("kazoo", &command, Naming::Kazoo);
}

#[test]
fn curators_mutex_works() {
    let command = |hosts: &str| {
        let mut command = java();
        command.arg(source("CuratorPeer.java")).args([hosts, PATH]);
        command
    };
    take_turns("curator", &command, Naming::Curator);
}

fn java() -> Command {
    let mut command = Command::new("java");
    command
        .args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
        .arg("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
        .args(["-cp", &class_path()]);
    command
}

/// Locks and unlocks, hands over to one that waits, over a lost connection, and when a session expires.
fn take_turns(name: &'static str, command: &(dyn Fn(&str) -> Command + Sync), naming: Naming) {
    let server = Server::builder()
        .tick(Duration::from_millis(200))
        .start()
        .unwrap();
    let hosts = server.hosts();
    let (a, b) = thread::scope(|scope| {
        let a = scope.spawn(|| Peer::start(name, command(&hosts)));
        let b = Peer::start(name, command(&hosts));
        (a.join().unwrap(), b)
    });
    a.order("lock");
    a.says("locked");
    b.order("lock");
    until(|| queues(&server, b.session));
    b.has_said_nothing();
    a.order("unlock");
    a.says("unlocked");
    b.says("locked");

    a.order("lock");
    until(|| queues(&server, a.session));
    assert_eq!(server.cut_all(), Ok(2));
    until(|| {
        [a.session, b.session]
            .iter()
            .all(|id| is_connected(&server, *id))
    });
    a.has_said_nothing();
    b.order("unlock");
    b.says("unlocked");
    a.says("locked");

    b.order("lock");
    until(|| queues(&server, b.session));
    assert_eq!(server.expire_session(a.session), Ok(true));
    b.says("locked");
    a.says_at_last("lost");
    a.order("unlock");
    a.says("unlocked");
    a.order("lock");
    until(|| contenders(&server) == 2);
    b.order("unlock");
    b.says("unlocked");
    a.says("locked");

    with_zoolock(&server, &a, naming);
    a.ends_well();
    b.ends_well();
    assert_eq!(server.sessions().unwrap(), []);
}

/// `a`, which holds the lock, and zoolock hand it to each other.
fn with_zoolock(server: &Server, a: &Peer, naming: Naming) {
    let session = blocking::Session::connect(&server.hosts()).unwrap();
    let options = LockOptions::default().naming(naming);
    let mutex = session.mutex_with(PATH, options).unwrap();
    let held = thread::scope(|scope| {
        let waiting = scope.spawn(|| mutex.lock_timeout(PATIENCE));
        until(|| contenders(server) == 2);
        assert!(!waiting.is_finished());
        a.order("unlock");
        a.says("unlocked");
        waiting.join().unwrap().unwrap()
    });
    a.order("lock");
    until(|| contenders(server) == 2);
    a.has_said_nothing();
    held.release().unwrap();
    a.says("locked");
    a.order("unlock");
    a.says("unlocked");
    session.close().unwrap();
}

fn until(mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "it does not happen");
        thread::sleep(Duration::from_millis(10));
    }
}

fn is_connected(server: &Server, session: i64) -> bool {
    let sessions = server.sessions().unwrap();
    sessions.iter().any(|s| s.id == session && s.connected)
}

fn queues(server: &Server, session: i64) -> bool {
    let sessions = server.sessions().unwrap();
    sessions
        .iter()
        .any(|s| s.id == session && !s.ephemerals.is_empty())
}

fn contenders(server: &Server) -> usize {
    let sessions = server.sessions().unwrap();
    sessions
        .iter()
        .map(|session| session.ephemerals.len())
        .sum()
}

#[test]
fn zookeepers_command_line_works() {
    let server = Server::builder().start().unwrap();
    let orders = "\
        addauth digest me:secret\n\
        whoami\n\
        create /locks\n\
        create -c /locks/order\n\
        create -e -s /locks/order/x-lock- data\n\
        ls /locks/order\n\
        get -s /locks/order/x-lock-0000000000\n\
        getEphemerals /locks\n\
        getAllChildrenNumber /locks\n\
        sync /locks\n\
        config\n\
        set /locks other\n\
        getAcl /locks\n\
        deleteall /locks\n\
        ls /\n\
        quit\n";
    let mut program = java()
        .arg("org.apache.zookeeper.ZooKeeperMain")
        .args(["-server", &server.hosts()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = program.stdin.take().unwrap();
    stdin.write_all(orders.as_bytes()).unwrap();
    drop(stdin);
    let output = program.wait_with_output().unwrap();
    // What it has done it says on the one, what it was asked for on the other.
    let said = [output.stdout, b"----\n".to_vec(), output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    assert!(output.status.success(), "{said}");
    let mut rest = said.as_str();
    for expected in [
        "digest: me",
        "[x-lock-0000000000]\n",
        "data\n",
        "dataLength = 4",
        "/locks/order/x-lock-0000000000",
        "2\n",
        "Sync is OK",
        "'world,'anyone\n: cdrwa\n",
        "[zookeeper]\n",
        "----\n",
        "Created /locks\n",
        "Created /locks/order\n",
        "Created /locks/order/x-lock-0000000000\n",
    ] {
        let at = rest.find(expected);
        let at = at.unwrap_or_else(|| panic!("no {expected:?} in its place in\n{said}"));
        rest = &rest[at + expected.len()..];
    }
    assert!(!said.contains("KeeperErrorCode"), "{said}");
}
