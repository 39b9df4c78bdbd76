//! R13: what lies under a lock path besides our own contenders.

mod rig;
mod support;

use rig::{Outcome, connect, observe, requested, wait_children};
use support::{children, eventually, one, path};
use zoolock::{LockOptions, Naming, Owner, Pending, Session};
use zoolock_ensemble::{Action, Message, Moment, NodeKind, Observer, Op};

/// Names that are no contenders to any recipe.
fn strangers() -> Vec<String> {
    let mut names: Vec<String> = [
        "lock",
        "0",
        "0000000000",
        "-1",
        "lock-",
        "lock-0000000000",
        "-lock-",
        "__lock__",
        "__rlock__",
        "__READ__",
        "__WRIT__",
        "_c_3c5c4e1a-1111-4222-8333-444455556666-lock-",
        "_c_3c5c4e1a-1111-4222-8333-444455556666-lock--",
        "_c_3c5c4e1a-1111-4222-8333-444455556666-lock-000000000x",
        "_c_3c5c4e1a-1111-4222-8333-444455556666-lock-0000000000 ",
        "_c_3c5c4e1a-1111-4222-8333-444455556666-lock-99999999999999999999999",
        "_c_3c5c4e1a-1111-4222-8333-444455556666-LOCK-0000000000",
        "__READ__-",
        "__WRIT__0000000000.old",
        "__lock__0x1f",
        "__rlock__+0000000000",
        "-lock-\u{0660}\u{0661}",
        "schlüssel-鍵",
        "%s%n%d",
        "a b\u{a0}c",
        "{}",
        "'; drop",
        "...",
        "\\",
        "*",
    ]
    .map(str::to_owned)
    .into();
    names.push("x".repeat(5_000));
    names
}

/// Calls for each recipe on `path`.
fn calls(session: &Session, path: &str) -> Vec<Pending<zoolock::Guard>> {
    vec![
        session.mutex(path).unwrap().lock(),
        session.reentrant_mutex(path).unwrap().lock(&Owner::new()),
        session.rwlock(path).unwrap().read().lock(&Owner::new()),
        session.rwlock(path).unwrap().write().lock(&Owner::new()),
    ]
}

#[test]
fn r13_strangers_of_any_name_neither_block_nor_crash() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("strangers");
    observer.ensure(&path).unwrap();
    for (index, name) in strangers().iter().enumerate() {
        let kind = match index % 2 {
            0 => NodeKind::Persistent,
            _ => NodeKind::Ephemeral,
        };
        observer
            .create(&format!("{path}/{name}"), b"x", kind)
            .unwrap();
    }
    let session = connect(&ensemble);
    for call in calls(&session, &path).drain(..) {
        // Each by itself: a mutex and the two sides exclude one another.
        call.done().release().done();
    }
    let mutex = session.mutex(&path).unwrap();
    let guard = mutex.try_lock().done().expect("nobody is before us");
    let contenders = mutex.contenders().done();
    assert_eq!(contenders.len(), 1);
    assert_eq!(contenders[0].node_path, guard.node_path());
    guard.release().done();
    assert_eq!(children(&observer, &path).len(), strangers().len());
}

#[test]
fn r13_strangers_that_come_and_go_while_we_wait_change_nothing() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let session = connect(&ensemble);
    let elsewhere = connect(&ensemble);
    let path = path("meanwhile");
    let holder = elsewhere.mutex(&path).unwrap().lock().done();
    let mut waiting = session.mutex(&path).unwrap().lock();
    wait_children(&observer, &path, 2);
    for name in strangers() {
        observer
            .create(&format!("{path}/{name}"), b"", NodeKind::Persistent)
            .unwrap();
    }
    let mut second = session.mutex(&path).unwrap().lock();
    wait_children(&observer, &path, strangers().len() + 3);
    assert!(waiting.is_under_way() && second.is_under_way());
    for name in strangers() {
        let path = format!("{path}/{name}");
        observer.set(&path, b"changed").unwrap();
        observer.delete(&path).unwrap();
    }
    assert!(waiting.is_under_way() && second.is_under_way());
    assert!(holder.is_held());
    holder.release().done();
    waiting.done().release().done();
    drop(second.done());
}

#[test]
fn r13_a_stranger_with_children_does_not_hinder_either() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("deep");
    observer
        .ensure(&format!("{path}/stranger/child/-lock-0000000000"))
        .unwrap();
    let guard = connect(&ensemble).mutex(&path).unwrap().lock().done();
    guard.release().done();
}

/// A contender of another library.
struct Foreign<'a> {
    observer: &'a Observer,
    path: String,
}

