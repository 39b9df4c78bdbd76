"""What is held when nothing refers to it any more: a warning, and the lock is released."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Iterator

import pytest
from children import Child, eventually
from queues import contenders

import zoolock
from zoolock.testing import Server


@pytest.fixture
def local(server: Server) -> Iterator[zoolock.Session]:
    with zoolock.connect(server.hosts) as session:
        yield session


def test_r10_a_guard_that_is_dropped_warns_and_is_released(
    local: zoolock.Session, server: Server, path: str
) -> None:
    guard = local.mutex(path).lock()
    text = rf"unreleased zoolock\.Guard of '{path}', node_path='{guard.node_path}'"
    with pytest.warns(ResourceWarning, match=text):
        del guard
    eventually(lambda: contenders(server, path) == [])


def test_the_warning_says_where_the_lock_was_taken(local: zoolock.Session, path: str) -> None:
    tracemalloc.start(5)
    try:
        guard = local.mutex(path).lock()  # here
        with pytest.warns(ResourceWarning) as caught:
            del guard
        trace = tracemalloc.get_object_traceback(caught[0].source)
    finally:
        tracemalloc.stop()
    assert trace is not None
    assert any(line.endswith(".lock()  # here") for line in trace.format())


def test_what_has_ended_does_not_warn(zoolock_server: Server, path: str) -> None:
    with warnings.catch_warnings(), zoolock.connect(zoolock_server.hosts) as session:
        warnings.simplefilter("error")
        with session.mutex(path):
            pass
        session.mutex(path).lock().release()
        lock = session.mutex(path)
        lock.acquire()
        lock.release()
        del lock
        lost = session.mutex(path).lock()
        lock = session.mutex(path + "/other")
        lock.acquire()
        zoolock_server.expire_all()
        assert lost.wait_lost(20)
        del lost, lock
        closed = session.mutex(path).lock()
    del closed


def test_a_warning_that_is_an_error_hides_no_exception(server: Server, path: str) -> None:
    code = """
        import warnings
        warnings.simplefilter("error")
        seen = []
        sys.unraisablehook = lambda what: seen.append(what.exc_type)
        session = zoolock.connect(hosts)
        def work():
            guard = session.mutex(path).lock()
            raise KeyError
        try:
            work()
        except KeyError as error:
            error.__traceback__ = None
        assert seen == [ResourceWarning], seen
        session.mutex(path).lock(timeout=5).release()
        session.close()
        say("ok")
    """
    with Child(code, server.hosts, path) as process:
        assert process.end() == "ok\n"


def test_an_exit_with_locks_is_quiet_unless_asked(server: Server, path: str) -> None:
    code = """
        session = zoolock.connect(hosts)
        guard = session.mutex(path).lock()
        lock = session.mutex(path + "/b")
        lock.acquire()
    """
    with Child(code, server.hosts, path) as process:
        output, errors = process.process.communicate(timeout=20)
        assert (output, errors, process.process.returncode) == ("", "", 0)
    eventually(lambda: contenders(server, path) == [], within=2)


def test_statistics_count_what_a_lock_object_did(local: zoolock.Session, path: str) -> None:
    lock = local.mutex(path)
    assert lock.statistics() == zoolock.LockStatistics(0, 0, 0, 0, 0.0, 0.0)
    with lock, pytest.raises(zoolock.LockTimeout):
        lock.lock(timeout=0.02)
    counted = lock.statistics()
    assert (counted.acquisitions, counted.contended, counted.timeouts) == (1, 0, 1)
    assert counted.losses == 0
    assert 0 < counted.waited < 5
    assert 0.02 <= counted.held < 5
    rw = local.rwlock(path + "/rw")
    with rw.read, rw.read:
        pass
    with rw.write:
        pass
    assert rw.statistics().acquisitions == 3
    with pytest.raises(AttributeError):
        counted.losses = 1  # type: ignore[misc]


def test_a_closed_session_is_not_entered(server: Server) -> None:
    session = zoolock.connect(server.hosts)
    with session:
        pass
    with pytest.raises(zoolock.Closed), session:
        pytest.fail("entered")


def test_r11_an_owner_may_be_named(local: zoolock.Session, server: Server, path: str) -> None:
    lock, owner = local.reentrant_mutex(path), zoolock.Owner()
    with lock.hold(owner=owner) as held, lock.lock(owner=owner) as again:
        assert again.fencing_token == held.fencing_token
        assert lock.try_lock() is None
        third = lock.try_lock(owner=owner)
        assert third is not None
        third.release()
        assert lock.acquire(owner=owner)
        assert lock.acquire(timeout=0.02) is False
        lock.release(owner=owner)
    assert contenders(server, path) == []
    assert owner == owner
    assert owner != zoolock.Owner()
    assert len({owner, owner, zoolock.Owner()}) == 2
    with pytest.raises(TypeError, match=r"owner must be a zoolock\.Owner, not str"):
        lock.lock(owner="me")  # type: ignore[arg-type]
