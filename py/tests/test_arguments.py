"""Bad input is refused before anything is sent, naming the argument (R20)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from ensemble import Ensemble

import zoolock

LONG = 11 * 366 * 24 * 3600

BAD_OPTIONS: list[tuple[str, dict[str, Any], type[Exception]]] = [
    ("session_timeout", {"session_timeout": 0}, zoolock.InvalidArgument),
    ("session_timeout", {"session_timeout": -1}, zoolock.InvalidArgument),
    ("session_timeout", {"session_timeout": math.nan}, zoolock.InvalidArgument),
    ("session_timeout", {"session_timeout": 30 * 24 * 3600}, zoolock.InvalidArgument),
    ("session_timeout", {"session_timeout": "15"}, TypeError),
    ("session_timeout", {"session_timeout": None}, TypeError),
    ("connect_timeout", {"connect_timeout": 0}, zoolock.InvalidArgument),
    ("connect_timeout", {"connect_timeout": LONG}, zoolock.InvalidArgument),
    ("connect_timeout", {"connect_timeout": 10**400}, zoolock.InvalidArgument),
    ("auth", {"auth": "digest:a:b"}, TypeError),
    ("auth", {"auth": [("digest",)]}, TypeError),
    ("auth", {"auth": [("digest", 1)]}, TypeError),
    ("auth", {"auth": [("", "a:b")]}, zoolock.InvalidArgument),
    ("acl", {"acl": "closed"}, zoolock.InvalidArgument),
    ("acl", {"acl": "creator"}, zoolock.InvalidArgument),
    ("acl", {"acl": []}, zoolock.InvalidArgument),
    ("acl", {"acl": [(0, "world", "anyone")]}, zoolock.InvalidArgument),
    ("acl", {"acl": [(-1, "world", "anyone")]}, zoolock.InvalidArgument),
    ("acl", {"acl": [(1, "", "anyone")]}, zoolock.InvalidArgument),
    ("acl", {"acl": [(1, "world")]}, TypeError),
    ("acl", {"acl": 31}, TypeError),
    ("identity", {"identity": b"me"}, TypeError),
    ("identity", {"identity": "\ud800"}, zoolock.InvalidArgument),
    ("identity", {"identity": "x" * (512 * 1024 + 1)}, zoolock.InvalidArgument),
    ("exclusive", {"exclusive": "yes"}, TypeError),
    ("backoff", {"backoff": 3}, TypeError),
    ("backoff", {"backoff": {"linear": {}}}, zoolock.InvalidArgument),
    ("backoff", {"backoff": {"fixed": {"dely": 1}}}, zoolock.InvalidArgument),
    (r"backoff\.delay: is missing", {"backoff": {"fixed": {}}}, zoolock.InvalidArgument),
    (r"backoff\.delay must", {"backoff": {"fixed": {"delay": "x"}}}, TypeError),
    (r"backoff\.base must", {"backoff": {"exponential": {"base": "x"}}}, TypeError),
    (r"backoff\.max must", {"backoff": zoolock.ExponentialBackoff(max="x")}, TypeError),  # type: ignore[arg-type]
    (r"backoff\.retries must", {"backoff": {"fixed": {"delay": 1, "retries": "x"}}}, TypeError),
    ("backoff", {"backoff": {"fixed": 3}}, TypeError),
    (r"backoff\.delay", {"backoff": zoolock.FixedBackoff(delay=-1)}, zoolock.InvalidArgument),
    (
        r"backoff\.retries",
        {"backoff": zoolock.FixedBackoff(1, retries=-1)},
        zoolock.InvalidArgument,
    ),
    ("backoff", {"backoff": zoolock.ExponentialBackoff(base=0)}, zoolock.InvalidArgument),
    ("backoff", {"backoff": zoolock.ExponentialBackoff(2, 1)}, zoolock.InvalidArgument),
    ("lease_confirmation", {"lease_confirmation": "ping"}, zoolock.InvalidArgument),
    ("lease_confirmation", {"lease_confirmation": None}, TypeError),
    ("tls", {"tls": True}, TypeError),
    ("tls", {"tls": {"cafile": "x"}}, zoolock.InvalidArgument),
    ("tls", {"tls": {"ca": 3}}, TypeError),
    ("tls.ca", {"tls": zoolock.Tls(ca="missing.pem")}, zoolock.InvalidArgument),
    ("tls.key", {"tls": {"cert": "missing.pem"}}, zoolock.InvalidArgument),
    ("retries", {"retries": 3}, TypeError),
]


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    BAD_OPTIONS,
    ids=[f"{number}-{name}" for number, (name, _, _) in enumerate(BAD_OPTIONS)],
)
def test_r20_bad_options_of_a_session(
    hosts: str, name: str, options: dict[str, Any], kind: type[Exception]
) -> None:
    with pytest.raises(kind, match=name) as raised:
        zoolock.connect(hosts, **options)
    if issubclass(kind, zoolock.InvalidArgument):
        assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize(
    "hosts",
    [
        "",
        "a:b",
        "a:0",
        "a:65536",
        "a:1,,b:1",
        ":2181",
        "a:1//b",
        "a:1/b/",
        "[::1",
        "a\ud800",
    ],
)
def test_r20_bad_hosts(hosts: str) -> None:
    with pytest.raises(zoolock.InvalidArgument, match="hosts"):
        zoolock.connect(hosts, connect_timeout=0.1)


@pytest.mark.parametrize("hosts", [2181, b"a:1", ["a:1"]])
def test_r20_hosts_of_a_wrong_type(hosts: Any) -> None:
    with pytest.raises(TypeError, match="hosts"):
        zoolock.connect(hosts)


@pytest.mark.parametrize(
    "path",
    ["", "/", "a", "a/b", "/a/", "//a", "/a//b", "/a/./b", "/a/../b", "/\0", "/a\ud800", "/\x01"],
)
@pytest.mark.parametrize("kind", ["mutex", "reentrant_mutex", "rwlock"])
def test_r20_bad_paths(session: zoolock.Session, kind: str, path: str) -> None:
    with pytest.raises(zoolock.InvalidArgument, match="path") as raised:
        getattr(session, kind)(path)
    assert raised.value.operation == kind
    assert raised.value.args[0].startswith(('path: "', "path: is not valid Unicode"))


BAD_LOCK_OPTIONS: list[tuple[str, dict[str, Any], type[Exception]]] = [
    ("naming", {"naming": "x"}, zoolock.InvalidArgument),
    ("naming", {"naming": 3}, TypeError),
    ("data", {"data": 3}, TypeError),
    ("data", {"data": bytes(512 * 1024 + 1)}, zoolock.InvalidArgument),
    ("acl", {"acl": "creator"}, zoolock.InvalidArgument),
    ("acl", {"acl": 3}, TypeError),
    ("fair", {"fair": True}, TypeError),
]


@pytest.mark.parametrize(
    ("name", "options", "error"),
    BAD_LOCK_OPTIONS,
    ids=[f"{number}-{name}" for number, (name, _, _) in enumerate(BAD_LOCK_OPTIONS)],
)
@pytest.mark.parametrize("kind", ["mutex", "reentrant_mutex", "rwlock"])
def test_r20_bad_options_of_a_lock(
    session: zoolock.Session,
    kind: str,
    name: str,
    options: dict[str, Any],
    error: type[Exception],
) -> None:
    with pytest.raises(error, match=name):
        getattr(session, kind)("/a", **options)


BAD_TIMEOUTS = {
    "-0.5": -0.5,
    "-1": -1,
    "-2": -2,
    "nan": math.nan,
    "-inf": -math.inf,
    "inf": math.inf,
    "eleven years": LONG,
    "a huge int": 10**400,
}


@pytest.mark.parametrize("timeout", BAD_TIMEOUTS.values(), ids=BAD_TIMEOUTS)
def test_r20_bad_timeouts(
    session: zoolock.Session, ensemble: Ensemble, path: str, timeout: float
) -> None:
    lock = session.mutex(path)
    ensemble.tell("log clear")
    calls: list[Callable[[], object]] = [
        lambda: lock.lock(timeout=timeout),
        lambda: lock.hold(timeout=timeout),
        lambda: session.close(timeout=timeout),
    ]
    if timeout != -1:  # for ever, there
        calls.append(lambda: lock.acquire(timeout=timeout))
    for call in calls:
        with pytest.raises(zoolock.InvalidArgument, match="timeout") as raised:
            call()
        assert raised.value.path == (None if raised.value.operation == "close" else path)
    with pytest.raises(zoolock.InvalidArgument, match="timeout") as raised:
        lock.acquire(blocking=False, timeout=1)
    assert raised.value.path == path
    assert session.state == "connected"
    assert "create2" not in ensemble.tell("counts")["counts"]


def test_r20_timeouts_and_callbacks_of_a_wrong_type(session: zoolock.Session, path: str) -> None:
    lock: Any = session.mutex(path)
    for call in (lock.lock, lock.hold, lambda timeout: lock.acquire(True, timeout)):
        with pytest.raises(TypeError, match="timeout"):
            call("3")
    with pytest.raises(TypeError, match="cancel"):
        lock.lock(cancel=True)
    with pytest.raises(TypeError, match="callback"):
        session.on_state(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="argument"):
        lock.lock(patience=3)
    with lock as held:
        with pytest.raises(TypeError, match="callback"):
            held.on_lost(None)
        with pytest.raises(zoolock.InvalidArgument, match="timeout") as raised:
            held.wait_lost(-1)
        assert raised.value.path == path
        with pytest.raises(TypeError, match="timeout"):
            held.wait_lost("3")
