//! R12: downgrade, and what would deadlock.

mod rig;
mod support;

use std::time::Duration;

use rig::{Outcome, assert_kind, connect, observe, requested, wait_children};
use support::{children, eventually, one, path};
use zoolock::{ErrorKind, Guard, GuardState, LockOptions, Naming, Owner};
use zoolock_ensemble::{Action, Message, Moment, Op};

fn name(guard: &Guard) -> &str {
    guard.node_path().rsplit('/').next().unwrap()
}

fn digits(guard: &Guard) -> &str {
    let name = name(guard);
    name.get(name.len() - 10..).unwrap()
}

#[test]
fn r12_the_writer_reads_by_one_transaction_and_repeats_its_token() {
    let ensemble = one();
    let observer = observe(&ensemble);
    for naming in [Naming::Curator, Naming::Kazoo] {
        let path = path("downgrade");
        let options = LockOptions::new().naming(naming);
        let lock = connect(&ensemble).rwlock_with(&path, options).unwrap();
        let owner = Owner::new();
        let write = lock.write().lock(&owner).done();
        ensemble.log().clear();
        let read = lock.read().lock(&owner).done();
        // The check on the write node comes first.
        assert_eq!(requested(&ensemble, Op::Multi), [write.node_path()]);
        assert_eq!(requested(&ensemble, Op::Create2), [""; 0]);
        assert_eq!(read.fencing_token(), write.fencing_token());
        assert_eq!(digits(&read), digits(&write));
        let (marker, stat) = match naming {
            Naming::Kazoo => ("__rlock__", observer.get(read.node_path()).unwrap().1),
            _ => ("-__READ__", observer.get(read.node_path()).unwrap().1),
        };
        assert!(name(&read).contains(marker), "{}", name(&read));
        assert_ne!(stat.ephemeral_owner, 0);
        // Each is released by itself, in either order.
        write.release().done();
        assert!(read.is_held());
        assert_eq!(children(&observer, &path), [name(&read)]);
        read.release().done();
        assert_eq!(children(&observer, &path), [""; 0]);
    }
}

#[test]
fn r12_a_queued_writer_does_not_get_in_between() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("between");
    let session = connect(&ensemble);
    let lock = session.rwlock(&path).unwrap();
    let elsewhere = connect(&ensemble).rwlock(&path).unwrap();
    let owner = Owner::new();
    let write = lock.write().lock(&owner).done();
    // One writer of another process, one of this, and a reader behind them.
    let mut writers = [
        elsewhere.write().lock(&Owner::new()),
        lock.write().lock(&Owner::new()),
    ];
    wait_children(&observer, &path, 3);
    let mut reader = elsewhere.read().lock(&Owner::new());
    wait_children(&observer, &path, 4);
    let read = lock.read().lock(&owner).done();
    write.release().done();
    for writer in &mut writers {
        assert!(writer.is_under_way());
    }
    assert!(reader.is_under_way(), "not past the queued writers");
    assert!(read.is_held());
    let token = read.fencing_token();
    read.release().done();
    let mut last = token;
    let (mut granted, mut waiting) = (0, writers.into_iter().collect::<Vec<_>>());
    while !waiting.is_empty() {
        // Whichever was created first.
        let at = support_until(|| {
            (0..waiting.len()).find_map(|at| {
                let outcome = waiting[at].wait_for(Duration::from_millis(20))?;
                Some((at, outcome.unwrap()))
            })
        });
        let (at, guard) = at;
        drop(waiting.remove(at));
        assert!(guard.fencing_token() > last, "writers' tokens rise");
        last = guard.fencing_token();
        for other in &mut waiting {
            assert!(other.is_under_way());
        }
        assert!(reader.is_under_way());
        guard.release().done();
        granted += 1;
    }
    assert_eq!(granted, 2);
    drop(reader.done());
}

fn support_until<T>(attempt: impl FnMut() -> Option<T>) -> T {
    zoolock_ensemble::until(support::LONG, attempt).expect("in time")
}

#[test]
fn r12_a_downgrade_may_come_while_the_writers_watch_is_armed() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("armed");
    let lock = connect(&ensemble).rwlock(&path).unwrap();
    let elsewhere = connect(&ensemble).rwlock(&path).unwrap();
    // The waiting writer watches the write node only; its deletion shows a reader in front again and again.
    for _ in 0..20 {
        let owner = Owner::new();
        let write = lock.write().lock(&owner).done();
        let mut waiting = elsewhere.write().lock(&Owner::new());
        wait_children(&observer, &path, 2);
        let read = lock.read().lock(&owner).done();
        drop(write);
        assert!(waiting.wait_for(Duration::from_millis(30)).is_none());
        assert!(read.is_held());
        read.release().done();
        waiting.done().release().done();
    }
}

#[test]
fn r12_the_owner_of_only_a_read_lock_is_refused_the_write_lock_at_once() {
    let ensemble = one();
    let lock = connect(&ensemble).rwlock(&path("upgrade")).unwrap();
    let owner = Owner::new();
    let read = lock.read().lock(&owner).done();
    ensemble.log().clear();
    let write = lock.write();
    for refused in [
        write.lock(&owner).refused(),
        write.try_lock(&owner).refused(),
        write.lock_timeout(&owner, Duration::from_secs(9)).refused(),
    ] {
        assert_kind(&refused, ErrorKind::WouldDeadlock);
    }
    assert_eq!(requested(&ensemble, Op::Create2), [""; 0]);
    // The read lock is as it was, and released the way is free.
    drop(lock.read().lock(&owner).done());
    assert!(read.is_held());
    read.release().done();
    drop(write.lock(&owner).done());
}

