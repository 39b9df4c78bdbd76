"""Fixtures for pytest, which loads this module by itself where zoolock is installed.

    def test_an_order_is_placed(zoolock_server):
        with zoolock.connect(zoolock_server.hosts) as session:
            assert place_order(session, "user-123", "tea")

An application that connects without hosts finds the server by its environment:

    @pytest.fixture(autouse=True)
    def servers(zoolock_server, monkeypatch):
        monkeypatch.setenv("ZOOLOCK_HOSTS", zoolock_server.hosts)
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from zoolock.testing import Server


@pytest.fixture
def zoolock_server() -> Iterator[Server]:
    """A ZooKeeper server of this test's own, in this process: a `zoolock.testing.Server`."""
    with Server() as server:
        yield server


@pytest.fixture(scope="session")
def zoolock_shared_server() -> Iterator[Server]:
    """One ZooKeeper server for all tests, for fixtures that live longer than a test.

    Tests that share it use lock paths of their own, and end what they order it to do.
    """
    with Server() as server:
        yield server
