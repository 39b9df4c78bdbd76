"""How coroutines wait for calls of the core.

Each event loop has a port, in which its calls wait, and a doorbell that the network thread rings
when some of them have ended. The loop alone keeps the doorbell: a loop that is closed drops it, and
with that all that still waits is given up.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

from zoolock._native import Call, Port

T = TypeVar("T")

# Weak on both sides: a port knows its loop by the futures that wait in it.
_ports: WeakKeyDictionary[asyncio.AbstractEventLoop, ref[Port]] = WeakKeyDictionary()


# In a forked child every call goes by a port, which tells a loop that was the parent's.
_is_child = False


def _in_the_child() -> None:
    global _is_child
    _is_child = True


os.register_at_fork(after_in_child=_in_the_child)


class _Doorbell:
    __slots__ = ("_port",)

    def __init__(self, port: Port) -> None:
        self._port = port

    def __call__(self) -> None:
        for future in self._port.take():
            _finish(future)

    def __del__(self) -> None:
        self._port.close()


def port_of(loop: asyncio.AbstractEventLoop) -> Port:
    """Return the port of the running loop, made on first use."""
    known = _ports.get(loop)
    port = None if known is None else known()
    if port is None:
        port = Port()
        loop.add_reader(port.fileno(), _Doorbell(port))
        _ports[loop] = ref(port)
    elif not port.is_ours():
        # Its selector is shared with the parent: what one of them registers there wakes both.
        raise RuntimeError(
            "this event loop is a copy of the parent's: run one of its own in a forked process"
        )
    return port


async def outcome(call: Call[T]) -> T:
    """Wait for the end of a call. Cancelled, it is given up, whatever has come of it already."""
    loop = asyncio.get_running_loop()
    try:
        # What has nothing to wait for, such as to take a kept lock again, needs no port.
        if not _is_child and call.ended_at_once():
            return call.take()
        port = port_of(loop)
        future = loop.create_future()
        if port.wait(call, future):
            try:
                await future
            finally:
                port.forget(call)
        return call.take()
    except BaseException:
        call.abandon()
        raise


async def outcome_within(call: Call[T], limit: float | None, otherwise: T) -> T:
    """Wait for the end of a call, at most `limit` seconds; give it up then."""
    if limit is None:
        return await outcome(call)
    loop = asyncio.get_running_loop()
    try:
        port = port_of(loop)
        future = loop.create_future()
        if port.wait(call, future):
            timer = loop.call_later(limit, _finish, future)
            try:
                await future
            finally:
                timer.cancel()
                port.forget(call)
            if not call.ended:
                call.abandon()
                return otherwise
        return call.take()
    except BaseException:
        call.abandon()
        raise


def follow(call: Call[T], then: Callable[[Call[T]], object]) -> None:
    """Have the running loop call `then` with the call when it has ended."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    future.add_done_callback(lambda _: then(call))
    if not port_of(loop).wait(call, future):
        _finish(future)


def _finish(future: asyncio.Future[Any]) -> None:
    # One whose task was cancelled is done.
    if not future.done():
        future.set_result(None)
