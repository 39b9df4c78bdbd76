//! Sessions that handles on several threads share, while the last one closes or the process ends
//! (R16, R17).

use std::sync::Arc;
use std::task::Poll;

use loom::future::block_on;
use loom::thread::{self, JoinHandle};

use super::{Count, models, most_orders};
use crate::command::{Command, HandleId};
use crate::config::{SessionConfig, SessionOptions};
use crate::link::Link;
use crate::manager::Registry;
use crate::runtime::Callbacks;
use crate::sync::{Disconnected, completion};

models![
    r16_a_handle_that_comes_as_the_last_one_goes_has_a_session,
    r16_handles_opened_at_once_share_one_session,
    r17_an_exit_waits_until_all_sessions_are_closed,
];

/// Sleeps until there are letters, as the driver does.
pub(super) fn next_letters(link: &Link) -> Vec<Command> {
    let mut letters = Vec::new();
    block_on(std::future::poll_fn(|context| {
        link.mailbox().poll_take(&mut letters, context);
        match letters.is_empty() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }));
    letters
}

fn config() -> SessionConfig {
    SessionConfig::new(Some("h:1"), &SessionOptions::default()).unwrap()
}

fn callbacks() -> Callbacks {
    Callbacks::collected().0
}

/// Serves a session as the driver does: until its last handle has closed and no other has come.
/// How many handles there were.
fn serving(registry: &Arc<Registry>, link: &Arc<Link>, closed: &Count) -> JoinHandle<usize> {
    let (registry, link, closed) = (Arc::clone(registry), Arc::clone(link), closed.clone());
    thread::spawn(move || {
        let config = config();
        let (mut opened, mut open, mut exiting) = (0, 0, false);
        let mut closing: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        loop {
            for letter in next_letters(&link) {
                match letter {
                    Command::Open { .. } => {
                        opened += 1;
                        open += 1;
                    }
                    Command::Close { then, .. } => {
                        open -= 1;
                        closing.push(Box::new(move || then(Ok(()))));
                    }
                    Command::Shutdown { then } => {
                        exiting = true;
                        closing.push(Box::new(move || then(Ok(()))));
                    }
                    _ => unreachable!("nobody sends it"),
                }
            }
            if exiting || open == 0 && registry.retire(&config, &link) {
                closed.add();
                for done in closing {
                    done();
                }
                registry.remove(&config, &link);
                link.close_mailbox();
                return opened;
            }
        }
    })
}

/// Closes a handle and waits until it is closed.
fn close(link: &Link, handle: HandleId) {
    let (completer, receiver) = completion();
    link.send(Command::Close {
        handle,
        until: crate::clock::Time::NEVER,
        then: Box::new(move |outcome| assert!(completer.complete(outcome.is_ok()).is_ok())),
    });
    assert_eq!(receiver.wait(None), Some(Ok(true)));
}

fn r16_a_handle_that_comes_as_the_last_one_goes_has_a_session() {
    most_orders(|| {
        let registry = Arc::new(Registry::default());
        let (link, is_new) = registry.join(&config(), &callbacks(), HandleId(1));
        assert!(is_new);
        let network = serving(&registry, &link, &Count::default());
        let leaving = thread::spawn(move || close(&link, HandleId(1)));
        let (joined, is_new) = registry.join(&config(), &callbacks(), HandleId(2));
        if is_new {
            let second = serving(&registry, &joined, &Count::default());
            close(&joined, HandleId(2));
            assert_eq!(second.join().unwrap(), 1);
        } else {
            close(&joined, HandleId(2));
        }
        leaving.join().unwrap();
        let handles = network.join().unwrap();
        assert_eq!(
            handles,
            if is_new { 1 } else { 2 },
            "a handle was not heard"
        );
    });
}

fn r16_handles_opened_at_once_share_one_session() {
    most_orders(|| {
        let registry = Arc::new(Registry::default());
        let others = [1, 2].map(|handle| {
            let registry = Arc::clone(&registry);
            thread::spawn(move || registry.join(&config(), &callbacks(), HandleId(handle)))
        });
        let (link, is_new) = registry.join(&config(), &callbacks(), HandleId(3));
        let mut made = usize::from(is_new);
        for other in others {
            let (same, is_new) = other.join().unwrap();
            assert!(Arc::ptr_eq(&link, &same));
            made += usize::from(is_new);
        }
        assert_eq!(made, 1);
        assert_eq!(next_letters(&link).len(), 3);
    });
}

fn r17_an_exit_waits_until_all_sessions_are_closed() {
    most_orders(|| {
        let registry = Arc::new(Registry::default());
        let (link, _) = registry.join(&config(), &callbacks(), HandleId(1));
        let sessions_closed = Count::default();
        let network = serving(&registry, &link, &sessions_closed);
        let leaving = thread::spawn(move || close(&link, HandleId(1)));
        let (all_closed, closed) = completion::<()>();
        registry.shut_down(all_closed);
        assert_eq!(closed.wait(None), Some(Err(Disconnected)));
        assert_eq!(sessions_closed.get(), 1);
        leaving.join().unwrap();
        network.join().unwrap();
    });
}
