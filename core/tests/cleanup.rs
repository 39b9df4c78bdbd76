//! R5: an attempt that does not end in a guard leaves no contender.

mod support;

use std::thread;
use std::time::Duration;

use support::{
    LONG, S, children, connect, connect_to, connect_with, eventually, granted, is_empty, mutex,
    one, options, path, queued, server_of, three,
};
use zoolock::{Cancel, ErrorKind, Guard, Mutex, Pending, Session, Wait};
use zoolock_ensemble::{
    Acl, Action, Ensemble, Message, Moment, NodeKind, Observer, Op, Permission, What,
};

/// Longer than a message that was held takes.
const AFTERWARDS: Duration = Duration::from_millis(150);

/// How far an attempt had come when it was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    NotConnected,
    ParentsInFlight,
    CreateNotSent,
    CreateInFlight,
    ListInFlight,
    Waiting,
    GrantedButNotTaken,
}

const STAGES: [Stage; 7] = [
    Stage::NotConnected,
    Stage::ParentsInFlight,
    Stage::CreateNotSent,
    Stage::CreateInFlight,
    Stage::ListInFlight,
    Stage::Waiting,
    Stage::GrantedButNotTaken,
];

/// What becomes of the connection after the attempt has ended.
#[derive(Clone, Copy, Debug)]
enum Then {
    Thaw,
    Reset,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Drop,
    Timeout,
    Cancel,
}

fn no_orphan(end: End) {
    for then in [Then::Thaw, Then::Reset] {
        for stage in STAGES {
            let ensemble = one();
            let observer = ensemble.observer(1).expect("observer");
            let session = connect(&ensemble);
            eprintln!("{stage:?}, {end:?}, {then:?}");
            ends_without_orphan(&ensemble, &observer, &session, stage, end, then);
        }
    }
}

fn ends_without_orphan(
    ensemble: &Ensemble,
    observer: &Observer,
    session: &Session,
    stage: Stage,
    end: End,
    then: Then,
) {
    let path = path("stage");
    let lock = mutex(session, &path);
    if stage != Stage::ParentsInFlight {
        observer.ensure(&path).expect("the path");
    }
    let other = (stage == Stage::Waiting).then(|| {
        let direct = options()
            .connect(&ensemble.direct())
            .wait()
            .expect("connect");
        (mutex(&direct, &path).lock().wait().expect("lock"), direct)
    });
    let link = ensemble.client_link(1).expect("link");
    let hold = |message| {
        let cut = link.cut(message, 1, Moment::Before, Action::Hold);
        Some(cut.expect("a cut"))
    };
    let cut = match stage {
        Stage::NotConnected => {
            link.refuse();
            link.reset();
            None
        }
        Stage::ParentsInFlight => hold(Message::Reply(Some(Op::CreateContainer))),
        Stage::CreateNotSent => hold(Message::Request(Some(Op::Create2))),
        Stage::CreateInFlight => hold(Message::Reply(Some(Op::Create2))),
        Stage::ListInFlight => hold(Message::Reply(Some(Op::GetChildren2))),
        Stage::Waiting | Stage::GrantedButNotTaken => None,
    };
    let cancel = Cancel::new();
    let wait = match end {
        End::Timeout => Wait::UpTo(Duration::from_millis(200)),
        End::Drop | End::Cancel => Wait::Forever,
    };
    let pending = lock.acquire(wait, Some(&cancel));
    if let Some(cut) = cut {
        cut.wait(LONG).expect("the cut");
    }
    match stage {
        Stage::Waiting => queued(observer, &path, 2),
        Stage::GrantedButNotTaken => {
            eventually("the grant", || lock.statistics().acquisitions == 1);
        }
        _ => {}
    }
    finish(pending, end, &cancel, stage);
    match (stage, then) {
        (Stage::NotConnected, _) => link.accept().expect("accept"),
        (_, Then::Thaw) => link.thaw(),
        (_, Then::Reset) => {
            link.reset();
            link.thaw();
        }
    }
    let left = usize::from(other.is_some());
    queued(observer, &path, left);
    let appeared =
        zoolock_ensemble::eventually(AFTERWARDS, || children(observer, &path).len() != left);
    assert!(
        !appeared,
        "{stage:?} {end:?} {then:?}: {:?}",
        children(observer, &path)
    );
    drop(other);
    drop(granted(lock.lock()));
}

