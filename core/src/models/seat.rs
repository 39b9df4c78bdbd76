//! The seat that a session is driven from, by the network thread and by callers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Waker};

use loom::cell::UnsafeCell;
use loom::future::block_on;
use loom::thread::{self, JoinHandle};

use super::{models, most_orders};
use crate::sync::{Completer, Mailbox, Pass, Pilot, Receiver, Seat, completion};

models![
    a_callers_letter_is_answered_whoever_has_the_seat,
    letters_of_two_callers_are_answered_by_one_at_a_time,
    what_is_left_to_the_network_thread_is_done_by_it,
    a_time_that_came_earlier_is_kept,
    a_task_woken_from_the_seat_finds_it_free,
    a_letter_left_in_the_seat_is_taken,
    r17_the_sessions_end_answers_every_letter,
];

enum Letter {
    /// Answered at once.
    Ask(Completer<u8>),
    /// Something that only the network thread may do.
    Dial(Completer<u8>),
    /// Something to do at a time, earlier than all that was known; answered when it has come.
    At(usize, Completer<u8>),
    /// Answered, and one more letter comes of it.
    Twice(Completer<u8>, Completer<u8>),
    End,
}

struct Line {
    mailbox: Mailbox<Letter>,
    seat: Seat<Letter>,
}

impl Line {
    fn send(&self, letter: Letter) {
        assert!(self.mailbox.leave(letter).is_ok());
        self.seat.serve(&self.mailbox);
    }
}

/// No clock: the time has come when the timer is set for it.
const NEVER: usize = usize::MAX;

struct Plane {
    line: Arc<Line>,
    /// Found by loom if two sit in the seat.
    alone: UnsafeCell<()>,
    dials: Vec<Completer<u8>>,
    due: Vec<(usize, Completer<u8>)>,
    timer_at: usize,
    ended: bool,
}

impl Plane {
    fn take(&mut self, letters: Vec<Letter>) {
        self.alone.with_mut(|_| ());
        for letter in letters {
            match letter {
                Letter::Ask(to) => answer(to),
                Letter::Dial(to) => self.dials.push(to),
                Letter::At(at, to) => self.due.push((at, to)),
                Letter::Twice(to, next) => {
                    answer(to);
                    self.line.send(Letter::Ask(next));
                }
                Letter::End => self.ended = true,
            }
        }
    }

    fn next(&self) -> usize {
        self.due.iter().map(|(at, _)| *at).min().unwrap_or(NEVER)
    }
}

fn answer(to: Completer<u8>) {
    let _left = to.complete(7);
}

impl Pilot<Letter> for Plane {
    fn pass(&mut self, mailbox: &Mailbox<Letter>, context: &mut Context<'_>) -> Pass {
        let mut letters = Vec::new();
        mailbox.poll_take(&mut letters, context);
        let mut busy = !letters.is_empty();
        self.take(letters);
        for to in std::mem::take(&mut self.dials) {
            busy = true;
            answer(to);
        }
        if self.ended {
            return Pass::Finished;
        }
        if busy {
            return Pass::Busy;
        }
        // loom lets others in where something is shared, and takes a lock's end for no such place:
        // this is one within the pass, with a letter left since the look above or without.
        let _left = mailbox.is_empty();
        self.timer_at = self.next();
        // It rings while the thread would sleep.
        for (_, to) in std::mem::take(&mut self.due) {
            answer(to);
        }
        Pass::Idle
    }

    fn serve(&mut self, mailbox: &Mailbox<Letter>) -> bool {
        let mut letters = Vec::new();
        mailbox.take(&mut letters);
        self.take(letters);
        self.dials.is_empty() && !self.ended && self.timer_at <= self.next()
    }
}

struct Rig {
    line: Arc<Line>,
    network: JoinHandle<()>,
}

/// With somebody in the seat's place, and no network thread.
fn line() -> Arc<Line> {
    let line = Arc::new(Line {
        mailbox: Mailbox::new(),
        seat: Seat::new(),
    });
    line.seat.occupy(Box::new(Plane {
        line: Arc::clone(&line),
        alone: UnsafeCell::new(()),
        dials: Vec::new(),
        due: Vec::new(),
        timer_at: NEVER,
        ended: false,
    }));
    line
}

