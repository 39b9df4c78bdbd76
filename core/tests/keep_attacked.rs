//! Kept locks when processes stop, networks break, servers go, and callers leave.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use support::{
    Child, LONG, S, children, clock, connect, connect_with, granted, one, options, path, queued,
    requests, server_of, three, waits,
};
use zoolock::{Cancel, ErrorKind, LockOptions, Mutex, Naming, Session, Wait};

child_process!();

/// Longer than any test takes.
const IDLE: Duration = Duration::from_secs(600);

fn keeping(session: &Session, path: &str) -> Mutex {
    let options = LockOptions::new().keep(IDLE);
    session.mutex_with(path, options).expect("a mutex")
}

/// The token of one grant.
#[track_caller]
fn cycle(mutex: &Mutex) -> (i64, u64) {
    let (held, _) = granted(mutex.lock());
    let token = (held.fencing_token(), held.grant_count());
    held.release().wait().expect("release");
    token
}

/// It is asked for the lock before it can have read anything.
#[test]
fn r03_a_process_that_was_stopped_takes_nothing_that_it_kept() {
    let ensemble = one();
    let path = path("stopped");
    let mut child = Child::start(&ensemble.hosts(), S);
    child.send(&format!("keep a {path} -1"));
    let (kept, _) = child.granted("a");
    child.send("release a");
    child.expect("a released");
    child.stop();
    let other = connect(&ensemble);
    let (held, _) = granted(other.mutex(&path).expect("a mutex").lock());
    assert!(held.fencing_token() > kept);
    for name in ["b", "c"] {
        child.send(&format!("keep {name} {path} 0"));
    }
    child.go_on();
    for name in ["b", "c"] {
        child.expect(&format!("{name} busy"));
    }
    held.release().wait().expect("release");
    child.send(&format!("keep d {path} -1"));
    assert!(child.granted("d").0 > held_token(&ensemble, &path));
}

/// The transaction before that of the first contender there.
fn held_token(ensemble: &zoolock_ensemble::Ensemble, path: &str) -> i64 {
    let observer = ensemble.observer(1).expect("observer");
    let first = children(&observer, path).remove(0);
    let stat = observer.exists(&format!("{path}/{first}")).expect("look");
    stat.expect("it is held").czxid - 1
}

#[test]
fn r03_nothing_is_taken_when_the_network_has_been_cut_for_the_lease() {
    let ensemble = one();
    let session = connect(&ensemble);
    let mutex = keeping(&session, &path("cut"));
    let (kept, _) = cycle(&mutex);
    let link = ensemble.client_link(1).expect("link");
    let frozen = clock();
    link.freeze();
    let soon = Duration::from_millis(20);
    let ended = loop {
        let asked = clock();
        match mutex.lock_timeout(soon).wait() {
            Ok(held) => assert_eq!(held.fencing_token(), kept),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Timeout);
                break asked;
            }
        }
    };
    assert!(ended - frozen <= S / 2 + soon, "{:?}", ended - frozen);
    for _ in 0..5 {
        let error = mutex.lock_timeout(soon).wait().expect_err("cut off");
        assert_eq!(error.kind(), ErrorKind::Timeout);
    }
    link.thaw();
    let (token, count) = cycle(&mutex);
    assert!(token > kept && count == 1);
}

#[test]
fn r03_a_contender_is_not_kept_over_the_end_of_its_server() {
    let ensemble = three();
    let session = connect(&ensemble);
    let path = path("killed");
    let mutex = keeping(&session, &path);
    let mut last = cycle(&mutex);
    for _ in 0..2 {
        let server = server_of(&ensemble, &session);
        ensemble.kill(server).expect("kill");
        let token = loop {
            // What is taken before its end is noticed rests on the lease.
            let token = cycle(&mutex);
            assert!(token > last, "{token:?} after {last:?}");
            if token.0 > last.0 {
                break token;
            }
            last = token;
        };
        assert_eq!(token.1, 1);
        last = token;
        ensemble.restart(server).expect("restart");
        ensemble.wait_serving(LONG).expect("serve");
    }
    let observer = ensemble.observer(1).expect("observer");
    queued(&observer, &path, 1);
}

