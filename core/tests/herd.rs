//! R8: what a hand-off costs does not depend on the number of waiters. By the proxies' log.

mod support;

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use support::{Lease, Traffic, connect, eventually, granted, mutex, one, path, queued, requests};
use zoolock::{Guard, Owner, Pending, Session};
use zoolock_ensemble::Op;

/// A hold that lasts has armed its own watch by then.
const SETTLED: Duration = Duration::from_millis(700);

/// From then on a guard watches its own contender, and nothing more is sent for it.
fn settled(ensemble: &Lease, watches: usize) {
    eventually("all watches are armed", || {
        requests(ensemble).get(&Op::GetData).copied().unwrap_or(0) == watches
    });
    // The answers, too.
    thread::sleep(Duration::from_millis(100));
    ensemble.log().clear();
}

#[test]
fn r08_uncontended_cycle_takes_three_requests_in_two_flights() {
    let ensemble = one();
    let session = connect(&ensemble);
    let path = path("cycle");
    ensemble
        .observer(1)
        .expect("observer")
        .ensure(&path)
        .expect("the path");
    let lock = mutex(&session, &path);
    for _ in 0..20 {
        ensemble.log().clear();
        let held = lock.lock().wait().expect("lock");
        held.release().wait().expect("release");
        let traffic = Traffic::of(&ensemble);
        assert_eq!(
            traffic.requests(),
            [Op::Create2, Op::GetChildren2, Op::Delete]
        );
        assert_eq!(traffic.events(), 0);
        let (create, connection, xid) = traffic.request(Op::Create2, 0).expect("a create");
        let (list, _, _) = traffic.request(Op::GetChildren2, 0).expect("a listing");
        let created = traffic.reply(connection, xid).expect("its reply");
        assert!(
            create < list && list < created,
            "not in one flight: {traffic:?}"
        );
    }
}

#[test]
fn r08_hand_off_between_two_is_a_delete_and_an_event() {
    let ensemble = one();
    let (one, two) = (connect(&ensemble), connect(&ensemble));
    let path = path("two");
    let observer = ensemble.observer(1).expect("observer");
    observer.ensure(&path).expect("the path");
    ensemble.log().clear();
    let held = mutex(&one, &path).lock().wait().expect("lock");
    let waiting = mutex(&two, &path).lock();
    // The holder's contender by holder and waiter, the waiter's by the waiter.
    settled(&ensemble, 3);
    held.release().wait().expect("release");
    let (held, _) = granted(waiting);
    let traffic = Traffic::of(&ensemble);
    assert_eq!(traffic.requests(), [Op::Delete]);
    assert_eq!(
        traffic.events(),
        2,
        "to the waiter, and to the one that watched its own"
    );
    assert!(held.is_held());
}

/// Requests of each hand-off, with `waiters` in line, spread over `sessions`.
fn hand_offs(sessions: usize, waiters: usize, count: usize) -> Vec<BTreeMap<Op, usize>> {
    let ensemble = one();
    let sessions: Vec<Session> = (0..sessions).map(|_| connect(&ensemble)).collect();
    let path = path("line");
    let observer = ensemble.observer(1).expect("observer");
    let mut held = mutex(&sessions[0], &path).lock().wait().expect("lock");
    let mut waiting: Vec<Pending<Guard>> = Vec::new();
    for at in 0..waiters {
        let session = &sessions[(at + 1) % sessions.len()];
        waiting.push(mutex(session, &path).lock());
        queued(&observer, &path, at + 2);
    }
    thread::sleep(SETTLED);
    let mut costs = Vec::new();
    for _ in 0..count {
        ensemble.log().clear();
        held.release().wait().expect("release");
        held = granted(waiting.remove(0)).0;
        // What comes after the grant belongs to it.
        thread::sleep(Duration::from_millis(100));
        costs.push(requests(&ensemble));
    }
    costs
}

fn of(cost: &BTreeMap<Op, usize>, op: Op) -> usize {
    cost.get(&op).copied().unwrap_or(0)
}

#[test]
fn r08_hand_off_costs_at_most_one_listing_besides() {
    for waiters in [3, 15] {
        for cost in hand_offs(waiters + 1, waiters, 3) {
            assert_eq!(of(&cost, Op::Delete), 1, "{waiters} waiters: {cost:?}");
            assert!(
                of(&cost, Op::GetChildren2) <= 1,
                "{waiters} waiters: {cost:?}"
            );
            assert!(
                cost.values().sum::<usize>() <= 3,
                "{waiters} waiters: {cost:?}"
            );
        }
    }
}