impl<'a> Foreign<'a> {
    fn create(observer: &'a Observer, parent: &str, prefix: &str) -> Foreign<'a> {
        let path = format!("{parent}/{prefix}");
        let path = observer
            .create(&path, b"", NodeKind::EphemeralSequential)
            .unwrap();
        Foreign { observer, path }
    }

    fn release(self) {
        self.observer.delete(&self.path).unwrap();
    }
}

const CURATOR: &str = "_c_3c5c4e1a-1111-4222-8333-444455556666";
const KAZOO: &str = "3c5c4e1a111142228333444455556666";

#[test]
fn r13_other_libraries_mutexes_count_in_full() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let session = connect(&ensemble);
    for prefix in [
        format!("{CURATOR}-lock-"),
        // go-zookeeper writes sixteen bytes in hexadecimal.
        format!("_c_{KAZOO}-lock-"),
        format!("{KAZOO}__lock__"),
        format!("{KAZOO}__rlock__"),
    ] {
        for naming in [Naming::Curator, Naming::Kazoo] {
            let path = path("foreign");
            observer.ensure(&path).unwrap();
            let options = LockOptions::new().naming(naming);
            let mutex = session.mutex_with(&path, options).unwrap();
            let first = Foreign::create(&observer, &path, &prefix);
            let second = Foreign::create(&observer, &path, &prefix);
            assert!(mutex.try_lock().done().is_none(), "{prefix}");
            let mut ours = mutex.lock();
            wait_children(&observer, &path, 3);
            assert!(ours.is_under_way(), "{prefix}");
            let later = Foreign::create(&observer, &path, &prefix);
            // Ours waits for the nearest, the second.
            second.release();
            assert!(ours.is_under_way(), "{prefix}");
            first.release();
            let guard = ours.done();
            assert_eq!(children(&observer, &path).len(), 2);
            guard.release().done();
            assert!(mutex.try_lock().done().is_none(), "{prefix}");
            later.release();
            mutex.try_lock().done().expect("free").release().done();
        }
    }
}

#[test]
fn r13_other_libraries_readers_and_writers_count_as_such() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let session = connect(&ensemble);
    for (prefix, reads) in [
        (format!("{CURATOR}-__READ__"), true),
        (format!("{CURATOR}-__WRIT__"), false),
        (format!("{KAZOO}__rlock__"), true),
        (format!("{KAZOO}__lock__"), false),
    ] {
        for naming in [Naming::Curator, Naming::Kazoo] {
            let path = path("sides");
            observer.ensure(&path).unwrap();
            let options = LockOptions::new().naming(naming);
            let lock = session.rwlock_with(&path, options).unwrap();
            let theirs = Foreign::create(&observer, &path, &prefix);
            let read = lock.read().try_lock(&Owner::new()).done();
            assert_eq!(read.is_some(), reads, "{prefix}");
            drop(read);
            let write = lock.write().try_lock(&Owner::new()).done();
            assert!(write.is_none(), "{prefix}");
            let write = lock.write().lock(&Owner::new());
            theirs.release();
            write.done().release().done();
        }
    }
}

#[test]
fn r13_what_is_no_contender_of_a_recipe_is_a_stranger_to_it() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let session = connect(&ensemble);
    let path = path("recipes");
    observer.ensure(&path).unwrap();
    // Curator's mutex and its read-write lock do not exclude each other.
    let _mutex = Foreign::create(&observer, &path, &format!("{CURATOR}-lock-"));
    let lock = session.rwlock(&path).unwrap();
    lock.write().lock(&Owner::new()).done().release().done();
    let path = support::path("recipes");
    observer.ensure(&path).unwrap();
    let _writer = Foreign::create(&observer, &path, &format!("{CURATOR}-__WRIT__"));
    session.mutex(&path).unwrap().lock().done().release().done();
}

#[test]
fn r13_the_order_is_that_of_the_numbers_whatever_stands_before_them() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let session = connect(&ensemble);
    let path = path("order");
    observer.ensure(&path).unwrap();
    let mutex = session.mutex(&path).unwrap();
    // A name that sorts behind ours, and one that sorts before it.
    let earlier = Foreign::create(&observer, &path, "zzz__lock__");
    let mut ours = mutex.lock();
    wait_children(&observer, &path, 2);
    let later = Foreign::create(&observer, &path, "000-lock-");
    assert!(ours.is_under_way());
    earlier.release();
    ours.done().release().done();
    later.release();
}

#[test]
fn r13_a_node_with_our_guid_of_another_session_is_not_adopted() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let link = ensemble.client_link(1).unwrap();
    let path = path("guid");
    observer.ensure(&path).unwrap();
    let session = connect(&ensemble);
    // Our create never gets there, and we do not know.
    let cut = link
        .cut_and_refuse(
            Message::Request(Some(Op::Create2)),
            1,
            Moment::Before,
            Action::Reset,
        )
        .unwrap();
    let mut ours = session.mutex(&path).unwrap().lock();
    cut.wait(support::LONG).unwrap();
    let prefix = requested(&ensemble, Op::Create2).pop().expect("our create");
    assert!(prefix.starts_with(&format!("{path}/_c_")), "{prefix}");
    // Whoever has our name is not us: like a node of a session that we had before.
    let theirs = observer
        .create(&prefix, b"", NodeKind::EphemeralSequential)
        .unwrap();
    // One behind it, so that a wrong adoption would be granted at once.
    link.accept().unwrap();
    eventually("the other one's node is removed", || {
        observer.exists(&theirs).unwrap().is_none()
    });
    assert!(ours.wait_for(support::LONG).is_some_and(|outcome| {
        let guard = outcome.unwrap();
        let stat = observer.exists(guard.node_path()).unwrap().unwrap();
        guard.node_path() != theirs
            && stat.ephemeral_owner == session.session_id()
            && stat.czxid == guard.fencing_token()
    }));
}
