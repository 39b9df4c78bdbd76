//! The one driver: owns sockets, clock and timer of a session, and nothing else. It is driven from
//! the session's seat: by the network thread, and by callers that send.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Sleep;

use super::certificates::Certificates;
use super::dialer::{DialId, Probed};
use super::machine::Action;
use super::reading::SocketReading;
use super::tcp::{Connector, Lendable, Tcp};
use super::tls::{self, Tls};
use super::version::probe;
use crate::clock::{self, Time};
use crate::command::Command;
use crate::config::SessionConfig;
use crate::engine::Engine;
use crate::link::{self, Link};
use crate::runtime;
use crate::state::SessionState;
use crate::sync::{Awaited, Borrowed, Glance, Loan, Mailbox, Pass, Pilot, Reading};

const READ_BUFFER: usize = 64 << 10;
/// How many requests may be unanswered when a caller sends its own. Where there are more, the
/// network thread is busy with their answers anyhow, and sends those of many callers in one write.
const MOST_BEFORE_A_CALLERS: usize = 4;
/// How many commands are obeyed before the socket is looked at again.
const MOST_OF_A_PASS: usize = 256;
/// A create, the listing behind it, and beside them a ping or the deletion of a lock that was dropped.
const MOST_OF_ONE_CALL: usize = 4;

/// Serves a session until its last handle is closed.
pub(crate) async fn run(config: SessionConfig, link: Arc<Link>) {
    let _ended = Ended {
        config: config.clone(),
        link: Arc::clone(&link),
    };
    let (Some(options), Some(trust)) = (&config.options.tls, &config.trust) else {
        return serve(Tcp, config, link).await;
    };
    match Certificates::new(options.clone(), trust.clone()) {
        Ok(certificates) => serve(Tls(certificates), config, link).await,
        // It was made of the same files before; whoever waits is told that the session is closed.
        Err(error) => tracing::error!(%error, "TLS cannot be set up"),
    }
}

async fn serve<C: Connector>(connector: C, config: SessionConfig, link: Arc<Link>) {
    let driver = Driver::new(connector, config, Arc::clone(&link));
    link.seat.occupy(Box::new(driver));
    std::future::poll_fn(|context| link.seat.poll(link.mailbox(), context)).await;
}

/// However the driver ends, a panic included, nobody may wait for it for ever: what is in the
/// mailbox is answered, and the next handle gets another session.
struct Ended {
    config: SessionConfig,
    link: Arc<Link>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        if let Ok(runtime) = runtime::get() {
            runtime.registry.remove(&self.config, &self.link);
        }
        self.link.set_connected(false);
        self.link.seat.vacate();
        self.link.close_mailbox();
        self.link.kept.abandon(clock::now());
        let callbacks = &self.link.callbacks;
        self.link
            .states
            .set(SessionState::Closed, |callback| callbacks.post(callback));
    }
}

struct Socket<S> {
    dial: DialId,
    stream: S,
    /// Handed over by the machine, not taken by the stream yet.
    unsent: Vec<u8>,
    /// Whether the stream (TLS) may hold some of it back.
    unflushed: bool,
    /// Why it took nothing more from a caller. The network thread deals with it.
    broken: Option<io::Error>,
}

impl<S: AsyncWrite + Unpin> Socket<S> {
    /// Gives the stream as much as it takes now.
    fn flush(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        while !self.unsent.is_empty() {
            match Pin::new(&mut self.stream).poll_write(context, &self.unsent)? {
                Poll::Pending => return Ok(()),
                Poll::Ready(0) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(written) => {
                    self.unflushed = true;
                    if written == self.unsent.len() {
                        self.unsent.clear();
                    } else {
                        drop(self.unsent.drain(..written));
                    }
                }
            }
        }
        if self.unflushed && Pin::new(&mut self.stream).poll_flush(context)?.is_ready() {
            self.unflushed = false;
        }
        Ok(())
    }
}

