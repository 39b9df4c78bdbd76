"""The synchronous and the asynchronous API are the same, name by name."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import zoolock
from zoolock.testing import Server

CLASSES = [name for name in zoolock.aio.__all__ if name != "connect"]
ONLY_AIO = {"Guard": {"lost"}}
"""Threads cannot wait for two things at once, so they have no use for it."""
AT_ONCE = {
    "Guard": {"ensure_held", "on_lost"},
    "Lock": {"hold", "statistics"},
    "RwLock": {"statistics"},
    "Session": {"mutex", "reentrant_mutex", "rwlock", "on_state"},
}
"""What waits for nothing, and is not awaited."""


def public(kind: type) -> dict[str, Any]:
    return {
        name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")
    }


def shape(method: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    return [
        (one.name, one.kind, one.default)
        for one in inspect.signature(method).parameters.values()
        # Of methods of compiled classes it is positional only.
        if one.name != "self"
    ]


def test_every_class_of_locks_has_its_counterpart() -> None:
    shared = {"Cancel", "Contender", "LockStatistics", "Owner"}
    options = {"AclEntry", "ExponentialBackoff", "FixedBackoff", "Permission", "Tls"}
    errors = {"Error", *(kind.__name__ for kind in zoolock.Error.__subclasses__())}
    states = {"GuardState", "SessionState", "__version__"}
    sync = set(zoolock.__all__) - shared - options - errors - states
    assert sync == {*zoolock.aio.__all__}


@pytest.mark.parametrize("name", CLASSES)
def test_every_name_has_its_counterpart_with_the_same_parameters(name: str) -> None:
    sync, aio = public(getattr(zoolock, name)), public(getattr(zoolock.aio, name))
    assert set(aio) - ONLY_AIO.get(name, set()) == set(sync)
    for member, method in sync.items():
        if not inspect.isroutine(method):
            assert isinstance(aio[member], property), member
            continue
        assert shape(aio[member]) == shape(method), member
        lock = "Lock" if name in ("Mutex", "ReentrantMutex", "RwLockSide") else name
        waits = member not in AT_ONCE.get(lock, set())
        assert inspect.iscoroutinefunction(aio[member]) == waits, member


def test_connect_takes_the_same_options() -> None:
    assert shape(zoolock.aio.connect) == shape(zoolock.connect)
    assert inspect.iscoroutinefunction(zoolock.aio.connect)


@pytest.mark.parametrize("name", CLASSES)
def test_blocks_are_entered_alike(name: str) -> None:
    sync, aio = getattr(zoolock, name), getattr(zoolock.aio, name)
    assert hasattr(sync, "__enter__") == hasattr(aio, "__aenter__")
    assert hasattr(sync, "__exit__") == hasattr(aio, "__aexit__")
    assert not hasattr(aio, "__enter__")
    assert not hasattr(sync, "__aenter__")


@pytest.mark.parametrize("name", CLASSES)
def test_the_classes_descend_alike(name: str) -> None:
    sync, aio = getattr(zoolock, name), getattr(zoolock.aio, name)
    assert issubclass(sync, zoolock.Lock) == issubclass(aio, zoolock.aio.Lock)
    assert aio.__module__ == "zoolock.aio"
    assert aio.__doc__
    for member, value in public(aio).items():
        assert value.__doc__, member


async def test_handles_are_neither_pickled_nor_copied(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        rw = session.rwlock(path)
        lock = session.mutex(path)
        async with lock as held:
            for handle in (session, lock, session.reentrant_mutex(path), lock.hold(), rw, held):
                name = type(handle).__name__
                with pytest.raises(TypeError, match=f"cannot pickle 'zoolock.aio.{name}' object"):
                    pickle.dumps(handle)
                with pytest.raises(TypeError, match="cannot pickle"):
                    copy.copy(handle)
                with pytest.raises(TypeError, match="cannot pickle"):
                    copy.deepcopy(handle)


async def test_reprs_say_what_matters(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        assert repr(session.mutex(path)) == f"<zoolock.aio.Mutex path='{path}'>"
        assert repr(session.rwlock(path)) == f"<zoolock.aio.RwLock path='{path}'>"
        assert repr(session).startswith("<zoolock.aio.Session connected session_id=0x")
        async with session.mutex(path) as held:
            assert repr(held).startswith("<zoolock.aio.Guard held node_path='")
