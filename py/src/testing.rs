//! `zoolock.testing.Server`.

use std::mem::ManuallyDrop;
use std::net::IpAddr;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use zoolock::testing::{self, ServerSession};
use zoolock::{Error, Result};

use crate::arguments::{integer, seconds, text};
use crate::errors::OrRaise;
use crate::{exit, pickling};

/// A ZooKeeper server in this process, for development and tests only.
///
/// Listens when it is made, on a free port of 127.0.0.1 by default, and stops at the end of the
/// `with` block, by `stop()`, or when it is collected. It keeps everything in memory and has no
/// security. Whoever connects to `hosts` may be in any process and language.
///
/// `tick` is the unit of a server's time, in seconds (0.01 to 60): sessions expire in steps of it,
/// and the shortest session timeout that clients get, `min_session_timeout`, is two ticks or more.
/// `max_session_timeout` is at least that; by default 60 s, or 20 ticks if that is longer.
/// `container_check` is how often lock paths that nobody uses are removed. A server on an `address`
/// that is not a loopback one lets others in.
///
/// To see how a program copes, its methods end sessions and connections, or hold answers back.
/// None blocks for longer than some milliseconds; any thread may call them. After `stop()`, and in
/// a forked child, they raise `Closed`: a server belongs to the process that started it.
///
/// Raises `InvalidArgument` for a bad option, and `Unavailable` if the port cannot be had.
///
/// >>> with zoolock.testing.Server() as server, zoolock.connect(server.hosts) as session:
/// ...     with session.mutex("/locks/order/user-123") as held:
/// ...         server.expire_session(session.session_id)
/// ...         held.wait_lost()
/// Traceback (most recent call last):
/// zoolock.LockLost: release /locks/order/user-123: the lock was lost
#[pyclass(module = "zoolock.testing", frozen, weakref)]
pub(crate) struct Server(ManuallyDrop<testing::Server>);

