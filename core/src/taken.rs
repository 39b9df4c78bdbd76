//! Which hold a lock object's own `release` ends, where a language names no guard (R10).

use std::convert::Infallible;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::guard::Guard;
use crate::owner::Owner;
use crate::process::PerProcess;
use crate::sync::primitive::Mutex;

/// The unreleased holds of one lock object, each with the thread or task that took it.
///
/// For languages whose lock objects are released without naming a guard. A lost hold stays its
/// taker's until that one releases it, so nobody releases, or reads the token of, somebody else's.
#[derive(Default)]
pub struct TakenHolds(PerProcess<Mutex<Vec<Taken>>>);

struct Taken {
    taker: Owner,
    guard: Arc<Guard>,
}

impl TakenHolds {
    /// None taken.
    pub fn new() -> TakenHolds {
        TakenHolds(PerProcess::new())
    }

    /// Notes that `taker` took this hold.
    pub fn push(&self, taker: &Owner, guard: Arc<Guard>) {
        self.holds().lock().push(Taken {
            taker: taker.clone(),
            guard,
        });
    }

    /// The hold that `taker` took last; if it took none, the object's only one.
    ///
    /// # Errors
    /// `NotHeld` if there is none, or several of others.
    pub fn current(
        &self,
        taker: &Owner,
        operation: &'static str,
        path: &str,
    ) -> Result<Arc<Guard>> {
        let holds = self.holds().lock();
        find(&holds, taker)
            .and_then(|index| holds.get(index))
            .map(|taken| Arc::clone(&taken.guard))
            .ok_or_else(|| not_held(operation, path))
    }

    /// Removes the hold that [`current`](TakenHolds::current) names, to be released.
    ///
    /// # Errors
    /// As for `current`.
    pub fn take(&self, taker: &Owner, operation: &'static str, path: &str) -> Result<Arc<Guard>> {
        let mut holds = self.holds().lock();
        let index = find(&holds, taker).ok_or_else(|| not_held(operation, path))?;
        Ok(holds.remove(index).guard)
    }

    /// Removes a hold that was released through its guard.
    pub fn forget(&self, guard: &Arc<Guard>) {
        self.holds()
            .lock()
            .retain(|taken| !Arc::ptr_eq(&taken.guard, guard));
    }

    /// Whether any of them may still be believed in; false in a forked child, which has none.
    pub fn any_is_held(&self) -> bool {
        self.0
            .get()
            .is_some_and(|holds| holds.lock().iter().any(|taken| taken.guard.is_held()))
    }

    fn holds(&self) -> &Mutex<Vec<Taken>> {
        match self
            .0
            .get_or_try_init(|| Ok::<_, Infallible>(Mutex::new(Vec::new())))
        {
            Ok(holds) => holds,
            Err(never) => match never {},
        }
    }
}

fn find(holds: &[Taken], taker: &Owner) -> Option<usize> {
    holds
        .iter()
        .rposition(|taken| taken.taker == *taker)
        .or_else(|| (holds.len() == 1).then_some(0))
}

fn not_held(operation: &'static str, path: &str) -> Error {
    Error::new(
        ErrorKind::NotHeld,
        operation,
        "the caller holds no lock of this object",
    )
    .with_path(path)
}
