//! Events on their way from the network thread to the JavaScript thread of one environment.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status, sys};
use tracing::level_filters::LevelFilter;
use zoolock::{Error, ErrorKind, Pending};

use crate::event::{Event, EventObject, Value};
use crate::logging::Record;

/// Weak: listening alone does not keep the process alive.
pub type Wake = ThreadsafeFunction<(), (), (), Status, false, true>;

/// One queue and one handle of the event loop serve an environment, however many calls wait: the
/// event loop looks at each of its handles on every wake-up.
///
/// Events travel in the queue and not with the wake-up, since an environment that ends leaks what
/// its pending wake-ups carry, and a leaked guard would stay held.
pub struct Inbox {
    queue: Mutex<Queue>,
    /// Nothing once the environment ends. Only its own thread takes it away and lets it go: the
    /// last reference must not be dropped on another thread while Node frees what it refers to.
    /// Beside the queue, whose lock the thread that is woken wants at once.
    wake: Mutex<Option<Wake>>,
}

#[derive(Default)]
struct Queue {
    events: Vec<Event>,
    /// Records of the log among them.
    records: usize,
    /// Records that found no place since the last time.
    dropped: u64,
    /// From which level on they are wanted; nobody listens without one.
    listening: Option<LevelFilter>,
    /// The environment ends: nobody takes what comes.
    closed: bool,
}

/// The log of a thread that takes nothing may not grow for ever.
const MOST_RECORDS: usize = 1000;

impl Inbox {
    pub fn new(wake: Wake) -> Arc<Inbox> {
        Arc::new(Inbox {
            queue: Mutex::default(),
            wake: Mutex::new(Some(wake)),
        })
    }

    /// Brings an event to JavaScript; drops it, which releases a guard, if that has ended.
    pub fn push(&self, event: Event) {
        let queue = self.queue();
        if queue.closed {
            drop(queue);
            drop(event);
            return;
        }
        self.push_into(queue, event);
    }

    /// Brings a record of the log to JavaScript, unless too many wait.
    pub fn push_record(&self, record: Record) {
        let mut queue = self.queue();
        if queue.listening.is_none_or(|from| record.level() > from) {
            return;
        }
        if queue.records >= MOST_RECORDS {
            queue.dropped += 1;
        } else if !queue.closed {
            queue.records += 1;
            self.push_into(queue, Event::Logged(record));
        }
    }

    /// From which level on the log is wanted from now on. What waits to be taken is no exception: it
    /// would come to a listener that did not ask for it.
    pub fn listen(&self, level: LevelFilter) {
        let mut queue = self.queue();
        let queue = &mut *queue;
        queue.listening = Some(level).filter(|level| *level != LevelFilter::OFF);
        queue.dropped = 0;
        queue.records = 0;
        let (listening, records) = (queue.listening, &mut queue.records);
        queue.events.retain(|event| {
            let Event::Logged(record) = event else {
                return true;
            };
            let wanted = listening.is_some_and(|from| record.level() <= from);
            *records += usize::from(wanted);
            wanted
        });
    }

    /// Wakes the event loop for the first event: it takes all at once.
    fn push_into(&self, mut queue: MutexGuard<'_, Queue>, event: Event) {
        let first = queue.events.is_empty();
        queue.events.push(event);
        drop(queue);
        if first && let Some(wake) = &*self.wake() {
            // Fails only while the environment ends, and then nobody is there to be woken.
            wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }

    pub fn take(&self) -> Vec<Event> {
        let mut queue = self.queue();
        let mut events = std::mem::take(&mut queue.events);
        queue.records = 0;
        let dropped = std::mem::take(&mut queue.dropped);
        let listening = queue.listening;
        drop(queue);
        if dropped > 0 {
            events.push(Event::Logged(Record::dropped(dropped, listening)));
        }
        events
    }

    /// The environment ends: drops what is queued and what will come. On its own thread only.
    pub fn close(&self) {
        let mut queue = self.queue();
        queue.closed = true;
        let unread = std::mem::take(&mut queue.events);
        drop(queue);
        let wake = self.wake().take();
        drop(wake);
        drop(unread);
    }

    /// Whether the event loop stays alive for what will come. On the JavaScript thread only.
    pub fn keep_alive(&self, env: &Env, keep: bool) -> Result<()> {
        let change = if keep {
            sys::napi_ref_threadsafe_function
        } else {
            sys::napi_unref_threadsafe_function
        };
        let wake = self.wake();
        let Some(wake) = &*wake else {
            return Ok(());
        };
        wake.handle.with_read_aborted(|aborted| {
            if aborted {
                return Ok(());
            }
            // SAFETY: on the environment's thread, and not finalised while `aborted` is locked.
            match unsafe { change(env.raw(), wake.raw()) } {
                sys::Status::napi_ok => Ok(()),
                status => Err(napi::Error::from_status(Status::from(status))),
            }
        })
    }

    /// The event that settles `call`, if its outcome is there already: then no other thread is
    /// troubled. Else it is delivered.
    pub fn follow<T: Send + 'static>(
        self: &Arc<Self>,
        call: i64,
        started: zoolock::Result<Pending<T>>,
        value: impl FnOnce(T) -> zoolock::Result<Value> + Send + 'static,
    ) -> Option<EventObject> {
        let settled = |outcome| Some(Event::Settled { call, outcome }.into());
        let mut pending = match started {
            Ok(pending) => pending,
            Err(error) => return settled(Err(error)),
        };
        let mut nobody = Context::from_waker(Waker::noop());
        if let Poll::Ready(outcome) = Pin::new(&mut pending).poll(&mut nobody) {
            return settled(outcome.and_then(value));
        }
        let inbox = Arc::clone(self);
        zoolock::binding::follow(pending, move |outcome| {
            let outcome = outcome.and_then(value);
            inbox.push(Event::Settled { call, outcome });
        });
        None
    }

    /// Runs `work`, which may block, on a thread of its own, and delivers its outcome as the event
    /// that settles `call`.
    pub fn run(
        self: &Arc<Self>,
        operation: &'static str,
        call: i64,
        work: impl FnOnce() -> zoolock::Result<Value> + Send + 'static,
    ) {
        let inbox = Arc::clone(self);
        let spawned = thread::Builder::new().spawn(move || {
            let outcome = work();
            inbox.push(Event::Settled { call, outcome });
        });
        if let Err(error) = spawned {
            let message = format!("cannot start a thread: {error}");
            self.push(Event::Settled {
                call,
                outcome: Err(Error::new(ErrorKind::Unavailable, operation, message)),
            });
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) -> MutexGuard<'_, Option<Wake>> {
        self.wake.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