#[test]
fn r12_with_both_sides_held_each_is_entered_again() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("both");
    let lock = connect(&ensemble).rwlock(&path).unwrap();
    let owner = Owner::new();
    let write = lock.write().lock(&owner).done();
    let read = lock.read().lock(&owner).done();
    let write_again = lock.write().lock(&owner).done();
    let read_again = lock.read().lock(&owner).done();
    assert_eq!(children(&observer, &path).len(), 2);
    drop((write, read));
    assert!(write_again.is_held() && read_again.is_held());
    write_again.release().done();
    // Only a reader now.
    let refused = lock.write().lock(&owner).refused();
    assert_kind(&refused, ErrorKind::WouldDeadlock);
    read_again.release().done();
    assert_eq!(children(&observer, &path).len(), 0);
}

#[test]
fn r12_one_owners_read_and_write_attempts_do_not_wait_for_each_other() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("mixed");
    let lock = connect(&ensemble).rwlock(&path).unwrap();
    let holder = lock.write().lock(&Owner::new()).done();
    let (writes_first, reads_first) = (Owner::new(), Owner::new());
    let write = lock.write().lock(&writes_first);
    let read = lock.read().lock(&writes_first);
    wait_children(&observer, &path, 2);
    let other_read = lock.read().lock(&reads_first);
    let other_write = lock.write().lock(&reads_first);
    wait_children(&observer, &path, 3);
    holder.release().done();
    // Write, then a downgrade.
    let (write, read) = (write.done(), read.done());
    assert_eq!(read.fencing_token(), write.fencing_token());
    drop((write, read));
    // Read, then refused.
    let other_read = other_read.done();
    assert_kind(&other_write.refused(), ErrorKind::WouldDeadlock);
    assert!(other_read.is_held());
}

#[test]
fn r12_nothing_waits_for_a_later_contender() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("later");
    let lock = connect(&ensemble).rwlock(&path).unwrap();
    let first = lock.read().lock(&Owner::new()).done();
    let second = lock.read().lock(&Owner::new()).done();
    let mut writer = lock.write().lock(&Owner::new());
    wait_children(&observer, &path, 3);
    let mut later = lock.read().lock(&Owner::new());
    wait_children(&observer, &path, 4);
    assert!(writer.is_under_way() && later.is_under_way());
    // The later of the two readers goes first.
    second.release().done();
    assert!(writer.is_under_way());
    first.release().done();
    let writer = writer.done();
    assert!(later.is_under_way());
    writer.release().done();
    drop(later.done());
}

#[test]
fn r12_a_downgrade_whose_answer_is_lost_is_found_again() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let link = ensemble.client_link(1).unwrap();
    // Executed and not told; not executed.
    for message in [
        Message::Reply(Some(Op::Multi)),
        Message::Request(Some(Op::Multi)),
    ] {
        let path = path("cut");
        let lock = connect(&ensemble).rwlock(&path).unwrap();
        let elsewhere = connect(&ensemble).rwlock(&path).unwrap();
        let owner = Owner::new();
        let write = lock.write().lock(&owner).done();
        let mut waiting = elsewhere.write().lock(&Owner::new());
        wait_children(&observer, &path, 2);
        let cut = link.cut(message, 1, Moment::Before, Action::Reset).unwrap();
        let read = lock.read().lock(&owner).done();
        assert!(cut.fired());
        assert_eq!(read.fencing_token(), write.fencing_token());
        assert_eq!(digits(&read), digits(&write));
        assert_eq!(children(&observer, &path).len(), 3);
        write.release().done();
        assert!(read.is_held());
        assert!(waiting.is_under_way());
        read.release().done();
        waiting.done().release().done();
        assert_eq!(children(&observer, &path), [""; 0]);
    }
}

#[test]
fn r12_a_downgrade_is_refused_when_the_write_node_is_gone() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("gone");
    let lock = connect(&ensemble).rwlock(&path).unwrap();
    let owner = Owner::new();
    let write = lock.write().lock(&owner).done();
    // Before the guard watches its own node, or right after: the transaction notices.
    observer.delete(write.node_path()).unwrap();
    assert_kind(&lock.read().lock(&owner).refused(), ErrorKind::LockLost);
    eventually("the write lock is lost", || {
        write.state() == GuardState::Lost
    });
    assert_eq!(children(&observer, &path), [""; 0]);
    assert_kind(&write.release().refused(), ErrorKind::LockLost);
    drop(lock.read().lock(&owner).done());
}

#[test]
fn r12_a_lost_write_lock_is_not_downgraded() {
    let ensemble = one();
    let session = connect(&ensemble);
    let lock = session.rwlock(&path("lost")).unwrap();
    let owner = Owner::new();
    let write = lock.write().lock(&owner).done();
    ensemble.expire(session.session_id()).unwrap();
    eventually("the loss is told", || write.state() == GuardState::Lost);
    assert_kind(&lock.read().lock(&owner).refused(), ErrorKind::LockLost);
    drop(write);
    drop(lock.read().lock(&owner).done());
}

#[test]
fn r12_a_downgrade_ends_with_the_loss_of_its_write_lock() {
    let ensemble = one();
    let link = ensemble.client_link(1).unwrap();
    let lock = connect(&ensemble).rwlock(&path("ends")).unwrap();
    let owner = Owner::new();
    let write = lock.write().lock(&owner).done();
    link.freeze();
    let mut read = lock.read().lock(&owner);
    assert!(read.is_under_way());
    eventually("the write lock is lost", || {
        write.state() == GuardState::Lost
    });
    // Not an ordinary read: others may have written by then.
    assert_kind(&read.refused(), ErrorKind::LockLost);
    link.thaw();
    assert_kind(&write.release().refused(), ErrorKind::LockLost);
    drop(lock.read().lock(&owner).done());
}
