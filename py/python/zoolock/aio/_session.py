"""`zoolock.aio.Session`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Literal, final

from zoolock import _native
from zoolock._native import Call, StateWatch
from zoolock._states import SessionState
from zoolock.aio._leaving import NotPickled, leave
from zoolock.aio._listening import Heard, Listener
from zoolock.aio._lock import Mutex, ReentrantMutex, RwLock
from zoolock.aio._port import follow, outcome

_CLOSE_TIMEOUT = 5.0


@final
class Session(NotPickled):
    """A session with a ZooKeeper ensemble, opened by `zoolock.aio.connect`.

    An asynchronous context manager that closes at the end of the block. Belongs to no event loop.
    Sessions opened in one process with equal options share one ZooKeeper session, synchronous ones
    too (R16). In a forked child the object opens a session of the child's own on first use (R18).
    """

    __slots__ = ("__weakref__", "_listeners", "_session")

    def __init__(self, session: _native.Session) -> None:
        """Not for applications: use `connect`."""
        self._session = session
        self._listeners: list[Listener[Callable[[SessionState], object]]] = []

    @property
    def state(self) -> SessionState:
        """The state: "connecting", "connected", "suspended", "expired" or "closed"."""
        return self._session.state

    @property
    def session_id(self) -> int:
        """The id that the ensemble knows the session by, signed; 0 before there is one."""
        return self._session.session_id

    @property
    def negotiated_timeout(self) -> float:
        """The session timeout granted by the ensemble, in seconds; 0 before there is one."""
        return self._session.negotiated_timeout

    def mutex(
        self,
        path: str,
        *,
        naming: Literal["curator", "kazoo"] = "curator",
        data: bytes | str | None = None,
        acl: Literal["open", "creator"] | Iterable[tuple[int, str, str]] | None = None,
        keep: float | None = None,
    ) -> Mutex:
        """Return a mutex on `path`. Nothing is sent. Arguments as for `zoolock.Session.mutex`."""
        return Mutex(self, self._session.mutex(path, naming=naming, data=data, acl=acl, keep=keep))

    def reentrant_mutex(
        self,
        path: str,
        *,
        naming: Literal["curator", "kazoo"] = "curator",
        data: bytes | str | None = None,
        acl: Literal["open", "creator"] | Iterable[tuple[int, str, str]] | None = None,
        keep: float | None = None,
    ) -> ReentrantMutex:
        """Return a re-entrant mutex on `path`; its owners are tasks. As `mutex` otherwise."""
        lock = self._session.reentrant_mutex(path, naming=naming, data=data, acl=acl, keep=keep)
        return ReentrantMutex(self, lock)

    def rwlock(
        self,
        path: str,
        *,
        naming: Literal["curator", "kazoo"] = "curator",
        data: bytes | str | None = None,
        acl: Literal["open", "creator"] | Iterable[tuple[int, str, str]] | None = None,
    ) -> RwLock:
        """Return a read-write lock on `path`; its owners are tasks. As `mutex` otherwise."""
        return RwLock(self, self._session.rwlock(path, naming=naming, data=data, acl=acl))

    def on_state(self, callback: Callable[[SessionState], object]) -> None:
        """Call `callback(state)` on the running loop with every change of state, in order.

        As long as anything refers to the session or a lock of it. An exception in it goes to the
        loop's exception handler. Raises `Closed`.
        """
        listener = Listener(callback)
        _Told(listener, StateWatch(self._session)).listen()
        self._listeners.append(listener)

    async def close(self, timeout: float = _CLOSE_TIMEOUT) -> None:
        """Close the session (R17), within `timeout` seconds.

        Its guards are lost, its waiting calls raise `Closed`, its contenders are freed, in the
        background if the time is up or the call is cancelled. Idempotent.
        """
        await outcome(_native.start_close(self._session, timeout))

    async def __aenter__(self) -> Session:
        _native.refuse_closed(self._session)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        await leave(_native.start_close(self._session, _CLOSE_TIMEOUT), raised)

    def __repr__(self) -> str:
        return repr(self._session).replace("zoolock.Session", "zoolock.aio.Session", 1)


class _Told(Heard[Callable[[SessionState], object]]):
    __slots__ = ("_watch",)

    def __init__(
        self, listener: Listener[Callable[[SessionState], object]], watch: StateWatch
    ) -> None:
        super().__init__(listener)
        self._watch = watch

    def listen(self) -> None:
        follow(self._watch.start_next(), self)

    def __call__(self, call: Call[SessionState | None]) -> None:
        state, callback = call.take(), self.callback()
        if state is None or callback is None:
            return
        # First, since the callback may raise.
        self.listen()
        callback(state)
