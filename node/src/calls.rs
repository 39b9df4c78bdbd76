//! The calls under way in one environment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use napi::Env;
use napi::bindgen_prelude::Function;
use napi_derive::napi;
use tracing::level_filters::LevelFilter;
use zoolock::Cancel;

use crate::event::{Event, EventObject};
use crate::inbox::Inbox;
use crate::logging;

/// An environment (the main thread, or a worker) has one. When it ends, its calls are withdrawn.
#[napi]
pub struct Calls {
    pub(crate) inbox: Arc<Inbox>,
    waiting: Mutex<HashMap<i64, Cancel>>,
}

#[napi]
impl Calls {
    /// `wake` is called when there are events to take.
    #[napi(constructor)]
    pub fn new(wake: Function<(), ()>) -> napi::Result<Calls> {
        let wake = wake
            .build_threadsafe_function::<()>()
            .weak::<true>()
            .callee_handled::<false>()
            .build()?;
        Ok(Calls {
            inbox: Inbox::new(wake),
            waiting: Mutex::default(),
        })
    }

    /// The events that have come since the last time, in their order.
    #[napi]
    pub fn take(&self) -> Vec<EventObject> {
        let events = self.inbox.take();
        for event in &events {
            if let Event::Settled { call, .. } = event {
                self.with_waiting(|waiting| waiting.remove(call));
            }
        }
        events.into_iter().map(EventObject::from).collect()
    }

    /// Whether the event loop has to stay alive.
    #[napi]
    pub fn keep_alive(&self, env: &Env, keep: bool) -> napi::Result<()> {
        self.inbox.keep_alive(env, keep)
    }

    /// Brings the log from this level on, or none of it any more.
    #[napi(ts_args_type = "level?: 'error' | 'warn' | 'info' | 'debug'")]
    pub fn log(&self, level: Option<String>) {
        logging::listen(
            &self.inbox,
            level.as_deref().map_or(LevelFilter::OFF, logging::level),
        );
    }

    /// Cancels a call for a lock; nothing if it has ended.
    #[napi]
    pub fn cancel(&self, call: i64) {
        if let Some(cancel) = self.with_waiting(|waiting| waiting.get(&call).cloned()) {
            cancel.cancel();
        }
    }

    /// Keeps what cancels `call`, until that has settled.
    pub(crate) fn cancellable_unless(
        &self,
        settled: Option<EventObject>,
        call: i64,
        cancel: Cancel,
    ) -> Option<EventObject> {
        if settled.is_none() {
            // Before JavaScript takes any event: it does that on this thread.
            self.with_waiting(|waiting| waiting.insert(call, cancel));
        }
        settled
    }

    fn with_waiting<T>(&self, act: impl FnOnce(&mut HashMap<i64, Cancel>) -> T) -> T {
        act(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        logging::listen(&self.inbox, LevelFilter::OFF);
        self.inbox.close();
        for cancel in self.with_waiting(std::mem::take).into_values() {
            cancel.cancel();
        }
    }
}
