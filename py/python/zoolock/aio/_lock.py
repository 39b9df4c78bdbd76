"""The lock objects of `zoolock.aio`."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, final

from zoolock import _native
from zoolock._contender import Contender
from zoolock._errors import NotHeld
from zoolock._native import Cancel, Owner
from zoolock._statistics import LockStatistics
from zoolock.aio._guard import Guard
from zoolock.aio._leaving import NotPickled
from zoolock.aio._owners import named, running
from zoolock.aio._port import outcome

if TYPE_CHECKING:
    from zoolock.aio._session import Session


class _Entered:
    """The `async with` blocks that are open on one object, each with the task that entered it."""

    __slots__ = ("_blocks",)

    def __init__(self) -> None:
        self._blocks: list[tuple[Owner, Guard]] = []

    def enter(self, guard: Guard) -> Guard:
        self._blocks.append((running(), guard))
        return guard

    async def leave(self, path: str, raised: BaseException | None) -> None:
        """End the hold of the innermost block that the task is in; if it is in none, the only one.

        Frameworks may run the two ends of a block in different tasks.
        """
        here = running()
        found = [index for index, (owner, _) in enumerate(self._blocks) if owner == here]
        if not found and len(self._blocks) != 1:
            raise NotHeld("the task has entered no block of this lock", "release", path)
        _, guard = self._blocks.pop(found[-1] if found else 0)
        await guard.__aexit__(None, raised, None)


class Lock(NotPickled):
    """What every lock object can do, as `zoolock.Lock` can. Any task and any loop may use it.

    `async with lock as held:` waits for the lock, gives its `Guard`, and releases at the end of the
    block. Leaving the block raises `LockLost` if the lock was lost meanwhile, and `NotHeld` if it
    was released inside, unless the body itself raised: its exception is never hidden.

    Without a guard, `release()`, `held` and `fencing_token` act on the hold that the running task
    took last; if it took none, on the object's only unreleased hold; else they raise `NotHeld`
    (R10).

    `owner` is an `Owner` that takes the lock, or whose hold is meant, instead of the running task.
    """

    __slots__ = ("__weakref__", "_entered", "_lock", "_session")

    def __init__(self, session: Session, lock: _native.Lock) -> None:
        """Not for applications: locks come from sessions."""
        self._session = session
        self._lock = lock
        self._entered = _Entered()

    @property
    def path(self) -> str:
        """The lock path, without the session's chroot."""
        return self._lock.path

    @property
    def held(self) -> bool:
        """Whether the running task's hold may still be believed in (see the class)."""
        return _native.holds(self._lock, running())

    @property
    def fencing_token(self) -> int:
        """The fencing token of the running task's hold (see the class). Raises `NotHeld`."""
        return _native.token(self._lock, running())

    @property
    def grant_count(self) -> int:
        """The `grant_count` of the running task's hold (see `Guard`). Raises `NotHeld`."""
        return _native.count(self._lock, running())

    async def lock(
        self,
        timeout: float | None = None,
        cancel: Cancel | None = None,
        *,
        owner: Owner | None = None,
    ) -> Guard:
        """Wait for the lock and return its `Guard`. Keep it: see there.

        `timeout` is in seconds: `None` waits for ever, through outages and session changes; 0 does
        not wait for a holder. `cancel` is a `Cancel`, to end the wait from another thread.

        Raises as `zoolock.Lock.lock` does.
        """
        return Guard(
            self, await outcome(_native.start_lock(self._lock, timeout, cancel, named(owner)))
        )

    async def try_lock(self, *, owner: Owner | None = None) -> Guard | None:
        """Take the lock if nobody who excludes it is before us; `None` if somebody is.

        Does not wait for a holder: it takes the round trips that it needs, bounded by the session's
        `connect_timeout`. Raises as `lock()`, and `Unavailable`.
        """
        guard = await outcome(_native.start_try_lock(self._lock, named(owner)))
        return None if guard is None else Guard(self, guard)

    def hold(
        self,
        timeout: float | None = None,
        cancel: Cancel | None = None,
        *,
        owner: Owner | None = None,
    ) -> Hold:
        """Return a context manager for `async with lock.hold(timeout=3) as held:`.

        It waits at most `timeout` seconds and raises `LockTimeout` then. Arguments as for `lock()`.
        """
        return Hold(self, self._lock.hold(timeout, cancel, owner=owner))

    async def acquire(
        self, blocking: bool = True, timeout: float = -1, *, owner: Owner | None = None
    ) -> bool:
        """Take the lock as `threading.Lock.acquire` does: True if it was taken.

        `timeout` is in seconds: -1 waits for ever, 0 does not wait for a holder. With
        `blocking=False` it does not wait either, and no `timeout` may be given. The hold is this
        object's until `release()`. Raises as `lock()`, but returns False at the time-out.
        """
        return await outcome(_native.start_acquire(self._lock, blocking, timeout, named(owner)))

    async def release(self, *, owner: Owner | None = None) -> None:
        """Release the hold that the running task took last; if it took none, the object's only one.

        Returns, and may be cancelled, as `Guard.release()`. Raises `NotHeld` (a `RuntimeError`) if
        there is no such hold, `LockLost` if it was lost before the call.
        """
        await outcome(_native.start_release(self._lock, named(owner)))

    async def locked(self) -> bool:
        """Ask the server whether anybody holds the lock (of a read-write lock: either side)."""
        return any(contender.holds for contender in await self.contenders())

    async def contenders(self) -> list[Contender]:
        """Ask the server who queues on the path, holders too, in the order of the queue.

        Within the session's `connect_timeout`. Raises `Unavailable`, `NoAuth`, `Closed`.
        """
        return await outcome(_native.start_contenders(self._lock))

    def statistics(self) -> LockStatistics:
        """Return what this object has counted."""
        return self._lock.statistics()

    async def __aenter__(self) -> Guard:
        guard = await outcome(_native.start_block(self._lock, running()))
        return self._entered.enter(Guard(self, guard))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        await self._entered.leave(self.path, raised)

    def __repr__(self) -> str:
        return f"<zoolock.aio.{type(self).__name__} path='{self.path}'>"


