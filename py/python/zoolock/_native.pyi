"""Types of the compiled module. The tests compare the names here with the module's own."""

from asyncio import Future
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Generic, Literal, NoReturn, TypeAlias, TypeVar, final

from zoolock._contender import Contender
from zoolock._states import GuardState, SessionState
from zoolock._statistics import LockStatistics
from zoolock.testing._session import ServerSession

__all__ = [
    "ERROR_CODES",
    "Call",
    "Cancel",
    "Guard",
    "Hold",
    "Lock",
    "Mutex",
    "Owner",
    "Port",
    "ReentrantMutex",
    "RwLock",
    "RwLockSide",
    "Server",
    "Session",
    "StateWatch",
    "__version__",
    "close_all_sessions",
    "connect",
    "count",
    "end_callbacks",
    "holds",
    "refuse_closed",
    "start_acquire",
    "start_block",
    "start_close",
    "start_connect",
    "start_contenders",
    "start_guard_release",
    "start_hold",
    "start_lock",
    "start_release",
    "start_try_lock",
    "start_wait_lost",
    "token",
]

__version__: str
ERROR_CODES: list[str]

_Acl: TypeAlias = Literal["open", "creator"] | Iterable[tuple[int, str, str]]
_Naming: TypeAlias = Literal["curator", "kazoo"]
_T = TypeVar("_T")

def connect(
    hosts: str | None,
    session_timeout: float,
    connect_timeout: float,
    auth: Iterable[tuple[str, str | bytes]] | None,
    tls: tuple[str | None, str | None, str | None, bool] | None,
    acl: _Acl | None,
    identity: str | None,
    exclusive: bool,
    backoff: tuple[float, float | None, int | None] | None,
    lease_confirmation: str,
) -> Session:
    """See `zoolock.connect`, which gives every argument."""

def end_callbacks() -> None:
    """Called by Python's `atexit`: what was logged or told before is delivered, then no callback starts any
    more, and the present one may finish.
    """

def close_all_sessions() -> None:
    """Closes every session of this process, within the second that R17 gives an exit.

    For processes that end without the C library's exit handlers, as `multiprocessing`'s forked
    children do. Guards are lost; nothing of zoolock works afterwards.
    """

@final
class Session:
    """A session with a ZooKeeper ensemble, opened by `zoolock.connect`.

    A context manager that closes at the end of the block. Safe to use from any thread. Sessions
    opened in one process with equal options share one ZooKeeper session (R16). In a forked child
    the object opens a session of the child's own on first use (R18).
    """
    @property
    def state(self) -> SessionState:
        """ "connecting", "connected", "suspended", "expired" or "closed", at this moment."""
    @property
    def session_id(self) -> int:
        """The id that the ensemble knows the session by, a signed 64-bit number; 0 before there is
        one.
        """
    @property
    def negotiated_timeout(self) -> float:
        """The session timeout that the ensemble has granted, in seconds; 0 before there is one."""
    def mutex(
        self,
        path: str,
        *,
        naming: _Naming = "curator",
        data: bytes | str | None = None,
        acl: _Acl | None = None,
        keep: float | None = None,
    ) -> Mutex:
        """A mutex on `path`. Nothing is sent.

        `naming` ("curator" or "kazoo") is how contenders are named, `data` (bytes or str, at most
        512 KiB) their data instead of the session's identity, `acl` as for `connect`. `keep` (seconds,
        0.001 to a day; off by default) keeps the contender at a release, so that the next acquire in
        this process costs no request, until nobody here has used it for so long or anybody else comes;
        the token is then the pair `(fencing_token, grant_count)` (R2).

        Raises `InvalidArgument` for a bad path or option, `Closed`.
        """
    def reentrant_mutex(
        self,
        path: str,
        *,
        naming: _Naming = "curator",
        data: bytes | str | None = None,
        acl: _Acl | None = None,
        keep: float | None = None,
    ) -> ReentrantMutex:
        """A re-entrant mutex on `path`; its owners are threads. As `mutex` otherwise."""
    def rwlock(
        self,
        path: str,
        *,
        naming: _Naming = "curator",
        data: bytes | str | None = None,
        acl: _Acl | None = None,
    ) -> RwLock:
        """A read-write lock on `path`; its owners are threads. As `mutex` otherwise."""
    def on_state(self, callback: Callable[[SessionState], object]) -> None:
        """Call `callback(state)` with every change of state from now on, in order.

        It runs on zoolock's callback thread, one callback at a time. An exception in it goes to
        `sys.unraisablehook`.
        """
    def close(self, timeout: float = 5) -> None:
        """Close the session (R17), within `timeout` seconds: its guards are lost, its waiting calls
        raise `Closed`, its contenders are freed, in the background if the time is up. Idempotent.
        """
    def __enter__(self) -> Session: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __reduce__(self) -> NoReturn: ...

