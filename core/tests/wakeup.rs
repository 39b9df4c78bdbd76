//! R9: a waiter whose turn has come is granted, whatever happens between listing, watching and waiting.

mod support;

use std::thread;
use std::time::Duration;

use support::{
    LONG, S, children, connect, connect_to, connect_with, eventually, granted, mutex, one, options,
    path, queued, requests, three, waits,
};
use zoolock::{Guard, Pending, Session};
use zoolock_ensemble::{Action, Direction, Ensemble, Link, Message, Moment, Op, What};

/// Of another client, past the proxies: no fault touches it, nor a machine that stalls.
fn undisturbed(ensemble: &Ensemble) -> Session {
    options()
        .session_timeout(S * 2)
        .connect(&ensemble.direct())
        .wait()
        .expect("connect")
}

/// The predecessor goes while the waiter's link is disturbed.
fn predecessor_goes(disturb: impl Fn(&Link), heal: impl Fn(&Link)) {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let (holder, session) = (undisturbed(&ensemble), connect(&ensemble));
    let link = ensemble.client_link(1).expect("link");
    for _ in 0..5 {
        let path = path("disturbed");
        let held = mutex(&holder, &path).lock().wait().expect("lock");
        let waiting = mutex(&session, &path).lock();
        queued(&observer, &path, 2);
        let place = children(&observer, &path)[1].clone();
        disturb(link);
        held.release().wait().expect("release");
        heal(link);
        let (held, _) = granted(waiting);
        assert_eq!(
            held.node_path(),
            format!("{path}/{place}"),
            "it kept its place"
        );
        held.release().wait().expect("release");
    }
}

fn accept(link: &Link) {
    link.accept().expect("accept");
}

#[test]
fn r09_predecessor_goes_while_the_link_is_frozen() {
    predecessor_goes(Link::freeze, Link::thaw);
}

#[test]
fn r09_predecessor_goes_while_the_answers_are_frozen() {
    use zoolock_ensemble::{Fault, Scope};
    predecessor_goes(
        |link| link.begin(Fault::Freeze, Direction::ToClient, Scope::All),
        Link::thaw,
    );
}

#[test]
fn r09_predecessor_goes_as_the_connection_is_reset() {
    predecessor_goes(Link::reset, |_| {});
    predecessor_goes(|_| {}, Link::reset);
    predecessor_goes(Link::close, |_| {});
}

#[test]
fn r09_predecessor_goes_while_there_is_no_connection() {
    predecessor_goes(
        |link| {
            link.refuse();
            link.reset();
        },
        accept,
    );
}

/// The event is swallowed; then the connection breaks.
#[test]
fn r09_event_is_lost_with_its_connection() {
    predecessor_goes(
        |link| link.drop_bytes(Direction::ToClient),
        |link| {
            link.heal().expect("heal");
            link.reset();
        },
    );
}

/// It goes between the listing that showed it and the watch, or the answers of these are lost.
#[test]
fn r09_predecessor_goes_between_listing_and_watch() {
    let list = Some(Op::GetChildren2);
    let watch = Some(Op::GetData);
    let cuts = [
        (Message::Request(list), Moment::Before, Action::Hold),
        (Message::Reply(list), Moment::Before, Action::Hold),
        (Message::Reply(list), Moment::Before, Action::Reset),
        (Message::Reply(list), Moment::After, Action::Reset),
        (Message::Request(watch), Moment::Before, Action::Hold),
        (Message::Request(watch), Moment::Before, Action::Reset),
        (Message::Request(watch), Moment::After, Action::Reset),
        (Message::Reply(watch), Moment::Before, Action::Hold),
        (Message::Reply(watch), Moment::Before, Action::Reset),
        (Message::Reply(watch), Moment::After, Action::Reset),
    ];
    for nth in [1, 2] {
        for (message, moment, action) in cuts {
            if message_is(message, list) && nth == 2 {
                continue;
            }
            let ensemble = one();
            let (holder, session) = (undisturbed(&ensemble), connect(&ensemble));
            let path = path("between");
            let held = mutex(&holder, &path).lock().wait().expect("lock");
            let link = ensemble.client_link(1).expect("link");
            let cut = link.cut(message, nth, moment, action).expect("a cut");
            let waiting = mutex(&session, &path).lock();
            cut.wait(LONG).expect("the cut");
            held.release().wait().expect("release");
            link.thaw();
            granted(waiting).0.release().wait().expect("release");
        }
    }
}

