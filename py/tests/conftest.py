"""Fixtures shared by all tests."""

from __future__ import annotations

import itertools
import re
import socket
from collections.abc import Callable, Iterator

import pytest
from children import Child
from ensemble import Ensemble
from loops import Coroutines
from report import Report

import zoolock
from zoolock.testing import Server


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Report())
    config.pluginmanager.register(Coroutines())


@pytest.fixture(scope="session")
def servers() -> Iterator[Ensemble]:
    with Ensemble() as ensemble:
        yield ensemble


@pytest.fixture
def ensemble(servers: Ensemble) -> Iterator[Ensemble]:
    """The servers, without faults when the test begins and after it."""
    yield servers
    servers.tell("heal client all")


@pytest.fixture
def hosts(servers: Ensemble) -> str:
    return servers.hosts


@pytest.fixture
def path(request: pytest.FixtureRequest, numbers: Iterator[int]) -> str:
    """A lock path of the test's own."""
    name = re.sub(r"\W", "-", request.node.name)
    return f"/locks/{name}/{next(numbers)}"


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    return itertools.count()


@pytest.fixture
def session(hosts: str) -> Iterator[zoolock.Session]:
    """A session that tests leave alone."""
    with zoolock.connect(hosts, session_timeout=10) as session:
        yield session


@pytest.fixture
def connect(hosts: str) -> Iterator[Callable[..., zoolock.Session]]:
    """Opens sessions of the test's own, with a short time-out, and closes them."""
    opened = []

    def connect(**options: object) -> zoolock.Session:
        options = {"session_timeout": 2, "exclusive": True, **options}
        opened.append(zoolock.connect(hosts, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield connect
    for session in opened:
        session.close(timeout=1)


@pytest.fixture
def child(hosts: str, path: str) -> Iterator[Callable[[str], Child]]:
    """Starts child processes, and ends them."""
    started = []

    def child(code: str) -> Child:
        started.append(Child(code, hosts, path))
        return started[-1]

    yield child
    for process in started:
        process.__exit__(None, None, None)


@pytest.fixture
def unused_port() -> int:
    """A port that nobody listens on, at this moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def server(zoolock_shared_server: Server) -> Server:
    """A server in this process, for tests to which a real one adds nothing."""
    return zoolock_shared_server