struct Driver<C: Connector> {
    connector: Arc<C>,
    config: SessionConfig,
    link: Arc<Link>,
    engine: Engine,
    sockets: Vec<Socket<C::Stream>>,
    dialing: JoinSet<(DialId, io::Result<C::Stream>)>,
    aborts: Vec<(DialId, AbortHandle)>,
    probes: JoinSet<Probed>,
    timer: Pin<Box<Sleep>>,
    timer_at: Time,
    /// Taken out of the mailbox, and not obeyed yet.
    letters: VecDeque<Command>,
    buffer: Box<[u8]>,
    turn: usize,
    retired: bool,
    /// The network thread's, which is woken when a socket that a caller has filled can take more.
    waker: Waker,
    loan: Loan,
    /// What a borrower sleeps on, of the socket that it reads.
    reading: Option<(DialId, Arc<SocketReading>)>,
}

impl<C: Connector> Driver<C> {
    fn new(connector: C, config: SessionConfig, link: Arc<Link>) -> Driver<C> {
        let seed = fastrand::u64(..);
        Driver {
            connector: Arc::new(connector),
            engine: Engine::new(config.clone(), Arc::clone(&link), seed, clock::now()),
            config,
            link,
            sockets: Vec::new(),
            dialing: JoinSet::new(),
            aborts: Vec::new(),
            probes: JoinSet::new(),
            timer: Box::pin(tokio::time::sleep(std::time::Duration::ZERO)),
            timer_at: Time::default(),
            letters: VecDeque::new(),
            buffer: vec![0; READ_BUFFER].into_boxed_slice(),
            turn: 0,
            retired: false,
            waker: Waker::noop().clone(),
            loan: Loan::default(),
            reading: None,
        }
    }

    fn take_letters(&mut self, mailbox: &Mailbox<Command>, context: &mut Context<'_>) -> bool {
        if self.letters.is_empty() {
            // Both ways without copying a letter.
            let mut letters = Vec::from(std::mem::take(&mut self.letters));
            mailbox.poll_take(&mut letters, context);
            self.letters = letters.into();
        }
        let any = !self.letters.is_empty();
        if any {
            let of_this_pass = self.letters.len().min(MOST_OF_A_PASS);
            let letters = self.letters.drain(..of_this_pass);
            self.engine.commands(clock::now(), letters);
        }
        if self.engine.has_no_handles() && !self.retired && self.letters.is_empty() {
            self.retired = match runtime::get() {
                Ok(runtime) => runtime.registry.retire(&self.config, &self.link),
                Err(_) => true,
            };
            if self.retired {
                self.engine.close(clock::now());
            }
            return true;
        }
        any
    }

    fn take_dials(&mut self, context: &mut Context<'_>) -> bool {
        let mut any = false;
        while let Poll::Ready(Some(joined)) = self.dialing.poll_join_next(context) {
            any = true;
            // A cancelled dial was given up by the machine, which forgot it.
            let Ok((dial, connected)) = joined else {
                continue;
            };
            self.aborts.retain(|(known, _)| *known != dial);
            match connected {
                Ok(stream) => {
                    self.sockets.push(Socket {
                        dial,
                        stream,
                        unsent: Vec::new(),
                        unflushed: false,
                        broken: None,
                    });
                    self.engine.dialed(clock::now(), dial);
                }
                Err(error) => self.disconnected(dial, &error),
            }
        }
        while let Poll::Ready(Some(joined)) = self.probes.poll_join_next(context) {
            any = true;
            self.engine
                .probed(clock::now(), joined.unwrap_or(Probed::Unreached));
        }
        any
    }

