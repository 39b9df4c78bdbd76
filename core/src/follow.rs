//! What follows a call: run by whoever comes by its outcome, so that no task and no other thread
//! has to be woken for it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::sync::primitive::Mutex;

/// Runs `then` with the future's output: at once if it is there, else on the thread that wakes the
/// future. It must not block.
pub(crate) fn follow<F, T>(future: F, then: T)
where
    F: Future + Send + Unpin + 'static,
    T: FnOnce(F::Output) + Send + 'static,
{
    let following = Following(Mutex::new(Stage::Polled { again: true }));
    Arc::new(following).poll((future, then));
}

struct Following<F, T>(Mutex<Stage<F, T>>);

enum Stage<F, T> {
    Waiting(F, T),
    /// By a thread that has what belongs here; `again`: woken meanwhile.
    Polled {
        again: bool,
    },
    Over,
}

impl<F, T> Following<F, T>
where
    F: Future + Send + Unpin + 'static,
    T: FnOnce(F::Output) + Send + 'static,
{
    /// Polls outside the lock: it may wake, and a waker may come here.
    fn poll(self: Arc<Self>, (mut future, then): (F, T)) {
        let waker = Waker::from(Arc::clone(&self));
        let mut context = Context::from_waker(&waker);
        loop {
            *self.0.lock() = Stage::Polled { again: false };
            if let Poll::Ready(output) = Pin::new(&mut future).poll(&mut context) {
                *self.0.lock() = Stage::Over;
                return then(output);
            }
            let mut stage = self.0.lock();
            if !matches!(*stage, Stage::Polled { again: true }) {
                *stage = Stage::Waiting(future, then);
                return;
            }
        }
    }
}

impl<F, T> Wake for Following<F, T>
where
    F: Future + Send + Unpin + 'static,
    T: FnOnce(F::Output) + Send + 'static,
{
    fn wake(self: Arc<Self>) {
        let mut stage = self.0.lock();
        match std::mem::replace(&mut *stage, Stage::Over) {
            Stage::Waiting(future, then) => {
                drop(stage);
                self.poll((future, then));
            }
            Stage::Polled { .. } => *stage = Stage::Polled { again: true },
            Stage::Over => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::sync::completion;

    #[test]
    fn an_output_that_is_there_is_taken_at_once() {
        let (sender, outputs) = mpsc::channel();
        follow(std::future::ready(7), move |output| {
            sender.send(output).unwrap();
        });
        assert_eq!(outputs.try_recv(), Ok(7));
    }

    #[test]
    fn one_that_comes_later_is_taken_by_who_brings_it() {
        let (sender, outputs) = mpsc::channel();
        let (completer, receiver) = completion();
        follow(receiver, move |output| {
            sender.send((output, std::thread::current().id())).unwrap();
        });
        assert!(outputs.try_recv().is_err());
        let bringer = std::thread::spawn(move || completer.complete(7));
        let thread = bringer.thread().id();
        assert!(bringer.join().unwrap().is_ok());
        assert_eq!(outputs.try_recv(), Ok((Ok(7), thread)));
    }

    #[test]
    fn a_future_that_wakes_itself_is_polled_again() {
        let (sender, outputs) = mpsc::channel();
        let mut polls = 0;
        let future = std::future::poll_fn(move |context| {
            polls += 1;
            context.waker().wake_by_ref();
            if polls < 3 {
                Poll::Pending
            } else {
                Poll::Ready(polls)
            }
        });
        follow(future, move |output| sender.send(output).unwrap());
        assert_eq!(outputs.try_recv(), Ok(3));
    }
}