fn message_is(message: Message, wanted: Option<Op>) -> bool {
    matches!(message, Message::Request(op) | Message::Reply(op) if op == wanted)
}

/// The waiter moves to a server that has not heard of the deletion, or has.
#[test]
fn r09_predecessor_goes_as_the_waiter_moves_to_another_server() {
    let ensemble = three();
    let leader = ensemble.leader().expect("a leader");
    let observer = ensemble.observer(leader).expect("observer");
    let holder = undisturbed(&ensemble);
    for round in 0..9 {
        let server = round % 3 + 1;
        let session = connect_to(options(), &ensemble, server);
        let path = path("moves");
        let held = mutex(&holder, &path).lock().wait().expect("lock");
        let waiting = mutex(&session, &path).lock();
        queued(&observer, &path, 2);
        let link = ensemble.client_link(server).expect("link");
        link.refuse();
        let release = held.release();
        link.reset();
        release.wait().expect("release");
        granted(waiting).0.release().wait().expect("release");
        link.accept().expect("accept");
    }
}

/// Hand-offs among waiters of several sessions whose connections are reset all the time.
#[test]
fn r09_every_waiter_is_granted_under_resets() {
    let ensemble = three();
    let sessions: Vec<Session> = (0..4).map(|_| connect(&ensemble)).collect();
    let path = path("resets");
    let threads: Vec<_> = (0..40)
        .map(|at| {
            let lock = mutex(&sessions[at % 4], &path);
            thread::spawn(move || {
                let (held, _) = granted(lock.lock());
                // Lost it may be, to a machine that is too busy; granted it was.
                drop(held);
            })
        })
        .collect();
    for round in 0..40 {
        ensemble.client_link(round % 3 + 1).expect("link").reset();
        thread::sleep(Duration::from_millis(100));
    }
    for thread in threads {
        thread.join().expect("granted");
    }
}

/// Curator's revoker writes data to the holder's contender: an event that is no deletion.
#[test]
fn r09_data_written_to_the_predecessor_re_arms_the_watch() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let (holder, session) = (connect(&ensemble), connect(&ensemble));
    let path = path("revoke");
    let held = mutex(&holder, &path).lock().wait().expect("lock");
    let mut waiting = mutex(&session, &path).lock();
    queued(&observer, &path, 2);
    // The holder's contender by both, the waiter's by itself.
    let armed = |count| {
        eventually("the watches", || {
            requests(&ensemble).get(&Op::GetData) == Some(&count)
        });
    };
    armed(3);
    let waiter = format!("{path}/{}", children(&observer, &path)[1]);
    for round in 1..=3 {
        observer.set(held.node_path(), b"revoke").expect("set");
        armed(3 * round + 2);
        observer.set(&waiter, b"data").expect("set");
        armed(3 * round + 3);
    }
    assert!(waits(&mut waiting, Duration::from_millis(300)));
    assert!(held.is_held());
    held.release().wait().expect("release");
    drop(granted(waiting));
}