#[test]
fn r08_who_waits_behind_several_for_a_moment_watches_one_node() {
    let ensemble = one();
    let (one, two) = (connect(&ensemble), connect(&ensemble));
    let observer = ensemble.observer(1).expect("observer");
    // A machine that is busy may make more than a moment of it.
    let cost = (0..20).find_map(|_| {
        let path = path("moment");
        let began = Instant::now();
        ensemble.log().clear();
        let held = mutex(&one, &path).lock().wait().expect("lock");
        let between = mutex(&one, &path).lock();
        queued(&observer, &path, 2);
        eventually("the watch of the second on itself", || {
            of(&requests(&ensemble), Op::GetData) >= 1
        });
        ensemble.log().clear();
        let waiting = mutex(&two, &path).lock();
        eventually("the watch on the one before", || {
            of(&requests(&ensemble), Op::GetData) >= 1
        });
        held.release().wait().expect("release");
        granted(between).0.release().wait().expect("release");
        granted(waiting).0.release().wait().expect("release");
        (began.elapsed() < Duration::from_millis(450)).then(|| requests(&ensemble))
    });
    let cost = cost.expect("one of them took no more than a moment");
    assert_eq!(of(&cost, Op::GetData), 1, "{cost:?}");
    // Behind the create, and before the turn.
    assert_eq!(of(&cost, Op::GetChildren2), 2, "{cost:?}");
}

#[test]
fn r04_r08_who_waits_behind_several_for_long_watches_its_own_node() {
    let ensemble = one();
    let (one, two) = (connect(&ensemble), connect(&ensemble));
    let path = path("long");
    let observer = ensemble.observer(1).expect("observer");
    let held = mutex(&one, &path).lock().wait().expect("lock");
    let between = mutex(&one, &path).lock();
    queued(&observer, &path, 2);
    let waiting = mutex(&two, &path).lock();
    // Of the holder two, of the one behind it its own and none of a stranger, of the last two.
    settled(&ensemble, 4);
    drop((held, between, waiting));
}

/// Where a session has several in line, the next of the one that releases looks for its place, too.
/// A listing tells all of them, so that each asks for a watch on its predecessor once.
#[test]
fn r08_hand_offs_cost_the_same_with_ten_times_the_waiters() {
    for waiters in [6, 60] {
        let costs = hand_offs(4, waiters, waiters);
        let mut total = 0;
        for cost in &costs {
            assert_eq!(of(cost, Op::Delete), 1, "{waiters} waiters: {cost:?}");
            assert!(
                of(cost, Op::GetChildren2) <= 2,
                "{waiters} waiters: {cost:?}"
            );
            total += cost.values().sum::<usize>();
        }
        assert!(
            total <= waiters * 4,
            "{waiters} waiters: {total} requests, {costs:?}"
        );
    }
}

/// A writer's release wakes the readers right behind it, and nobody else.
#[test]
fn r08_release_of_a_writer_wakes_the_run_of_readers() {
    let ensemble = one();
    let sessions: Vec<Session> = (0..8).map(|_| connect(&ensemble)).collect();
    let path = path("readers");
    let observer = ensemble.observer(1).expect("observer");
    let lock = |at: usize| sessions[at].rwlock(&path).expect("a lock");
    let writer = lock(0).write().lock(&Owner::new()).wait().expect("write");
    let mut waiting = Vec::new();
    // Three readers, a writer, and three readers that wait for that one.
    for at in 1..8 {
        let owner = Owner::new();
        let side = if at == 4 {
            lock(at).write()
        } else {
            lock(at).read()
        };
        waiting.push(side.lock(&owner));
        queued(&observer, &path, at + 1);
    }
    thread::sleep(SETTLED);
    ensemble.log().clear();
    writer.release().wait().expect("release");
    let readers: Vec<Guard> = waiting
        .drain(..3)
        .map(|pending| granted(pending).0)
        .collect();
    let traffic = Traffic::of(&ensemble);
    // To the three, and to the one that watched its own.
    assert_eq!(traffic.events(), 4, "{traffic:?}");
    assert_eq!(traffic.counts().get(&Op::Delete), Some(&1));
    let listings = traffic
        .counts()
        .get(&Op::GetChildren2)
        .copied()
        .unwrap_or(0);
    assert!(listings <= 3, "{traffic:?}");
    drop(readers);
    drop(granted(waiting.remove(0)));
}

#[test]
fn r08_reentry_sends_nothing() {
    let ensemble = one();
    let session = connect(&ensemble);
    let lock = session.reentrant_mutex(&path("reentry")).expect("a lock");
    let owner = Owner::new();
    let _outer = lock.lock(&owner).wait().expect("lock");
    settled(&ensemble, 1);
    for _ in 0..10 {
        let inner = lock.lock(&owner).wait().expect("lock again");
        inner.release().wait().expect("release");
    }
    assert_eq!(requests(&ensemble), BTreeMap::new());
}