fn finish(pending: Pending<Option<Guard>>, end: End, cancel: &Cancel, stage: Stage) {
    match end {
        // Granted: the guard, not taken, is released.
        _ if stage == Stage::GrantedButNotTaken => drop(pending),
        End::Drop => drop(pending),
        End::Timeout => {
            let error = pending.wait().expect_err("it cannot be granted");
            assert_eq!(error.kind(), ErrorKind::Timeout);
        }
        End::Cancel => {
            cancel.cancel();
            // A second one changes nothing.
            cancel.cancel();
            let error = pending.wait().expect_err("it was cancelled");
            assert_eq!(error.kind(), ErrorKind::Cancelled);
        }
    }
}

#[test]
fn r05_no_orphan_of_a_dropped_call_at_any_stage() {
    no_orphan(End::Drop);
}

#[test]
fn r05_no_orphan_of_a_timed_out_call_at_any_stage() {
    no_orphan(End::Timeout);
}

#[test]
fn r05_no_orphan_of_a_cancelled_call_at_any_stage() {
    no_orphan(End::Cancel);
}

/// Ended at a thousand different moments, over a link that takes its time.
#[test]
fn r05_no_orphan_whenever_the_call_ends() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let session = connect(&ensemble);
    let path = path("moments");
    observer.ensure(&path).expect("the path");
    ensemble
        .client_link(1)
        .expect("link")
        .delay(Duration::from_millis(2));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let lock = mutex(&session, &path);
    let mut taken = 0;
    for attempt in 0..1000u64 {
        let limit = Duration::from_micros(attempt * 10);
        // The future is dropped at the limit.
        let outcome = runtime.block_on(async { tokio::time::timeout(limit, lock.lock()).await });
        if let Ok(guard) = outcome {
            drop(guard.expect("the lock"));
            taken += 1;
        }
    }
    ensemble.client_link(1).expect("link").heal().expect("heal");
    assert!(taken < 1000, "no call was dropped");
    is_empty(&observer, &path, AFTERWARDS);
    drop(granted(lock.lock()));
}

/// The connection breaks at the create: exactly one contender is left, and the lock is granted (Z5).
fn create_is_cut(message: Message, moment: Moment, action: Action) {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let session = connect(&ensemble);
    let path = path("cut");
    observer.ensure(&path).expect("the path");
    let link = ensemble.client_link(1).expect("link");
    let cut = link.cut(message, 1, moment, action).expect("a cut");
    let (held, _) = granted(mutex(&session, &path).lock());
    assert!(cut.fired());
    one_contender(&ensemble, &observer, &path, &held);
    held.release().wait().expect("release");
    is_empty(&observer, &path, AFTERWARDS);
}

#[track_caller]
fn one_contender(ensemble: &Ensemble, observer: &Observer, path: &str, held: &Guard) {
    // Behind a transaction where the create is in doubt, else behind a `sync`: the server may not
    // show what another one has made (Z5).
    let entries = ensemble.log().entries();
    let last = |wanted: Op| {
        entries.iter().rposition(|entry| {
            matches!(&entry.what, What::Request { op, path: Some(of), .. } if *op == wanted && of == path)
        })
    };
    let asked = last(Op::Multi).max(last(Op::Sync));
    let list = last(Op::GetChildren2);
    assert!(asked.is_some() && asked < list, "not verified: {entries:?}");
    // The node of the first create is found, and not a second one made.
    assert!(held.node_path().ends_with("-lock-0000000000"), "{held:?}");
    let only =
        |names: &[String]| names.len() == 1 && format!("{path}/{}", names[0]) == held.node_path();
    let names = children(observer, path);
    assert!(only(&names), "{names:?}, held {held:?}");
    let changed = zoolock_ensemble::eventually(AFTERWARDS, || !only(&children(observer, path)));
    assert!(!changed, "{:?}, held {held:?}", children(observer, path));
}

const CREATE: Option<Op> = Some(Op::Create2);

#[test]
fn r05_one_contender_when_the_creates_reply_is_reset() {
    create_is_cut(Message::Reply(CREATE), Moment::Before, Action::Reset);
}

#[test]
fn r05_one_contender_when_the_creates_reply_is_closed() {
    create_is_cut(Message::Reply(CREATE), Moment::Before, Action::Close);
}

#[test]
fn r05_one_contender_when_the_creates_reply_never_comes() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let session = connect(&ensemble);
    let path = path("silent");
    observer.ensure(&path).expect("the path");
    let link = ensemble.client_link(1).expect("link");
    let cut = link
        .cut(Message::Reply(CREATE), 1, Moment::Before, Action::Hold)
        .expect("a cut");
    // The connection stays frozen; a new one is not.
    let (held, _) = granted(mutex(&session, &path).lock());
    assert!(cut.fired());
    one_contender(&ensemble, &observer, &path, &held);
}

