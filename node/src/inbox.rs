//! Events on their way from the network thread to the JavaScript thread of one environment.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status, sys};
use zoolock::{Error, ErrorKind, Pending};

use crate::event::{Event, Value};

/// Weak: listening alone does not keep the process alive.
pub type Wake = ThreadsafeFunction<(), (), (), Status, false, true>;

/// One queue and one handle of the event loop serve an environment, however many calls wait: the
/// event loop looks at each of its handles on every wake-up.
///
/// Events travel in the queue and not with the wake-up, since an environment that ends leaks what
/// its pending wake-ups carry, and a leaked guard would stay held.
pub struct Inbox {
    queue: Mutex<Queue>,
    wake: Wake,
}

#[derive(Default)]
struct Queue {
    events: Vec<Event>,
    closed: bool,
}

impl Inbox {
    pub fn new(wake: Wake) -> Arc<Inbox> {
        Arc::new(Inbox {
            queue: Mutex::default(),
            wake,
        })
    }

    /// Brings an event to JavaScript; drops it, which releases a guard, if that has ended.
    pub fn push(&self, event: Event) {
        let mut queue = self.lock();
        if queue.closed {
            drop(queue);
            drop(event);
            return;
        }
        let first = queue.events.is_empty();
        queue.events.push(event);
        drop(queue);
        if first {
            // Fails only while the environment ends, and then nobody is there to be woken.
            self.wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }

    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.lock().events)
    }

    /// The environment ends: drops what is queued and what will come.
    pub fn close(&self) {
        let mut queue = self.lock();
        queue.closed = true;
        let unread = std::mem::take(&mut queue.events);
        drop(queue);
        drop(unread);
    }

    /// Whether the event loop stays alive for what will come. On the JavaScript thread only.
    pub fn keep_alive(&self, env: &Env, keep: bool) -> Result<()> {
        let change = if keep {
            sys::napi_ref_threadsafe_function
        } else {
            sys::napi_unref_threadsafe_function
        };
        self.wake.handle.with_read_aborted(|aborted| {
            if aborted {
                return Ok(());
            }
            // SAFETY: on the environment's thread, and not finalised while `aborted` is locked.
            match unsafe { change(env.raw(), self.wake.raw()) } {
                sys::Status::napi_ok => Ok(()),
                status => Err(napi::Error::from_status(Status::from(status))),
            }
        })
    }

    /// Delivers the outcome of `pending` as the event that settles `call`.
    pub fn follow<T: Send + 'static>(
        self: &Arc<Self>,
        call: i64,
        started: zoolock::Result<Pending<T>>,
        value: impl FnOnce(T) -> zoolock::Result<Value> + Send + 'static,
    ) {
        let inbox = Arc::clone(self);
        let spawned = started.and_then(|pending| {
            zoolock::binding::spawn(async move {
                let outcome = pending.await.and_then(value);
                inbox.push(Event::Settled { call, outcome });
            })
        });
        if let Err(error) = spawned {
            self.push(Event::Settled {
                call,
                outcome: Err(error),
            });
        }
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

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
