//! `zoolock.Session`, and the native half of `zoolock.connect`.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use zoolock::{Error, ErrorKind, Pending, SessionState};

use crate::callbacks::Callbacks;
use crate::errors::OrRaise;
use crate::locks::{Mutex, ReentrantMutex, RwLock};
use crate::options::{BackoffArgument, SessionArguments, TlsArgument};
use crate::{arguments, locks, options, pickling, wait};

/// A session with a ZooKeeper ensemble, opened by `zoolock.connect`.
///
/// A context manager that closes at the end of the block. Safe to use from any thread. Sessions
/// opened in one process with equal options share one ZooKeeper session (R16). In a forked child
/// the object opens a session of the child's own on first use (R18).
#[pyclass(module = "zoolock", frozen, weakref)]
pub(crate) struct Session {
    session: zoolock::Session,
    // After `session`: see there.
    callbacks: Callbacks,
}

/// See `zoolock.connect`, which gives every argument.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "the options of the API; a wrong type is reported under its argument's name"
)]
pub(crate) fn connect<'py>(
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
) -> PyResult<Session> {
    let arguments = SessionArguments {
        session_timeout,
        connect_timeout,
        auth,
        tls,
        acl,
        identity,
        exclusive,
        backoff,
        lease_confirmation,
    };
    let pending = start_connect(py, hosts, arguments)?;
    Ok(Session::new(wait::for_outcome(py, pending)?.or_raise(py)?))
}

/// Begins to connect.
pub(crate) fn start_connect<'py>(
    py: Python<'py>,
    hosts: Option<Bound<'py, PyAny>>,
    given: SessionArguments<'py>,
) -> PyResult<Pending<zoolock::Session>> {
    let builder = options::session(py, given)?;
    Ok(match hosts {
        Some(hosts) => builder.connect(&arguments::text("connect", "hosts", &hosts)?),
        None => builder.connect_default(),
    })
}

impl Session {
    pub(crate) fn new(session: zoolock::Session) -> Session {
        Session {
            session,
            callbacks: Callbacks::default(),
        }
    }

    pub(crate) fn inner(&self) -> &zoolock::Session {
        &self.session
    }

    /// Begins to close.
    pub(crate) fn start_close(&self, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Pending<()>> {
        Ok(match timeout {
            Some(timeout) => {
                let timeout = arguments::seconds("close", "timeout", timeout)?;
                self.session.close_timeout(timeout)
            }
            None => self.session.close(),
        })
    }

    /// Raises `Closed` if it is.
    pub(crate) fn refuse_closed(&self, py: Python<'_>, operation: &'static str) -> PyResult<()> {
        if self.session.state() != SessionState::Closed {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Closed,
            operation,
            "the session is closed",
        ))
        .or_raise(py)
    }
}

