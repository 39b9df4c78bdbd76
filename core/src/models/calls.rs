//! A call for a lock, from any thread, with the network thread that answers it, a cancel from a
//! third one, and the session's end (R5, R6, R17).

use std::sync::Arc;
use std::time::Duration;

use loom::thread::{self, JoinHandle};

use super::guards::{granted, target};
use super::{many_orders, models, most_orders};
use crate::cancel::Cancel;
use crate::clock::Time;
use crate::command::{AttemptId, Command, Deadline, GrantTo, HandleId, LockRequest};
use crate::error::{Error, ErrorKind, Result};
use crate::guard::Guard;
use crate::link::Link;
use crate::pending::Pending;
use crate::queue::names::Kind;
use crate::runtime::Callbacks;

models![
    a_grant_ends_a_wait,
    a_grant_ends_a_wait_in_slices,
    r05_a_cancel_ends_a_wait_that_nothing_else_ends,
    r05_a_cancel_beside_a_grant_leaves_no_orphan,
    r05_a_call_that_is_dropped_is_withdrawn,
    r05_a_call_that_is_dropped_leaves_no_orphan,
    r05_a_call_dropped_after_a_slice_leaves_no_orphan,
    r17_the_sessions_end_ends_every_wait,
];

const ATTEMPT: AttemptId = AttemptId(1);
const SLICE: Duration = Duration::from_millis(1);

pub(super) fn link() -> Arc<Link> {
    let (callbacks, _jobs) = Callbacks::collected();
    Link::new(callbacks)
}

fn lock(link: &Arc<Link>, attempt: AttemptId) -> Pending<Guard> {
    lock_cancellable(link, attempt, None)
}

/// In the order of the lock objects' own.
fn lock_cancellable(
    link: &Arc<Link>,
    attempt: AttemptId,
    cancel: Option<&Cancel>,
) -> Pending<Guard> {
    let (completer, pending) = Pending::new("lock");
    link.send(Command::Lock(LockRequest {
        attempt,
        handle: HandleId(1),
        session: None,
        target: target(),
        kind: Kind::Exclusive,
        owner: None,
        called: Time(0),
        deadline: Deadline::Never,
        past: None,
        to: GrantTo::Lock(completer),
    }));
    let registration = cancel.map(|cancel| cancel.register(link, attempt));
    pending.withdrawing(Arc::clone(link), attempt, registration)
}

/// What the network thread saw.
#[derive(Default)]
struct Seen {
    granted: usize,
    released: usize,
}

/// The network thread, until the session's end. It grants what was not cancelled before it looked,
/// or nothing.
fn serving(link: &Arc<Link>, grants: bool) -> JoinHandle<Seen> {
    let link = Arc::clone(link);
    thread::spawn(move || {
        let mut seen = Seen::default();
        let mut waiting: Option<GrantTo> = None;
        let mut shutdown = None;
        while shutdown.is_none() {
            for command in super::sessions::next_letters(&link) {
                match command {
                    Command::Lock(request) => waiting = Some(request.to),
                    Command::Cancel { attempt } => {
                        assert_eq!(attempt, ATTEMPT);
                        if let Some(to) = waiting.take() {
                            to.fail(Error::new(ErrorKind::Cancelled, "lock", "cancelled"));
                        }
                    }
                    Command::Release { .. } => seen.released += 1,
                    Command::Shutdown { then } => shutdown = Some(then),
                    _ => unreachable!("nobody sends it"),
                }
            }
            if grants && let Some(to) = waiting.take() {
                seen.granted += 1;
                to.grant(granted(&link));
            }
        }
        assert!(waiting.is_none(), "an attempt was left behind");
        link.close_mailbox();
        seen
    })
}

/// Ends the network thread once it has read all that was sent before.
fn end(link: &Arc<Link>, network: JoinHandle<Seen>) -> Seen {
    link.send(Command::Shutdown {
        then: Box::new(|_| ()),
    });
    network.join().unwrap()
}

fn end_without_orphan(link: &Arc<Link>, network: JoinHandle<Seen>) {
    let seen = end(link, network);
    assert_eq!(seen.granted, seen.released, "a grant that nobody has");
}

fn is_cancelled(outcome: &Result<Guard>) -> bool {
    matches!(outcome, Err(error) if error.kind() == ErrorKind::Cancelled)
}

fn a_grant_ends_a_wait() {
    most_orders(|| {
        let link = link();
        let network = serving(&link, true);
        let guard = lock(&link, ATTEMPT).wait().unwrap();
        assert_eq!(guard.fencing_token(), 7);
        drop(guard);
        end_without_orphan(&link, network);
    });
}

fn a_grant_ends_a_wait_in_slices() {
    most_orders(|| {
        let link = link();
        let network = serving(&link, true);
        let mut pending = lock(&link, ATTEMPT);
        let outcome = pending.wait_for(SLICE).unwrap_or_else(|| pending.wait());
        drop(outcome.unwrap());
        end_without_orphan(&link, network);
    });
}

fn r05_a_cancel_ends_a_wait_that_nothing_else_ends() {
    many_orders(|| {
        let link = link();
        let network = serving(&link, false);
        let cancel = Cancel::new();
        let other = {
            let cancel = cancel.clone();
            thread::spawn(move || cancel.cancel())
        };
        let outcome = lock_cancellable(&link, ATTEMPT, Some(&cancel)).wait();
        assert!(is_cancelled(&outcome));
        other.join().unwrap();
        end_without_orphan(&link, network);
    });
}

fn r05_a_cancel_beside_a_grant_leaves_no_orphan() {
    many_orders(|| {
        let link = link();
        let network = serving(&link, true);
        let cancel = Cancel::new();
        let other = {
            let cancel = cancel.clone();
            thread::spawn(move || cancel.cancel())
        };
        let outcome = lock_cancellable(&link, ATTEMPT, Some(&cancel)).wait();
        assert!(outcome.is_ok() || is_cancelled(&outcome));
        drop(outcome);
        other.join().unwrap();
        end_without_orphan(&link, network);
    });
}

fn r05_a_call_that_is_dropped_is_withdrawn() {
    most_orders(|| {
        let link = link();
        let network = serving(&link, false);
        drop(lock(&link, ATTEMPT));
        end_without_orphan(&link, network);
    });
}

fn r05_a_call_that_is_dropped_leaves_no_orphan() {
    most_orders(|| {
        let link = link();
        let network = serving(&link, true);
        drop(lock(&link, ATTEMPT));
        end_without_orphan(&link, network);
    });
}

fn r05_a_call_dropped_after_a_slice_leaves_no_orphan() {
    most_orders(|| {
        let link = link();
        let network = serving(&link, true);
        let mut pending = lock(&link, ATTEMPT);
        drop(pending.wait_for(SLICE));
        drop(pending);
        end_without_orphan(&link, network);
    });
}

fn r17_the_sessions_end_ends_every_wait() {
    most_orders(|| {
        let link = link();
        let callers = [1, 2].map(|attempt| {
            let link = Arc::clone(&link);
            thread::spawn(move || lock(&link, AttemptId(attempt)).wait().map(drop))
        });
        link.close_mailbox();
        for caller in callers {
            let error = caller.join().unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Closed);
        }
    });
}
