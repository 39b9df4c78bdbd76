"""`zoolock.aio.Guard`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, final

from zoolock import _native
from zoolock._native import Call
from zoolock._states import GuardState
from zoolock.aio._leaving import NotPickled, leave
from zoolock.aio._listening import Heard, Listener
from zoolock.aio._port import follow, outcome, outcome_within

if TYPE_CHECKING:
    from zoolock.aio._lock import Lock


@final
class Guard(NotPickled):
    """A lock that was granted, as `zoolock.Guard` is.

    An asynchronous context manager that releases at the end of the block. What the lock protects
    should check the `fencing_token`, and stop when the guard is lost. A guard from `lock()` or
    `try_lock()` that nothing refers to any more releases the lock in the background, with a
    `ResourceWarning`.

    >>> async with await lock.lock(timeout=3) as guard:
    ...     await save(order, fencing_token=guard.fencing_token)
    """

    __slots__ = ("__weakref__", "_guard", "_listeners", "_lock")

    def __init__(self, lock: Lock, guard: _native.Guard) -> None:
        """Not for applications: guards come from locks."""
        self._lock = lock
        self._guard = guard
        self._listeners: list[tuple[Listener[Callable[[], object]], _Told]] = []

    @property
    def fencing_token(self) -> int:
        """The fencing token (R2): positive, unique in the ensemble, rising from grant to grant."""
        return self._guard.fencing_token

    @property
    def grant_count(self) -> int:
        """The second part of the token of a lock with `keep`, from 1 (R2)."""
        return self._guard.grant_count

    @property
    def held(self) -> bool:
        """Whether the lock may still be believed in; compares the clock at the call (R3)."""
        return self._guard.held

    @property
    def state(self) -> GuardState:
        """The state: "held", "suspended" (in doubt, the lease runs), "lost" or "released"."""
        return self._guard.state

    @property
    def path(self) -> str:
        """The lock path, without the session's chroot."""
        return self._guard.path

    @property
    def node_path(self) -> str:
        """The contender's node, without the session's chroot."""
        return self._guard.node_path

    def ensure_held(self) -> None:
        """Raise `LockLost` if the lock was lost, `NotHeld` if it was released. Never waits."""
        self._guard.ensure_held()

    def on_lost(self, callback: Callable[[], object]) -> None:
        """Call `callback()` once on the running loop when the lock is lost (R4).

        Soon if it is lost already; never after a release. An exception in it goes to the loop's
        exception handler.
        """
        listener = Listener(callback)
        told = _Told(listener)
        call, _ = _native.start_wait_lost(self._guard, None)
        follow(call, told)
        self._listeners.append((listener, told))

    async def wait_lost(self, timeout: float | None = None) -> bool:
        """Wait until the lock is lost, at most `timeout` seconds (for ever if `None`).

        True if it is lost; False at the time-out, or if it was released.
        """
        call, limit = _native.start_wait_lost(self._guard, timeout)
        return await outcome_within(call, limit, False)

    async def lost(self) -> None:
        """Wait until the lock is lost. Never ends for a lock that is released: cancel it then.

        >>> work, loss = asyncio.ensure_future(work()), asyncio.ensure_future(guard.lost())
        >>> await asyncio.wait((work, loss), return_when=asyncio.FIRST_COMPLETED)
        """
        if not await self.wait_lost():
            await asyncio.get_running_loop().create_future()

    async def release(self) -> None:
        """Release the lock (R10), from any task. Belief ends at once.

        Returns when the deletion of the contender is confirmed, the session is over, or the lease
        would have ended. Cancelled, it goes on in the background. Raises `LockLost` if the lock was
        lost before the call, `NotHeld` on a second release.
        """
        await outcome(_native.start_guard_release(self._guard))

    async def __aenter__(self) -> Guard:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        await leave(_native.start_guard_release(self._guard), raised)

    def __del__(self) -> None:
        # A loss that has happened is told, though nobody is left to ask for it.
        if self._listeners and self._guard.state == "lost":
            for _, told in self._listeners:
                told.keep()

    def __repr__(self) -> str:
        return repr(self._guard).replace("zoolock.Guard", "zoolock.aio.Guard", 1)


class _Told(Heard[Callable[[], object]]):
    __slots__ = ()

    def __call__(self, call: Call[bool]) -> None:
        callback = self.callback() if call.take() else None
        self.drop()
        if callback is not None:
            callback()
