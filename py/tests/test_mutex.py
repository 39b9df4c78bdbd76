"""The mutex: exclusion, order, tokens, time-outs."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import threads
from children import Child, eventually
from ensemble import Ensemble

import zoolock

LATE = 0.05
"""What R6 allows a call over its time-out."""


def test_r01_processes_exclude_each_other(tmp_path: Path, child: Callable[[str], Child]) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    code = f"""
        from pathlib import Path
        counter = Path({str(counter)!r})
        with zoolock.connect(hosts) as session:
            lock = session.mutex(path)
            for _ in range(25):
                with lock:
                    value = int(counter.read_text())
                    counter.write_text(str(value + 1))
    """
    processes = [child(code) for _ in range(4)]
    for process in processes:
        process.end()
    assert counter.read_text() == "100"


def test_r01_threads_exclude_each_other(session: zoolock.Session, path: str) -> None:
    lock = session.mutex(path)
    inside = 0

    def work() -> int:
        nonlocal inside
        most = 0
        for _ in range(25):
            with lock:
                inside += 1
                most = max(most, inside)
                inside -= 1
        return most

    assert {future.result(30) for future in [threads.start(work) for _ in range(4)]} == {1}


def test_r02_tokens_rise_from_grant_to_grant(session: zoolock.Session, path: str) -> None:
    lock = session.mutex(path)
    tokens = []
    for _ in range(3):
        with lock as held:
            assert lock.fencing_token == held.fencing_token
            tokens.append(held.fencing_token)
    assert tokens == sorted(set(tokens))
    assert all(isinstance(token, int) and token > 0 for token in tokens)


def test_r05_a_released_lock_leaves_no_contender(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    with session.mutex(path) as held:
        assert ensemble.children(path) == [held.node_path.rpartition("/")[2]]
        assert held.path == path
        assert held.held
        inside: str = held.state
        assert inside == "held"
    assert ensemble.children(path) == []
    assert held.state == "released"
    assert not held.held


def test_r06_a_timed_call_ends_in_time_and_leaves_no_contender(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.mutex(path)
    with lock:
        began = time.monotonic()
        with pytest.raises(zoolock.LockTimeout) as raised:
            threads.in_thread(lambda: lock.lock(timeout=0.3))
        assert 0.3 <= time.monotonic() - began <= 0.3 + LATE
        eventually(lambda: len(ensemble.children(path)) == 1)
    assert isinstance(raised.value, TimeoutError)
    assert (raised.value.code, raised.value.path) == ("TIMEOUT", path)


def test_r06_a_timed_call_ends_in_time_when_the_server_is_frozen(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    lock = connect(session_timeout=10).mutex(path)
    with lock:
        pass
    ensemble.tell("freeze client all")
    began = time.monotonic()
    with pytest.raises(zoolock.LockTimeout):
        lock.lock(timeout=0.5)
    assert time.monotonic() - began <= 0.5 + LATE
    ensemble.tell("thaw client all")
    eventually(lambda: ensemble.children(path) == [])
    with lock:
        pass
    assert ensemble.children(path) == []


def test_r06_hold_waits_for_its_time_only(session: zoolock.Session, path: str) -> None:
    lock = session.mutex(path)
    with lock.hold(timeout=5) as held:
        assert held.held
        with pytest.raises(zoolock.LockTimeout), session.mutex(path).hold(timeout=0.1):
            pytest.fail("entered")
        assert held.held
    assert held.state == "released"


def test_r06_hold_can_be_used_again(session: zoolock.Session, path: str) -> None:
    hold = session.mutex(path).hold(timeout=5)
    for _ in range(2):
        with hold as held:
            assert held.held


def test_r06_a_try_does_not_wait(session: zoolock.Session, path: str) -> None:
    lock = session.mutex(path)
    guard = lock.try_lock()
    assert guard is not None
    assert lock.try_lock() is None
    assert not lock.acquire(blocking=False)
    assert not lock.acquire(timeout=0)
    with pytest.raises(zoolock.LockTimeout):
        lock.lock(timeout=0)
    guard.release()
    assert lock.acquire(blocking=False)
    lock.release()


def test_r06_a_try_on_a_frozen_server_is_bounded_by_connect_timeout(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    lock = connect(session_timeout=10, connect_timeout=0.5).mutex(path)
    ensemble.tell("freeze client all")
    began = time.monotonic()
    with pytest.raises(zoolock.Unavailable):
        lock.try_lock()
    assert time.monotonic() - began <= 0.5 + LATE


def test_r06_connecting_to_a_frozen_server_is_bounded_by_connect_timeout(
    ensemble: Ensemble,
) -> None:
    ensemble.tell("freeze client all")
    began = time.monotonic()
    with pytest.raises(zoolock.Unavailable) as raised:
        zoolock.connect(ensemble.hosts, connect_timeout=0.5, exclusive=True)
    assert time.monotonic() - began <= 0.5 + LATE
    assert isinstance(raised.value, ConnectionError)


def test_r06_acquire_has_the_shape_of_threading_lock(session: zoolock.Session, path: str) -> None:
    lock = session.mutex(path)
    assert not lock.locked()
    assert lock.acquire()
    assert lock.locked()
    assert lock.held
    assert threads.in_thread(lambda: lock.acquire(True, 0.1)) is False
    with pytest.raises(ValueError, match="timeout"):
        lock.acquire(blocking=False, timeout=5)
    lock.release()
    assert not lock.locked()
    assert lock.acquire(timeout=5)
    lock.release()
    with pytest.raises(RuntimeError):
        lock.release()


def test_r07_grants_follow_the_order_of_arrival(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.mutex(path)
    order: list[int] = []

    def wait_and_note(number: int) -> None:
        with lock:
            order.append(number)

    def queued(number: int) -> bool:
        return len(ensemble.children(path)) == number

    with lock:
        waiting = []
        for number in range(4):
            waiting.append(threads.start(partial(wait_and_note, number)))
            eventually(partial(queued, number + 2))
    for future in waiting:
        future.result(30)
    assert order == [0, 1, 2, 3]


def test_r13_contenders_are_listed_in_order(
    session: zoolock.Session, hosts: str, path: str
) -> None:
    with zoolock.connect(hosts, identity="the other one") as other:
        with session.mutex(path, data="the first") as held:
            waiting = threads.start(lambda: other.mutex(path).lock(timeout=20).release())
            eventually(lambda: len(other.mutex(path).contenders()) == 2)
            first, second = session.mutex(path).contenders()
        waiting.result(20)
    assert first.node_path == held.node_path
    assert first.sequence < second.sequence
    assert (first.holds, second.holds) == (True, False)
    assert (first.identity, second.identity) == ("the first", "the other one")
    assert (first.session_id, second.session_id) == (session.session_id, second.session_id)


def test_r13_kazoo_naming_excludes_curator_naming(session: zoolock.Session, path: str) -> None:
    with session.mutex(path, naming="kazoo") as held:
        assert "__lock__" in held.node_path
        assert session.mutex(path, naming="curator").try_lock() is None


def test_the_gil_is_free_while_a_thread_waits(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.mutex(path)
    with lock:
        waiting = threads.start(lambda: lock.lock(timeout=30))
        # Would hang here if the waiting thread kept the interpreter to itself.
        eventually(lambda: len(ensemble.children(path)) == 2)
        assert sum(range(1_000_000)) == 499_999_500_000
        assert not waiting.done()
    waiting.result(20).release()
