//! The seat that a session is driven from, by the network thread and by callers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Wake, Waker};

use loom::cell::UnsafeCell;
use loom::future::block_on;
use loom::thread::{self, JoinHandle};

use super::{many_orders, models, most_orders};
use crate::clock::Time;
use crate::sync::primitive::Mutex;
use crate::sync::sleeper::Sleeper;
use crate::sync::{
    Awaited, Blocked, Borrowed, Completer, Glance, Limit, Loan, Mailbox, Pass, Pilot, Reading,
    Receiver, Seat, completion,
};

models![
    a_callers_letter_is_answered_whoever_has_the_seat,
    letters_of_two_callers_are_answered_by_one_at_a_time,
    what_is_left_to_the_network_thread_is_done_by_it,
    a_time_that_came_earlier_is_kept,
    a_task_woken_from_the_seat_finds_it_free,
    a_letter_left_in_the_seat_is_taken,
    a_caller_reads_its_answer,
    of_two_callers_one_reads_for_both,
    a_task_beside_a_caller_that_reads_has_its_answer,
    a_caller_that_gives_up_leaves_its_answer_to_the_network_thread,
    a_caller_that_reads_is_woken_for_what_others_answer,
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
    /// Sent to the server, which answers.
    Request(Completer<u8>),
    /// Sent to a server that has answered by then.
    Echo(Completer<u8>),
    End,
}

/// What the server has answered, and whom that wakes: the event loop, if the socket is in it, and
/// whoever sleeps on it.
#[derive(Default)]
struct Socket {
    unread: usize,
    event_loop: Option<Waker>,
}

#[derive(Default)]
struct Wire {
    socket: Mutex<Socket>,
    reader: Sleeper,
}

impl Wire {
    fn answer(self: &Arc<Self>) {
        let mut socket = self.socket.lock();
        socket.unread += 1;
        let waker = socket.event_loop.take();
        drop(socket);
        if let Some(waker) = waker {
            waker.wake();
        }
        Wake::wake(Arc::clone(self));
    }

    fn read(&self, register: Option<&Waker>) -> usize {
        let mut socket = self.socket.lock();
        socket.event_loop = register.cloned();
        std::mem::take(&mut socket.unread)
    }
}

impl Wake for Wire {
    fn wake(self: Arc<Self>) {
        self.reader.call();
    }
}

impl Reading for Wire {
    fn sleep(&self, limit: &Limit, _: &Blocked) -> Option<()> {
        self.reader.sleep(limit)
    }

    fn wake(&self) {
        self.reader.call();
    }
}

