//! A call of the core that a coroutine waits for.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use zoolock::{GuardState, Lost, Pending, StateWatch};

/// Makes the outcome a Python object, or an exception, in the coroutine that takes it.
type Made = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// What can be waited for.
pub(crate) trait Awaited: Send {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Made>;
}

/// A call under way; dropping it withdraws it.
#[pyclass(module = "zoolock._native", frozen)]
pub(crate) struct Call {
    stage: Mutex<Stage>,
    /// Its number in the port that it waits in.
    key: AtomicU64,
}

enum Stage {
    Waiting(Box<dyn Awaited>),
    Ended(Made),
    /// The outcome was taken, or nobody wants it.
    Over,
}

impl Call {
    pub(crate) fn new(awaited: impl Awaited + 'static) -> Call {
        Call {
            stage: Mutex::new(Stage::Waiting(Box::new(awaited))),
            key: AtomicU64::new(0),
        }
    }

    pub(crate) fn of<T: Send + 'static>(
        pending: Pending<T>,
        make: impl FnOnce(Python<'_>, zoolock::Result<T>) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> Call {
        Call::new(Outcome {
            pending,
            make: Some(make),
        })
    }

    pub(crate) fn key(&self) -> u64 {
        self.key.load(Ordering::Relaxed)
    }

    pub(crate) fn set_key(&self, key: u64) {
        self.key.store(key, Ordering::Relaxed);
    }

    /// Whether it has ended; `waker` is woken when it does.
    pub(crate) fn poll(&self, waker: &Waker) -> bool {
        let mut stage = self.stage();
        if let Stage::Waiting(awaited) = &mut *stage {
            match awaited.poll(&mut Context::from_waker(waker)) {
                Poll::Pending => return false,
                Poll::Ready(made) => *stage = Stage::Ended(made),
            }
        }
        true
    }

    fn replace(&self, with: Stage) -> Stage {
        std::mem::replace(&mut *self.stage(), with)
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Call {
    /// Whether the outcome is there to be taken.
    #[getter]
    fn ended(&self) -> bool {
        matches!(&*self.stage(), Stage::Ended(_))
    }

    /// Whether it has ended, without having anybody woken when it does.
    fn ended_at_once(&self) -> bool {
        self.poll(Waker::noop())
    }

    /// The outcome, once: returned, or raised.
    fn take(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.replace(Stage::Over) {
            Stage::Ended(made) => made(py),
            _ => Err(PyRuntimeError::new_err(
                "the event loop of this call is closed, or has not seen its end",
            )),
        }
    }

    /// Nobody wants the outcome: an attempt is withdrawn, a lock granted is released.
    pub(crate) fn abandon(&self) {
        drop(self.replace(Stage::Over));
    }
}

struct Outcome<T, F> {
    pending: Pending<T>,
    make: Option<F>,
}

impl<T, F> Awaited for Outcome<T, F>
where
    T: Send + 'static,
    F: FnOnce(Python<'_>, zoolock::Result<T>) -> PyResult<Py<PyAny>> + Send + 'static,
{
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Made> {
        let outcome = std::task::ready!(Pin::new(&mut self.pending).poll(context));
        let make = self.make.take();
        Poll::Ready(Box::new(move |py| match make {
            Some(make) => make(py, outcome),
            None => Err(PyRuntimeError::new_err("the outcome was taken before")),
        }))
    }
}

/// The end of a guard: true if it is lost, false if it is released.
pub(crate) struct Loss {
    pub(crate) lost: Lost,
    pub(crate) state: Box<dyn Fn() -> GuardState + Send>,
}

impl Awaited for Loss {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Made> {
        let lost = Pin::new(&mut self.lost).poll(context).is_ready();
        if !lost && (self.state)() != GuardState::Released {
            return Poll::Pending;
        }
        Poll::Ready(Box::new(move |py| {
            Ok(lost.into_pyobject(py)?.to_owned().into_any().unbind())
        }))
    }
}

/// The next change of a session's state; `None` after the last.
pub(crate) struct Change(pub(crate) Arc<Mutex<StateWatch>>);

impl Awaited for Change {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Made> {
        let mut watch = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A wait that is given up loses no change.
        let state = std::task::ready!(pin!(watch.changed()).poll(context));
        Poll::Ready(Box::new(move |py| {
            Ok(state
                .map(zoolock::SessionState::name)
                .into_pyobject(py)?
                .unbind())
        }))
    }
}