fn flying() -> Rig {
    let line = line();
    let network = {
        let line = Arc::clone(&line);
        thread::spawn(move || {
            block_on(std::future::poll_fn(|context| {
                line.seat.poll(&line.mailbox, context)
            }));
            line.seat.vacate();
            drop(line.mailbox.close());
        })
    };
    Rig { line, network }
}

impl Rig {
    fn end(self) {
        self.line.send(Letter::End);
        self.network.join().unwrap();
    }
}

fn ask(line: &Line, letter: impl FnOnce(Completer<u8>) -> Letter) -> Receiver<u8> {
    let (completer, receiver) = completion();
    line.send(letter(completer));
    receiver
}

fn a_callers_letter_is_answered_whoever_has_the_seat() {
    most_orders(|| {
        let rig = flying();
        assert_eq!(ask(&rig.line, Letter::Ask).wait(None), Some(Ok(7)));
        rig.end();
    });
}

fn letters_of_two_callers_are_answered_by_one_at_a_time() {
    most_orders(|| {
        let rig = flying();
        let other = {
            let line = Arc::clone(&rig.line);
            thread::spawn(move || ask(&line, Letter::Ask).wait(None))
        };
        assert_eq!(ask(&rig.line, Letter::Ask).wait(None), Some(Ok(7)));
        assert_eq!(other.join().unwrap(), Some(Ok(7)));
        rig.end();
    });
}

fn what_is_left_to_the_network_thread_is_done_by_it() {
    most_orders(|| {
        let rig = flying();
        assert_eq!(ask(&rig.line, Letter::Dial).wait(None), Some(Ok(7)));
        rig.end();
    });
}

fn a_time_that_came_earlier_is_kept() {
    most_orders(|| {
        let rig = flying();
        let receiver = ask(&rig.line, |to| Letter::At(1, to));
        assert_eq!(receiver.wait(None), Some(Ok(7)));
        rig.end();
    });
}

/// A waker that uses the session, as an executor that runs tasks where they are woken does.
fn a_task_woken_from_the_seat_finds_it_free() {
    struct AsksAgain {
        line: Arc<Line>,
        asked: std::sync::Mutex<Option<Completer<u8>>>,
        answered: AtomicBool,
    }
    impl std::task::Wake for AsksAgain {
        fn wake(self: Arc<Self>) {
            if let Some(to) = self.asked.lock().unwrap().take() {
                self.line.send(Letter::Ask(to));
                // Taken by this call itself, not by one further out.
                self.answered.store(self.line.mailbox.is_empty(), SeqCst);
            }
        }
    }
    most_orders(|| {
        let line = line();
        let (asking, asked) = completion();
        let task = Arc::new(AsksAgain {
            line: Arc::clone(&line),
            asked: std::sync::Mutex::new(Some(asking)),
            answered: AtomicBool::new(false),
        });
        let waker = Waker::from(Arc::clone(&task));
        let (completer, mut receiver) = completion();
        let polled = std::pin::Pin::new(&mut receiver).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        line.send(Letter::Ask(completer));
        assert!(task.answered.load(SeqCst), "woken in the seat");
        assert_eq!(asked.wait(None), Some(Ok(7)));
        line.seat.vacate();
    });
}

fn a_letter_left_in_the_seat_is_taken() {
    most_orders(|| {
        let rig = flying();
        let (completer, second) = completion();
        let first = ask(&rig.line, |to| Letter::Twice(to, completer));
        assert_eq!(first.wait(None), Some(Ok(7)));
        assert_eq!(second.wait(None), Some(Ok(7)));
        rig.end();
    });
}

fn r17_the_sessions_end_answers_every_letter() {
    most_orders(|| {
        let rig = flying();
        let other = {
            let line = Arc::clone(&rig.line);
            thread::spawn(move || {
                let (completer, receiver) = completion();
                match line.mailbox.leave(Letter::Ask(completer)) {
                    Ok(()) => line.seat.serve(&line.mailbox),
                    Err(refused) => drop(refused),
                }
                assert!(receiver.wait(None).is_some());
            })
        };
        rig.end();
        other.join().unwrap();
    });
}
