//! `zoolock.Owner`.

use pyo3::prelude::*;

use crate::pickling;

/// Who holds a lock: for re-entrant and read-write locks, who may take it again (R11, R12); for
/// every lock, whose hold `release()` ends (R10).
///
/// Left out, the owner is the calling thread, in `zoolock.aio` the running task. Give one where a
/// lock has to be taken, or taken again, by another thread or task for the same purpose: before
/// Python 3.12 `asyncio.wait_for` runs what it is given in a task of its own. Every `Owner()` is
/// somebody else.
///
/// >>> owner = zoolock.Owner()
/// >>> guard = await asyncio.wait_for(lock.lock(owner=owner), 3)
/// >>> again = await lock.lock(owner=owner)
#[pyclass(module = "zoolock", frozen, eq, hash, weakref)]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Owner(pub(crate) zoolock::Owner);

#[pymethods]
impl Owner {
    #[new]
    fn new() -> Owner {
        Owner(zoolock::Owner::new())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        format!("<zoolock.Owner at {:p}>", slf.as_ptr())
    }

    fn __reduce__(&self) -> PyResult<()> {
        pickling::refuse("Owner")
    }
}
