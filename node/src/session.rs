//! A session handle.

use std::sync::Arc;

use napi::bindgen_prelude::{Either, i64n};
use napi_derive::napi;
use zoolock::binding::millis;
use zoolock::{LockOptions, Session};

use crate::calls::Calls;
use crate::event::{Event, EventObject, Value};
use crate::failure::Failure;
use crate::lock::{LockHandle, Recipe};
use crate::options::{ConnectOptions, LockOptionsObject};
use crate::outcome::outcome;

/// Settles `call` with a session. Without hosts the environment names them.
#[napi]
pub fn connect(
    calls: &Calls,
    call: i64,
    hosts: Option<String>,
    options: ConnectOptions,
) -> Option<EventObject> {
    let started = options.builder().map(|builder| match hosts {
        Some(hosts) => builder.connect(&hosts),
        None => builder.connect_default(),
    });
    calls
        .inbox
        .follow(call, started, |session| Ok(Value::Session(session)))
}

/// Closes in the background when it is garbage-collected.
#[napi]
pub struct SessionHandle(Session);

impl From<Session> for SessionHandle {
    fn from(session: Session) -> SessionHandle {
        SessionHandle(session)
    }
}

/// Both sides of a read-write lock.
#[napi(object, object_from_js = false)]
pub struct Sides {
    pub read: LockHandle,
    pub write: LockHandle,
}

#[napi]
impl SessionHandle {
    #[napi]
    pub fn mutex(&self, path: String, options: LockOptionsObject) -> Either<LockHandle, Failure> {
        outcome(options.options("mutex").and_then(|options| {
            let lock = self.0.mutex_with(&path, options)?;
            Ok(Recipe::Mutex(lock).into())
        }))
    }

    #[napi]
    pub fn reentrant_mutex(
        &self,
        path: String,
        options: LockOptionsObject,
    ) -> Either<LockHandle, Failure> {
        outcome(options.options("reentrant_mutex").and_then(|options| {
            let lock = self.0.reentrant_mutex_with(&path, options)?;
            Ok(Recipe::Reentrant(lock).into())
        }))
    }

    #[napi]
    pub fn rw_lock(&self, path: String, options: LockOptionsObject) -> Either<Sides, Failure> {
        outcome(options.options("rwlock").and_then(|options: LockOptions| {
            let lock = self.0.rwlock_with(&path, options)?;
            Ok(Sides {
                read: Recipe::Side(lock.read()).into(),
                write: Recipe::Side(lock.write()).into(),
            })
        }))
    }

    #[napi(
        getter,
        ts_return_type = "'connecting' | 'connected' | 'suspended' | 'expired' | 'closed'"
    )]
    pub fn state(&self) -> &'static str {
        self.0.state().name()
    }

    #[napi(getter)]
    pub fn session_id(&self) -> i64n {
        i64n(self.0.session_id())
    }

    #[napi(getter)]
    pub fn negotiated_timeout_ms(&self) -> f64 {
        self.0.negotiated_timeout().as_secs_f64() * 1000.0
    }

    /// Brings an event with the number `session` for every change of state from now on (R16);
    /// of a closed session there is none.
    #[napi]
    pub fn watch_state(&self, calls: &Calls, session: i64) {
        let inbox = Arc::clone(&calls.inbox);
        // Its only error is that the session is closed: then nothing is left to tell.
        let _closed = self
            .0
            .on_state(move |state| inbox.push(Event::State { session, state }));
    }

    /// Settles `call` with nothing (R17).
    #[napi]
    pub fn close(&self, calls: &Calls, call: i64, timeout_ms: Option<f64>) -> Option<EventObject> {
        let started = match timeout_ms {
            None => Ok(self.0.close()),
            Some(value) => {
                millis("close", "timeoutMs", value).map(|limit| self.0.close_timeout(limit))
            }
        };
        calls.inbox.follow(call, started, |()| Ok(Value::Nothing))
    }
}