class Lock:
    """What every lock object can do. `Mutex`, `ReentrantMutex` and the two sides of an `RwLock` are
    locks.

    `with lock as held:` waits for the lock, gives its `Guard`, and releases at the end of the
    block. Leaving the block raises `LockLost` if the lock was lost meanwhile, and `NotHeld` if it
    was released inside, unless the body itself raised: its exception is never hidden.

    Without a guard, `release()`, `held` and `fencing_token` act on the hold that the calling
    thread took last; if it took none, on the object's only unreleased hold; else they raise
    `NotHeld` (R10).

    `owner` is an `Owner` that takes the lock, or whose hold is meant, instead of the calling thread.

    Ctrl-C interrupts every wait, and no contender is left behind (R5).
    """
    @property
    def path(self) -> str:
        """The lock path, without the session's chroot."""
    @property
    def held(self) -> bool:
        """Whether the calling thread's hold may still be believed in (see the class). Never blocks."""
    @property
    def fencing_token(self) -> int:
        """The fencing token of the calling thread's hold (see the class). Raises `NotHeld`."""
    @property
    def grant_count(self) -> int:
        """The `grant_count` of the calling thread's hold (see `Guard`). Raises `NotHeld`."""
    def lock(
        self,
        timeout: float | None = None,
        cancel: Cancel | None = None,
        *,
        owner: Owner | None = None,
    ) -> Guard:
        """Wait for the lock and return its `Guard`.

        Keep the guard: the lock is released when nothing refers to it any more, so that a call whose
        result is not assigned gives the lock up at once. A `with` block needs no name for it.

        `timeout` is in seconds: `None` waits for ever, through outages and session changes; 0 does
        not wait for a holder. `cancel` is a `Cancel`, to end the wait from another thread.

        Raises `LockTimeout` (whose `__cause__` is an `Unavailable` if no server could be reached in
        that time), `Cancelled`, `Closed`, `NoAuth`, `SequenceExhausted`; of re-entrant and
        read-write locks also `LockLost` (the caller holds it already, and lost it) and
        `WouldDeadlock` (the holder of only a read lock asks for the write lock).
        """
    def try_lock(self, *, owner: Owner | None = None) -> Guard | None:
        """Take the lock if nobody who excludes it is before us; `None` if somebody is.

        Keep the guard, as with `lock()`: `if guard := lock.try_lock():` holds the lock,
        `if lock.try_lock():` gives it up at once.

        Does not wait for a holder: it takes the round trips that it needs, bounded by the
        session's `connect_timeout`. Raises as `lock()`, and `Unavailable`.
        """
    def hold(
        self,
        timeout: float | None = None,
        cancel: Cancel | None = None,
        *,
        owner: Owner | None = None,
    ) -> Hold:
        """A context manager for `with lock.hold(timeout=3) as held:`, which waits at most `timeout`
        seconds and raises `LockTimeout` then. Arguments as for `lock()`.
        """
    def acquire(
        self, blocking: bool = True, timeout: float = -1, *, owner: Owner | None = None
    ) -> bool:
        """Take the lock as `threading.Lock.acquire` does: True if it was taken.

        `timeout` is in seconds: -1 waits for ever, 0 does not wait for a holder. With
        `blocking=False` it does not wait either, and no `timeout` may be given. The hold is this
        object's until `release()`. Raises as `lock()`, but returns False at the time-out.
        """
    def release(self, *, owner: Owner | None = None) -> None:
        """Release the hold that the calling thread took last; if it took none, the object's only one.

        Returns when the deletion of the contender is confirmed, the session is over, or the lease
        would have ended. Raises `NotHeld` (a `RuntimeError`) if there is no such hold, `LockLost`
        if it was lost before the call.
        """
    def locked(self) -> bool:
        """Whether anybody, in any process, holds the lock (of a read-write lock: either side). Asks
        the server; raises as `contenders()`.
        """
    def contenders(self) -> list[Contender]:
        """Who queues on the path, holders too, in the order of the queue.

        Asks the server, within the session's `connect_timeout`. Raises `Unavailable`, `NoAuth`,
        `Closed`.
        """
    def statistics(self) -> LockStatistics:
        """What this object has counted, as a `LockStatistics`. Never blocks."""
    def __enter__(self) -> Guard: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __reduce__(self) -> NoReturn: ...

