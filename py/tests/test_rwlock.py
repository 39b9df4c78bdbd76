"""The read-write lock (R7, R12)."""

from __future__ import annotations

import pytest
import threads
from children import eventually
from ensemble import Ensemble

import zoolock


def test_r12_readers_share_and_a_writer_excludes(session: zoolock.Session, path: str) -> None:
    rw = session.rwlock(path)
    with rw.read as held:
        other = threads.in_thread(lambda: session.rwlock(path).read.try_lock())
        assert other is not None
        assert held.held
        assert threads.in_thread(rw.write.try_lock) is None
        other.release()
    with rw.write:
        assert threads.in_thread(rw.read.try_lock) is None
        assert threads.in_thread(rw.write.try_lock) is None


def test_r12_each_side_has_a_locks_whole_interface(session: zoolock.Session, path: str) -> None:
    rw = session.rwlock(path)
    for side in (rw.read, rw.write):
        assert isinstance(side, zoolock.Lock)
        assert side.path == rw.path == path
        assert side.acquire(timeout=5)
        assert side.held
        assert side.locked()
        assert side.fencing_token > 0
        assert len(rw.contenders()) == len(side.contenders()) == 1
        side.release()
        with side.hold(timeout=5) as held, pytest.raises(zoolock.LockTimeout):
            threads.in_thread(lambda: session.rwlock(path).write.lock(timeout=0.1))
        assert held.state == "released"
        guard = side.try_lock()
        assert guard is not None
        guard.release()
    assert rw.read is rw.read
    assert not rw.write.locked()


def test_r07_a_queued_writer_is_not_overtaken_by_later_readers(
    session: zoolock.Session, path: str
) -> None:
    rw = session.rwlock(path)
    with rw.read:
        writer = threads.start(lambda: rw.write.lock(timeout=20))
        eventually(lambda: len(rw.contenders()) == 2)
        assert threads.in_thread(rw.read.try_lock) is None
    writer.result(20).release()


def test_r12_reading_and_writing_are_reentrant_per_side(
    session: zoolock.Session, path: str
) -> None:
    rw = session.rwlock(path)
    with rw.read as outer, rw.read as inner:
        assert outer.fencing_token == inner.fencing_token
    with rw.write as outer, rw.write as inner:
        assert outer.fencing_token == inner.fencing_token


def test_r12_the_writer_downgrades_with_no_writer_in_between(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    rw = session.rwlock(path)
    writing = rw.write.lock()
    writer = threads.start(lambda: rw.write.lock(timeout=30))
    eventually(lambda: len(ensemble.children(path)) == 2)
    reading = rw.read.lock(timeout=5)
    assert reading.fencing_token == writing.fencing_token
    writing.release()
    assert reading.held
    assert not writer.done()
    reading.release()
    writer.result(20).release()


def test_r12_a_reader_that_asks_to_write_would_deadlock(
    session: zoolock.Session, path: str
) -> None:
    rw = session.rwlock(path)
    with rw.read as held:
        with pytest.raises(zoolock.WouldDeadlock) as raised:
            rw.write.lock()
        assert raised.value.path == path
        with pytest.raises(zoolock.WouldDeadlock):
            rw.write.acquire(timeout=1)
        assert held.held
