//! The calls of `zoolock.aio`, started. Each ends as the synchronous one of the same name does.

use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use zoolock::{ErrorKind, Pending, Wait};

use super::Call;
use super::call::{Change, Loss};
use crate::errors::{OrRaise, to_python};
use crate::guard::Guard;
use crate::hold::Hold;
use crate::lock::Lock;
use crate::locks::RwLock;
use crate::options::{BackoffArgument, TlsArgument};
use crate::owner::Owner;
use crate::session::{self, Session};
use crate::{arguments, contenders};

fn nothing(py: Python<'_>, outcome: zoolock::Result<()>) -> PyResult<Py<PyAny>> {
    outcome.or_raise(py).map(|()| py.None())
}

/// A call for the lock; what is made of a busy try is `None`, and up to `make`.
fn attempt(
    lock: &Bound<'_, Lock>,
    wait: Wait,
    cancel: Option<&zoolock::Cancel>,
    owner: &zoolock::Owner,
    make: impl FnOnce(
        Python<'_>,
        &Bound<'_, Lock>,
        zoolock::Result<Option<Arc<zoolock::Guard>>>,
    ) -> PyResult<Py<PyAny>>
    + Send
    + 'static,
) -> Call {
    let pending = lock.get().start(owner, wait, cancel);
    let (lock, owner) = (lock.clone().unbind(), owner.clone());
    Call::of(pending, move |py, outcome| {
        let lock = lock.bind(py);
        let granted = lock.get().note(&owner, outcome);
        make(py, lock, granted)
    })
}

fn guard(py: Python<'_>, guard: Guard) -> PyResult<Py<PyAny>> {
    Py::new(py, guard).map(Py::into_any)
}

/// As `zoolock.connect`, which gives every argument.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "the options of the API; a wrong type is reported under its argument's name"
)]
pub(crate) fn start_connect<'py>(
    py: Python<'py>,
    hosts: Option<Bound<'py, PyAny>>,
    session_timeout: Bound<'py, PyAny>,
    connect_timeout: Bound<'py, PyAny>,
    auth: Option<Bound<'py, PyAny>>,
    tls: Option<TlsArgument<'py>>,
    acl: Option<Bound<'py, PyAny>>,
    identity: Option<Bound<'py, PyAny>>,
    exclusive: Bound<'py, PyAny>,
    backoff: Option<BackoffArgument<'py>>,
    lease_confirmation: Bound<'py, PyAny>,
) -> PyResult<Call> {
    let pending = session::start_connect(
        py,
        hosts,
        crate::options::SessionArguments {
            session_timeout,
            connect_timeout,
            auth,
            tls,
            acl,
            identity,
            exclusive,
            backoff,
            lease_confirmation,
        },
    )?;
    Ok(Call::of(pending, |py, outcome| {
        Py::new(py, Session::new(outcome.or_raise(py)?)).map(Py::into_any)
    }))
}

/// As `Lock.lock`.
#[pyfunction]
pub(crate) fn start_lock(
    lock: &Bound<'_, Lock>,
    timeout: Option<&Bound<'_, PyAny>>,
    cancel: Option<&Bound<'_, PyAny>>,
    owner: &Owner,
) -> PyResult<Call> {
    let wait = arguments::timeout("lock", lock.get().path(), timeout)?;
    let cancel = arguments::cancel(cancel)?;
    Ok(attempt(
        lock,
        wait,
        cancel.as_ref(),
        &owner.0,
        |py, lock, granted| guard(py, Lock::given(lock, granted, false)?),
    ))
}

/// As the entering of a `with` block of the lock.
#[pyfunction]
pub(crate) fn start_block(lock: &Bound<'_, Lock>, owner: &Owner) -> Call {
    attempt(lock, Wait::Forever, None, &owner.0, |py, lock, granted| {
        guard(py, Lock::given(lock, granted, true)?)
    })
}

/// As the entering of a `with` block of what `Lock.hold` returns; `owner` unless it names one.
#[pyfunction]
pub(crate) fn start_hold(py: Python<'_>, hold: &Hold, owner: &Owner) -> Call {
    let owner = hold.owner.as_ref().unwrap_or(&owner.0);
    let (lock, cancel) = (hold.lock.bind(py), hold.cancel.as_ref());
    attempt(lock, hold.wait, cancel, owner, |py, lock, granted| {
        guard(py, Lock::given(lock, granted, true)?)
    })
}

/// As `Lock.try_lock`.
#[pyfunction]
pub(crate) fn start_try_lock(lock: &Bound<'_, Lock>, owner: &Owner) -> Call {
    attempt(
        lock,
        Wait::Try,
        None,
        &owner.0,
        |py, lock, granted| match granted.or_raise(py)? {
            Some(granted) => guard(py, Lock::guard(lock, granted, false)),
            None => Ok(py.None()),
        },
    )
}