#[test]
fn r05_one_contender_when_the_create_itself_is_reset() {
    create_is_cut(Message::Request(CREATE), Moment::Before, Action::Reset);
}

#[test]
fn r05_one_contender_when_the_connection_is_reset_behind_the_create() {
    create_is_cut(Message::Request(CREATE), Moment::After, Action::Reset);
    create_is_cut(Message::Request(CREATE), Moment::After, Action::Close);
}

#[test]
fn r05_one_contender_when_the_connection_is_reset_behind_the_reply() {
    create_is_cut(Message::Reply(CREATE), Moment::After, Action::Reset);
}

/// The client moves to another follower, which may not have heard of the node yet.
#[test]
fn r05_one_contender_when_the_client_moves_to_another_server() {
    let ensemble = three();
    let observer = ensemble
        .observer(ensemble.leader().expect("a leader"))
        .expect("observer");
    for round in 0..9 {
        let server = round % 3 + 1;
        ensemble.log().clear();
        let session = connect_to(options(), &ensemble, server);
        let path = path("moves");
        observer.ensure(&path).expect("the path");
        let link = ensemble.client_link(server).expect("link");
        let action = [Action::Reset, Action::Close][round % 2];
        let cut = link
            .cut_and_refuse(Message::Reply(CREATE), 1, Moment::Before, action)
            .expect("a cut");
        let (held, _) = granted(mutex(&session, &path).lock());
        assert!(cut.fired());
        assert_ne!(server_of(&ensemble, &session), server);
        one_contender(&ensemble, &observer, &path, &held);
        held.release().wait().expect("release");
        is_empty(&observer, &path, AFTERWARDS);
        link.accept().expect("accept");
    }
}

/// Contenders of many attempts in one flight, all of whose answers are lost.
#[test]
fn r05_one_contender_each_when_many_creates_are_cut() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let session = connect(&ensemble);
    let path = path("many");
    observer.ensure(&path).expect("the path");
    let link = ensemble.client_link(1).expect("link");
    let cut = link
        .cut(Message::Reply(CREATE), 3, Moment::Before, Action::Reset)
        .expect("a cut");
    let waiting: Vec<_> = (0..50).map(|_| mutex(&session, &path).lock()).collect();
    cut.wait(LONG).expect("the cut");
    queued(&observer, &path, 50);
    for (done, pending) in waiting.into_iter().enumerate() {
        let (held, _) = granted(pending);
        assert_eq!(children(&observer, &path).len(), 50 - done);
        held.release().wait().expect("release");
    }
    is_empty(&observer, &path, AFTERWARDS);
}

/// The reply to the delete is lost, or the delete itself.
#[test]
fn r05_no_orphan_when_the_delete_is_cut() {
    let cuts = [
        (
            Message::Reply(Some(Op::Delete)),
            Moment::Before,
            Action::Reset,
        ),
        (
            Message::Reply(Some(Op::Delete)),
            Moment::Before,
            Action::Close,
        ),
        (
            Message::Request(Some(Op::Delete)),
            Moment::Before,
            Action::Reset,
        ),
        (
            Message::Request(Some(Op::Delete)),
            Moment::After,
            Action::Reset,
        ),
        (
            Message::Request(Some(Op::Delete)),
            Moment::Before,
            Action::Hold,
        ),
        (
            Message::Reply(Some(Op::Delete)),
            Moment::Before,
            Action::Hold,
        ),
    ];
    for (message, moment, action) in cuts {
        let ensemble = one();
        let observer = ensemble.observer(1).expect("observer");
        let (session, other) = (connect(&ensemble), connect(&ensemble));
        let path = path("delete");
        let held = mutex(&session, &path).lock().wait().expect("lock");
        let waiting = mutex(&other, &path).lock();
        queued(&observer, &path, 2);
        let link = ensemble.client_link(1).expect("link");
        let cut = link.cut(message, 1, moment, action).expect("a cut");
        held.release().wait().expect("release");
        assert!(cut.fired());
        let (next, _) = granted(waiting);
        next.release().wait().expect("release");
        is_empty(&observer, &path, AFTERWARDS);
    }
}

/// An error in the middle: contenders may be made and deleted here, but not listed.
#[test]
fn r05_no_orphan_of_an_attempt_that_is_denied_the_listing() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let session = connect(&ensemble);
    let path = path("denied");
    observer.ensure("/locks").expect("parents");
    let acl = |permission| vec![Acl::new(permission, "world", "anyone")];
    let all_but_read = Permission::CREATE | Permission::DELETE | Permission::ADMIN;
    observer
        .create_with_acl(&path, b"", NodeKind::Persistent, acl(all_but_read))
        .expect("the path");
    for _ in 0..5 {
        let error = mutex(&session, &path).lock().wait().expect_err("denied");
        assert_eq!(error.kind(), ErrorKind::NoAuth);
    }
    observer.set_acl(&path, acl(Permission::ALL)).expect("ACL");
    is_empty(&observer, &path, AFTERWARDS);
}

