"""The server for tests: how it starts and stops, and what it refuses."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import socket
from collections.abc import Callable
from typing import Any

import pytest
import threads
from children import eventually

import zoolock
from zoolock import testing
from zoolock.testing import Server


def is_open(hosts: str) -> bool:
    host, _, port = hosts.rpartition(":")
    with socket.socket() as client:
        return client.connect_ex((host, int(port))) == 0


def test_a_stopped_server_is_gone() -> None:
    with Server() as server:
        hosts = server.hosts
        server.stop()
        server.stop()
        assert not is_open(hosts)
        calls: list[Callable[[], object]] = [
            server.sessions,
            lambda: server.expire_session(1),
            server.expire_all,
            lambda: server.cut_session(1),
            server.cut_all,
            lambda: server.freeze_session(1),
            lambda: server.thaw_session(1),
            server.freeze_all,
            server.thaw_all,
            lambda: server.delay_answers(1),
            server.refuse_connections,
            server.accept_connections,
        ]
        for call in calls:
            with pytest.raises(zoolock.Closed):
                call()
        assert server.hosts == hosts


def test_a_block_stops_its_server_whatever_is_raised() -> None:
    with pytest.raises(KeyError), Server() as server:
        raise KeyError
    assert not is_open(server.hosts)


def test_a_collected_server_is_gone() -> None:
    server = Server()
    hosts = server.hosts
    assert is_open(hosts)
    del server
    gc.collect()
    assert not is_open(hosts)


def test_r09_a_waiter_outlives_a_restart_on_the_same_port(unused_port: int) -> None:
    with Server(port=unused_port) as server:
        # Short, since so long it takes to believe that the servers have forgotten everything (R16).
        session = zoolock.connect(server.hosts, session_timeout=2)
        held = session.mutex("/locks/a").lock()
        waiting = threads.start(session.mutex("/locks/a").lock)
        eventually(lambda: len(session.mutex("/locks/a").contenders()) == 2)
    with Server(port=unused_port) as server, session:
        assert server.hosts == f"127.0.0.1:{unused_port}"
        waiting.result(20).release()
        assert not held.held


def test_a_port_that_is_taken_is_unavailable(zoolock_server: Server) -> None:
    with pytest.raises(zoolock.Unavailable) as raised:
        Server(port=int(zoolock_server.hosts.rpartition(":")[2]))
    assert raised.value.operation == "start"
    assert raised.value.__cause__ is not None


def test_an_address_of_no_machine_is_unavailable() -> None:
    # Reserved for documentation.
    with pytest.raises(zoolock.Unavailable, match=r"192\.0\.2\.1"):
        Server(address="192.0.2.1")


def test_all_options_are_taken() -> None:
    with (
        Server(
            port=0,
            address="127.0.0.1",
            tick=0.05,
            min_session_timeout=0.2,
            max_session_timeout=0.4,
            container_check=0.01,
        ) as server,
        zoolock.connect(server.hosts, session_timeout=60) as longest,
        zoolock.connect(server.hosts, session_timeout=0.1) as shortest,
    ):
        assert (shortest.negotiated_timeout, longest.negotiated_timeout) == (0.2, 0.4)


BAD_OPTIONS: list[tuple[str, dict[str, Any], type[Exception]]] = [
    ("port", {"port": -1}, zoolock.InvalidArgument),
    ("port", {"port": 65536}, zoolock.InvalidArgument),
    ("port", {"port": 2**70}, zoolock.InvalidArgument),
    ("port", {"port": "2181"}, TypeError),
    ("port", {"port": 2181.0}, TypeError),
    ("address", {"address": "localhost"}, zoolock.InvalidArgument),
    ("address", {"address": ""}, zoolock.InvalidArgument),
    ("address", {"address": "\ud800"}, zoolock.InvalidArgument),
    ("address", {"address": 0}, TypeError),
    ("tick", {"tick": 0}, zoolock.InvalidArgument),
    ("tick", {"tick": -1}, zoolock.InvalidArgument),
    ("tick", {"tick": math.nan}, zoolock.InvalidArgument),
    ("tick", {"tick": 61}, zoolock.InvalidArgument),
    ("tick", {"tick": 10**400}, zoolock.InvalidArgument),
    ("tick", {"tick": "1"}, TypeError),
    ("min_session_timeout", {"min_session_timeout": 0.5}, zoolock.InvalidArgument),
    ("max_session_timeout", {"max_session_timeout": 0.5}, zoolock.InvalidArgument),
    ("container_check", {"container_check": 0}, zoolock.InvalidArgument),
    ("servers", {"servers": 3}, TypeError),
]


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    BAD_OPTIONS,
    ids=[f"{number}-{name}" for number, (name, _, _) in enumerate(BAD_OPTIONS)],
)
def test_r20_bad_options_of_a_server(
    name: str, options: dict[str, Any], kind: type[Exception]
) -> None:
    with pytest.raises(kind, match=name) as raised:
        Server(**options)
    if isinstance(raised.value, zoolock.Error):
        assert raised.value.operation == "start"


def test_r20_bad_arguments_of_a_server(zoolock_server: Server) -> None:
    for number in (2**63, -(2**63) - 1):
        with pytest.raises(zoolock.InvalidArgument, match="session_id"):
            zoolock_server.expire_session(number)
    wrong: Any = "0x1"
    for call in (
        zoolock_server.expire_session,
        zoolock_server.cut_session,
        zoolock_server.freeze_session,
        zoolock_server.thaw_session,
    ):
        with pytest.raises(TypeError, match="session_id"):
            call(wrong)
    for delay in (-1, math.nan, 3601, math.inf):
        with pytest.raises(zoolock.InvalidArgument, match="delay"):
            zoolock_server.delay_answers(delay)
    with pytest.raises(TypeError, match="delay"):
        zoolock_server.delay_answers(wrong)


def test_a_server_cannot_be_pickled(zoolock_server: Server) -> None:
    with pytest.raises(TypeError, match=r"cannot pickle 'zoolock.testing.Server' object"):
        pickle.dumps(zoolock_server)
    with pytest.raises(TypeError, match="cannot pickle"):
        copy.copy(zoolock_server)


def test_everything_public_is_documented() -> None:
    assert testing.__doc__
    for name in testing.__all__:
        thing = getattr(testing, name)
        assert thing.__doc__, name
        for member, value in vars(thing).items():
            if callable(value) and not member.startswith("_"):
                assert value.__doc__, f"{name}.{member}"