@final
class Mutex(Lock):
    """A mutex on a lock path: one guard at a time among all processes and languages, granted in the
    order of arrival. Made by `session.mutex(path)`.

    Not re-entrant: a thread that holds it and locks it again waits for itself. See
    `ReentrantMutex`.

    >>> with session.mutex("/locks/order/user-123") as held:
    ...     save(order, fencing_token=held.fencing_token)
    """

@final
class ReentrantMutex(Lock):
    """A mutex that the thread holding it may take again, at no request and with the same token (R11),
    like `threading.RLock`. Made by `session.reentrant_mutex(path)`.

    Re-entrancy counts per session, path and naming, not per object. The lock is free when every
    hold is released.
    """

@final
class RwLockSide(Lock):
    """One side of a read-write lock, with a lock's whole interface. See `RwLock`."""

@final
class RwLock:
    """A read-write lock on a lock path: many readers or one writer, in the order of arrival (R7,
    R12). Made by `session.rwlock(path)`.

    Re-entrant per side for a thread. The thread with the write lock may take the read lock and then
    release the write lock (downgrade), with no writer in between; a thread with only a read lock
    that asks for the write lock gets `WouldDeadlock`. It does not exclude a `Mutex` on its path.

    >>> rw = session.rwlock("/locks/catalogue")
    >>> with rw.read as held:
    ...     show(catalogue)
    """
    @property
    def path(self) -> str:
        """The lock path, without the session's chroot."""
    @property
    def read(self) -> RwLockSide:
        """The side that many may hold at once."""
    @property
    def write(self) -> RwLockSide:
        """The side that excludes all others."""
    def contenders(self) -> list[Contender]:
        """Who queues on the path, readers and writers, in the order of the queue. As
        `Lock.contenders()`.
        """
    def statistics(self) -> LockStatistics:
        """What both sides have counted, as a `LockStatistics`. Never blocks."""
    def __reduce__(self) -> NoReturn: ...

@final
class Hold:
    """The context manager of `lock.hold(timeout=…)`. Takes the lock when a block is entered, and may
    be used for several blocks.
    """
    def __enter__(self) -> Guard: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __reduce__(self) -> NoReturn: ...

@final
class Guard:
    """A lock that was granted.

    A context manager that releases at the end of the block. What the lock protects should check
    the `fencing_token`, and stop when the guard is lost. A guard from `lock()` or `try_lock()`
    that is dropped releases the lock in the background. In a forked child an inherited guard is
    lost.

    >>> with lock.lock(timeout=3) as guard:
    ...     save(order, fencing_token=guard.fencing_token)
    """
    @property
    def fencing_token(self) -> int:
        """The fencing token (R2): a positive int of at most 63 bits, unique in the ensemble, rising
        from grant to grant on a path. A re-entrant grant and a downgraded read repeat it.
        """
    @property
    def grant_count(self) -> int:
        """The second part of the token of a lock with `keep`: of the grants of this contender, which this
        is, from 1. The pair `(fencing_token, grant_count)` rises from grant to grant on a path, and a
        resource has to compare it whole (R2). Without `keep` it is 1.
        """
    @property
    def held(self) -> bool:
        """Whether the lock may still be believed in: true in the states "held" and "suspended".
        Compares the clock at the call (R3); never blocks.
        """
    @property
    def state(self) -> GuardState:
        """ "held", "suspended" (the connection is in doubt, the lease still runs), "lost" or
        "released". Never blocks.
        """
    @property
    def path(self) -> str:
        """The lock path, without the session's chroot."""
    @property
    def node_path(self) -> str:
        """The contender's node, without the session's chroot."""
    def ensure_held(self) -> None:
        """Raise `LockLost` if the lock was lost, `NotHeld` if it was released. Never blocks."""
    def on_lost(self, callback: Callable[[], object]) -> None:
        """Call `callback()` once when the lock is lost (R4), soon if it is already; never after a
        release.

        It runs on zoolock's callback thread, one callback at a time. An exception in it goes to
        `sys.unraisablehook`.
        """
    def wait_lost(self, timeout: float | None = None) -> bool:
        """Block until the lock is lost, at most `timeout` seconds (for ever if `None`).

        True if it is lost; False at the time-out, or if it was released. Ctrl-C interrupts it.
        """
    def release(self) -> None:
        """Release the lock (R10). Belief ends at once; returns when the deletion of the contender is
        confirmed, the session is over, or the lease would have ended. From any thread.

        Raises `LockLost` if the lock was lost before the call, `NotHeld` on a second release.
        """
    def __enter__(self) -> Guard: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __reduce__(self) -> NoReturn: ...