/// Clean-up goes on until it is confirmed, here through an outage longer than the call.
#[test]
fn r05_clean_up_outlasts_an_outage() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let session = connect_with(options().session_timeout(S * 4), &ensemble);
    let path = path("outage");
    let direct = options()
        .connect(&ensemble.direct())
        .wait()
        .expect("connect");
    let _other = mutex(&direct, &path).lock().wait().expect("lock");
    let waiting: Vec<_> = (0..20).map(|_| mutex(&session, &path).lock()).collect();
    queued(&observer, &path, 21);
    let link = ensemble.client_link(1).expect("link");
    link.refuse();
    link.reset();
    drop(waiting);
    for _ in 0..10 {
        thread::sleep(Duration::from_millis(50));
        link.reset();
    }
    assert_eq!(children(&observer, &path).len(), 21);
    link.accept().expect("accept");
    queued(&observer, &path, 1);
}

fn watch_count(ensemble: &Ensemble) -> u64 {
    let mntr = ensemble.four_letter(1, "mntr").expect("mntr");
    let line = mntr.lines().find(|line| line.starts_with("zk_watch_count"));
    let count = line.and_then(|line| line.split_whitespace().nth(1));
    count
        .and_then(|count| count.parse().ok())
        .expect("a number")
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("status");
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let size = line.and_then(|line| line.split_whitespace().nth(1));
    size.and_then(|size| size.parse().ok()).expect("a number")
}

/// How many attempts the next test makes of each kind.
const ATTEMPTS: usize = 50_000;
const AT_ONCE: usize = 50;

/// Memory and the server's watches stay flat over 50,000 tries and as many timed-out calls.
#[test]
fn r05_nothing_is_left_of_100000_tries_and_timed_out_calls() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    // Past the proxies, which would log all this in our own memory.
    let session = options()
        .connect(&ensemble.direct())
        .wait()
        .expect("connect");
    let other = options()
        .connect(&ensemble.direct())
        .wait()
        .expect("connect");
    let path = path("flat");
    let _held = mutex(&other, &path).lock().wait().expect("lock");
    let lock = mutex(&session, &path);
    let before = watch_count(&ensemble);
    attempts(&lock, ATTEMPTS / 10);
    queued(&observer, &path, 1);
    let warm = resident_kib();
    attempts(&lock, ATTEMPTS);
    queued(&observer, &path, 1);
    let grown = resident_kib().saturating_sub(warm);
    assert!(grown < 4096, "{grown} KiB more");
    eventually("the watches are gone", || {
        watch_count(&ensemble) <= before + 1
    });
}

fn attempts(lock: &Mutex, count: usize) {
    for _ in 0..count / AT_ONCE {
        let tries: Vec<_> = (0..AT_ONCE).map(|_| lock.try_lock()).collect();
        for pending in tries {
            assert!(pending.wait().expect("try").is_none());
        }
        let timed: Vec<_> = (0..AT_ONCE)
            .map(|_| lock.lock_timeout(Duration::from_millis(3)))
            .collect();
        for pending in timed {
            assert_eq!(pending.wait().expect_err("held").kind(), ErrorKind::Timeout);
        }
    }
}

/// Somebody takes the right to delete away and gives it back: the contender goes, on the same
/// connection, though its release has failed long ago.
#[test]
fn r05_a_deletion_that_was_denied_is_tried_again() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let session = connect(&ensemble);
    let path = path("denied-deletion");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let anyone = |permissions| vec![Acl::new(permissions, "world", "anyone")];
    let all_but_delete = Permission::READ | Permission::CREATE | Permission::ADMIN;
    observer
        .set_acl(&path, anyone(all_but_delete))
        .expect("set the ACL");
    let error = held.release().wait().expect_err("denied");
    assert_eq!(error.kind(), ErrorKind::NoAuth, "{error}");
    observer
        .set_acl(&path, anyone(Permission::ALL))
        .expect("set the ACL");
    eventually("it is free", || children(&observer, &path).is_empty());
    assert_eq!(
        ensemble.log().count(Op::SetWatches),
        0,
        "on the same connection"
    );
    granted(mutex(&session, &path).lock())
        .0
        .release()
        .wait()
        .expect("release");
}
