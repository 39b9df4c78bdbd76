//! One value from the network thread to one caller.

use std::time::Duration;

use loom::future::block_on;
use loom::thread;

use super::{Count, Dropped, every_order, models};
use crate::sync::{Disconnected, completion};

models![
    a_value_ends_a_wait,
    a_sender_that_leaves_ends_a_wait,
    a_value_ends_an_await,
    a_wait_that_times_out_loses_no_value,
    a_call_waited_for_in_vain_can_be_awaited,
    a_value_for_a_receiver_that_leaves_has_one_owner,
    a_value_taken_back_has_one_owner,
];

const SLICE: Option<Duration> = Some(Duration::from_millis(1));

fn a_value_ends_a_wait() {
    every_order(|| {
        let (completer, receiver) = completion();
        let sender = thread::spawn(move || assert_eq!(completer.complete(7), Ok(())));
        assert_eq!(receiver.wait(None), Some(Ok(7)));
        sender.join().unwrap();
    });
}

fn a_sender_that_leaves_ends_a_wait() {
    every_order(|| {
        let (completer, receiver) = completion::<u8>();
        let sender = thread::spawn(move || drop(completer));
        assert_eq!(receiver.wait(None), Some(Err(Disconnected)));
        sender.join().unwrap();
    });
}

fn a_value_ends_an_await() {
    every_order(|| {
        let (completer, receiver) = completion();
        let sender = thread::spawn(move || assert_eq!(completer.complete(7), Ok(())));
        assert_eq!(block_on(receiver), Ok(7));
        sender.join().unwrap();
    });
}

fn a_wait_that_times_out_loses_no_value() {
    every_order(|| {
        let (completer, receiver) = completion();
        let sender = thread::spawn(move || assert_eq!(completer.complete(7), Ok(())));
        let waited = receiver.wait(SLICE).or_else(|| receiver.wait(SLICE));
        assert_eq!(waited.or_else(|| receiver.wait(None)), Some(Ok(7)));
        sender.join().unwrap();
        assert_eq!(receiver.wait(None), Some(Err(Disconnected)));
    });
}

fn a_call_waited_for_in_vain_can_be_awaited() {
    every_order(|| {
        let (completer, receiver) = completion();
        let sender = thread::spawn(move || assert_eq!(completer.complete(7), Ok(())));
        let value = match receiver.wait(SLICE) {
            Some(outcome) => outcome,
            None => block_on(receiver),
        };
        assert_eq!(value, Ok(7));
        sender.join().unwrap();
    });
}

fn a_value_for_a_receiver_that_leaves_has_one_owner() {
    every_order(|| {
        let count = Count::default();
        let (completer, receiver) = completion();
        let value = Dropped(count.clone());
        let sender = thread::spawn(move || drop(completer.complete(value)));
        let waited = receiver.wait(SLICE).is_some();
        drop(receiver);
        sender.join().unwrap();
        assert_eq!(count.get(), 1, "waited: {waited}");
    });
}

fn a_value_taken_back_has_one_owner() {
    every_order(|| {
        let (completer, receiver) = completion();
        let sender = thread::spawn(move || completer.complete(7).is_ok());
        let taken = receiver.close().is_some();
        let sent = sender.join().unwrap();
        assert_eq!(taken, sent, "either side has it, never both or none");
    });
}
