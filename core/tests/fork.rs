//! R18: what a forked child finds, and that its parent finds nothing changed.

mod rig;
mod support;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use rig::child::{self, ChildProcess};
use rig::{Outcome, UNHURRIED, knows, observe, unhurried};
use support::{LONG, children, one, path};
use zoolock::{
    Cancel, ErrorKind, Guard, GuardState, LockOptions, Mutex, Owner, Session, SessionState, Wait,
};
use zoolock_ensemble::{Ensemble, Op, What};

/// Forks; the child does `work` and exits as a program does, with 0 if it returned.
fn fork(work: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child uses this thread only, and what it needs from libc is safe after a fork of threads (glibc's
    // allocator and standard streams are).
    let pid = unsafe { libc::fork() };
    if pid != 0 {
        assert!(pid > 0, "fork");
        return pid;
    }
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    // Runs the exit hooks.
    std::process::exit(if outcome.is_ok() { 0 } else { 9 });
}

/// Waits for the end of a forked child; kills it if that does not come.
#[track_caller]
fn ends_well(pid: libc::pid_t) {
    let end = Instant::now() + LONG;
    let mut status = 0;
    loop {
        // SAFETY: writes to `status` only.
        match unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } {
            0 if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            0 => {
                // SAFETY: our own child, not waited for yet.
                unsafe {
                    libc::kill(pid, libc::SIGKILL);
                    libc::waitpid(pid, &raw mut status, 0);
                }
                panic!("the child hangs");
            }
            done => {
                assert_eq!(done, pid);
                assert!(libc::WIFEXITED(status), "status {status:x}");
                assert_eq!(libc::WEXITSTATUS(status), 0, "it failed");
                return;
            }
        }
    }
}

/// What a child inherits.
struct Inherited {
    session: Session,
    guard: Arc<Guard>,
    reentrant: Guard,
    owner: Owner,
    path: String,
    /// Taken by the parent's threads all the time, and kept.
    keeping: Mutex,
}

/// What each forked child does; panics fail it.
fn in_the_child(inherited: &Inherited, round: usize) {
    let Inherited {
        session,
        guard,
        reentrant,
        owner,
        path,
        keeping,
    } = inherited;
    // Inherited guards are lost.
    for guard in [guard, reentrant] {
        assert_eq!(guard.state(), GuardState::Lost);
        assert!(!guard.is_held());
        let lost = guard.ensure_held().unwrap_err();
        assert_eq!(lost.kind(), ErrorKind::LockLost);
        let cause = lost.cause().expect("a cause");
        assert_eq!(cause.kind(), ErrorKind::NotHeld);
        assert!(cause.message().contains("parent"), "{cause}");
        assert!(guard.wait_lost(None));
        let mut lost = guard.lost();
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut lost).poll(&mut context).is_ready());
        let released = guard.release_shared().refused();
        assert_eq!(released.kind(), ErrorKind::LockLost);
    }
    assert_eq!(session.session_id(), 0);
    assert_eq!(session.state(), SessionState::Connecting);
    match round % 4 {
        // A child that uses nothing of it.
        0 => return,
        // One that closes what it never used.
        1 => return session.close().done(),
        _ => {}
    }
    let (sender, told) = channel();
    guard.on_lost(move || sender.send(()).unwrap());
    told.recv_timeout(LONG).expect("told in the child");
    // Its own session, on first use.
    let own_path = format!("{path}-child-{}", std::process::id());
    let mutex = session.mutex(&own_path).unwrap();
    let own = mutex.lock().done();
    assert!(own.is_held());
    child::tell("child-session", session.session_id());
    // The parent still holds its locks, and an inherited owner is nobody here.
    assert!(session.mutex(path).unwrap().try_lock().done().is_none());
    let theirs = session
        .reentrant_mutex(&format!("{path}-reentrant"))
        .unwrap();
    assert!(theirs.try_lock(owner).done().is_none());
    // What the parent keeps is a stranger's here, which makes way.
    let other = keeping.lock().done();
    assert!(other.grant_count() == 1 && other.is_held());
    other.release().done();
    if round % 4 == 2 {
        own.release().done();
        session.close().done();
    }
    // Or else exits with a lock in its hands: the hook of its own ends its own session.
}

