"""Sessions: opening, sharing, states, closing (R16, R17)."""

from __future__ import annotations

import gc
import logging
import queue
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from children import Child, eventually
from ensemble import Ensemble

import zoolock

EXIT = 2.0
"""Seconds: what R17 gives to closing, and the interpreter's own end."""


def test_connect_is_a_context_manager(hosts: str, path: str) -> None:
    with zoolock.connect(hosts) as session:
        inside: str = session.state
        assert inside == "connected"
        assert session.session_id != 0
        assert session.negotiated_timeout == 15
        with session.mutex(path):
            pass
    assert session.state == "closed"


def test_what_the_body_of_a_session_raised_is_not_hidden(hosts: str) -> None:
    with pytest.raises(KeyError), zoolock.connect(hosts) as session:
        raise KeyError
    assert session.state == "closed"


def test_the_servers_come_from_the_environment(
    hosts: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZOOLOCK_HOSTS", hosts)
    with zoolock.connect() as session, session.mutex(path) as held:
        assert held.held


def test_a_chroot_is_made_and_not_shown(hosts: str, ensemble: Ensemble, path: str) -> None:
    with zoolock.connect(f"{hosts}{path}/root") as session, session.mutex("/a") as held:
        assert held.node_path.startswith("/a/")
        assert len(ensemble.children(f"{path}/root/a")) == 1


def test_r16_equal_options_share_a_session(hosts: str) -> None:
    with (
        zoolock.connect(hosts, identity="me") as one,
        zoolock.connect(hosts, identity="me") as two,
        zoolock.connect(hosts, identity="me", exclusive=True) as three,
    ):
        assert one.session_id == two.session_id != three.session_id
        one.close()
        assert (one.state, two.state) == ("closed", "connected")


def test_r16_all_options_are_taken(hosts: str, path: str) -> None:
    for backoff in (
        zoolock.ExponentialBackoff(base=0.1, max=2, retries=5),
        zoolock.FixedBackoff(delay=0.1),
        {"exponential": {"base": 0.1, "max": 1}},
        {"fixed": {"delay": 0.1, "retries": 3}},
    ):
        with (
            zoolock.connect(
                hosts,
                session_timeout=4,
                connect_timeout=5.5,
                auth=[],
                acl=[zoolock.AclEntry(zoolock.Permission.ALL, "world", "anyone")],
                identity="me",
                exclusive=True,
                backoff=backoff,
                lease_confirmation="write",
            ) as session,
            session.mutex(path) as held,
        ):
            assert session.negotiated_timeout == 4
            assert held.held


def test_r16_retries_bound_the_first_connect(unused_port: int) -> None:
    with pytest.raises(zoolock.Unavailable):
        zoolock.connect(
            f"127.0.0.1:{unused_port}",
            connect_timeout=300,
            backoff=zoolock.FixedBackoff(delay=0.01, retries=2),
        )


def test_r16_changes_of_state_are_told_in_order(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble
) -> None:
    session = connect(session_timeout=20)
    told: queue.Queue[str] = queue.Queue()
    session.on_state(told.put)
    ensemble.tell("reset client all")
    assert [told.get(timeout=20) for _ in range(2)] == ["suspended", "connected"]
    session.close()
    assert told.get(timeout=20) == "closed"


def test_r16_a_new_session_follows_an_expired_one(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    session = connect()
    told: queue.Queue[str] = queue.Queue()
    session.on_state(told.put)
    before = session.session_id
    ensemble.tell(f"expire 0x{before & (2**64 - 1):x}")
    while told.get(timeout=20) != "expired":
        pass
    eventually(lambda: session.state == "connected")
    assert session.session_id != before
    with session.mutex(path) as held:
        assert held.held


def test_a_state_callback_that_raises_is_called_again(
    connect: Callable[..., zoolock.Session],
    ensemble: Ensemble,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caught: queue.Queue[SimpleNamespace] = queue.Queue()
    monkeypatch.setattr(sys, "unraisablehook", caught.put)
    session = connect(session_timeout=20)

    def fail(state: str) -> None:
        raise RuntimeError(state)

    session.on_state(fail)
    ensemble.tell("reset client all")
    told = [str(caught.get(timeout=20).exc_value) for _ in range(2)]
    session.close()
    told.append(str(caught.get(timeout=20).exc_value))
    assert told == ["suspended", "connected", "closed"]


def test_the_log_goes_to_the_logger_zoolock(
    connect: Callable[..., zoolock.Session],
    ensemble: Ensemble,
    path: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "zoolock")
    with pytest.raises(zoolock.LockLost), connect().mutex(path) as held:
        ensemble.tell("freeze client all")
        assert held.wait_lost(20)
    eventually(lambda: "the lease has run out guards=1" in caplog.messages)
    assert {record.name for record in caplog.records} == {"zoolock"}


def test_a_callback_that_blocks_delays_no_lock(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    session = connect(session_timeout=20)
    called, may_return = threading.Event(), threading.Event()

    def block(_state: str) -> None:
        called.set()
        may_return.wait(30)

    session.on_state(block)
    ensemble.tell("reset client all")
    assert called.wait(20)
    with session.mutex(path) as held:
        assert held.held
    may_return.set()


def test_r17_closing_takes_no_longer_than_it_may(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, path: str
) -> None:
    session = connect(session_timeout=20)
    guard = session.mutex(path).lock()
    ensemble.tell("freeze client all")
    began = time.monotonic()
    session.close(timeout=0.3)
    assert time.monotonic() - began <= 0.3 + 0.05
    assert (session.state, guard.state) == ("closed", "lost")
    ensemble.tell("thaw client all")
    eventually(lambda: ensemble.children(path) == [])


def test_r17_on_state_after_close_is_closed(hosts: str) -> None:
    session = zoolock.connect(hosts)
    session.close()
    with pytest.raises(zoolock.Closed):
        session.on_state(print)


def test_r17_a_dropped_session_closes(hosts: str, ensemble: Ensemble) -> None:
    session = zoolock.connect(hosts, exclusive=True)
    told: queue.Queue[str] = queue.Queue()
    session.on_state(told.put)
    number = f"0x{session.session_id & (2**64 - 1):x}"

    def known() -> bool:
        return number in [known["id"] for known in ensemble.tell("sessions")["sessions"]]

    assert known()
    del session
    gc.collect()
    eventually(lambda: not known())
    assert told.get(timeout=20) == "closed"


def test_a_session_in_a_cycle_with_its_callback_is_collected(hosts: str) -> None:
    class Application:
        def __init__(self) -> None:
            self.session = zoolock.connect(hosts, exclusive=True)
            self.session.on_state(self.notice)

        def notice(self, state: str) -> None:
            pass

    application = Application()
    gone = weakref.ref(application)
    del application
    gc.collect()
    assert gone() is None


def test_r17_a_process_that_exits_frees_its_locks(
    ensemble: Ensemble, path: str, child: Callable[[str], Child]
) -> None:
    holder = child(
        """
        session = zoolock.connect(hosts, session_timeout=60)
        lock = session.mutex(path)
        lock.acquire()
        waiter = threading.Thread(target=session.mutex(path).lock, daemon=True)
        waiter.start()
        while len(lock.contenders()) < 2:
            time.sleep(0.01)
        say(time.monotonic())
        """
    )
    began = float(holder.hear())
    holder.end()
    assert time.monotonic() - began < EXIT
    assert ensemble.children(path) == []


def test_r17_an_exit_takes_about_a_second_though_no_server_answers(
    ensemble: Ensemble, child: Callable[[str], Child]
) -> None:
    holder = child(
        """
        guard = zoolock.connect(hosts, session_timeout=60).mutex(path).lock()
        say("held")
        hear()
        say(time.monotonic())
        """
    )
    assert holder.hear() == "held"
    ensemble.tell("freeze client all")
    holder.say()
    began = float(holder.hear())
    holder.end()
    assert time.monotonic() - began < EXIT


def test_an_exit_while_callbacks_run_does_not_crash(
    ensemble: Ensemble, child: Callable[[str], Child]
) -> None:
    # The first callback is in the middle of Python code when the interpreter ends, and others,
    # made by the closing of the session at the exit, come after its end.
    process = child(
        """
        session = zoolock.connect(hosts, session_timeout=60)
        running = threading.Event()
        def spin(*_):
            running.set()
            while True:
                sum(range(1000))
        guards = [session.mutex(f"{path}/{number}").lock() for number in range(5)]
        for guard in guards:
            guard.on_lost(spin)
        session.on_state(spin)
        say("ready")
        hear()
        running.wait(20)
        """
    )
    assert process.hear() == "ready"
    ensemble.tell("reset client all")
    process.say()
    process.end()


@pytest.mark.parametrize("way", ["sys.exit(0)", "raise SystemExit", "pass"])
def test_r17_callbacks_of_an_exit_are_dropped(way: str, child: Callable[[str], Child]) -> None:
    process = child(
        f"""
        session = zoolock.connect(hosts, session_timeout=60)
        guard = session.mutex(path).lock()
        guard.on_lost(lambda: say("lost"))
        session.on_state(say)
        {way}
        """
    )
    process.end()
