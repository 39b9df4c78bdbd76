"""Calls that end early leave no contender (R5): cancelled, interrupted, closed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

import pytest
import threads
from children import Child, eventually
from ensemble import Ensemble

import zoolock


def test_r05_a_cancelled_call_leaves_no_contender(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.mutex(path)
    cancel = zoolock.Cancel()
    with lock:
        waiting = threads.start(lambda: lock.lock(cancel=cancel))
        eventually(lambda: len(ensemble.children(path)) == 2)
        assert not cancel.cancelled
        cancel.cancel()
        with pytest.raises(zoolock.Cancelled) as raised:
            waiting.result(20)
        assert cancel.cancelled
        assert raised.value.code == "CANCELLED"
        eventually(lambda: len(ensemble.children(path)) == 1)
        cancel.cancel()
    with pytest.raises(zoolock.Cancelled):
        lock.lock(cancel=cancel)
    with pytest.raises(zoolock.Cancelled), lock.hold(cancel=cancel):
        pytest.fail("entered")


def test_r05_one_cancel_ends_many_calls(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.mutex(path)
    cancel = zoolock.Cancel()
    with lock:
        waiting = [threads.start(lambda: lock.lock(60, cancel)) for _ in range(5)]
        eventually(lambda: len(ensemble.children(path)) == 6)
        cancel.cancel()
        for call in waiting:
            with pytest.raises(zoolock.Cancelled):
                call.result(20)
        eventually(lambda: len(ensemble.children(path)) == 1)


WAITS = {
    "lock": "lock.lock()",
    "timed lock": "lock.lock(timeout=60)",
    "acquire": "lock.acquire()",
    "block": "with lock: pass",
    "hold": "with lock.hold(timeout=60): pass",
    "re-entrant": "session.reentrant_mutex(path).lock()",
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_r05_ctrl_c_interrupts_a_wait_for_a_lock(
    session: zoolock.Session,
    ensemble: Ensemble,
    path: str,
    child: Callable[[str], Child],
    wait: str,
) -> None:
    waiter = child(
        f"""
        session = zoolock.connect(hosts)
        lock = session.mutex(path)
        try:
            {wait}
        except KeyboardInterrupt:
            say("interrupted")
        hear()
        """
    )
    with session.mutex(path):
        eventually(lambda: len(ensemble.children(path)) == 2)
        waiter.signal(signal.SIGINT)
        assert waiter.hear() == "interrupted"
        # The process lives on, so it is the call that took its contender away.
        eventually(lambda: len(ensemble.children(path)) == 1)
    waiter.say()
    waiter.end()


UNANSWERED = {
    "connect": "zoolock.connect(hosts, connect_timeout=60, exclusive=True)",
    "lock": "other.lock()",
    "try_lock": "other.try_lock()",
    "contenders": "lock.contenders()",
    "locked": "lock.locked()",
    "release": "guard.release()",
    "wait_lost": "guard.wait_lost()",
    "close": "session.close(timeout=60)",
}


@pytest.mark.parametrize("wait", UNANSWERED.values(), ids=UNANSWERED)
def test_r05_ctrl_c_interrupts_whatever_waits_for_a_server(
    ensemble: Ensemble, child: Callable[[str], Child], wait: str
) -> None:
    waiter = child(
        f"""
        import signal
        session = zoolock.connect(hosts, connect_timeout=60, session_timeout=60)
        lock, other = session.mutex(path), session.mutex(path + "/other")
        guard = lock.lock()
        say("ready")
        hear()
        threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
        try:
            {wait}
        except KeyboardInterrupt:
            say("interrupted")
        """
    )
    assert waiter.hear() == "ready"
    ensemble.tell("freeze client all")
    waiter.say()
    assert waiter.hear() == "interrupted"
    waiter.end()


def test_other_signal_handlers_run_while_a_call_waits(
    session: zoolock.Session, path: str, child: Callable[[str], Child]
) -> None:
    waiter = child(
        """
        import signal
        signal.signal(signal.SIGUSR1, lambda *_: say("handled"))
        lock = zoolock.connect(hosts).mutex(path)
        say("waiting")
        lock.lock().release()
        say("released")
        """
    )
    with session.mutex(path):
        assert waiter.hear() == "waiting"
        waiter.signal(signal.SIGUSR1)
        assert waiter.hear() == "handled"
    assert waiter.hear() == "released"
    waiter.end()


def test_r17_closing_ends_waiting_calls(
    connect: Callable[..., zoolock.Session],
    session: zoolock.Session,
    ensemble: Ensemble,
    path: str,
) -> None:
    closing = connect()
    lock = closing.mutex(path)
    with session.mutex(path):
        waiting = threads.start(lock.lock)
        eventually(lambda: len(ensemble.children(path)) == 2)
        closing.close()
        with pytest.raises(zoolock.Closed):
            waiting.result(20)
        eventually(lambda: len(ensemble.children(path)) == 1)
    with pytest.raises(zoolock.Closed):
        lock.lock()
    with pytest.raises(zoolock.Closed):
        lock.contenders()
    with pytest.raises(zoolock.Closed):
        closing.mutex(path)
    closing.close()


def test_r06_a_wait_outlasts_many_slices(
    session: zoolock.Session, ensemble: Ensemble, path: str
) -> None:
    lock = session.mutex(path)
    done = threading.Event()
    guard = lock.lock()

    def wait() -> None:
        with lock:
            done.set()

    waiting = threads.start(wait)
    eventually(lambda: len(ensemble.children(path)) == 2)
    assert not done.wait(1.2)
    guard.release()
    waiting.result(20)
    assert done.is_set()