/// The parent: many threads at work while it forks.
#[test]
#[ignore = "the child of the tests below"]
fn forks_under_load() {
    let Some(argument) = child::argument() else {
        return;
    };
    let (hosts, path) = argument.split_once(' ').unwrap();
    let session = unhurried().connect(hosts).done();
    // Another one, whose locks are always in use somewhere.
    let busy = unhurried().connect(hosts).done();
    let owner = Owner::new();
    let reentrant_path = format!("{path}-reentrant");
    let inherited = Inherited {
        guard: Arc::new(session.mutex(path).unwrap().lock().done()),
        reentrant: session
            .reentrant_mutex(&reentrant_path)
            .unwrap()
            .lock(&owner)
            .done(),
        keeping: session
            .mutex_with(&format!("{path}-kept"), LockOptions::new().keep(UNHURRIED))
            .unwrap(),
        session,
        owner,
        path: path.to_owned(),
    };
    child::tell(
        "parent-sessions",
        format!("{} {}", inherited.session.session_id(), busy.session_id()),
    );
    let stop = AtomicBool::new(false);
    let cycles = AtomicUsize::new(0);
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (session, busy) = (&inherited.session, &busy);
            let keeping = &inherited.keeping;
            let (stop, cycles, cancel) = (&stop, &cycles, &cancel);
            scope.spawn(move || {
                let shared = session.mutex(&format!("{path}-busy")).unwrap();
                let alone = busy.mutex(&format!("{path}-busy-{worker}")).unwrap();
                while !stop.load(Ordering::SeqCst) {
                    // Everything that has a lock inside.
                    let wait = Wait::UpTo(Duration::from_millis(5));
                    drop(shared.acquire(wait, Some(cancel)).outcome());
                    let guard = alone.lock().done();
                    guard.on_lost(|| ());
                    drop(guard.lost());
                    assert_ne!(session.state(), SessionState::Closed);
                    drop(session.watch_state());
                    guard.release().done();
                    for _ in 0..100 {
                        keeping.lock().done().release().done();
                    }
                    cycles.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let forked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for round in 0..60 {
                let before = cycles.load(Ordering::SeqCst);
                let waiting = inherited.session.mutex(path).unwrap().lock();
                let mut pending = Some(waiting);
                let watch = inherited.session.watch_state();
                let pid = fork(|| {
                    in_the_child(&inherited, round);
                    // An inherited call is over; dropping what was inherited touches nothing.
                    let error = pending.take().unwrap().refused();
                    assert_eq!(error.kind(), ErrorKind::Closed);
                    let mut watch = watch;
                    let mut changed = std::pin::pin!(watch.changed());
                    let mut context = Context::from_waker(Waker::noop());
                    assert_eq!(
                        changed.as_mut().poll(&mut context),
                        std::task::Poll::Ready(None)
                    );
                    cancel.cancel();
                    drop(inherited_clone(&inherited));
                });
                ends_well(pid);
                // The parent goes on as if nothing had been.
                assert!(inherited.guard.is_held() && inherited.reentrant.is_held());
                rig_progress(&cycles, before);
                drop(pending);
            }
        }));
        stop.store(true, Ordering::SeqCst);
        if let Err(panic) = forked {
            std::panic::resume_unwind(panic);
        }
    });
    assert_eq!(inherited.session.state(), SessionState::Connected);
    let again = inherited.session.reentrant_mutex(&reentrant_path).unwrap();
    let again = again.try_lock(&inherited.owner).done().expect("its own");
    assert_eq!(again.fencing_token(), inherited.reentrant.fencing_token());
    child::tell("forked", "all");
    child::wait_for_parent();
    inherited.session.close().done();
    busy.close().done();
}