    fn read(&mut self, context: &mut Context<'_>) -> bool {
        let mut any = false;
        let mut at = 0;
        while let Some(socket) = self.sockets.get_mut(at) {
            let mut buffer = ReadBuf::new(&mut self.buffer);
            let polled = Pin::new(&mut socket.stream).poll_read(context, &mut buffer);
            let dial = socket.dial;
            match polled {
                Poll::Pending => at += 1,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    any = true;
                    // Read after the system call: an answer must not seem earlier than it was.
                    self.engine.received(clock::now(), dial, buffer.filled());
                    self.act();
                }
                Poll::Ready(ended) => {
                    any = true;
                    self.sockets.swap_remove(at);
                    let error = ended.err().unwrap_or_else(hung_up);
                    self.disconnected(dial, &error);
                }
            }
        }
        any
    }

    fn disconnected(&mut self, dial: DialId, error: &io::Error) {
        let (failure, why) = (tls::failure(error), tls::reason(error));
        self.engine.disconnected(clock::now(), dial, failure, &why);
    }

    fn act(&mut self) -> bool {
        let mut any = false;
        while let Some(action) = self.engine.poll_action() {
            any = true;
            match action {
                Action::Dial {
                    dial,
                    server,
                    probe: with_probe,
                    ..
                } => self.dial(dial, server, with_probe),
                Action::HangUp { dial } => {
                    self.sockets.retain(|socket| socket.dial != dial);
                    self.aborts.retain(|(known, abort)| {
                        if *known == dial {
                            abort.abort();
                        }
                        *known != dial
                    });
                }
            }
        }
        any
    }

    fn dial(&mut self, dial: DialId, server: usize, with_probe: bool) {
        let Some(server) = self.config.servers.servers.get(server).cloned() else {
            return self.disconnected(dial, &io::Error::other("there is no such server"));
        };
        let connector = Arc::clone(&self.connector);
        if with_probe {
            self.probes
                .spawn(probe(Arc::clone(&connector), server.clone()));
        }
        let turn = self.turn;
        self.turn = self.turn.wrapping_add(1);
        let abort = self
            .dialing
            .spawn(async move { (dial, connector.connect(server, turn).await) });
        self.aborts.push((dial, abort));
    }

    fn write(&mut self, context: &mut Context<'_>) -> bool {
        let mut any = false;
        loop {
            self.flush(context);
            if !self.transmit() {
                return any;
            }
            any = true;
        }
    }

    /// Moves what may be sent now to its socket's buffer, to be flushed at once; false if there is
    /// nothing.
    fn transmit(&mut self) -> bool {
        // The clock is read before the system call: the lease counts from there (R3).
        let Some((dial, bytes)) = self.engine.poll_transmit(clock::now()) else {
            return false;
        };
        if let Some(socket) = self.sockets.iter_mut().find(|socket| socket.dial == dial) {
            if socket.unsent.is_empty() {
                socket.unsent = bytes;
            } else {
                socket.unsent.extend_from_slice(&bytes);
            }
        }
        true
    }

    /// [`write`](Driver::write) on a caller's thread: what a failure comes to is the network
    /// thread's. False if there is one.
    fn write_for_caller(&mut self, context: &mut Context<'_>) -> bool {
        loop {
            for socket in &mut self.sockets {
                socket.broken = socket.flush(context).err();
            }
            if !self.transmit() {
                return self.sockets.iter().all(|socket| socket.broken.is_none());
            }
        }
    }

    /// The reading, for a caller whose answer alone is awaited.
    fn borrow(&mut self, awaited: Awaited) -> Option<Borrowed> {
        let by = self.loan.borrow(clock::now(), awaited)?;
        if self.reading.is_none() {
            self.reading = self.sockets.first_mut().and_then(|socket| {
                let reading = SocketReading::new(|| socket.stream.step_aside())?;
                Some((socket.dial, Arc::new(reading)))
            });
        }
        let Some((_, reading)) = &self.reading else {
            self.loan.end();
            return None;
        };
        Some(Borrowed {
            by,
            reading: Arc::clone(reading) as Arc<dyn Reading>,
        })
    }

    fn flush(&mut self, context: &mut Context<'_>) {
        let mut at = 0;
        while let Some(socket) = self.sockets.get_mut(at) {
            match socket.flush(context) {
                Ok(()) => at += 1,
                Err(error) => {
                    let dial = socket.dial;
                    self.sockets.swap_remove(at);
                    self.disconnected(dial, &error);
                }
            }
        }
    }

    /// When the network thread has something to do.
    fn next_timeout(&self, now: Time) -> Time {
        self.engine.next_timeout(now).min(self.loan.next_look())
    }

    /// Arms the timer; true if something is due already.
    fn timer_has_fired(&mut self, context: &mut Context<'_>) -> bool {
        let now = clock::now();
        let next = self.next_timeout(now);
        if next <= now {
            return true;
        }
        // A timer that fires early is set again; moving it at every request would cost more.
        if next < self.timer_at || self.timer_at <= now {
            self.timer_at = next;
            let wait = next
                .saturating_since(now)
                .min(std::time::Duration::from_secs(3600));
            self.timer
                .as_mut()
                .reset(tokio::time::Instant::now() + wait);
        }
        self.timer.as_mut().poll(context).is_ready() && {
            self.timer_at = Time::default();
            true
        }
    }
}

