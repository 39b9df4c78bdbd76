//! R6: a call returns within its time plus 50 ms, whatever servers and network do.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use support::{
    S, clock, connect, connect_with, eventually, granted, mutex, one, options, path, queued, three,
    waits,
};
use zoolock::{Error, ErrorKind, Pending, Session};
use zoolock_ensemble::{
    Action, Direction, Ensemble, Fault, Message, Moment, Op, Scope, eventually as seen,
};

/// What a call may take beyond its time.
const GRACE: Duration = Duration::from_millis(50);
const TIMES: [u64; 5] = [1, 50, 200, 700, 1500];

/// How late this machine wakes threads while a call lasts, which no library can better: threads that
/// sleep for a moment and wake another, over and over. The worst of them counts, since a call may meet
/// any busy moment.
struct Machine {
    over: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<Duration>>,
}

const NAP: Duration = Duration::from_millis(2);

impl Machine {
    fn watch() -> Machine {
        let over = Arc::new(AtomicBool::new(false));
        let threads = (0..4)
            .map(|_| {
                let over = Arc::clone(&over);
                let (wake, woken) = channel();
                thread::spawn(move || {
                    let mut slept = clock();
                    while !over.load(Ordering::SeqCst) {
                        thread::sleep(NAP);
                        // The other end waits until this one goes.
                        wake.send(slept).expect("it waits");
                        slept = clock();
                    }
                });
                thread::spawn(move || {
                    let late = woken
                        .iter()
                        .map(|slept| (clock() - slept).saturating_sub(NAP));
                    late.max().unwrap_or_default()
                })
            })
            .collect();
        Machine { over, threads }
    }

    fn lateness(self) -> Duration {
        self.over.store(true, Ordering::SeqCst);
        let late = self.threads.into_iter().map(|thread| thread.join());
        late.map(|late| late.expect("no panic"))
            .max()
            .unwrap_or_default()
    }
}

/// The call's error, which has to come in time: not before it, not after the grace.
#[track_caller]
fn in_time<T: std::fmt::Debug>(time: Duration, call: impl FnOnce() -> Pending<T>) -> Error {
    let machine = Machine::watch();
    let called = clock();
    let error = call().wait().expect_err("it cannot succeed");
    let took = clock() - called;
    let machine = machine.lateness();
    assert!(took >= time, "after {took:?} instead of {time:?}: {error}");
    assert!(
        took <= time + GRACE + machine,
        "after {took:?} instead of {time:?}; waking a thread was {machine:?} late: {error}"
    );
    error
}

#[track_caller]
fn times_out(session: &Session) {
    let path = path("timed");
    for time in TIMES.map(Duration::from_millis) {
        let error = in_time(time, || mutex(session, &path).lock_timeout(time));
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    }
}

#[test]
fn r06_timed_call_on_a_held_lock() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let path = path("held");
    let _held = mutex(&other, &path).lock().wait().expect("lock");
    for time in TIMES.map(Duration::from_millis) {
        let error = in_time(time, || mutex(&session, &path).lock_timeout(time));
        assert_eq!(error.kind(), ErrorKind::Timeout);
    }
}

#[test]
fn r06_timed_call_when_the_link_is_frozen() {
    let ensemble = one();
    let session = connect(&ensemble);
    ensemble.client_link(1).expect("link").freeze();
    times_out(&session);
}

#[test]
fn r06_timed_call_when_the_server_is_stopped() {
    let ensemble = one();
    let session = connect(&ensemble);
    ensemble.pause(1).expect("pause");
    times_out(&session);
}

#[test]
fn r06_timed_call_when_the_server_is_down() {
    let ensemble = one();
    let session = connect(&ensemble);
    ensemble.kill(1).expect("kill");
    times_out(&session);
}

/// Whether somebody else held the lock, or nobody could be asked, is told apart by the source.
#[test]
fn r06_a_time_out_without_a_server_has_its_reason_as_source() {
    use std::error::Error as _;
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("reason");
    let held = mutex(&session, &path).lock().wait().expect("lock");
    let late = || {
        let limit = Duration::from_millis(200);
        let error = mutex(&session, &path)
            .lock_timeout(limit)
            .wait()
            .expect_err("too late");
        assert_eq!(error.kind(), ErrorKind::Timeout);
        let source = error.source()?.downcast_ref::<Error>().expect("of ours");
        Some(source.kind())
    };
    assert_eq!(late(), None);
    let link = ensemble.client_link(1).expect("link");
    link.refuse();
    link.reset();
    assert_eq!(late(), Some(ErrorKind::Unavailable));
    link.accept().expect("accept");
    drop(held);
}

#[test]
fn r06_timed_call_when_all_three_servers_refuse_or_are_silent() {
    let ensemble = three();
    let session = connect(&ensemble);
    ensemble.client_link(1).expect("link").freeze();
    ensemble.client_link(2).expect("link").refuse();
    ensemble.client_link(2).expect("link").reset();
    ensemble.pause(3).expect("pause");
    times_out(&session);
}

#[test]
fn r06_timed_call_when_the_ensemble_has_no_leader() {
    let ensemble = three();
    let session = connect(&ensemble);
    let leader = ensemble.leader().expect("a leader");
    for server in (1..=3).filter(|server| *server != leader) {
        ensemble.kill(server).expect("kill");
    }
    times_out(&session);
}

