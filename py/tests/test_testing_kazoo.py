"""The server for tests serves kazoo in the same process: both need Python's threads to run."""

from __future__ import annotations

import queue

from kazoo.client import KazooClient  # type: ignore[import-untyped]

import zoolock
from zoolock.testing import Server


def test_kazoo_locks_and_is_told_of_its_expired_session(zoolock_server: Server, path: str) -> None:
    client = KazooClient(zoolock_server.hosts, timeout=10)
    states: queue.Queue[str] = queue.Queue()
    client.add_listener(states.put)
    client.start(timeout=20)
    with zoolock.connect(zoolock_server.hosts) as session:
        mutex = session.mutex(path, naming="kazoo")
        theirs = client.Lock(path, "a kazoo")
        assert theirs.acquire(timeout=20)
        assert [contender.identity for contender in mutex.contenders()] == ["a kazoo"]
        assert mutex.try_lock() is None
        theirs.release()
        with mutex:
            assert theirs.acquire(blocking=False) is False

        assert theirs.acquire(timeout=20)
        assert zoolock_server.expire_session(client.client_id[0])
        while states.get(timeout=20) != "LOST":
            pass
        with mutex.hold(timeout=20) as held:
            assert held.held
    zoolock_server.stop()
    client.stop()
    client.close()
