//! The `with` blocks that are open on one object, each with the thread that entered it.

use std::sync::{Mutex, PoisonError};
use std::thread::ThreadId;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use zoolock::{Error, ErrorKind};

use crate::errors::to_python;
use crate::guard::Guard;

/// Leaving a block ends exactly the hold that entering it took, whatever was released in between.
///
/// By the operating system's thread and not by owner: in a forked child the block is left by the
/// same thread, which is another owner there. Locked only with the GIL held.
#[derive(Default)]
pub(crate) struct Entered(Mutex<Vec<(ThreadId, Py<Guard>)>>);

impl Entered {
    pub(crate) fn push(&self, guard: Py<Guard>) {
        let here = std::thread::current().id();
        self.stack().push((here, guard));
    }

    /// Ends the hold of the innermost block that the calling thread is in.
    pub(crate) fn leave(
        &self,
        py: Python<'_>,
        path: &str,
        raised: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        match self.pop() {
            Some(guard) => guard.get().leave_block(py, raised),
            None => Err(to_python(
                py,
                &Error::new(
                    ErrorKind::NotHeld,
                    "release",
                    "the calling thread has entered no `with` block of this lock",
                )
                .with_path(path),
            )),
        }
    }

    fn pop(&self) -> Option<Py<Guard>> {
        let here = std::thread::current().id();
        let mut stack = self.stack();
        let innermost = stack.iter().rposition(|(thread, _)| *thread == here)?;
        Some(stack.remove(innermost).1)
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.0.try_lock() {
            Ok(stack) => stack.iter().try_for_each(|(_, guard)| visit.call(guard)),
            Err(_) => Ok(()),
        }
    }

    pub(crate) fn clear(&self) {
        let guards = std::mem::take(&mut *self.stack());
        // Outside the lock: destructors may run any code.
        drop(guards);
    }

    fn stack(&self) -> std::sync::MutexGuard<'_, Vec<(ThreadId, Py<Guard>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
