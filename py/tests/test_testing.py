"""The server for tests: it serves, and misbehaves as it is told."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable

import pytest
import threads
from children import eventually

import zoolock
from zoolock.testing import Server, ServerSession

ONCE = zoolock.FixedBackoff(delay=0.01, retries=1)


@pytest.fixture
def server(zoolock_server: Server) -> Server:
    return zoolock_server


@pytest.fixture
def hosts(server: Server) -> str:
    """What the other fixtures connect to: no real server takes part here."""
    return server.hosts


def test_a_server_of_the_programs_own(server: Server) -> None:
    assert server.hosts.startswith("127.0.0.1:")
    assert repr(server) == f"<zoolock.testing.Server hosts='{server.hosts}'>"
    with zoolock.connect(server.hosts) as session:
        mutex = session.mutex("/locks/order/user-123")
        with mutex as held:
            first = held.fencing_token
            assert held.held
            assert mutex.try_lock() is None
        with session.rwlock("/locks/catalogue").read:
            assert len(session.rwlock("/locks/catalogue").contenders()) == 1
        with mutex as held:
            assert held.fencing_token > first


def test_servers_know_nothing_of_each_other() -> None:
    with (
        Server() as one,
        Server() as two,
        zoolock.connect(one.hosts) as session,
        zoolock.connect(two.hosts) as other,
    ):
        with session.mutex("/a"), other.mutex("/a") as held:
            assert held.held
        assert [known.id for known in two.sessions()] == [other.session_id]


def test_sessions_are_those_of_the_clients(
    server: Server, connect: Callable[..., zoolock.Session]
) -> None:
    assert server.sessions() == []
    one, two = connect(session_timeout=5), connect(session_timeout=7)
    guard = two.mutex("/locks/a").lock()
    expected = [
        ServerSession(one.session_id, 5, True, []),
        ServerSession(two.session_id, 7, True, [guard.node_path]),
    ]
    assert server.sessions() == sorted(expected, key=lambda session: session.id)
    guard.release()
    one.close()
    assert server.sessions() == [ServerSession(two.session_id, 7, True, [])]


def test_an_expired_session_has_lost_its_locks(
    server: Server, connect: Callable[..., zoolock.Session]
) -> None:
    session = connect(session_timeout=60)
    before = session.session_id
    told: queue.Queue[str] = queue.Queue()
    session.on_state(told.put)
    with pytest.raises(zoolock.LockLost) as raised, session.mutex("/locks/a") as held:
        held.on_lost(lambda: told.put("lost"))
        assert server.expire_session(before) is True
        assert held.wait_lost(20)
        assert held.state == "lost"
        with pytest.raises(zoolock.LockLost):
            held.ensure_held()
    assert raised.value.path == "/locks/a"
    seen = {told.get(timeout=20)}
    while not {"lost", "expired", "connected"} <= seen:
        seen.add(told.get(timeout=20))
    assert server.expire_session(before) is False
    with session.mutex("/locks/a") as held:
        assert held.held
        assert session.session_id != before


def test_a_waiter_is_granted_what_an_expired_session_held(
    server: Server, connect: Callable[..., zoolock.Session]
) -> None:
    holder, other = connect(session_timeout=60), connect(session_timeout=60)
    held = holder.mutex("/locks/a").lock()
    waiting = threads.start(other.mutex("/locks/a").lock)
    eventually(lambda: len(other.mutex("/locks/a").contenders()) == 2)
    server.expire_session(holder.session_id)
    granted = waiting.result(20)
    # Ended by order, and not by silence, so the holder learns it a moment later.
    assert held.wait_lost(20)
    assert granted.fencing_token > held.fencing_token
    granted.release()


def test_all_sessions_expire(server: Server, connect: Callable[..., zoolock.Session]) -> None:
    guards = [connect(session_timeout=60).mutex(f"/locks/{name}").lock() for name in "ab"]
    assert server.expire_all() == 2
    assert all(guard.wait_lost(20) for guard in guards)


@pytest.mark.parametrize("everybody", [False, True])
def test_r16_a_connection_that_is_cut_is_made_again(
    server: Server, connect: Callable[..., zoolock.Session], everybody: bool
) -> None:
    session = connect(session_timeout=60)
    before = session.session_id
    told: queue.Queue[str] = queue.Queue()
    session.on_state(told.put)
    with session.mutex("/locks/a") as held:
        if everybody:
            assert server.cut_all() == 1
        else:
            assert server.cut_session(before) is True
        assert [told.get(timeout=20) for _ in range(2)] == ["suspended", "connected"]
        assert held.held
    assert session.session_id == before
    assert server.cut_session(before + 1) is False


def test_r03_a_frozen_session_loses_its_locks_and_others_do_not(
    connect: Callable[..., zoolock.Session], server: Server
) -> None:
    frozen, other = connect(session_timeout=1), connect(session_timeout=60)
    lost, kept = frozen.mutex("/locks/a").lock(), other.mutex("/locks/b").lock()
    waiting = threads.start(other.mutex("/locks/a").lock)
    assert server.freeze_session(frozen.session_id) is True
    assert lost.wait_lost(20)
    waiting.result(20).release()
    assert kept.held
    kept.release()
    server.thaw_all()


def test_what_was_frozen_thaws(server: Server, connect: Callable[..., zoolock.Session]) -> None:
    session = connect(session_timeout=60)
    assert server.thaw_session(session.session_id) is False
    assert server.freeze_session(session.session_id) is True
    with pytest.raises(zoolock.LockTimeout):
        session.mutex("/locks/a").lock(timeout=0.1)
    assert server.thaw_session(session.session_id) is True
    with session.mutex("/locks/a") as held:
        assert held.held
    assert server.freeze_session(1) is False


def test_a_frozen_server_answers_nobody(
    server: Server, connect: Callable[..., zoolock.Session]
) -> None:
    session = connect(session_timeout=60)
    server.freeze_all()
    with pytest.raises(zoolock.Unavailable):
        zoolock.connect(server.hosts, connect_timeout=0.1)
    with pytest.raises(zoolock.LockTimeout):
        session.mutex("/locks/a").lock(timeout=0.1)
    server.thaw_all()
    with session.mutex("/locks/a") as held, zoolock.connect(server.hosts):
        assert held.held


def test_answers_come_late(server: Server, connect: Callable[..., zoolock.Session]) -> None:
    session = connect(session_timeout=60)
    server.delay_answers(0.2)
    began = time.monotonic()
    guard = session.mutex("/locks/a").lock()
    assert time.monotonic() - began >= 0.2
    server.delay_answers(0)
    guard.release()


def test_connections_are_refused_and_accepted_again(
    server: Server, connect: Callable[..., zoolock.Session]
) -> None:
    session = connect(session_timeout=60)
    server.refuse_connections()
    with pytest.raises(zoolock.Unavailable):
        zoolock.connect(server.hosts, exclusive=True, backoff=ONCE)
    with session.mutex("/locks/a") as held:
        assert held.held
    server.accept_connections()
    connect().close()