@final
class Cancel:
    """Cancels calls that wait for a lock, from another thread.

    Give it to `lock(cancel=…)` or `hold(cancel=…)`; those calls raise `zoolock.Cancelled` and leave
    no contender. One object may serve many calls; once fired it stays fired, and a later call given
    it fails at once.

    >>> cancel = zoolock.Cancel()
    >>> threading.Timer(3, cancel.cancel).start()
    >>> guard = lock.lock(cancel=cancel)
    """
    def __new__(cls) -> Cancel: ...
    @property
    def cancelled(self) -> bool:
        """Whether it has fired."""
    def cancel(self) -> None:
        """Cancel every call that waits with this object, and every later one. Never blocks."""
    def __reduce__(self) -> NoReturn: ...

@final
class Owner:
    """Who holds a lock: for re-entrant and read-write locks, who may take it again (R11, R12); for
    every lock, whose hold `release()` ends (R10).

    Left out, the owner is the calling thread, in `zoolock.aio` the running task. Give one where a
    lock has to be taken, or taken again, by another thread or task for the same purpose: before
    Python 3.12 `asyncio.wait_for` runs what it is given in a task of its own. Every `Owner()` is
    somebody else.

    >>> owner = zoolock.Owner()
    >>> guard = await asyncio.wait_for(lock.lock(owner=owner), 3)
    >>> again = await lock.lock(owner=owner)
    """
    def __new__(cls) -> Owner: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...

@final
class Call(Generic[_T]):
    """A call under way; dropping it withdraws it."""
    @property
    def ended(self) -> bool:
        """Whether the outcome is there to be taken."""
    def ended_at_once(self) -> bool:
        """Whether it has ended, without having anybody woken when it does."""
    def take(self) -> _T:
        """The outcome, once: returned, or raised."""
    def abandon(self) -> None:
        """Nobody wants the outcome: an attempt is withdrawn, a lock granted is released."""

@final
class Port:
    """The calls that coroutines of one event loop wait for, each with its future.

    Used by the loop's thread only. In a forked child it is the parent's: nothing of it is touched.
    """
    def __new__(cls) -> Port: ...
    def fileno(self) -> int:
        """The descriptor that is readable when there is something to take."""
    def is_ours(self) -> bool:
        """Whether it was made by this process, and not by one that forked it."""
    def wait(self, call: Call[_T], future: Future[Any]) -> bool:
        """Have `take` return `future` when `call` ends: true. False if it has ended already."""
    def take(self) -> list[Future[Any]]:
        """The futures of the calls that have ended since the last time, in the order of their ends."""
    def forget(self, call: Call[_T]) -> None:
        """Nobody waits for `call` any more."""
    def close(self) -> None:
        """The loop is closed: all its calls are given up."""
    def __len__(self) -> int: ...

@final
class StateWatch:
    """The changes of a session's state from now on."""
    def __new__(cls, session: Session) -> StateWatch: ...
    def start_next(self) -> Call[SessionState | None]:
        """The next one; `None` after "closed"."""

def start_connect(
    hosts: str | None,
    session_timeout: float,
    connect_timeout: float,
    auth: Iterable[tuple[str, str | bytes]] | None,
    tls: tuple[str | None, str | None, str | None, bool] | None,
    acl: _Acl | None,
    identity: str | None,
    exclusive: bool,
    backoff: tuple[float, float | None, int | None] | None,
    lease_confirmation: str,
) -> Call[Session]:
    """As `zoolock.connect`, which gives every argument."""

def start_lock(
    lock: Lock, timeout: float | None, cancel: Cancel | None, owner: Owner
) -> Call[Guard]:
    """As `Lock.lock`."""

def start_block(lock: Lock, owner: Owner) -> Call[Guard]:
    """As the entering of a `with` block of the lock."""

def start_hold(hold: Hold, owner: Owner) -> Call[Guard]:
    """As the entering of a `with` block of what `Lock.hold` returns; `owner` unless it names one."""

def start_try_lock(lock: Lock, owner: Owner) -> Call[Guard | None]:
    """As `Lock.try_lock`."""

def start_acquire(lock: Lock, blocking: bool, timeout: float, owner: Owner) -> Call[bool]:
    """As `Lock.acquire`."""

def start_release(lock: Lock, owner: Owner) -> Call[None]:
    """As `Lock.release`."""

