//! `zoolock.Lock`: the interface of every lock object.

use std::sync::Arc;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use zoolock::binding::TakenHolds;
use zoolock::{Contender, Error, ErrorKind, LockStatistics, Pending, Wait};

use crate::entered::Entered;
use crate::errors::{OrRaise, to_python};
use crate::guard::Guard;
use crate::hold::Hold;
use crate::session::Session;
use crate::unreleased;
use crate::{arguments, contenders, pickling, releasing, statistics, wait};

/// A lock of the core.
pub(crate) enum Handle {
    Mutex(zoolock::Mutex),
    Reentrant(zoolock::ReentrantMutex),
    Side(zoolock::RwLockSide),
}

impl Handle {
    fn acquire(
        &self,
        owner: &zoolock::Owner,
        wait: Wait,
        cancel: Option<&zoolock::Cancel>,
    ) -> Pending<Option<zoolock::Guard>> {
        match self {
            Handle::Mutex(mutex) => mutex.acquire(wait, cancel),
            Handle::Reentrant(mutex) => mutex.acquire(owner, wait, cancel),
            Handle::Side(side) => side.acquire(owner, wait, cancel),
        }
    }

    fn contenders(&self) -> Pending<Vec<Contender>> {
        match self {
            Handle::Mutex(mutex) => mutex.contenders(),
            Handle::Reentrant(mutex) => mutex.contenders(),
            Handle::Side(side) => side.contenders(),
        }
    }

    fn path(&self) -> &str {
        match self {
            Handle::Mutex(mutex) => mutex.path(),
            Handle::Reentrant(mutex) => mutex.path(),
            Handle::Side(side) => side.path(),
        }
    }

    fn statistics(&self) -> LockStatistics {
        match self {
            Handle::Mutex(mutex) => mutex.statistics(),
            Handle::Reentrant(mutex) => mutex.statistics(),
            Handle::Side(side) => side.statistics(),
        }
    }
}

/// What every lock object can do. `Mutex`, `ReentrantMutex` and the two sides of an `RwLock` are
/// locks.
///
/// `with lock as held:` waits for the lock, gives its `Guard`, and releases at the end of the
/// block. Leaving the block raises `LockLost` if the lock was lost meanwhile, and `NotHeld` if it
/// was released inside, unless the body itself raised: its exception is never hidden.
///
/// Without a guard, `release()`, `held` and `fencing_token` act on the hold that the calling
/// thread took last; if it took none, on the object's only unreleased hold; else they raise
/// `NotHeld` (R10).
///
/// `owner` is an `Owner` that takes the lock, or whose hold is meant, instead of the calling thread.
///
/// Ctrl-C interrupts every wait, and no contender is left behind (R5).
#[pyclass(module = "zoolock", subclass, frozen, weakref)]
pub(crate) struct Lock {
    handle: Handle,
    holds: Arc<TakenHolds>,
    entered: Entered,
    /// Keeps the session open, with its callbacks.
    session: Py<Session>,
}

impl Lock {
    pub(crate) fn new(handle: Handle, session: Py<Session>) -> Lock {
        Lock {
            handle,
            holds: Arc::default(),
            entered: Entered::default(),
            session,
        }
    }

    /// Asks for the lock. `None`: a busy try.
    pub(crate) fn start(
        &self,
        owner: &zoolock::Owner,
        wait: Wait,
        cancel: Option<&zoolock::Cancel>,
    ) -> Pending<Option<zoolock::Guard>> {
        self.handle.acquire(owner, wait, cancel)
    }

    /// Notes the hold that was granted as the owner's.
    pub(crate) fn note(
        &self,
        owner: &zoolock::Owner,
        granted: zoolock::Result<Option<zoolock::Guard>>,
    ) -> zoolock::Result<Option<Arc<zoolock::Guard>>> {
        granted.map(|granted| {
            granted.map(|guard| {
                let guard = Arc::new(guard);
                self.holds.push(owner, Arc::clone(&guard));
                guard
            })
        })
    }

    /// Waits for the lock, and notes the hold.
    fn attempt(
        &self,
        py: Python<'_>,
        owner: &zoolock::Owner,
        wait: Wait,
        cancel: Option<&zoolock::Cancel>,
    ) -> PyResult<zoolock::Result<Option<Arc<zoolock::Guard>>>> {
        let granted = wait::for_outcome(py, self.start(owner, wait, cancel))?;
        Ok(self.note(owner, granted))
    }

    pub(crate) fn guard(slf: &Bound<'_, Lock>, guard: Arc<zoolock::Guard>, kept: bool) -> Guard {
        let holds = Arc::clone(&slf.get().holds);
        Guard::new(slf.py(), guard, holds, slf.clone().unbind(), kept)
    }