/// After a change of session the waiters of one process queue again, in their former order.
#[test]
fn r09_waiters_queue_again_in_their_order_when_the_session_ends() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let (holder, session) = (undisturbed(&ensemble), connect(&ensemble));
    let path = path("session");
    let held = mutex(&holder, &path).lock().wait().expect("lock");
    let mut waiting: Vec<Pending<Guard>> = Vec::new();
    for at in 0..20 {
        waiting.push(mutex(&session, &path).lock());
        queued(&observer, &path, at + 2);
    }
    // An odd number: an order turned round twice would not show.
    for end in [expire, freeze, expire] {
        let before = session.session_id();
        end(&ensemble, before);
        eventually("all queue again", || {
            ![0, before].contains(&session.session_id()) && children(&observer, &path).len() == 21
        });
    }
    held.release().wait().expect("release");
    while !waiting.is_empty() {
        let (held, _) = granted(waiting.remove(0));
        for other in &mut waiting {
            assert!(waits(other, Duration::ZERO), "granted out of turn");
        }
        let (_, stat) = observer.get(held.node_path()).expect("its contender");
        assert_eq!(stat.ephemeral_owner, session.session_id());
        held.release().wait().expect("release");
    }
}

fn expire(ensemble: &Ensemble, session: i64) {
    ensemble.expire(session).expect("expire");
}

fn freeze(ensemble: &Ensemble, session: i64) {
    ensemble.expire_by_freeze(session, LONG).expect("expire");
}

/// The session ends while the waiter's turn comes.
#[test]
fn r09_turn_comes_as_the_session_ends() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let (holder, session) = (undisturbed(&ensemble), connect(&ensemble));
    for _ in 0..10 {
        let path = path("turn");
        let held = mutex(&holder, &path).lock().wait().expect("lock");
        let waiting = mutex(&session, &path).lock();
        queued(&observer, &path, 2);
        let release = held.release();
        ensemble.expire(session.session_id()).expect("expire");
        release.wait().expect("release");
        // Granted before its end it may have been; then it is lost, and the next one is not.
        let (held, _) = granted(waiting);
        drop(held);
        drop(granted(mutex(&session, &path).lock()));
    }
}

const WAITERS: usize = 2_000;
/// Largest frame of watches, and what its header takes (Z7).
const LARGEST_BATCH: usize = (128 << 10) + 64;

/// More paths to watch than one frame of a server takes: they are re-armed in batches (Z7).
#[test]
fn r09_2000_waiters_of_a_session_survive_a_reconnect() {
    let ensemble = one();
    let observer = ensemble.observer(1).expect("observer");
    let holder = undisturbed(&ensemble);
    let session = connect_with(options().session_timeout(S * 3), &ensemble);
    let path = path("two-thousand-waiters-of-one-session");
    let held = mutex(&holder, &path).lock().wait().expect("lock");
    let lock = mutex(&session, &path);
    let waiting: Vec<_> = (0..WAITERS).map(|_| lock.lock()).collect();
    queued(&observer, &path, WAITERS + 1);
    eventually("all watch", || {
        ensemble.log().count(Op::GetData) as usize >= WAITERS
    });
    thread::sleep(Duration::from_millis(500));
    ensemble.log().clear();
    ensemble.client_link(1).expect("link").reset();
    eventually("the watches are re-armed", || batches(&ensemble).len() > 1);
    held.release().wait().expect("release");
    let id = session.session_id();
    let mut last = String::new();
    for pending in waiting {
        let (held, _) = granted(pending);
        let place = held
            .node_path()
            .rsplit('-')
            .next()
            .expect("digits")
            .to_owned();
        assert!(place > last, "{place} after {last}");
        last = place;
        held.release().wait().expect("release");
    }
    assert_eq!(session.session_id(), id, "the session should have lived on");
    let batches = batches(&ensemble);
    assert!(batches.iter().sum::<usize>() > 128 << 10, "{batches:?}");
    assert!(
        batches.iter().all(|bytes| *bytes <= LARGEST_BATCH),
        "{batches:?}"
    );
}

fn batches(ensemble: &Ensemble) -> Vec<usize> {
    let entries = ensemble.log().entries().into_iter();
    entries
        .filter_map(|entry| match entry.what {
            What::Request {
                op: Op::SetWatches | Op::SetWatches2,
                bytes,
                ..
            } => Some(bytes),
            _ => None,
        })
        .collect()
}
