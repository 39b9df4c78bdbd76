"""Credentials: what they protect, and that they are never shown (R19, R20)."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable

import pytest
from children import eventually
from ensemble import Ensemble

import zoolock

SECRET = "hunter2-very-secret"  # noqa: S105


def test_r19_digest_credentials_protect_the_nodes(
    connect: Callable[..., zoolock.Session],
    session: zoolock.Session,
    ensemble: Ensemble,
    path: str,
) -> None:
    owner = connect(auth=[("digest", f"alice:{SECRET}")])
    same = connect(auth=[("digest", f"alice:{SECRET}".encode())], acl="creator")
    with owner.mutex(path) as held:
        shown = str(ensemble.tell(f"acl {held.node_path}")["acl"])
        assert "digest" in shown
        assert "world" in shown
        assert same.mutex(path).try_lock() is None
        with pytest.raises(zoolock.NoAuth) as raised:
            session.mutex(path).lock(timeout=5)
    assert path in str(raised.value)
    with same.mutex(path).hold(timeout=5) as held:
        assert held.held


def test_r19_an_open_acl_overrides_for_one_lock(
    connect: Callable[..., zoolock.Session], session: zoolock.Session, path: str
) -> None:
    owner = connect(auth=[("digest", f"alice:{SECRET}")], acl="open")
    with owner.mutex(path):
        assert session.mutex(path).try_lock() is None


def test_r20_a_refused_scheme_is_auth_failed(hosts: str) -> None:
    with pytest.raises(zoolock.AuthFailed) as raised:
        zoolock.connect(hosts, auth=[("sasl-of-nobody", SECRET)], connect_timeout=5)
    assert SECRET not in str(raised.value)


def test_r19_credentials_are_in_no_repr_and_no_error(
    connect: Callable[..., zoolock.Session], hosts: str, path: str
) -> None:
    session = connect(auth=[("digest", f"alice:{SECRET}")])
    lock = session.mutex(path)
    with lock as held:
        shown = [repr(thing) for thing in (session, lock, held, session.rwlock(path))]
    for options in (
        {"auth": [("digest", f"alice:{SECRET}", 3)]},
        {"auth": f"digest:{SECRET}"},
        {"auth": {"digest": SECRET}},
        {"auth": [(SECRET, 3)]},
        {"auth": [("di gest", SECRET)]},
        {"auth": [("digest", SECRET)], "acl": "closed"},
        {"auth": [("digest", SECRET)], "session_timeout": -1},
        {"auth": [("digest", f"{SECRET}\ud800")]},
    ):
        with pytest.raises((TypeError, zoolock.InvalidArgument)) as raised:
            zoolock.connect(hosts, **options)
        error = raised.value
        # The message and its causes, without the source lines of this test.
        shown.append("".join(traceback.format_exception_only(type(error), error)))
        shown += [repr(error), repr(error.__cause__), repr(error.__context__)]
    assert [text for text in shown if SECRET in text] == []


async def test_r19_credentials_are_in_no_trace_of_asyncio(
    hosts: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    loop = asyncio.get_running_loop()
    loop.set_debug(True)
    shown = []
    async with await zoolock.aio.connect(hosts, auth=[("digest", f"alice:{SECRET}")]) as session:
        lock = session.mutex(path)
        async with lock as held:
            waiting = asyncio.create_task(lock.lock())
            await asyncio.sleep(0.05)
            shown += [repr(thing) for thing in (session, lock, held, waiting, loop)]
            waiting.cancel()
    for options in ({"auth": f"digest:{SECRET}"}, {"auth": [("di gest", SECRET)]}):
        with pytest.raises((TypeError, zoolock.InvalidArgument)) as raised:
            await zoolock.aio.connect(hosts, **options)
        shown += [repr(raised.value), str(raised.value)]
    with pytest.raises(zoolock.AuthFailed) as refused:
        await zoolock.aio.connect(hosts, auth=[("sasl-of-nobody", SECRET)], connect_timeout=5)
    shown += [repr(refused.value), str(refused.value), repr(refused.value.__cause__)]
    assert [text for text in (*shown, *caplog.messages) if SECRET in text] == []
    loop.set_debug(False)


def test_r19_credentials_are_in_no_log(
    connect: Callable[..., zoolock.Session],
    ensemble: Ensemble,
    path: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    session = connect(auth=[("digest", f"alice:{SECRET}")])
    with session.mutex(path):
        ensemble.tell("reset client all")
        eventually(lambda: any("connection is lost" in line for line in caplog.messages))
        eventually(lambda: session.state == "connected")
    assert SECRET not in caplog.text