    /// The guard of what was granted; a busy try is a `LockTimeout`.
    pub(crate) fn given(
        slf: &Bound<'_, Lock>,
        granted: zoolock::Result<Option<Arc<zoolock::Guard>>>,
        kept: bool,
    ) -> PyResult<Guard> {
        match granted.or_raise(slf.py())? {
            Some(guard) => Ok(Lock::guard(slf, guard, kept)),
            None => Err(to_python(
                slf.py(),
                &Error::new(ErrorKind::Timeout, "lock", "somebody else holds it")
                    .with_path(slf.get().handle.path()),
            )),
        }
    }

    /// Waits for the lock; a busy try is a `LockTimeout`.
    pub(crate) fn wait_for(
        slf: &Bound<'_, Lock>,
        owner: &zoolock::Owner,
        wait: Wait,
        cancel: Option<&zoolock::Cancel>,
        kept: bool,
    ) -> PyResult<Guard> {
        let granted = slf.get().attempt(slf.py(), owner, wait, cancel)?;
        Lock::given(slf, granted, kept)
    }

    pub(crate) fn start_list(&self) -> Pending<Vec<Contender>> {
        self.handle.contenders()
    }

    fn list(&self, py: Python<'_>) -> PyResult<Vec<Contender>> {
        wait::for_outcome(py, self.start_list())?.or_raise(py)
    }

    /// The hold to be released that the owner took last; if it took none, the object's only one.
    pub(crate) fn take_hold(&self, owner: &zoolock::Owner) -> zoolock::Result<Arc<zoolock::Guard>> {
        self.holds.take(owner, "release", self.handle.path())
    }

    pub(crate) fn is_held_by(&self, owner: &zoolock::Owner) -> bool {
        self.current(owner, "held")
            .is_ok_and(|guard| guard.is_held())
    }

    pub(crate) fn count_of(&self, owner: &zoolock::Owner) -> zoolock::Result<u64> {
        self.current(owner, "grant_count")
            .map(|guard| guard.grant_count())
    }

    pub(crate) fn token_of(&self, owner: &zoolock::Owner) -> zoolock::Result<i64> {
        self.current(owner, "fencing_token")
            .map(|guard| guard.fencing_token())
    }

    fn current(
        &self,
        owner: &zoolock::Owner,
        operation: &'static str,
    ) -> zoolock::Result<Arc<zoolock::Guard>> {
        self.holds.current(owner, operation, self.handle.path())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.holds.any_is_held() {
            unreleased::warn(&format!("lock object of '{}'", self.handle.path()), None);
        }
    }
}

#[pymethods]
impl Lock {
    /// The lock path, without the session's chroot.
    #[getter]
    pub(crate) fn path(&self) -> &str {
        self.handle.path()
    }

