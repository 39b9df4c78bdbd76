//! What follows a call, beside the end of the call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use loom::thread;

use super::{every_order, models};
use crate::follow::follow;
use crate::sync::{Completer, Disconnected, completion};

models![
    what_follows_an_outcome_runs_once,
    what_follows_a_sender_that_leaves_runs_once,
];

fn runs_once(end: fn(Completer<u8>), outcome: fn(&Result<u8, Disconnected>) -> bool) {
    every_order(move || {
        let (completer, receiver) = completion();
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&runs);
        let sender = thread::spawn(move || end(completer));
        follow(receiver, move |output| {
            assert!(outcome(&output));
            counted.fetch_add(1, SeqCst);
        });
        sender.join().unwrap();
        assert_eq!(runs.load(SeqCst), 1);
    });
}

fn what_follows_an_outcome_runs_once() {
    runs_once(
        |completer| assert_eq!(completer.complete(7), Ok(())),
        |outcome| *outcome == Ok(7),
    );
}

fn what_follows_a_sender_that_leaves_runs_once() {
    runs_once(drop, |outcome| *outcome == Err(Disconnected));
}
