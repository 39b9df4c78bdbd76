//! The kinds of locks.

use pyo3::prelude::*;

use crate::contenders;
use crate::errors::OrRaise;
use crate::lock::{Handle, Lock};
use crate::session::Session;
use crate::{pickling, statistics, wait};

/// A mutex on a lock path: one guard at a time among all processes and languages, granted in the
/// order of arrival. Made by `session.mutex(path)`.
///
/// Not re-entrant: a thread that holds it and locks it again waits for itself. See
/// `ReentrantMutex`.
///
/// >>> with session.mutex("/locks/order/user-123") as held:
/// ...     save(order, fencing_token=held.fencing_token)
#[pyclass(module = "zoolock", extends = Lock, frozen)]
pub(crate) struct Mutex;

/// A mutex that the thread holding it may take again, at no request and with the same token (R11),
/// like `threading.RLock`. Made by `session.reentrant_mutex(path)`.
///
/// Re-entrancy counts per session, path and naming, not per object. The lock is free when every
/// hold is released.
#[pyclass(module = "zoolock", extends = Lock, frozen)]
pub(crate) struct ReentrantMutex;

/// One side of a read-write lock, with a lock's whole interface. See `RwLock`.
#[pyclass(module = "zoolock", extends = Lock, frozen)]
pub(crate) struct RwLockSide;

/// A read-write lock on a lock path: many readers or one writer, in the order of arrival (R7,
/// R12). Made by `session.rwlock(path)`.
///
/// Re-entrant per side for a thread. The thread with the write lock may take the read lock and then
/// release the write lock (downgrade), with no writer in between; a thread with only a read lock
/// that asks for the write lock gets `WouldDeadlock`. It does not exclude a `Mutex` on its path.
///
/// >>> rw = session.rwlock("/locks/catalogue")
/// >>> with rw.read as held:
/// ...     show(catalogue)
#[pyclass(module = "zoolock", frozen, weakref)]
pub(crate) struct RwLock {
    lock: zoolock::RwLock,
    read: Py<RwLockSide>,
    write: Py<RwLockSide>,
}

pub(crate) fn mutex(session: &Bound<'_, Session>, mutex: zoolock::Mutex) -> PyResult<Py<Mutex>> {
    new(session, Handle::Mutex(mutex), Mutex)
}

pub(crate) fn reentrant_mutex(
    session: &Bound<'_, Session>,
    mutex: zoolock::ReentrantMutex,
) -> PyResult<Py<ReentrantMutex>> {
    new(session, Handle::Reentrant(mutex), ReentrantMutex)
}

pub(crate) fn rwlock(session: &Bound<'_, Session>, lock: zoolock::RwLock) -> PyResult<RwLock> {
    Ok(RwLock {
        read: new(session, Handle::Side(lock.read()), RwLockSide)?,
        write: new(session, Handle::Side(lock.write()), RwLockSide)?,
        lock,
    })
}

fn new<T>(session: &Bound<'_, Session>, handle: Handle, kind: T) -> PyResult<Py<T>>
where
    T: pyo3::PyClass<BaseType = Lock>,
{
    let lock = Lock::new(handle, session.clone().unbind());
    Py::new(
        session.py(),
        PyClassInitializer::from(lock).add_subclass(kind),
    )
}

impl RwLock {
    pub(crate) fn start_list(&self) -> zoolock::Pending<Vec<zoolock::Contender>> {
        self.lock.contenders()
    }
}

#[pymethods]
impl RwLock {
    /// The side that many may hold at once.
    #[getter]
    fn read(&self, py: Python<'_>) -> Py<RwLockSide> {
        self.read.clone_ref(py)
    }

    /// The side that excludes all others.
    #[getter]
    fn write(&self, py: Python<'_>) -> Py<RwLockSide> {
        self.write.clone_ref(py)
    }

    /// The lock path, without the session's chroot.
    #[getter]
    fn path(&self) -> &str {
        self.lock.path()
    }

    /// Who queues on the path, readers and writers, in the order of the queue. As
    /// `Lock.contenders()`.
    fn contenders(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let contenders = wait::for_outcome(py, self.start_list())?.or_raise(py)?;
        contenders::to_python(py, contenders)
    }

    /// What both sides have counted, as a `LockStatistics`. Never blocks.
    fn statistics(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        statistics::to_python(py, self.lock.statistics())
    }

    fn __repr__(&self) -> String {
        format!("<zoolock.RwLock path='{}'>", self.path())
    }

    fn __reduce__(&self) -> PyResult<()> {
        pickling::refuse("RwLock")
    }

    fn __traverse__(&self, visit: pyo3::gc::PyVisit<'_>) -> Result<(), pyo3::gc::PyTraverseError> {
        visit.call(&self.read)?;
        visit.call(&self.write)
    }
}
