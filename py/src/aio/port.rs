//! Where one event loop's calls wait.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use pyo3::exceptions::PyRuntimeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use super::Call;
use super::inbox::{Inbox, Ringer};

/// The calls that coroutines of one event loop wait for, each with its future.
///
/// Used by the loop's thread only. In a forked child it is the parent's: nothing of it is touched.
#[pyclass(module = "zoolock._native", frozen, weakref)]
pub(crate) struct Port {
    inbox: Arc<Inbox>,
    waiting: Mutex<Waiting>,
    process: u64,
}

#[derive(Default)]
struct Waiting {
    calls: HashMap<u64, (Py<Call>, Py<PyAny>)>,
    last_key: u64,
    closed: bool,
}

impl Port {
    fn waker(&self, key: u64) -> Waker {
        Waker::from(Arc::new(Ringer {
            inbox: Arc::clone(&self.inbox),
            key,
        }))
    }

    // Never held while Python objects are dropped: destructors may run any code.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Port {
    #[new]
    fn new() -> PyResult<Port> {
        Ok(Port {
            inbox: Arc::new(Inbox::new()?),
            waiting: Mutex::default(),
            process: zoolock::binding::process(),
        })
    }

    /// The descriptor that is readable when there is something to take.
    fn fileno(&self) -> RawFd {
        self.inbox.fileno()
    }

    /// Whether it was made by this process, and not by one that forked it.
    fn is_ours(&self) -> bool {
        self.process == zoolock::binding::process()
    }

    /// How many calls wait.
    fn __len__(&self) -> usize {
        self.waiting().calls.len()
    }

    /// Have `take` return `future` when `call` ends: true. False if it has ended already.
    fn wait(&self, call: &Bound<'_, Call>, future: Bound<'_, PyAny>) -> PyResult<bool> {
        let mut waiting = self.waiting();
        if waiting.closed {
            return Err(PyRuntimeError::new_err("Event loop is closed"));
        }
        waiting.last_key += 1;
        let key = waiting.last_key;
        call.get().set_key(key);
        if call.get().poll(&self.waker(key)) {
            return Ok(false);
        }
        let waits = (call.clone().unbind(), future.unbind());
        waiting.calls.insert(key, waits);
        Ok(true)
    }

    /// The futures of the calls that have ended since the last time, in the order of their ends.
    fn take(&self, py: Python<'_>) -> Vec<Py<PyAny>> {
        if !self.is_ours() {
            return Vec::new();
        }
        let mut futures = Vec::new();
        for key in self.inbox.take() {
            // One that is not here was given up.
            let Some((call, future)) = self.waiting().calls.remove(&key) else {
                continue;
            };
            if call.bind(py).get().poll(&self.waker(key)) {
                futures.push(future);
            } else {
                self.waiting().calls.insert(key, (call, future));
            }
        }
        futures
    }

    /// Nobody waits for `call` any more.
    fn forget(&self, call: &Bound<'_, Call>) {
        let forgotten = self.waiting().calls.remove(&call.get().key());
        drop(forgotten);
    }

    /// The loop is closed: all its calls are given up.
    fn close(&self, py: Python<'_>) {
        let mut waiting = self.waiting();
        waiting.closed = true;
        let calls = std::mem::take(&mut waiting.calls);
        drop(waiting);
        for (call, _) in calls.values() {
            call.bind(py).get().abandon();
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.waiting.try_lock() {
            Ok(waiting) => waiting
                .calls
                .values()
                .try_for_each(|(_, future)| visit.call(future)),
            Err(_) => Ok(()),
        }
    }

    fn __clear__(&self) {
        let calls = std::mem::take(&mut self.waiting().calls);
        drop(calls);
    }
}
