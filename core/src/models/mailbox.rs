//! Commands from any thread to the one that serves a session.

use std::sync::Arc;
use std::task::Poll;

use loom::future::block_on;
use loom::thread;

use super::{every_order, models, most_orders};
use crate::sync::Mailbox;

models![
    no_letter_is_slept_through,
    no_letter_of_several_senders_is_slept_through,
    a_senders_letters_stay_in_order,
    a_letter_for_a_mailbox_that_closes_has_one_owner,
];

/// Reads as the driver does: sleeps only when there was nothing.
fn read(mailbox: &Mailbox<u8>, letters: usize) -> Vec<u8> {
    let mut read = Vec::new();
    block_on(std::future::poll_fn(|context| {
        loop {
            let before = read.len();
            mailbox.poll_take(&mut read, context);
            if read.len() >= letters {
                return Poll::Ready(());
            }
            if read.len() == before {
                return Poll::Pending;
            }
        }
    }));
    read
}

/// As a caller that leaves its letter to the network thread.
fn push(mailbox: &Mailbox<u8>, letter: u8) -> Result<(), u8> {
    mailbox.leave(letter)?;
    mailbox.wake();
    Ok(())
}

fn no_letter_is_slept_through() {
    every_order(|| {
        let mailbox = Arc::new(Mailbox::new());
        let sender = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || push(&mailbox, 1))
        };
        assert_eq!(read(&mailbox, 1), [1]);
        assert_eq!(sender.join().unwrap(), Ok(()));
    });
}

fn no_letter_of_several_senders_is_slept_through() {
    most_orders(|| {
        let mailbox = Arc::new(Mailbox::new());
        let senders = [1, 2].map(|letter| {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || push(&mailbox, letter))
        });
        let mut got = read(&mailbox, 2);
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
        for sender in senders {
            assert_eq!(sender.join().unwrap(), Ok(()));
        }
    });
}

fn a_senders_letters_stay_in_order() {
    every_order(|| {
        let mailbox = Arc::new(Mailbox::new());
        let sender = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || [push(&mailbox, 1), push(&mailbox, 2)])
        };
        assert_eq!(read(&mailbox, 2), [1, 2]);
        assert_eq!(sender.join().unwrap(), [Ok(()), Ok(())]);
    });
}

fn a_letter_for_a_mailbox_that_closes_has_one_owner() {
    every_order(|| {
        let mailbox = Arc::new(Mailbox::new());
        let senders = [1, 2].map(|letter| {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || push(&mailbox, letter).err())
        });
        let mut letters = mailbox.close();
        letters.extend(senders.into_iter().filter_map(|it| it.join().unwrap()));
        letters.sort_unstable();
        assert_eq!(letters, [1, 2]);
        assert!(mailbox.is_empty());
    });
}