    /// Wait for the lock and return its `Guard`.
    ///
    /// Keep the guard: the lock is released when nothing refers to it any more, so that a call whose
    /// result is not assigned gives the lock up at once. A `with` block needs no name for it.
    ///
    /// `timeout` is in seconds: `None` waits for ever, through outages and session changes; 0 does
    /// not wait for a holder. `cancel` is a `Cancel`, to end the wait from another thread.
    ///
    /// Raises `LockTimeout` (whose `__cause__` is an `Unavailable` if no server could be reached in
    /// that time), `Cancelled`, `Closed`, `NoAuth`, `SequenceExhausted`; of re-entrant and
    /// read-write locks also `LockLost` (the caller holds it already, and lost it) and
    /// `WouldDeadlock` (the holder of only a read lock asks for the write lock).
    #[pyo3(signature = (timeout = None, cancel = None, *, owner = None))]
    fn lock(
        slf: &Bound<'_, Self>,
        timeout: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, PyAny>>,
        owner: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Guard> {
        let wait = arguments::timeout("lock", slf.get().path(), timeout)?;
        let (cancel, owner) = (arguments::cancel(cancel)?, arguments::owner(owner)?);
        Lock::wait_for(slf, &owner, wait, cancel.as_ref(), false)
    }

    /// Take the lock if nobody who excludes it is before us; `None` if somebody is.
    ///
    /// Keep the guard, as with `lock()`: `if guard := lock.try_lock():` holds the lock,
    /// `if lock.try_lock():` gives it up at once.
    ///
    /// Does not wait for a holder: it takes the round trips that it needs, bounded by the
    /// session's `connect_timeout`. Raises as `lock()`, and `Unavailable`.
    #[pyo3(signature = (*, owner = None))]
    fn try_lock(
        slf: &Bound<'_, Self>,
        owner: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Guard>> {
        let (py, owner) = (slf.py(), arguments::owner(owner)?);
        let granted = slf.get().attempt(py, &owner, Wait::Try, None)?;
        let granted = granted.or_raise(py)?;
        Ok(granted.map(|guard| Lock::guard(slf, guard, false)))
    }

    /// A context manager for `with lock.hold(timeout=3) as held:`, which waits at most `timeout`
    /// seconds and raises `LockTimeout` then. Arguments as for `lock()`.
    #[pyo3(signature = (timeout = None, cancel = None, *, owner = None))]
    fn hold(
        slf: &Bound<'_, Self>,
        timeout: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, PyAny>>,
        owner: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Hold> {
        let wait = arguments::timeout("hold", slf.get().path(), timeout)?;
        Ok(Hold::new(
            slf.clone().unbind(),
            wait,
            arguments::cancel(cancel)?,
            arguments::given_owner(owner)?,
        ))
    }

    /// Take the lock as `threading.Lock.acquire` does: True if it was taken.
    ///
    /// `timeout` is in seconds: -1 waits for ever, 0 does not wait for a holder. With
    /// `blocking=False` it does not wait either, and no `timeout` may be given. The hold is this
    /// object's until `release()`. Raises as `lock()`, but returns False at the time-out.
    #[pyo3(
        signature = (blocking = None, timeout = None, *, owner = None),
        text_signature = "($self, blocking=True, timeout=-1, *, owner=None)"
    )]
    fn acquire(
        &self,
        py: Python<'_>,
        blocking: Option<&Bound<'_, PyAny>>,
        timeout: Option<&Bound<'_, PyAny>>,
        owner: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let wait = arguments::acquire_wait(py, self.path(), blocking, timeout)?;
        let owner = arguments::owner(owner)?;
        match self.attempt(py, &owner, wait, None)? {
            Ok(granted) => Ok(granted.is_some()),
            Err(error) if error.kind() == ErrorKind::Timeout => Ok(false),
            Err(error) => Err(to_python(py, &error)),
        }
    }

    /// Release the hold that the calling thread took last; if it took none, the object's only one.
    ///
    /// Returns when the deletion of the contender is confirmed, the session is over, or the lease
    /// would have ended. Raises `NotHeld` (a `RuntimeError`) if there is no such hold, `LockLost`
    /// if it was lost before the call.
    #[pyo3(signature = (*, owner = None))]
    fn release(&self, py: Python<'_>, owner: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let owner = arguments::owner(owner)?;
        let guard = self.take_hold(&owner).or_raise(py)?;
        releasing::release(py, &guard)
    }

    /// Whether anybody, in any process, holds the lock (of a read-write lock: either side). Asks
    /// the server; raises as `contenders()`.
    fn locked(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.list(py)?.iter().any(|contender| contender.holds))
    }

    /// Who queues on the path, holders too, in the order of the queue.
    ///
    /// Asks the server, within the session's `connect_timeout`. Raises `Unavailable`, `NoAuth`,
    /// `Closed`.
    fn contenders(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        contenders::to_python(py, self.list(py)?)
    }

    /// Whether the calling thread's hold may still be believed in (see the class). Never blocks.
    #[getter]
    fn held(&self) -> bool {
        self.is_held_by(&zoolock::Owner::current_thread())
    }

    /// The fencing token of the calling thread's hold (see the class). Raises `NotHeld`.
    #[getter]
    fn fencing_token(&self, py: Python<'_>) -> PyResult<i64> {
        self.token_of(&zoolock::Owner::current_thread())
            .or_raise(py)
    }

    /// The `grant_count` of the calling thread's hold (see `Guard`). Raises `NotHeld`.
    #[getter]
    fn grant_count(&self, py: Python<'_>) -> PyResult<u64> {
        self.count_of(&zoolock::Owner::current_thread())
            .or_raise(py)
    }

    /// What this object has counted, as a `LockStatistics`. Never blocks.
    fn statistics(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        statistics::to_python(py, self.handle.statistics())
    }

    fn __enter__(slf: &Bound<'_, Self>) -> PyResult<Py<Guard>> {
        let owner = zoolock::Owner::current_thread();
        let guard = Lock::wait_for(slf, &owner, Wait::Forever, None, true)?;
        let guard = Py::new(slf.py(), guard)?;
        slf.get().entered.push(guard.clone_ref(slf.py()));
        Ok(guard)
    }

    #[pyo3(signature = (_kind, raised, _traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: Option<&Bound<'_, PyAny>>,
        raised: Option<&Bound<'_, PyAny>>,
        _traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.entered.leave(py, self.handle.path(), raised)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let class = slf.get_type().name()?;
        Ok(format!("<zoolock.{class} path='{}'>", slf.get().path()))
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<()> {
        pickling::refuse(slf.get_type().name()?.to_cow()?.as_ref())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.session)?;
        self.entered.traverse(&visit)
    }

    fn __clear__(&self) {
        self.entered.clear();
    }
}
