//! A held lock.

use std::sync::Arc;

use napi::bindgen_prelude::{BigInt, i64n};
use napi_derive::napi;
use zoolock::Guard;

use crate::calls::Calls;
use crate::event::{Event, EventObject, Value};
use crate::failure::Failure;

/// Released in the background when it is garbage-collected (R10).
#[napi]
pub struct GuardHandle(Guard);

impl From<Guard> for GuardHandle {
    fn from(guard: Guard) -> GuardHandle {
        GuardHandle(guard)
    }
}

#[napi]
impl GuardHandle {
    #[napi(getter)]
    pub fn fencing_token(&self) -> i64n {
        i64n(self.0.fencing_token())
    }

    #[napi(getter)]
    pub fn grant_count(&self) -> BigInt {
        BigInt::from(self.0.grant_count())
    }

    #[napi(getter)]
    pub fn node_path(&self) -> &str {
        self.0.node_path()
    }

    #[napi(getter)]
    pub fn held(&self) -> bool {
        self.0.is_held()
    }

    #[napi(getter, ts_return_type = "'held' | 'suspended' | 'lost' | 'released'")]
    pub fn state(&self) -> &'static str {
        self.0.state().name()
    }

    /// Why it is not held, or nothing.
    #[napi]
    pub fn ensure_held(&self) -> Option<Failure> {
        self.0.ensure_held().err().map(Failure::from)
    }

    /// Why the section that it protects has to end, or nothing. Nobody has called for that.
    #[napi]
    pub fn lost_because(&self) -> Option<Failure> {
        let why = self.0.ensure_held().err()?;
        Some(why.with_operation("hold").into())
    }

    /// Brings one event with the number `guard` when the lock is lost (R4).
    #[napi]
    pub fn watch_lost(&self, calls: &Calls, guard: i64) {
        let inbox = Arc::clone(&calls.inbox);
        self.0.on_lost(move || inbox.push(Event::Lost { guard }));
    }

    /// Settles `call` with nothing.
    #[napi]
    pub fn release(&self, calls: &Calls, call: i64) -> Option<EventObject> {
        calls
            .inbox
            .follow(call, Ok(self.0.release_shared()), |()| Ok(Value::Nothing))
    }
}