/// What callers do, in the seat.
impl<C: Connector> Driver<C> {
    /// The caller's own task has nothing to do with how much is read and written here.
    fn unconstrained<R>(&mut self, turn: impl FnOnce(&mut Self, &mut Context<'_>) -> R) -> R {
        let waker = self.waker.clone();
        let mut turn = Some(turn);
        let mut result = None;
        let running = tokio::task::unconstrained(std::future::poll_fn(|context| {
            result = turn.take().map(|turn| turn(self, context));
            Poll::Ready(())
        }));
        let _ready = std::pin::pin!(running).poll(&mut Context::from_waker(&waker));
        match result {
            Some(result) => result,
            None => unreachable!("a future that is always ready was polled once"),
        }
    }

    /// Sends what there is, and says whether the network thread has nothing to do.
    fn finish_for_caller(&mut self, context: &mut Context<'_>) -> bool {
        if self.engine.has_no_handles() {
            // The last handle is closed: the end of the session frees what would be deleted (R17).
            return false;
        }
        let written = self.write_for_caller(context);
        let now = clock::now();
        written
            && !self.engine.has_actions()
            && !self.engine.is_finished()
            // Away from the event loop nothing tells when more can be sent.
            && (!self.loan.is_apart() || self.sockets.iter().all(|socket| socket.unsent.is_empty()))
            // The timer is set for what comes before all that was known till now.
            && self.timer_at <= self.next_timeout(now)
    }

    fn read_for_caller(&mut self, context: &mut Context<'_>) {
        let mut buffer = ReadBuf::new(&mut self.buffer);
        for socket in &mut self.sockets {
            buffer.clear();
            match Pin::new(&mut socket.stream).poll_read(context, &mut buffer) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    // Read after the system call: an answer must not seem earlier than it was.
                    self.engine
                        .received(clock::now(), socket.dial, buffer.filled());
                }
                Poll::Ready(ended) => socket.broken = Some(ended.err().unwrap_or_else(hung_up)),
            }
        }
    }

    fn awaited(&self, mailbox: &Mailbox<Command>) -> Awaited {
        let unsent = !mailbox.is_empty() || !self.letters.is_empty();
        let in_flight = self.engine.in_flight();
        let waiting = self.engine.waiting();
        let quiet = match self.sockets.as_slice() {
            [socket] => socket.unsent.is_empty() && !socket.unflushed && socket.broken.is_none(),
            _ => false,
        };
        Awaited {
            anything: unsent || in_flight != Some(0) || waiting > 0,
            at_most_one_call: quiet
                && !unsent
                && !self.engine.has_no_handles()
                && waiting <= 1
                && in_flight.is_some_and(|requests| requests <= MOST_OF_ONE_CALL)
                && self.dialing.is_empty()
                && self.probes.is_empty(),
        }
    }

    /// Takes the reading back where callers cannot do it, or do not any more.
    fn look_after_reading(&mut self, mailbox: &Mailbox<Command>) {
        let there = self
            .reading
            .as_ref()
            .is_some_and(|(dial, _)| self.sockets.iter().any(|socket| socket.dial == *dial));
        if there {
            let awaited = self.awaited(mailbox);
            self.loan.look(clock::now(), awaited);
        } else {
            self.loan.end();
        }
        if self.loan.is_apart() {
            return;
        }
        if let Some((dial, reading)) = self.reading.take() {
            for socket in &mut self.sockets {
                if socket.dial == dial {
                    socket.stream.come_back();
                }
            }
            // A borrower that sleeps now waits for the network thread.
            reading.wake();
        }
    }
}

