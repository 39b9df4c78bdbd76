//! `zoolock.Guard`.

use std::sync::Arc;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use zoolock::Pending;
use zoolock::binding::TakenHolds;

use crate::arguments;
use crate::callbacks::Callbacks;
use crate::errors::OrRaise;
use crate::lock::Lock;
use crate::unreleased::{self, Origin};
use crate::{pickling, releasing, wait};

/// A lock that was granted.
///
/// A context manager that releases at the end of the block. What the lock protects should check
/// the `fencing_token`, and stop when the guard is lost. A guard from `lock()` or `try_lock()`
/// that is dropped releases the lock in the background. In a forked child an inherited guard is
/// lost.
///
/// >>> with lock.lock(timeout=3) as guard:
/// ...     save(order, fencing_token=guard.fencing_token)
#[pyclass(module = "zoolock", frozen, weakref)]
pub(crate) struct Guard {
    guard: Arc<zoolock::Guard>,
    // After `guard`: see there.
    callbacks: Callbacks,
    holds: Arc<TakenHolds>,
    /// Keeps the session open.
    lock: Py<Lock>,
    /// The hold is the lock object's, as with `acquire()`: it does not end with this object.
    kept: bool,
    origin: Origin,
}

impl Guard {
    pub(crate) fn new(
        py: Python<'_>,
        guard: Arc<zoolock::Guard>,
        holds: Arc<TakenHolds>,
        lock: Py<Lock>,
        kept: bool,
    ) -> Guard {
        Guard {
            guard,
            callbacks: Callbacks::default(),
            holds,
            lock,
            kept,
            origin: Origin::here(py),
        }
    }

    pub(crate) fn inner(&self) -> &Arc<zoolock::Guard> {
        &self.guard
    }

    /// Begins to release, by the guard and no more by the lock object.
    pub(crate) fn start_release(&self) -> Pending<()> {
        self.holds.forget(&self.guard);
        self.guard.release_shared()
    }

    /// Ends the hold that a `with` block began.
    pub(crate) fn leave_block(
        &self,
        py: Python<'_>,
        raised: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.holds.forget(&self.guard);
        releasing::leave_block(py, &self.guard, raised)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        self.holds.forget(&self.guard);
        if self.guard.is_held() {
            let what = format!(
                "zoolock.Guard of '{}', node_path='{}'",
                self.guard.path(),
                self.guard.node_path()
            );
            unreleased::warn(&what, Some(&self.origin));
        }
    }
}

#[pymethods]
impl Guard {
    /// The fencing token (R2): a positive int of at most 63 bits, unique in the ensemble, rising
    /// from grant to grant on a path. A re-entrant grant and a downgraded read repeat it.
    #[getter]
    fn fencing_token(&self) -> i64 {
        self.guard.fencing_token()
    }

    /// The second part of the token of a lock with `keep`: of the grants of this contender, which this
    /// is, from 1. The pair `(fencing_token, grant_count)` rises from grant to grant on a path, and a
    /// resource has to compare it whole (R2). Without `keep` it is 1.
    #[getter]
    fn grant_count(&self) -> u64 {
        self.guard.grant_count()
    }

    /// Whether the lock may still be believed in: true in the states "held" and "suspended".
    /// Compares the clock at the call (R3); never blocks.
    #[getter]
    fn held(&self) -> bool {
        self.guard.is_held()
    }

    /// "held", "suspended" (the connection is in doubt, the lease still runs), "lost" or
    /// "released". Never blocks.
    #[getter]
    fn state(&self) -> &'static str {
        self.guard.state().name()
    }

    /// The lock path, without the session's chroot.
    #[getter]
    fn path(&self) -> &str {
        self.guard.path()
    }

    /// The contender's node, without the session's chroot.
    #[getter]
    fn node_path(&self) -> &str {
        self.guard.node_path()
    }

    /// Raise `LockLost` if the lock was lost, `NotHeld` if it was released. Never blocks.
    fn ensure_held(&self, py: Python<'_>) -> PyResult<()> {
        self.guard.ensure_held().or_raise(py)
    }

    /// Call `callback()` once when the lock is lost (R4), soon if it is already; never after a
    /// release.
    ///
    /// It runs on zoolock's callback thread, one callback at a time. An exception in it goes to
    /// `sys.unraisablehook`.
    fn on_lost(&self, callback: Bound<'_, PyAny>) -> PyResult<()> {
        let registered = self.callbacks.register(arguments::callback(callback)?);
        self.guard.on_lost(move || registered.call_once());
        Ok(())
    }

    /// Block until the lock is lost, at most `timeout` seconds (for ever if `None`).
    ///
    /// True if it is lost; False at the time-out, or if it was released. Ctrl-C interrupts it.
    #[pyo3(signature = (timeout = None))]
    fn wait_lost(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let limit = arguments::limit("wait_lost", self.guard.path(), timeout)?;
        wait::for_loss(py, &self.guard, limit)
    }

    /// Release the lock (R10). Belief ends at once; returns when the deletion of the contender is
    /// confirmed, the session is over, or the lease would have ended. From any thread.
    ///
    /// Raises `LockLost` if the lock was lost before the call, `NotHeld` on a second release.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.holds.forget(&self.guard);
        releasing::release(py, &self.guard)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (_kind, raised, _traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: Option<&Bound<'_, PyAny>>,
        raised: Option<&Bound<'_, PyAny>>,
        _traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.leave_block(py, raised)
    }

    fn __repr__(&self) -> String {
        format!(
            "<zoolock.Guard {} node_path='{}' fencing_token={}>",
            self.state(),
            self.node_path(),
            self.fencing_token()
        )
    }

    fn __reduce__(&self) -> PyResult<()> {
        pickling::refuse("Guard")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.lock)?;
        self.callbacks.traverse(&visit)
    }

    fn __clear__(&self) {
        self.callbacks.clear();
    }
}