/// As `Lock.acquire`.
#[pyfunction]
pub(crate) fn start_acquire(
    lock: &Bound<'_, Lock>,
    blocking: &Bound<'_, PyAny>,
    timeout: &Bound<'_, PyAny>,
    owner: &Owner,
) -> PyResult<Call> {
    let path = lock.get().path();
    let wait = arguments::acquire_wait(lock.py(), path, Some(blocking), Some(timeout))?;
    Ok(attempt(lock, wait, None, &owner.0, |py, _, granted| {
        let taken = match granted {
            Ok(granted) => granted.is_some(),
            Err(error) if error.kind() == ErrorKind::Timeout => false,
            Err(error) => return Err(to_python(py, &error)),
        };
        Ok(taken.into_pyobject(py)?.to_owned().into_any().unbind())
    }))
}

/// As `Lock.release`.
#[pyfunction]
pub(crate) fn start_release(
    py: Python<'_>,
    lock: &Bound<'_, Lock>,
    owner: &Owner,
) -> PyResult<Call> {
    let guard = lock.get().take_hold(&owner.0).or_raise(py)?;
    Ok(Call::of(guard.release_shared(), nothing))
}

/// As `Guard.release`.
#[pyfunction]
pub(crate) fn start_guard_release(guard: &Guard) -> Call {
    Call::of(guard.start_release(), nothing)
}

/// As `contenders` of a `Lock` or an `RwLock`.
#[pyfunction]
pub(crate) fn start_contenders(lock: &Bound<'_, PyAny>) -> PyResult<Call> {
    let pending: Pending<Vec<zoolock::Contender>> = if let Ok(lock) = lock.cast::<Lock>() {
        lock.get().start_list()
    } else if let Ok(lock) = lock.cast::<RwLock>() {
        lock.get().start_list()
    } else {
        return Err(PyTypeError::new_err("not a lock"));
    };
    Ok(Call::of(pending, |py, outcome| {
        let contenders = contenders::to_python(py, outcome.or_raise(py)?)?;
        Ok(contenders.into_pyobject(py)?.unbind())
    }))
}

/// As `Session.close`.
#[pyfunction]
pub(crate) fn start_close(session: &Session, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Call> {
    Ok(Call::of(session.start_close(timeout)?, nothing))
}

/// As `Guard.wait_lost`, and after how many seconds to give up.
#[pyfunction]
pub(crate) fn start_wait_lost(
    guard: &Guard,
    timeout: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Call, Option<f64>)> {
    let limit = arguments::limit("wait_lost", guard.inner().path(), timeout)?;
    let inner = Arc::downgrade(guard.inner());
    let loss = Loss {
        lost: guard.inner().lost(),
        // Waiting for the loss does not keep the lock: what nothing refers to is released.
        state: Box::new(move || {
            inner
                .upgrade()
                .map_or(zoolock::GuardState::Released, |guard| guard.state())
        }),
    };
    Ok((Call::new(loss), limit.map(|limit| limit.as_secs_f64())))
}

/// The changes of a session's state from now on.
#[pyclass(module = "zoolock._native", frozen)]
pub(crate) struct StateWatch(Arc<Mutex<zoolock::StateWatch>>);

#[pymethods]
impl StateWatch {
    #[new]
    fn new(py: Python<'_>, session: &Session) -> PyResult<StateWatch> {
        session.refuse_closed(py, "on_state")?;
        Ok(StateWatch(Arc::new(Mutex::new(
            session.inner().watch_state(),
        ))))
    }

    /// The next one; `None` after "closed".
    fn start_next(&self) -> Call {
        Call::new(Change(Arc::clone(&self.0)))
    }
}

/// As `Lock.held`, of the owner's hold.
#[pyfunction]
pub(crate) fn holds(lock: &Bound<'_, Lock>, owner: &Owner) -> bool {
    lock.get().is_held_by(&owner.0)
}

/// As `Lock.fencing_token`, of the owner's hold.
#[pyfunction]
pub(crate) fn token(py: Python<'_>, lock: &Bound<'_, Lock>, owner: &Owner) -> PyResult<i64> {
    lock.get().token_of(&owner.0).or_raise(py)
}

/// As `Lock.grant_count`, of the owner's hold.
#[pyfunction]
pub(crate) fn count(py: Python<'_>, lock: &Bound<'_, Lock>, owner: &Owner) -> PyResult<u64> {
    lock.get().count_of(&owner.0).or_raise(py)
}

/// Whether a closed session may be entered: raises `Closed`.
#[pyfunction]
pub(crate) fn refuse_closed(py: Python<'_>, session: &Session) -> PyResult<()> {
    session.refuse_closed(py, "enter")
}
