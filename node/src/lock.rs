//! The three recipes, seen alike.

use napi_derive::napi;
use zoolock::{
    Cancel, Contender, Error, ErrorKind, Guard, LockStatistics, Mutex, Pending, ReentrantMutex,
    RwLockSide, Wait,
};

use crate::calls::Calls;
use crate::event::{EventObject, Value};
use crate::options::timeout;
use crate::owner::Owner;
use crate::statistics::StatisticsObject;

/// A lock, or one side of a read-write lock.
#[napi]
pub struct LockHandle(Recipe);

#[derive(Clone)]
pub enum Recipe {
    Mutex(Mutex),
    Reentrant(ReentrantMutex),
    Side(RwLockSide),
}

impl Recipe {
    /// Without an owner the call is an owner of its own (R11).
    fn acquire(
        &self,
        owner: Option<&Owner>,
        wait: Wait,
        cancel: &Cancel,
    ) -> Pending<Option<Guard>> {
        let owner = || owner.map_or_else(zoolock::Owner::new, |owner| owner.0.clone());
        match self {
            Recipe::Mutex(lock) => lock.acquire(wait, Some(cancel)),
            Recipe::Reentrant(lock) => lock.acquire(&owner(), wait, Some(cancel)),
            Recipe::Side(lock) => lock.acquire(&owner(), wait, Some(cancel)),
        }
    }

    fn contenders(&self) -> Pending<Vec<Contender>> {
        match self {
            Recipe::Mutex(lock) => lock.contenders(),
            Recipe::Reentrant(lock) => lock.contenders(),
            Recipe::Side(lock) => lock.contenders(),
        }
    }

    fn statistics(&self) -> LockStatistics {
        match self {
            Recipe::Mutex(lock) => lock.statistics(),
            Recipe::Reentrant(lock) => lock.statistics(),
            Recipe::Side(lock) => lock.statistics(),
        }
    }

    fn path(&self) -> &str {
        match self {
            Recipe::Mutex(lock) => lock.path(),
            Recipe::Reentrant(lock) => lock.path(),
            Recipe::Side(lock) => lock.path(),
        }
    }
}

impl From<Recipe> for LockHandle {
    fn from(recipe: Recipe) -> LockHandle {
        LockHandle(recipe)
    }
}

#[napi]
impl LockHandle {
    /// Settles `call` with a guard. Without a time-out it waits for ever.
    #[napi]
    pub fn lock(
        &self,
        calls: &Calls,
        call: i64,
        timeout_ms: Option<f64>,
        owner: Option<&Owner>,
    ) -> Option<EventObject> {
        let lock = self.0.clone();
        let cancel = Cancel::new();
        let started = timeout("lock", timeout_ms)
            .map(|wait| lock.acquire(owner, wait, &cancel))
            .map_err(|error| error.with_path(lock.path()));
        let settled = calls.inbox.follow(call, started, move |guard| {
            guard
                .map(|guard| Value::Guard(Some(guard)))
                .ok_or_else(|| busy(lock.path()))
        });
        calls.cancellable_unless(settled, call, cancel)
    }

    /// Settles `call` with a guard, or with nothing if the lock is busy.
    #[napi]
    pub fn try_lock(&self, calls: &Calls, call: i64, owner: Option<&Owner>) -> Option<EventObject> {
        let cancel = Cancel::new();
        let pending = self.0.acquire(owner, Wait::Try, &cancel);
        let settled = calls
            .inbox
            .follow(call, Ok(pending), |guard| Ok(Value::Guard(guard)));
        calls.cancellable_unless(settled, call, cancel)
    }

    /// Settles `call` with those who queue.
    #[napi]
    pub fn contenders(&self, calls: &Calls, call: i64) -> Option<EventObject> {
        calls
            .inbox
            .follow(call, Ok(self.0.contenders()), |contenders| {
                Ok(Value::Contenders(contenders))
            })
    }

    /// What this lock has counted; both sides together of a read-write lock.
    #[napi]
    pub fn statistics(&self) -> StatisticsObject {
        self.0.statistics().into()
    }
}

fn busy(path: &str) -> Error {
    Error::new(ErrorKind::Timeout, "lock", "somebody else holds it").with_path(path)
}
