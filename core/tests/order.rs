//! R7: grants follow the order of creation.

mod support;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use support::{LONG, children, connect, granted, mutex, one, path, queued, three, waits};
use zoolock::{Guard, Owner, Pending, Session};

const SOON: Duration = Duration::from_millis(300);

fn number(guard: &Guard) -> i64 {
    let digits = guard.node_path().rsplit('-').next().expect("a number");
    let digits = digits.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().expect("a number")
}

#[test]
fn r07_grants_follow_the_order_of_creation_among_sessions() {
    let ensemble = three();
    let observer = ensemble
        .observer(ensemble.leader().expect("a leader"))
        .expect("observer");
    let sessions: Vec<Session> = (0..5).map(|_| connect(&ensemble)).collect();
    let path = path("sessions");
    let held = mutex(&sessions[0], &path).lock().wait().expect("lock");
    let mut waiting = Vec::new();
    for at in 0..15 {
        waiting.push(mutex(&sessions[at % 5], &path).lock());
        queued(&observer, &path, at + 2);
    }
    held.release().wait().expect("release");
    let mut last = -1;
    while !waiting.is_empty() {
        let (held, _) = granted(waiting.remove(0));
        for other in &mut waiting {
            assert!(waits(other, Duration::ZERO), "granted out of turn");
        }
        assert!(number(&held) > last);
        last = number(&held);
        held.release().wait().expect("release");
    }
}

/// All at once, in several sessions: whoever has the lower number comes first.
#[test]
fn r07_grants_follow_the_numbers_when_all_come_at_once() {
    let ensemble = one();
    let sessions: Vec<Session> = (0..5).map(|_| connect(&ensemble)).collect();
    let path = path("at-once");
    let order = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..50)
        .map(|at| {
            let lock = mutex(&sessions[at % 5], &path);
            let order = Arc::clone(&order);
            thread::spawn(move || {
                let (held, _) = granted(lock.lock());
                let mut order = order.lock().unwrap_or_else(PoisonError::into_inner);
                order.push(number(&held));
                drop(order);
                held.release().wait().expect("release");
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("granted");
    }
    let order = order.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(order.len(), 50);
    assert!(order.is_sorted_by(|one, next| one < next), "{order:?}");
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Read,
    Write,
}

struct Queue {
    observer: zoolock_ensemble::Observer,
    path: String,
    sessions: Vec<Session>,
    waiting: Vec<Pending<Guard>>,
}

impl Queue {
    fn add(&mut self, side: Side) {
        let session = &self.sessions[self.waiting.len() % self.sessions.len()];
        let lock = session.rwlock(&self.path).expect("a lock");
        let owner = Owner::new();
        let before = children(&self.observer, &self.path).len();
        self.waiting.push(match side {
            Side::Read => lock.read().lock(&owner),
            Side::Write => lock.write().lock(&owner),
        });
        queued(&self.observer, &self.path, before + 1);
    }

    #[track_caller]
    fn granted(&mut self) -> Guard {
        granted(self.waiting.remove(0)).0
    }

    #[track_caller]
    fn all_wait(&mut self) {
        thread::sleep(SOON);
        for pending in &mut self.waiting {
            assert!(waits(pending, Duration::ZERO), "granted out of turn");
        }
    }
}

fn queue(ensemble: &zoolock_ensemble::Ensemble, sides: &[Side]) -> Queue {
    let mut queue = Queue {
        observer: ensemble.observer(1).expect("observer"),
        path: path("read-write"),
        sessions: (0..3).map(|_| connect(ensemble)).collect(),
        waiting: Vec::new(),
    };
    for side in sides {
        queue.add(*side);
    }
    queue
}

#[test]
fn r07_readers_share() {
    let ensemble = one();
    let mut queue = queue(&ensemble, &[Side::Read; 6]);
    let readers: Vec<Guard> = (0..6).map(|_| queue.granted()).collect();
    assert!(readers.iter().all(Guard::is_held));
}

#[test]
fn r07_writer_waits_for_all_earlier_readers_and_is_not_overtaken_by_later_ones() {
    use Side::{Read, Write};
    let ensemble = one();
    let mut queue = queue(&ensemble, &[Read, Read, Write, Read, Read, Write]);
    let first = queue.granted();
    let second = queue.granted();
    queue.all_wait();
    second.release().wait().expect("release");
    queue.all_wait();
    first.release().wait().expect("release");
    let writer = queue.granted();
    queue.all_wait();
    writer.release().wait().expect("release");
    let readers = [queue.granted(), queue.granted()];
    assert!(readers.iter().all(Guard::is_held));
    // A reader that comes now is behind the writer.
    queue.add(Read);
    queue.all_wait();
    for reader in readers {
        reader.release().wait().expect("release");
    }
    let writer = queue.granted();
    queue.all_wait();
    writer.release().wait().expect("release");
    drop(queue.granted());
}

/// A reader waits for the nearest earlier writer, even if that one never gets the lock.
#[test]
fn r07_readers_go_on_when_the_writer_before_them_gives_up() {
    use Side::{Read, Write};
    let ensemble = one();
    let mut queue = queue(&ensemble, &[Read, Write, Read, Read]);
    let first = queue.granted();
    queue.all_wait();
    drop(queue.waiting.remove(0));
    let readers = [queue.granted(), queue.granted()];
    assert!(first.is_held() && readers.iter().all(Guard::is_held));
}

#[test]
fn r07_busy_read_write_lock_is_not_tried_past_others() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let path = path("try");
    let lock = |session: &Session| session.rwlock(&path).expect("a lock");
    let held = lock(&other)
        .read()
        .lock(&Owner::new())
        .wait()
        .expect("read");
    let tried = |side: zoolock::RwLockSide| side.try_lock(&Owner::new()).wait().expect("try");
    assert!(tried(lock(&session).write()).is_none());
    assert!(tried(lock(&session).read()).is_some_and(|read| read.is_held()));
    let writer = lock(&other).write().lock(&Owner::new());
    let observer = ensemble.observer(1).expect("observer");
    let waits_behind = || {
        let names = children(&observer, &path);
        names.len() == 2 && names[1].contains("__WRIT__")
    };
    assert!(zoolock_ensemble::eventually(LONG, waits_behind));
    // Behind a queued writer a reader's try finds somebody before it.
    assert!(tried(lock(&session).read()).is_none());
    held.release().wait().expect("release");
    drop(granted(writer));
}