#[pymethods]
impl Session {
    /// A mutex on `path`. Nothing is sent.
    ///
    /// `naming` ("curator" or "kazoo") is how contenders are named, `data` (bytes or str, at most
    /// 512 KiB) their data instead of the session's identity, `acl` as for `connect`. `keep` (seconds,
    /// 0.001 to a day; off by default) keeps the contender at a release, so that the next acquire in
    /// this process costs no request, until nobody here has used it for so long or anybody else comes;
    /// the token is then the pair `(fencing_token, grant_count)` (R2).
    ///
    /// Raises `InvalidArgument` for a bad path or option, `Closed`.
    #[pyo3(
        signature = (path, *, naming = None, data = None, acl = None, keep = None),
        text_signature = "($self, path, *, naming='curator', data=None, acl=None, keep=None)"
    )]
    fn mutex(
        slf: &Bound<'_, Self>,
        path: &Bound<'_, PyAny>,
        naming: Option<&Bound<'_, PyAny>>,
        data: Option<&Bound<'_, PyAny>>,
        acl: Option<&Bound<'_, PyAny>>,
        keep: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<Mutex>> {
        let path = arguments::text("mutex", "path", path)?;
        let options = options::lock("mutex", naming, data, acl, keep)?;
        let mutex = slf.get().session.mutex_with(&path, options);
        locks::mutex(slf, mutex.or_raise(slf.py())?)
    }

    /// A re-entrant mutex on `path`; its owners are threads. As `mutex` otherwise.
    #[pyo3(
        signature = (path, *, naming = None, data = None, acl = None, keep = None),
        text_signature = "($self, path, *, naming='curator', data=None, acl=None, keep=None)"
    )]
    fn reentrant_mutex(
        slf: &Bound<'_, Self>,
        path: &Bound<'_, PyAny>,
        naming: Option<&Bound<'_, PyAny>>,
        data: Option<&Bound<'_, PyAny>>,
        acl: Option<&Bound<'_, PyAny>>,
        keep: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<ReentrantMutex>> {
        let path = arguments::text("reentrant_mutex", "path", path)?;
        let options = options::lock("reentrant_mutex", naming, data, acl, keep)?;
        let mutex = slf.get().session.reentrant_mutex_with(&path, options);
        locks::reentrant_mutex(slf, mutex.or_raise(slf.py())?)
    }

    /// A read-write lock on `path`; its owners are threads. As `mutex` otherwise.
    #[pyo3(
        signature = (path, *, naming = None, data = None, acl = None),
        text_signature = "($self, path, *, naming='curator', data=None, acl=None)"
    )]
    fn rwlock(
        slf: &Bound<'_, Self>,
        path: &Bound<'_, PyAny>,
        naming: Option<&Bound<'_, PyAny>>,
        data: Option<&Bound<'_, PyAny>>,
        acl: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<RwLock> {
        let path = arguments::text("rwlock", "path", path)?;
        let options = options::lock("rwlock", naming, data, acl, None)?;
        let lock = slf.get().session.rwlock_with(&path, options);
        locks::rwlock(slf, lock.or_raise(slf.py())?)
    }

    /// "connecting", "connected", "suspended", "expired" or "closed", at this moment.
    #[getter]
    fn state(&self) -> &'static str {
        self.session.state().name()
    }

    /// Call `callback(state)` with every change of state from now on, in order.
    ///
    /// It runs on zoolock's callback thread, one callback at a time. An exception in it goes to
    /// `sys.unraisablehook`.
    fn on_state(&self, callback: Bound<'_, PyAny>) -> PyResult<()> {
        let py = callback.py();
        let registered = self.callbacks.register(arguments::callback(callback)?);
        self.session
            .on_state(move |state| registered.call(state.name()))
            .or_raise(py)
    }

    /// The id that the ensemble knows the session by, a signed 64-bit number; 0 before there is
    /// one.
    #[getter]
    fn session_id(&self) -> i64 {
        self.session.session_id()
    }

    /// The session timeout that the ensemble has granted, in seconds; 0 before there is one.
    #[getter]
    fn negotiated_timeout(&self) -> f64 {
        self.session.negotiated_timeout().as_secs_f64()
    }

    /// Close the session (R17), within `timeout` seconds: its guards are lost, its waiting calls
    /// raise `Closed`, its contenders are freed, in the background if the time is up. Idempotent.
    #[pyo3(signature = (timeout = None), text_signature = "($self, timeout=5)")]
    fn close(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let pending = self.start_close(timeout)?;
        wait::for_outcome(py, pending)?.or_raise(py)
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().refuse_closed(slf.py(), "enter")?;
        Ok(slf)
    }

    #[pyo3(signature = (_kind, raised, _traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: Option<&Bound<'_, PyAny>>,
        raised: Option<&Bound<'_, PyAny>>,
        _traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let closed = wait::for_outcome(py, self.session.close())?;
        // What the body raised is never hidden.
        if raised.is_some() {
            return Ok(());
        }
        closed.or_raise(py)
    }

    fn __repr__(&self) -> String {
        format!(
            "<zoolock.Session {} session_id={:#x}>",
            self.state(),
            self.session_id()
        )
    }

    fn __reduce__(&self) -> PyResult<()> {
        pickling::refuse("Session")
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.callbacks.traverse(&visit)
    }

    fn __clear__(&self) {
        self.callbacks.clear();
    }
}