#[test]
fn r05_local_waiters_that_leave_are_nobodys_and_the_others_have_their_turns() {
    let ensemble = one();
    let session = connect(&ensemble);
    let observer = ensemble.observer(1).expect("observer");
    let path = path("leave");
    let mutex = keeping(&session, &path);
    cycle(&mutex);
    let (held, _) = granted(mutex.lock());
    ensemble.log().clear();
    let soon = Duration::from_millis(30);
    let cancel = Cancel::new();
    let late: Vec<_> = (0..4).map(|_| mutex.lock_timeout(soon)).collect();
    let dropped: Vec<_> = (0..4).map(|_| mutex.lock()).collect();
    let cancelled: Vec<_> = (0..4)
        .map(|_| mutex.acquire(Wait::Forever, Some(&cancel)))
        .collect();
    let staying: Vec<_> = (0..4).map(|_| mutex.lock()).collect();
    drop(dropped);
    cancel.cancel();
    for pending in cancelled {
        let error = pending.wait().expect_err("cancelled");
        assert_eq!(error.kind(), ErrorKind::Cancelled);
    }
    for pending in late {
        let error = pending.wait().expect_err("late");
        assert_eq!(error.kind(), ErrorKind::Timeout);
    }
    held.release().wait().expect("release");
    for (count, pending) in (3_u64..).zip(staying) {
        let (held, _) = granted(pending);
        assert_eq!(held.grant_count(), count, "a grant to one that had left");
        held.release().wait().expect("release");
    }
    assert_eq!(requests(&ensemble).into_iter().collect::<Vec<_>>(), []);
    assert_eq!(children(&observer, &path).len(), 1);
}

#[test]
fn r07_threads_in_tight_loops_make_way_for_strangers() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let path = path("threads");
    let (stop, inside) = (AtomicBool::new(false), AtomicUsize::new(0));
    let enter = |mutex: &Mutex| {
        let (held, _) = granted(mutex.lock());
        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two are inside");
        let token = (held.fencing_token(), held.grant_count());
        inside.fetch_sub(1, Ordering::SeqCst);
        held.release().wait().expect("release");
        token
    };
    let all = thread::scope(|scope| {
        let locals: Vec<_> = (0..4)
            .map(|_| {
                let mutex = keeping(&session, &path);
                let (stop, enter) = (&stop, &enter);
                scope.spawn(move || {
                    let mut tokens = Vec::new();
                    while !stop.load(Ordering::SeqCst) {
                        tokens.push(enter(&mutex));
                    }
                    tokens
                })
            })
            .collect();
        let strange = other.mutex(&path).expect("a mutex");
        let mut all: Vec<_> = (0..30).map(|_| enter(&strange)).collect();
        stop.store(true, Ordering::SeqCst);
        for local in locals {
            all.extend(local.join().expect("a thread"));
        }
        all
    });
    let mut sorted = all.clone();
    sorted.sort_unstable();
    assert!(sorted.is_sorted_by(|one, next| one < next), "a pair twice");
}

/// A call beside the close of its handle, on a path that another handle of the session keeps.
#[test]
fn r17_a_closed_handle_takes_nothing_that_is_kept() {
    let ensemble = one();
    let shared = || connect_with(options().exclusive(false), &ensemble);
    let (maker, path) = (shared(), path("closing"));
    let kept = keeping(&maker, &path);
    cycle(&kept);
    for _ in 0..100 {
        let closing = shared();
        let mutex = keeping(&closing, &path);
        let closed = Arc::new(AtomicBool::new(false));
        let is_closed = Arc::clone(&closed);
        let caller = thread::spawn(move || {
            loop {
                match mutex.lock().wait() {
                    Ok(held) => {
                        let closed = is_closed.load(Ordering::SeqCst);
                        assert!(!(closed && held.is_held()), "taken by a closed handle");
                    }
                    Err(error) => return error.kind(),
                }
            }
        });
        closing.close().wait().expect("close");
        closed.store(true, Ordering::SeqCst);
        assert_eq!(caller.join().expect("the caller"), ErrorKind::Closed);
        cycle(&kept);
    }
}

#[test]
fn r01_a_chroot_and_other_names_are_the_same_queue() {
    let ensemble = one();
    let plain = connect(&ensemble);
    // The path is made by the first one that locks there.
    let path = path("names");
    let hosts = format!("{}/locks", ensemble.hosts());
    cycle(&plain.mutex(&path).expect("a mutex"));
    let inside = options().connect(&hosts).wait().expect("connect");
    let mutex = keeping(&inside, path.trim_start_matches("/locks"));
    let kept = cycle(&mutex);
    assert_eq!(cycle(&mutex), (kept.0, 2));
    let naming = LockOptions::new().naming(Naming::Kazoo);
    let kazoo = plain.mutex_with(&path, naming).expect("a mutex");
    let (held, _) = granted(kazoo.lock());
    assert!(held.fencing_token() > kept.0);
    assert!(mutex.try_lock().wait().expect("an answer").is_none());
    let mut local = mutex.lock();
    assert!(waits(&mut local, Duration::from_millis(50)));
    held.release().wait().expect("release");
    drop(granted(local));
    let both = LockOptions::new().naming(Naming::Kazoo).keep(IDLE);
    let other = inside.mutex_with(mutex.path(), both).expect("a mutex");
    let one = Arc::new(cycle(&mutex));
    let (held, _) = granted(other.lock());
    assert!((held.fencing_token(), held.grant_count()) > *one);
    assert!(mutex.try_lock().wait().expect("an answer").is_none());
}