def start_guard_release(guard: Guard) -> Call[None]:
    """As `Guard.release`."""

def start_contenders(lock: Lock | RwLock) -> Call[list[Contender]]:
    """As `contenders` of a `Lock` or an `RwLock`."""

def start_close(session: Session, timeout: float | None) -> Call[None]:
    """As `Session.close`."""

def start_wait_lost(guard: Guard, timeout: float | None) -> tuple[Call[bool], float | None]:
    """As `Guard.wait_lost`, and after how many seconds to give up."""

def holds(lock: Lock, owner: Owner) -> bool:
    """As `Lock.held`, of the owner's hold."""

def token(lock: Lock, owner: Owner) -> int:
    """As `Lock.fencing_token`, of the owner's hold."""

def count(lock: Lock, owner: Owner) -> int:
    """As `Lock.grant_count`, of the owner's hold."""

def refuse_closed(session: Session) -> None:
    """Whether a closed session may be entered: raises `Closed`."""

@final
class Server:
    """A ZooKeeper server in this process, for development and tests only.

    Listens when it is made, on a free port of 127.0.0.1 by default, and stops at the end of the
    `with` block, by `stop()`, or when it is collected. It keeps everything in memory and has no
    security. Whoever connects to `hosts` may be in any process and language.

    `tick` is the unit of a server's time, in seconds (0.01 to 60): sessions expire in steps of it,
    and the shortest session timeout that clients get, `min_session_timeout`, is two ticks or more.
    `max_session_timeout` is at least that; by default 60 s, or 20 ticks if that is longer.
    `container_check` is how often lock paths that nobody uses are removed. A server on an `address`
    that is not a loopback one lets others in.

    To see how a program copes, its methods end sessions and connections, or hold answers back.
    None blocks for longer than some milliseconds; any thread may call them. After `stop()`, and in
    a forked child, they raise `Closed`: a server belongs to the process that started it.

    Raises `InvalidArgument` for a bad option, and `Unavailable` if the port cannot be had.

    >>> with zoolock.testing.Server() as server, zoolock.connect(server.hosts) as session:
    ...     with session.mutex("/locks/order/user-123") as held:
    ...         server.expire_session(session.session_id)
    ...         held.wait_lost()
    Traceback (most recent call last):
    zoolock.LockLost: release /locks/order/user-123: the lock was lost
    """
    def __new__(
        cls,
        *,
        port: int = 0,
        address: str = "127.0.0.1",
        tick: float = 0.5,
        min_session_timeout: float | None = None,
        max_session_timeout: float | None = None,
        container_check: float = 60,
    ) -> Server: ...
    @property
    def hosts(self) -> str:
        """The connect string, such as "127.0.0.1:41234", for `zoolock.connect` and for any other
        client of ZooKeeper. Also after `stop()`.
        """
    def sessions(self) -> list[ServerSession]:
        """The sessions that have not ended, by their ids."""
    def expire_session(self, session_id: int) -> bool:
        """End a session as if it had been silent for its timeout: its nodes are gone, and its client
        learns that it expired. False if there is none with this id, which `Session.session_id`
        and `Contender.session_id` tell.
        """
    def expire_all(self) -> int:
        """End all sessions. How many there were."""
    def cut_session(self, session_id: int) -> bool:
        """End the connection of a session, which goes on: its client may come back. False if it has
        none.
        """
    def cut_all(self) -> int:
        """End all connections. How many there were."""
    def freeze_session(self, session_id: int) -> bool:
        """Neither read nor answer anything of a session any more, on whatever connection it comes.
        Its time runs on, so it expires after its timeout. False if there is none with this id.
        """
    def thaw_session(self, session_id: int) -> bool:
        """End `freeze_session`; what was kept back goes through. False if it was not frozen by itself."""
    def freeze_all(self) -> None:
        """Freeze every connection, and those that come. Sessions' time runs on."""
    def thaw_all(self) -> None:
        """End `freeze_all` and every `freeze_session`; what was kept back goes through."""
    def delay_answers(self, delay: float) -> None:
        """Send every answer and event from now on so many seconds late, at most 3600; 0 ends it."""
    def refuse_connections(self) -> None:
        """Refuse new connections. Open ones stay, and the port stays the server's."""
    def accept_connections(self) -> None:
        """End `refuse_connections`; the port is open when this returns."""
    def stop(self) -> None:
        """Stop: all connections end, and everything is forgotten. Idempotent. In a forked child it
        does nothing: the parent's server goes on.
        """
    def __enter__(self) -> Server: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __reduce__(self) -> NoReturn: ...
