"""Loss and state, told to event loops (R4, R16)."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import weakref

import loops
import pytest
from queues import contenders

import zoolock
from zoolock.testing import Server


async def test_r04_loss_is_told_on_the_loop_once(zoolock_server: Server, path: str) -> None:
    told: list[tuple[int, str]] = []
    name = contextvars.ContextVar("name", default="none")
    async with await zoolock.aio.connect(zoolock_server.hosts) as session:
        held = await session.mutex(path).lock()
        name.set("registered")
        held.on_lost(lambda: told.append((threading.get_ident(), name.get())))
        waits = [asyncio.create_task(held.wait_lost()), asyncio.create_task(held.wait_lost(60))]
        loss = asyncio.create_task(held.lost())
        await asyncio.sleep(0)
        zoolock_server.expire_session(session.session_id)
        assert await asyncio.gather(*waits) == [True, True]
        await loss
        await loops.eventually(lambda: told)
        assert told == [(threading.get_ident(), "registered")]
        assert (held.state, held.held) == ("lost", False)
        # Of one that is lost already, soon.
        held.on_lost(lambda: told.append((0, "late")))
        assert told[1:] == []
        await loops.eventually(lambda: told[1:] == [(0, "late")])
        assert await held.wait_lost(0)
        await held.lost()
        with pytest.raises(zoolock.LockLost):
            held.ensure_held()
        with pytest.raises(zoolock.LockLost):
            await held.release()
        assert len(told) == 2


async def test_r04_a_release_tells_of_no_loss(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        told: list[bool] = []
        async with session.mutex(path) as held:
            held.on_lost(lambda: told.append(True))
            waiting = asyncio.create_task(held.wait_lost())
            never = asyncio.create_task(held.lost())
            assert not await held.wait_lost(0)
            assert not await held.wait_lost(0.05)
        assert not await waiting
        assert not await held.wait_lost(60)
        await asyncio.sleep(0.02)
        assert not told
        assert not never.done()
        never.cancel()


async def test_r04_a_failing_callback_goes_to_the_loops_handler(
    zoolock_server: Server, path: str
) -> None:
    loop, complaints, told = asyncio.get_running_loop(), [], []
    async with await zoolock.aio.connect(zoolock_server.hosts) as session:
        held = await session.mutex(path).lock()
        held.on_lost(lambda: 1 / 0)
        held.on_lost(lambda: told.append(True))
        session.on_state(lambda state: complaints.append(state) or {}[state])  # type: ignore
        loop.set_exception_handler(lambda _, context: complaints.append(context["exception"]))
        zoolock_server.expire_session(session.session_id)
        await loops.eventually(lambda: told)
        await loops.eventually(lambda: session.state == "connected")
        await loops.eventually(lambda: complaints.count("connected") == 1)
    assert any(isinstance(complaint, ZeroDivisionError) for complaint in complaints)
    # The failure of one change does not end the telling of the next.
    assert sum(isinstance(complaint, KeyError) for complaint in complaints) >= 2


async def test_r16_states_are_told_in_order(zoolock_server: Server) -> None:
    states: list[str] = []
    threads: set[int] = set()

    def told(state: str) -> None:
        states.append(state)
        threads.add(threading.get_ident())

    session = await zoolock.aio.connect(zoolock_server.hosts)
    session.on_state(told)
    zoolock_server.cut_session(session.session_id)
    await loops.eventually(lambda: states[-1:] == ["connected"])
    assert states == ["suspended", "connected"]
    zoolock_server.expire_session(session.session_id)
    await loops.eventually(lambda: states[2:] and states[-1] == "connected")
    assert "expired" in states[2:]
    await session.close()
    await loops.eventually(lambda: states[-1] == "closed")
    assert states.count("closed") == 1
    assert threads == {threading.get_ident()}


async def test_a_callback_that_names_its_guard_does_not_keep_the_lock(
    server: Server, path: str
) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        guard = await session.mutex(path).lock()
        gone = weakref.ref(guard)
        guard.on_lost(lambda guard=guard: guard.path)  # type: ignore[misc]
        del guard
        with pytest.warns(ResourceWarning, match=r"unreleased zoolock\.Guard"):
            gc.collect()
        assert gone() is None
        await loops.eventually(lambda: contenders(server, path) == [])


async def test_a_callback_that_names_its_session_does_not_keep_it(zoolock_server: Server) -> None:
    session = await zoolock.aio.connect(zoolock_server.hosts)
    session.on_state(lambda _, session=session: session.state)  # type: ignore[misc]
    gone = weakref.ref(session)
    del session
    gc.collect()
    assert gone() is None
    await loops.eventually(lambda: zoolock_server.sessions() == [])


async def test_r04_a_loss_is_told_though_the_guard_was_dropped_before(
    zoolock_server: Server, path: str
) -> None:
    async with await zoolock.aio.connect(zoolock_server.hosts, session_timeout=1) as session:
        told: list[bool] = []
        guard = await session.mutex(path).lock()
        guard.on_lost(lambda: told.append(True))
        zoolock_server.freeze_all()
        # The loop stands still while the lease runs out, so that nothing was told yet.
        while guard.held:
            pass
        del guard
        await loops.eventually(lambda: told)
        zoolock_server.thaw_all()
        assert told == [True]