/// Silent in the middle of the call: the answers of its create and its listing are held back.
#[test]
fn r06_timed_call_when_the_server_falls_silent_during_it() {
    for op in [Op::CreateContainer, Op::Create2, Op::GetChildren2] {
        let ensemble = one();
        let session = connect(&ensemble);
        let path = path("during");
        let link = ensemble.client_link(1).expect("link");
        let cut = link
            .cut(Message::Reply(Some(op)), 1, Moment::Before, Action::Hold)
            .expect("a cut");
        // Whoever connects anew finds silence too.
        link.begin(Fault::Freeze, Direction::Both, Scope::New);
        let time = Duration::from_millis(300);
        let error = in_time(time, || mutex(&session, &path).lock_timeout(time));
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert!(cut.fired(), "{op}");
    }
}

#[test]
fn r06_many_timed_calls_at_once() {
    let ensemble = one();
    let session = connect(&ensemble);
    ensemble.client_link(1).expect("link").freeze();
    let path = path("many");
    let time = Duration::from_millis(500);
    let machine = Machine::watch();
    let lock = mutex(&session, &path);
    let called = clock();
    let calls: Vec<_> = (0..1000).map(|_| lock.lock_timeout(time)).collect();
    let made = clock() - called;
    for pending in calls {
        let error = pending.wait().expect_err("frozen");
        assert_eq!(error.kind(), ErrorKind::Timeout);
    }
    let took = clock() - called;
    let machine = machine.lateness();
    assert!(
        took <= time + made + GRACE + machine,
        "{took:?}, made in {made:?}"
    );
}

#[test]
fn r06_connect_is_bounded_by_its_timeout() {
    let ensemble = one();
    let time = Duration::from_millis(600);
    let connect = |hosts: &str| {
        let hosts = hosts.to_owned();
        in_time(time, move || {
            options().connect_timeout(time).connect(&hosts)
        })
    };
    ensemble.client_link(1).expect("link").freeze();
    assert_eq!(connect(&ensemble.hosts()).kind(), ErrorKind::Unavailable);
    ensemble.client_link(1).expect("link").thaw();
    ensemble.client_link(1).expect("link").refuse();
    assert_eq!(connect(&ensemble.hosts()).kind(), ErrorKind::Unavailable);
    ensemble.pause(1).expect("pause");
    assert_eq!(connect(&ensemble.direct()).kind(), ErrorKind::Unavailable);
    // An address that nobody answers for.
    assert_eq!(connect("192.0.2.1:2181").kind(), ErrorKind::Unavailable);
}

#[test]
fn r06_try_is_bounded_by_the_connect_timeout() {
    let ensemble = one();
    let time = Duration::from_millis(400);
    for end in [Ensemble::pause as fn(&Ensemble, usize) -> _, Ensemble::kill] {
        let session = connect_with(options().connect_timeout(time), &ensemble);
        end(&ensemble, 1).expect("the server ends");
        let error = in_time(time, || mutex(&session, &path("try")).try_lock());
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        // No time at all is a try.
        let error = in_time(time, || {
            mutex(&session, &path("zero")).lock_timeout(Duration::ZERO)
        });
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        if ensemble.resume(1).is_err() {
            ensemble.restart(1).expect("restart");
        }
        ensemble.wait_serving(support::LONG).expect("it serves");
    }
}

#[test]
fn r06_try_does_not_wait_for_a_holder() {
    let ensemble = one();
    let (session, other) = (connect(&ensemble), connect(&ensemble));
    let path = path("busy");
    let held = mutex(&other, &path).lock().wait().expect("lock");
    let lock = mutex(&session, &path);
    let called = clock();
    assert!(lock.try_lock().wait().expect("an answer").is_none());
    assert!(clock() - called < S / 2);
    held.release().wait().expect("release");
    let free = lock.try_lock().wait().expect("an answer");
    assert!(free.expect("the lock").is_held());
}

/// A call without a timeout waits through an outage longer than its session.
#[test]
fn r06_call_without_a_timeout_waits_through_outages() {
    let ensemble = one();
    let session = connect(&ensemble);
    let id = session.session_id();
    ensemble.kill(1).expect("kill");
    let lock = mutex(&session, &path("forever"));
    let mut waiting = lock.lock();
    assert!(waits(&mut waiting, S));
    ensemble.restart(1).expect("restart");
    let (held, _) = granted(waiting);
    held.release().wait().expect("release");

    let before = session.session_id();
    ensemble
        .expire_by_freeze(before, support::LONG)
        .expect("the session ends");
    let (held, _) = granted(lock.lock());
    assert!(held.is_held());
    assert_ne!(session.session_id(), before);
    assert_ne!(id, 0);
}

/// The same, for one that waits behind a holder when its session ends; its deadline still counts.
#[test]
fn r06_deadline_counts_on_through_a_change_of_session() {
    let ensemble = one();
    let direct = options()
        .connect(&ensemble.direct())
        .wait()
        .expect("connect");
    let session = connect(&ensemble);
    let path = path("change");
    let _held = mutex(&direct, &path).lock().wait().expect("lock");
    let observer = ensemble.observer(1).expect("observer");
    let time = Duration::from_secs(3);
    let machine = Machine::watch();
    let called = clock();
    let pending = mutex(&session, &path).lock_timeout(time);
    queued(&observer, &path, 2);
    let id = session.session_id();
    ensemble.expire(id).expect("expire");
    eventually("it queues again", || {
        session.session_id() != id && support::children(&observer, &path).len() == 2
    });
    let error = pending.wait().expect_err("held");
    let took = clock() - called;
    let machine = machine.lateness();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(took >= time && took <= time + GRACE + machine, "{took:?}");
    queued(&observer, &path, 1);
    assert!(!seen(Duration::from_millis(200), || {
        support::children(&observer, &path).len() > 1
    }));
}