struct Line {
    mailbox: Mailbox<Letter>,
    seat: Seat<Letter>,
    wire: Arc<Wire>,
    sent: Sleeper,
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
    wire: Arc<Wire>,
    requests: std::collections::VecDeque<Completer<u8>>,
    loan: Loan,
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
                Letter::Request(to) => {
                    self.requests.push_back(to);
                    self.line.sent.call();
                }
                Letter::Echo(to) => {
                    self.requests.push_back(to);
                    self.wire.answer();
                }
                Letter::End => self.ended = true,
            }
        }
    }

    fn read(&mut self, register: Option<&Waker>) -> bool {
        self.alone.with_mut(|_| ());
        let answers = self.wire.read(register);
        for to in self.requests.drain(..answers) {
            answer(to);
        }
        answers > 0
    }

    fn awaited(&self, mailbox: &Mailbox<Letter>) -> Awaited {
        let unsent = !mailbox.is_empty();
        Awaited {
            anything: unsent || !self.requests.is_empty(),
            at_most_one_call: !unsent && self.requests.len() <= 1,
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
        // No look by the clock: nothing here relies on it.
        if self.loan.look(Time(0), self.awaited(mailbox)) {
            Reading::wake(&*self.wire);
        }
        if !self.loan.is_apart() {
            busy |= self.read(Some(context.waker()));
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

    fn lend(&mut self, mailbox: &Mailbox<Letter>) -> (Option<Borrowed>, bool) {
        let awaited = self.awaited(mailbox);
        let borrowed = self.loan.borrow(Time(0), awaited).map(|by| {
            drop(self.wire.socket.lock().event_loop.take());
            Borrowed {
                by,
                reading: Arc::clone(&self.wire) as Arc<dyn Reading>,
            }
        });
        let read = borrowed.is_some() || self.loan.is_read();
        (borrowed, read)
    }

    fn read(
        &mut self,
        borrower: u64,
        mailbox: &Mailbox<Letter>,
        answered: &dyn Fn() -> bool,
    ) -> (Glance, bool) {
        if !self.loan.is_lent_to(borrower) {
            return (Glance::TakenBack, true);
        }
        Plane::read(self, None);
        match answered() {
            false => (Glance::Unanswered, true),
            true => (Glance::Answered, self.give_back(borrower, mailbox)),
        }
    }

    fn give_back(&mut self, borrower: u64, mailbox: &Mailbox<Letter>) -> bool {
        let awaited = self.awaited(mailbox);
        self.loan.give_back(borrower, awaited)
    }

    fn reclaim(&mut self) -> bool {
        self.loan.reclaim()
    }

    fn is_lent(&self) -> bool {
        self.loan.is_apart()
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
        wire: Arc::new(Wire::default()),
        sent: Sleeper::default(),
    });
    line.seat.occupy(Box::new(Plane {
        line: Arc::clone(&line),
        alone: UnsafeCell::new(()),
        dials: Vec::new(),
        due: Vec::new(),
        timer_at: NEVER,
        ended: false,
        wire: Arc::clone(&line.wire),
        requests: std::collections::VecDeque::new(),
        loan: Loan::default(),
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

/// A server that answers so many requests.
fn server(line: &Arc<Line>, requests: usize) -> JoinHandle<()> {
    let line = Arc::clone(line);
    thread::spawn(move || {
        for _ in 0..requests {
            let sent = line.sent.sleep(&Limit::starting_now(None));
            assert_eq!(sent, Some(()));
            line.wire.answer();
        }
    })
}

fn wait(line: &Line, receiver: &Receiver<u8>) {
    let outcome = line
        .seat
        .wait(&line.mailbox, receiver, &Limit::starting_now(None));
    assert_eq!(outcome, Some(Ok(7)));
}

fn a_caller_reads_its_answer() {
    many_orders(|| {
        let rig = flying();
        let server = server(&rig.line, 1);
        wait(&rig.line, &ask(&rig.line, Letter::Request));
        server.join().unwrap();
        rig.end();
    });
}

fn of_two_callers_one_reads_for_both() {
    many_orders(|| {
        let rig = flying();
        let other = {
            let line = Arc::clone(&rig.line);
            thread::spawn(move || {
                let receiver = ask(&line, Letter::Echo);
                wait(&line, &receiver);
            })
        };
        let receiver = ask(&rig.line, Letter::Echo);
        wait(&rig.line, &receiver);
        other.join().unwrap();
        rig.end();
    });
}

fn a_task_beside_a_caller_that_reads_has_its_answer() {
    many_orders(|| {
        let rig = flying();
        let caller = {
            let line = Arc::clone(&rig.line);
            thread::spawn(move || {
                let receiver = ask(&line, Letter::Echo);
                wait(&line, &receiver);
            })
        };
        let mut receiver = ask(&rig.line, Letter::Echo);
        let outcome = block_on(std::future::poll_fn(|context| {
            let polled = std::pin::Pin::new(&mut receiver).poll(context);
            if polled.is_pending() {
                rig.line.seat.attend(&rig.line.mailbox);
            }
            polled
        }));
        assert_eq!(outcome, Ok(7));
        caller.join().unwrap();
        rig.end();
    });
}

fn a_caller_that_gives_up_leaves_its_answer_to_the_network_thread() {
    many_orders(|| {
        let rig = flying();
        let server = server(&rig.line, 1);
        let receiver = ask(&rig.line, Letter::Request);
        let limit = Limit::starting_now(Some(std::time::Duration::from_millis(1)));
        let waited = rig.line.seat.wait(&rig.line.mailbox, &receiver, &limit);
        let outcome = waited.unwrap_or_else(|| receiver.wait(None).unwrap());
        assert_eq!(outcome, Ok(7));
        server.join().unwrap();
        rig.end();
    });
}

fn a_caller_that_reads_is_woken_for_what_others_answer() {
    many_orders(|| {
        let rig = flying();
        let (completer, receiver) = completion();
        let other = thread::spawn(move || answer(completer));
        wait(&rig.line, &receiver);
        other.join().unwrap();
        rig.end();
    });
}
