"""Guards that are lost: told once, in time, and for good (R3, R4)."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import threads
from children import Child, eventually
from ensemble import Ensemble

import zoolock


def test_r04_loss_is_told_once_and_is_final(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    guard = connect().mutex(path).lock()
    told: list[str] = []
    again = threading.Event()
    guard.on_lost(lambda: told.append(threading.current_thread().name))
    assert guard.wait_lost(0.1) is False
    ensemble.tell("freeze client all")
    assert guard.wait_lost(20) is True
    assert guard.wait_lost() is True
    assert guard.state == "lost"
    assert not guard.held
    # Registered later, told at once; callbacks keep their order, so the first was told before.
    guard.on_lost(again.set)
    assert again.wait(20)
    assert len(told) == 1
    assert told != [threading.current_thread().name]
    with pytest.raises(zoolock.LockLost) as raised:
        guard.ensure_held()
    assert (raised.value.operation, raised.value.path) == ("ensure_held", path)
    ensemble.tell("thaw client all")
    eventually(lambda: ensemble.children(path) == [])
    assert guard.state == "lost"
    assert len(told) == 1


def test_r04_a_release_is_no_loss(session: zoolock.Session, path: str) -> None:
    guard = session.mutex(path).lock()
    told: list[bool] = []
    guard.on_lost(lambda: told.append(True))
    waiting = threads.start(guard.wait_lost)
    guard.release()
    assert waiting.result(20) is False
    assert told == []


def test_r04_leaving_a_block_raises_lock_lost(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    lock = connect().mutex(path)
    with pytest.raises(zoolock.LockLost) as raised, lock as held:
        ensemble.tell("freeze client all")
        assert held.wait_lost(20)
    assert raised.value.path == path
    assert isinstance(raised.value.__cause__, zoolock.Unavailable)  # the lease ran out
    ensemble.tell("heal client all")
    with lock.hold(timeout=20) as held:
        assert held.held


def test_r04_what_the_body_raised_is_not_hidden_by_a_loss(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    lock = connect().mutex(path)
    with pytest.raises(KeyError) as raised, lock.hold(timeout=5) as held:
        ensemble.tell("freeze client all")
        assert held.wait_lost(20)
        raise KeyError
    if hasattr(raised.value, "add_note"):  # Python 3.11
        assert "the lock was lost" in raised.value.__notes__[0]  # type: ignore[attr-defined]


def test_r10_a_lost_hold_stays_its_takers_until_released(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    lock = connect().mutex(path)
    lock.acquire()
    ensemble.tell("freeze client all")
    eventually(lambda: not lock.held)
    assert lock.fencing_token > 0
    with pytest.raises(zoolock.LockLost):
        lock.release()
    with pytest.raises(zoolock.NotHeld):
        lock.release()


def test_r11_reentering_a_lost_lock_is_lock_lost(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    lock = connect().reentrant_mutex(path)
    guard = lock.lock()
    ensemble.tell("freeze client all")
    assert guard.wait_lost(20)
    with pytest.raises(zoolock.LockLost):
        lock.lock(timeout=5)


def test_r04_suspended_is_still_held(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    guard = connect(session_timeout=20).mutex(path).lock()
    ensemble.tell("refuse client all")
    ensemble.tell("reset client all")
    eventually(lambda: guard.state == "suspended")
    assert guard.held
    guard.ensure_held()
    ensemble.tell("accept client all")
    eventually(lambda: guard.state == "held")
    guard.release()


def test_r04_a_deleted_contender_is_told(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    guard = session.mutex(path).lock()
    assert not guard.wait_lost(1)
    ensemble.tell(f"delete {guard.node_path}")
    assert guard.wait_lost(20)
    assert guard.state == "lost"


def test_r17_closing_loses_the_guards(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    session = connect()
    guard = session.mutex(path).lock()
    told = threading.Event()
    guard.on_lost(told.set)
    session.close()
    assert guard.state == "lost"
    assert told.wait(20)
    assert ensemble.children(path) == []
    with pytest.raises(zoolock.LockLost):
        guard.release()


def test_r04_a_guard_dropped_after_its_loss_is_told_of_it(
    connect: Callable[..., zoolock.Session], path: str
) -> None:
    session = connect()
    first, second = session.mutex(path + "/1").lock(), session.mutex(path + "/2").lock()
    may_go_on, told = threading.Event(), threading.Event()
    # Callbacks come one at a time, so that the second has to wait for the first.
    first.on_lost(lambda: may_go_on.wait(20))
    second.on_lost(told.set)
    session.close()
    assert second.wait_lost(20)
    del first, second
    gc.collect()
    may_go_on.set()
    assert told.wait(20)


def test_r04_a_hold_of_the_lock_object_is_told_of_without_its_guard(
    connect: Callable[..., zoolock.Session], path: str
) -> None:
    session = connect()
    lock = session.mutex(path)
    told = threading.Event()
    lock.hold().__enter__().on_lost(told.set)
    gc.collect()
    assert lock.held
    session.close()
    assert told.wait(20)


def test_r04_an_exception_in_a_callback_goes_to_the_unraisable_hook(
    connect: Callable[..., zoolock.Session], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    caught: list[SimpleNamespace] = []
    monkeypatch.setattr(sys, "unraisablehook", caught.append)
    session = connect()
    guard = session.mutex(path).lock()
    told = threading.Event()

    def fail() -> None:
        raise ZeroDivisionError

    guard.on_lost(fail)
    guard.on_lost(told.set)
    session.close()
    assert told.wait(20)
    assert [unraisable.exc_type for unraisable in caught] == [ZeroDivisionError]
    assert caught[0].object is fail


def test_r03_a_stopped_holder_finds_the_loss_at_its_first_look(
    session: zoolock.Session, path: str, child: Callable[[str], Child]
) -> None:
    holder = child(
        """
        guard = zoolock.connect(hosts, session_timeout=2).mutex(path).lock()
        say(guard.held)
        hear()
        say(guard.held, guard.state)
        try:
            guard.release()
        except zoolock.LockLost:
            say("LockLost")
        """
    )
    assert holder.hear() == "True"
    holder.signal(signal.SIGSTOP)
    with session.mutex(path).hold(timeout=30):
        # In its pipe before it continues: nothing else comes first.
        holder.say("look")
        holder.signal(signal.SIGCONT)
        assert holder.hear() == "False lost"
        assert holder.hear() == "LockLost"
    holder.end()


def test_r06_a_time_out_in_an_outage_is_told_from_one_by_another_holder(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    session = connect()
    lock = session.mutex(path)
    with lock, pytest.raises(zoolock.LockTimeout) as busy:
        session.mutex(path).lock(timeout=1)
    assert busy.value.__cause__ is None
    ensemble.tell("freeze client all")
    eventually(lambda: session.state == "suspended")
    with pytest.raises(zoolock.LockTimeout) as outage:
        lock.lock(timeout=0.3)
    assert isinstance(outage.value.__cause__, zoolock.Unavailable)