/// After a panic there may be letters, and guards that believe.
impl<C: Connector> Drop for Driver<C> {
    fn drop(&mut self) {
        for letter in self.letters.drain(..) {
            link::refuse(letter);
        }
        self.engine.abandon(clock::now());
    }
}

fn hung_up() -> io::Error {
    io::Error::other("the server closed the connection")
}

impl<C: Connector> Pilot<Command> for Driver<C> {
    fn pass(&mut self, mailbox: &Mailbox<Command>, context: &mut Context<'_>) -> Pass {
        self.waker.clone_from(context.waker());
        let mut busy = self.take_letters(mailbox, context);
        busy |= self.take_dials(context);
        self.look_after_reading(mailbox);
        busy |= self.read(context);
        busy |= self.act();
        // Before the timers: a request about to leave may be the very news they wait for.
        busy |= self.write(context);
        let now = clock::now();
        if self.engine.next_timeout(now) <= now {
            self.engine.handle_timeout(now);
            busy = true;
        }
        if self.engine.is_finished() {
            Pass::Finished
        } else if busy || self.timer_has_fired(context) {
            Pass::Busy
        } else {
            Pass::Idle
        }
    }

    fn serve(&mut self, mailbox: &Mailbox<Command>) -> bool {
        let now = clock::now();
        let Some(in_flight) = self.engine.in_flight() else {
            return false;
        };
        // What is due, such as the telling of a loss, comes first, and is not the caller's; so do letters
        // that were taken before.
        if in_flight > MOST_BEFORE_A_CALLERS
            || self.engine.next_timeout(now) <= now
            || !self.letters.is_empty()
        {
            return false;
        }
        let mut letters = Vec::from(std::mem::take(&mut self.letters));
        mailbox.take(&mut letters);
        self.letters = letters.into();
        if self.letters.len() > MOST_OF_A_PASS {
            return false;
        }
        self.engine.commands(now, self.letters.drain(..));
        self.unconstrained(Self::finish_for_caller)
    }

    fn lend(&mut self, mailbox: &Mailbox<Command>) -> (Option<Borrowed>, bool) {
        let awaited = self.awaited(mailbox);
        let borrowed = self.borrow(awaited);
        let read = borrowed.is_some() || self.loan.is_read();
        let next = self.next_timeout(clock::now());
        (borrowed, read && self.timer_at <= next)
    }

    fn read(
        &mut self,
        borrower: u64,
        mailbox: &Mailbox<Command>,
        answered: &dyn Fn() -> bool,
    ) -> (Glance, bool) {
        if !self.loan.is_lent_to(borrower) {
            return (Glance::TakenBack, true);
        }
        let done = self.unconstrained(|driver, context| {
            driver.read_for_caller(context);
            driver.finish_for_caller(context)
        });
        match answered() {
            false => (Glance::Unanswered, done),
            true => (Glance::Answered, self.give_back(borrower, mailbox) && done),
        }
    }

    fn give_back(&mut self, borrower: u64, mailbox: &Mailbox<Command>) -> bool {
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
