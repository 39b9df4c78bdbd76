"""The re-entrant mutex, whose owners are threads (R11)."""

from __future__ import annotations

import pytest
import threads
from children import eventually
from ensemble import Ensemble

import zoolock


def test_r11_its_thread_gets_it_again_with_the_same_token(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.reentrant_mutex(path)
    with lock as outer:
        ensemble.tell("log clear")
        with lock as inner:
            assert inner.fencing_token == outer.fencing_token
            assert inner.node_path == outer.node_path
        assert "create2" not in ensemble.tell("counts")["counts"]
        assert "delete" not in ensemble.tell("counts")["counts"]
        assert (inner.state, outer.state) == ("released", "held")
        assert len(ensemble.children(path)) == 1
    assert ensemble.children(path) == []


def test_r11_another_thread_queues(session: zoolock.Session, path: str) -> None:
    lock = session.reentrant_mutex(path)
    with lock:
        assert threads.in_thread(lock.try_lock) is None
        waiting = threads.start(lambda: lock.lock(timeout=20))
        eventually(lambda: len(lock.contenders()) == 2)
        with lock.lock(timeout=0) as again:
            assert again.held
    waiting.result(20).release()


def test_r11_it_counts_per_path_not_per_object(session: zoolock.Session, path: str) -> None:
    first, second = session.reentrant_mutex(path), session.reentrant_mutex(path)
    with first as outer, second as inner:
        assert inner.fencing_token == outer.fencing_token


def test_r11_it_has_the_shape_of_threading_rlock(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.reentrant_mutex(path)
    assert lock.acquire()
    assert lock.acquire(blocking=False)
    assert lock.acquire(timeout=1)
    lock.release()
    lock.release()
    assert lock.held
    assert len(ensemble.children(path)) == 1
    lock.release()
    assert not lock.held
    assert ensemble.children(path) == []
    with pytest.raises(RuntimeError):
        lock.release()


def test_r11_a_plain_mutex_excludes_it(session: zoolock.Session, path: str) -> None:
    with session.reentrant_mutex(path):
        assert session.mutex(path).try_lock() is None
    with session.mutex(path):
        assert session.reentrant_mutex(path).try_lock() is None


def test_r11_a_plain_mutex_is_not_reentrant(session: zoolock.Session, path: str) -> None:
    lock = session.mutex(path)
    with lock:
        assert not lock.acquire(timeout=0.1)


def test_r11_a_later_thread_is_another_owner(session: zoolock.Session, path: str) -> None:
    lock = session.reentrant_mutex(path)
    # Operating systems give the id of a thread that has ended to the next one.
    guards = [threads.in_thread(lock.try_lock) for _ in range(3)]
    assert guards[0] is not None
    assert guards[1:] == [None, None]
    guards[0].release()
