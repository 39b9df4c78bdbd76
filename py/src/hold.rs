//! What `lock.hold(…)` returns.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use zoolock::Wait;

use crate::entered::Entered;
use crate::guard::Guard;
use crate::lock::Lock;
use crate::pickling;

/// The context manager of `lock.hold(timeout=…)`. Takes the lock when a block is entered, and may
/// be used for several blocks.
#[pyclass(module = "zoolock", frozen)]
pub(crate) struct Hold {
    pub(crate) lock: Py<Lock>,
    pub(crate) wait: Wait,
    pub(crate) cancel: Option<zoolock::Cancel>,
    /// Who takes the lock; if not named, who enters the block.
    pub(crate) owner: Option<zoolock::Owner>,
    entered: Entered,
}

impl Hold {
    pub(crate) fn new(
        lock: Py<Lock>,
        wait: Wait,
        cancel: Option<zoolock::Cancel>,
        owner: Option<zoolock::Owner>,
    ) -> Hold {
        Hold {
            lock,
            wait,
            cancel,
            owner,
            entered: Entered::default(),
        }
    }
}

#[pymethods]
impl Hold {
    fn __enter__(&self, py: Python<'_>) -> PyResult<Py<Guard>> {
        let owner = self
            .owner
            .clone()
            .unwrap_or_else(zoolock::Owner::current_thread);
        let (lock, cancel) = (self.lock.bind(py), self.cancel.as_ref());
        let guard = Lock::wait_for(lock, &owner, self.wait, cancel, true)?;
        let guard = Py::new(py, guard)?;
        self.entered.push(guard.clone_ref(py));
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
        self.entered.leave(py, self.lock.get().path(), raised)
    }

    fn __reduce__(&self) -> PyResult<()> {
        pickling::refuse("Hold")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.lock)?;
        self.entered.traverse(&visit)
    }

    fn __clear__(&self) {
        self.entered.clear();
    }
}