fn inherited_clone(inherited: &Inherited) -> (Session, Arc<Guard>) {
    (inherited.session.clone(), Arc::clone(&inherited.guard))
}

/// Waits until the workers have done something since.
#[track_caller]
fn rig_progress(cycles: &AtomicUsize, before: usize) {
    support::eventually("the parent's threads go on", || {
        cycles.load(Ordering::SeqCst) > before
    });
}

/// The sessions that clients asked for by handshakes: those they had, and none.
fn resumed(ensemble: &Ensemble) -> Vec<i64> {
    let entries = ensemble.log().entries().into_iter();
    entries
        .filter_map(|entry| match entry.what {
            What::Request {
                op: Op::Connect,
                session,
                ..
            } => session,
            _ => None,
        })
        .filter(|session| *session != 0)
        .collect()
}

#[test]
fn r18_a_child_has_nothing_of_its_parents_and_the_parent_keeps_all() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("fork");
    let argument = format!("{} {path}", ensemble.hosts());
    let mut parent = ChildProcess::start("forks_under_load", &argument);
    let told = parent.told("parent-sessions");
    let sessions: Vec<i64> = told.split(' ').map(|id| id.parse().unwrap()).collect();
    let mut of_children = Vec::new();
    while of_children.len() < 30 {
        of_children.push(parent.told("child-session").parse::<i64>().unwrap());
    }
    parent.told("forked");
    // On the server: sessions and locks of the parent are there, nothing was ended, moved or resumed.
    assert!(sessions.iter().all(|session| knows(&ensemble, *session)));
    assert_eq!(children(&observer, &path).len(), 1);
    assert_eq!(children(&observer, &format!("{path}-reentrant")).len(), 1);
    assert_eq!(resumed(&ensemble), [0_i64; 0]);
    // The children's are other ones, and over: closed by them, or by their exit.
    let mut ids = of_children.clone();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), of_children.len());
    assert!(!of_children.iter().any(|session| sessions.contains(session)));
    assert!(!of_children.iter().any(|session| knows(&ensemble, *session)));
    let closed = rig::requested(&ensemble, Op::Close).len();
    assert_eq!(closed, of_children.len());
    assert!(parent.finish().success());
    assert!(!sessions.iter().any(|session| knows(&ensemble, *session)));
}

/// A parent that never used the library before the fork, and a child that forks again.
#[test]
#[ignore = "the child of the test below"]
fn forks_early_and_twice() {
    let Some(argument) = child::argument() else {
        return;
    };
    let (hosts, path) = argument.split_once(' ').unwrap();
    ends_well(fork(|| {
        let session = unhurried().connect(hosts).done();
        let guard = session.mutex(path).unwrap().lock().done();
        ends_well(fork(|| {
            assert_eq!(guard.state(), GuardState::Lost);
            let mutex = session.mutex(&format!("{path}-grandchild")).unwrap();
            let own = mutex.lock().done();
            assert!(own.is_held());
        }));
        assert!(guard.is_held());
        guard.release().done();
    }));
    let session = unhurried().connect(hosts).done();
    drop(session.mutex(path).unwrap().lock().done());
    // A child that ends without any hook.
    // SAFETY: as in `fork`.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(0) };
    }
    ends_well(pid);
    drop(session.mutex(path).unwrap().lock().done());
    child::tell("done", session.session_id());
    child::wait_for_parent();
}

#[test]
fn r18_forks_before_the_first_use_and_forks_of_forks() {
    let ensemble = one();
    let observer = observe(&ensemble);
    let path = path("early");
    let argument = format!("{} {path}", ensemble.hosts());
    let mut parent = ChildProcess::start("forks_early_and_twice", &argument);
    let session: i64 = parent.told("done").parse().unwrap();
    assert!(knows(&ensemble, session));
    assert_eq!(resumed(&ensemble), [0_i64; 0]);
    assert_eq!(children(&observer, &format!("{path}-grandchild")), [""; 0]);
    assert!(parent.finish().success());
    assert!(!knows(&ensemble, session));
}