@final
class Mutex(Lock):
    """A mutex on a lock path, as `zoolock.Mutex` is. Made by `session.mutex(path)`.

    Not re-entrant: a task that holds it and locks it again waits for itself.

    >>> async with session.mutex("/locks/order/user-123") as held:
    ...     await save(order, fencing_token=held.fencing_token)
    """

    __slots__ = ()


@final
class ReentrantMutex(Lock):
    """A mutex that its task may take again (R11). Made by `session.reentrant_mutex(path)`.

    Tasks that it starts are other owners: give all of them one `zoolock.Owner()`, if they are to
    share the lock.
    """

    __slots__ = ()


@final
class RwLockSide(Lock):
    """One side of a read-write lock, with a lock's whole interface. See `RwLock`."""

    __slots__ = ()


@final
class RwLock(NotPickled):
    """A read-write lock on a lock path, as `zoolock.RwLock` is. Made by `session.rwlock(path)`.

    Re-entrant per side for a task; the task with the write lock may downgrade.

    >>> rw = session.rwlock("/locks/catalogue")
    >>> async with rw.read as held:
    ...     await show(catalogue)
    """

    __slots__ = ("__weakref__", "_lock", "_read", "_write")

    def __init__(self, session: Session, lock: _native.RwLock) -> None:
        """Not for applications: locks come from sessions."""
        self._lock = lock
        self._read = RwLockSide(session, lock.read)
        self._write = RwLockSide(session, lock.write)

    @property
    def path(self) -> str:
        """The lock path, without the session's chroot."""
        return self._lock.path

    @property
    def read(self) -> RwLockSide:
        """The side that many may hold at once."""
        return self._read

    @property
    def write(self) -> RwLockSide:
        """The side that excludes all others."""
        return self._write

    async def contenders(self) -> list[Contender]:
        """Ask the server who queues on the path, readers and writers; as `Lock.contenders()`."""
        return await outcome(_native.start_contenders(self._lock))

    def statistics(self) -> LockStatistics:
        """Return what both sides have counted."""
        return self._lock.statistics()

    def __repr__(self) -> str:
        return f"<zoolock.aio.RwLock path='{self.path}'>"


@final
class Hold(NotPickled):
    """What `lock.hold(…)` returns: takes the lock when a block is entered. For several blocks."""

    __slots__ = ("__weakref__", "_entered", "_hold", "_lock")

    def __init__(self, lock: Lock, hold: _native.Hold) -> None:
        """Not for applications: it comes from `lock.hold()`."""
        self._lock = lock
        self._hold = hold
        self._entered = _Entered()

    async def __aenter__(self) -> Guard:
        guard = await outcome(_native.start_hold(self._hold, running()))
        return self._entered.enter(Guard(self._lock, guard))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        await self._entered.leave(self._lock.path, raised)
