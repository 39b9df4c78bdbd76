"""Who may release what (R10), and what leaving a block raises."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable

import pytest
import threads
from children import eventually
from ensemble import Ensemble

import zoolock


def test_r10_a_second_release_is_not_held(session: zoolock.Session, path: str) -> None:
    guard = session.mutex(path).lock()
    guard.release()
    with pytest.raises(zoolock.NotHeld) as raised:
        guard.release()
    assert (raised.value.operation, raised.value.path) == ("release", path)
    with pytest.raises(zoolock.NotHeld):
        guard.ensure_held()


def test_r10_a_second_release_touches_no_node(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.mutex(path)
    first = lock.lock()
    first.release()
    second = lock.lock()
    with pytest.raises(zoolock.NotHeld):
        first.release()
    assert second.held
    assert len(ensemble.children(path)) == 1
    second.release()


def test_r10_a_guard_is_released_from_another_thread(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    guard = session.mutex(path).lock()
    threads.in_thread(guard.release)
    assert guard.state == "released"
    assert ensemble.children(path) == []


def test_r10_the_only_hold_is_released_from_another_thread(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.mutex(path)
    lock.acquire()
    threads.in_thread(lock.release)
    assert ensemble.children(path) == []
    with pytest.raises(zoolock.NotHeld):
        lock.release()


def test_r10_of_several_holds_nobody_releases_somebody_elses(
    session: zoolock.Session, path: str
) -> None:
    read = session.rwlock(path).read
    may_end = threading.Event()
    taken = threading.Barrier(3)

    def hold() -> bool:
        read.acquire()
        mine = read.fencing_token
        taken.wait(20)
        may_end.wait(20)
        same = read.held and read.fencing_token == mine
        read.release()
        return same

    holders = [threads.start(hold) for _ in range(2)]
    taken.wait(20)
    with pytest.raises(zoolock.NotHeld):
        read.release()
    with pytest.raises(zoolock.NotHeld):
        _ = read.fencing_token
    assert not read.held
    may_end.set()
    assert [holder.result(20) for holder in holders] == [True, True]


def test_r10_the_object_acts_on_the_calling_threads_last_hold(
    session: zoolock.Session, path: str
) -> None:
    lock = session.mutex(path)
    guard = lock.lock()
    assert lock.held
    assert lock.fencing_token == guard.fencing_token
    lock.release()
    assert guard.state == "released"


def test_r10_a_dropped_guard_is_released_in_the_background(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    guard = session.mutex(path).lock()
    assert len(ensemble.children(path)) == 1
    with pytest.warns(ResourceWarning, match=r"unreleased zoolock\.Guard"):
        del guard
    eventually(lambda: ensemble.children(path) == [])


def test_r10_a_guard_in_a_cycle_with_its_callback_is_collected(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    class Worker:
        def __init__(self) -> None:
            self.guard = session.mutex(path).lock()
            self.guard.on_lost(self.stop)

        def stop(self) -> None:
            pass

    worker = Worker()
    assert worker.guard.held
    del worker
    with pytest.warns(ResourceWarning, match=r"unreleased zoolock\.Guard"):
        gc.collect()
    eventually(lambda: ensemble.children(path) == [])


def test_r10_an_acquired_lock_stays_the_objects(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.mutex(path)
    assert lock.acquire()
    gc.collect()
    assert len(ensemble.children(path)) == 1
    assert lock.held
    lock.release()


def test_r10_a_dropped_lock_object_releases_its_hold(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.mutex(path)
    lock.acquire()
    with pytest.warns(ResourceWarning, match="unreleased lock object"):
        del lock
    eventually(lambda: ensemble.children(path) == [])


def test_r10_a_guard_keeps_its_session_open(hosts: str, path: str) -> None:
    guard = zoolock.connect(hosts, exclusive=True).mutex(path).lock()
    gc.collect()
    assert not guard.wait_lost(0.2)
    assert guard.held
    guard.release()


def test_r10_a_guard_is_a_context_manager(session: zoolock.Session, path: str) -> None:
    lock = session.mutex(path)
    with lock.lock(timeout=5) as guard:
        assert guard.held
    assert guard.state == "released"
    with pytest.warns(ResourceWarning):
        assert lock.try_lock() is not None


def test_r10_leaving_a_block_after_a_release_is_not_held(
    session: zoolock.Session, path: str
) -> None:
    with pytest.raises(zoolock.NotHeld), session.mutex(path) as held:
        held.release()
    with pytest.raises(zoolock.NotHeld), session.mutex(path).lock() as held:
        held.release()


def test_r10_leaving_a_block_never_releases_another_hold(
    session: zoolock.Session, path: str
) -> None:
    lock = session.reentrant_mutex(path)
    with lock as outer:
        with pytest.raises(zoolock.NotHeld), lock as inner:
            inner.release()
        assert outer.held
        assert lock.held


def test_what_the_body_raised_is_never_hidden(session: zoolock.Session, path: str) -> None:
    with pytest.raises(KeyError), session.mutex(path) as held:
        raise KeyError
    assert held.state == "released"
    with pytest.raises(KeyError) as raised, session.mutex(path) as held:
        held.release()
        raise KeyError
    if hasattr(raised.value, "add_note"):  # Python 3.11
        assert "released before" in raised.value.__notes__[0]  # type: ignore[attr-defined]


def test_r10_release_and_hand_off_between_objects(
    connect: Callable[..., zoolock.Session], path: str
) -> None:
    first, second = connect().mutex(path), connect().mutex(path)
    with first as held:
        waiting = threads.start(lambda: second.lock(timeout=20))
        eventually(lambda: len(first.contenders()) == 2)
        token = held.fencing_token
    guard = waiting.result(20)
    assert guard.fencing_token > token
    guard.release()