impl Server {
    /// Without the GIL: the server's own threads may be at work, and some calls wait for them.
    fn order<T: Send>(
        &self,
        py: Python<'_>,
        order: impl FnOnce(&testing::Server) -> Result<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| order(&self.0)).or_raise(py)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An exit collects objects in any order, and closes the sessions after that (R17). Those
        // with this server should still find it; it ends with the process.
        if !exit::has_begun() {
            // Without the GIL, as in `order`.
            Python::try_attach(|py| py.detach(|| self.0.stop()));
            // SAFETY: dropped once, and not used after this.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}

#[pymethods]
impl Server {
    #[new]
    #[pyo3(
        signature = (
            *,
            port = None,
            address = None,
            tick = None,
            min_session_timeout = None,
            max_session_timeout = None,
            container_check = None,
        ),
        text_signature = "(*, port=0, address='127.0.0.1', tick=0.5, min_session_timeout=None, \
                          max_session_timeout=None, container_check=60)"
    )]
    fn new(
        py: Python<'_>,
        port: Option<&Bound<'_, PyAny>>,
        address: Option<&Bound<'_, PyAny>>,
        tick: Option<&Bound<'_, PyAny>>,
        min_session_timeout: Option<&Bound<'_, PyAny>>,
        max_session_timeout: Option<&Bound<'_, PyAny>>,
        container_check: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Server> {
        let mut builder = testing::Server::builder();
        if let Some(port) = port {
            builder = builder.port(integer("start", "port", port, "must be 0 to 65535")?);
        }
        if let Some(address) = address {
            builder = builder.address(ip("address", address)?);
        }
        let length = |argument, value: &Bound<'_, PyAny>| seconds("start", argument, value);
        if let Some(value) = tick {
            builder = builder.tick(length("tick", value)?);
        }
        if let Some(value) = min_session_timeout {
            builder = builder.min_session_timeout(length("min_session_timeout", value)?);
        }
        if let Some(value) = max_session_timeout {
            builder = builder.max_session_timeout(length("max_session_timeout", value)?);
        }
        if let Some(value) = container_check {
            builder = builder.container_check(length("container_check", value)?);
        }
        let server = py.detach(|| builder.start()).or_raise(py)?;
        Ok(Server(ManuallyDrop::new(server)))
    }

    /// The connect string, such as "127.0.0.1:41234", for `zoolock.connect` and for any other
    /// client of ZooKeeper. Also after `stop()`.
    #[getter]
    fn hosts(&self) -> String {
        self.0.hosts()
    }

    /// The sessions that have not ended, by their ids.
    fn sessions(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let sessions = self.order(py, testing::Server::sessions)?;
        sessions
            .into_iter()
            .map(|session| to_python(py, session))
            .collect()
    }

    /// End a session as if it had been silent for its timeout: its nodes are gone, and its client
    /// learns that it expired. False if there is none with this id, which `Session.session_id`
    /// and `Contender.session_id` tell.
    fn expire_session(&self, py: Python<'_>, session_id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = session("expire_session", session_id)?;
        self.order(py, |server| server.expire_session(id))
    }

    /// End all sessions. How many there were.
    fn expire_all(&self, py: Python<'_>) -> PyResult<usize> {
        self.order(py, testing::Server::expire_all)
    }

    /// End the connection of a session, which goes on: its client may come back. False if it has
    /// none.
    fn cut_session(&self, py: Python<'_>, session_id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = session("cut_session", session_id)?;
        self.order(py, |server| server.cut_session(id))
    }

    /// End all connections. How many there were.
    fn cut_all(&self, py: Python<'_>) -> PyResult<usize> {
        self.order(py, testing::Server::cut_all)
    }

    /// Neither read nor answer anything of a session any more, on whatever connection it comes.
    /// Its time runs on, so it expires after its timeout. False if there is none with this id.
    fn freeze_session(&self, py: Python<'_>, session_id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = session("freeze_session", session_id)?;
        self.order(py, |server| server.freeze_session(id))
    }

    /// End `freeze_session`; what was kept back goes through. False if it was not frozen by itself.
    fn thaw_session(&self, py: Python<'_>, session_id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = session("thaw_session", session_id)?;
        self.order(py, |server| server.thaw_session(id))
    }

    /// Freeze every connection, and those that come. Sessions' time runs on.
    fn freeze_all(&self, py: Python<'_>) -> PyResult<()> {
        self.order(py, testing::Server::freeze_all)
    }

    /// End `freeze_all` and every `freeze_session`; what was kept back goes through.
    fn thaw_all(&self, py: Python<'_>) -> PyResult<()> {
        self.order(py, testing::Server::thaw_all)
    }

    /// Send every answer and event from now on so many seconds late, at most 3600; 0 ends it.
    fn delay_answers(&self, py: Python<'_>, delay: &Bound<'_, PyAny>) -> PyResult<()> {
        let delay = seconds("delay_answers", "delay", delay)?;
        self.order(py, |server| server.delay_answers(delay))
    }

    /// Refuse new connections. Open ones stay, and the port stays the server's.
    fn refuse_connections(&self, py: Python<'_>) -> PyResult<()> {
        self.order(py, testing::Server::refuse_connections)
    }

    /// End `refuse_connections`; the port is open when this returns.
    fn accept_connections(&self, py: Python<'_>) -> PyResult<()> {
        self.order(py, testing::Server::accept_connections)
    }

    /// Stop: all connections end, and everything is forgotten. Idempotent. In a forked child it
    /// does nothing: the parent's server goes on.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.0.stop());
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (_kind, _raised, _traceback, /))]
    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: Option<&Bound<'_, PyAny>>,
        _raised: Option<&Bound<'_, PyAny>>,
        _traceback: Option<&Bound<'_, PyAny>>,
    ) {
        self.stop(py);
    }

    fn __repr__(&self) -> String {
        format!("<zoolock.testing.Server hosts='{}'>", self.hosts())
    }

    fn __reduce__(&self) -> PyResult<()> {
        pickling::refuse("testing.Server")
    }
}

/// An IP address as text.
fn ip(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<IpAddr> {
    text("start", argument, value)?
        .parse()
        .map_err(|_| Error::invalid_argument("start", argument, "is no IP address"))
        .or_raise(value.py())
}

/// The id of a session.
fn session(operation: &'static str, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let problem = "must be a signed 64-bit number";
    integer(operation, "session_id", value, problem)
}

/// An instance of the Python class.
fn to_python(py: Python<'_>, session: ServerSession) -> PyResult<Py<PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.import(py, "zoolock.testing._session", "ServerSession")?;
    class
        .call1((
            session.id,
            session.timeout.as_secs_f64(),
            session.connected,
            session.ephemerals,
        ))
        .map(Bound::unbind)
}
