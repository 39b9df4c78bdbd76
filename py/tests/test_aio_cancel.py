"""Cancelling at any await leaves no contender and no lock (R5)."""

from __future__ import annotations

import asyncio
import random
import select
import sys
from collections.abc import Awaitable, Callable

import loops
import pytest
from children import PATIENCE
from queues import contenders

import zoolock
from zoolock.aio._port import port_of
from zoolock.testing import Server

VERBS: dict[str, Callable[[zoolock.aio.Session, str], Awaitable[object]]] = {
    "lock": lambda session, path: session.mutex(path).lock(),
    "timed lock": lambda session, path: session.mutex(path).lock(timeout=60),
    "acquire": lambda session, path: session.mutex(path).acquire(),
    "block": lambda session, path: session.mutex(path).__aenter__(),
    "hold": lambda session, path: session.mutex(path).hold(timeout=60).__aenter__(),
    "re-entrant": lambda session, path: session.reentrant_mutex(path).lock(),
}


@pytest.mark.parametrize("verb", VERBS)
async def test_r05_a_cancelled_wait_leaves_no_contender(
    server: Server, path: str, verb: str
) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        async with session.mutex(path):
            waiting = asyncio.ensure_future(VERBS[verb](session, path))
            await loops.eventually(lambda: len(contenders(server, path)) == 2)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await loops.eventually(lambda: len(contenders(server, path)) == 1)
        assert contenders(server, path) == []


async def test_r05_cancelled_before_it_began_it_asks_for_nothing(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path)
        task = asyncio.create_task(lock.lock())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        guard = await lock.try_lock()
        assert guard is not None
        await guard.release()
        assert lock.statistics().acquisitions == 1


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("moment", ["before it is seen", "when it is seen"])
async def test_r05_cancelled_in_the_iteration_of_its_grant_it_leaves_no_lock(
    server: Server, path: str, verb: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zoolock.connect(server.hosts) as other:
        held = other.mutex(path).lock()
        async with await zoolock.aio.connect(server.hosts) as session:
            waiting = asyncio.ensure_future(VERBS[verb](session, path))
            await loops.eventually(lambda: len(contenders(server, path)) == 2)
            seen = asyncio.Event()

            def finish(future: asyncio.Future[None]) -> None:
                future.set_result(None)
                waiting.cancel()
                seen.set()

            monkeypatch.setattr("zoolock.aio._port._finish", finish)
            # The loop stands still meanwhile.
            held.release()
            if moment == "before it is seen":
                rung, _, _ = select.select([port_of(asyncio.get_running_loop())], [], [], PATIENCE)
                assert rung
                waiting.cancel()
            else:
                await seen.wait()
            monkeypatch.undo()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await loops.eventually(lambda: contenders(server, path) == [])


@pytest.mark.filterwarnings("ignore:unreleased lock object:ResourceWarning")
async def test_r05_cancelled_at_any_moment_it_leaves_nothing(server: Server, path: str) -> None:
    """Cancels around the moment of the grant, on either side of it, and within it."""
    async with await zoolock.aio.connect(server.hosts) as session:
        lock, verbs = session.mutex(path), list(VERBS.values())
        moments = random.Random(5)
        taken = cancelled = 0
        for _ in range(300):
            held = await lock.lock(timeout=10)
            waiting = asyncio.ensure_future(moments.choice(verbs)(session, path))
            releasing = asyncio.create_task(held.release())
            if moments.random() < 0.5:
                for _ in range(moments.randrange(12)):
                    await asyncio.sleep(0)
            else:
                await asyncio.sleep(moments.random() * 0.002)
            waiting.cancel()
            if moments.random() < 0.3:
                releasing.cancel()
            outcome = (await asyncio.gather(waiting, return_exceptions=True))[0]
            await asyncio.gather(releasing, return_exceptions=True)
            if held.held:
                # The release was cancelled before it began.
                await held.release()
            if isinstance(outcome, asyncio.CancelledError):
                cancelled += 1
            elif outcome is True:
                # The lock object that took it is gone, and the lock with it; it has warned.
                taken += 1
            else:
                assert isinstance(outcome, zoolock.aio.Guard), outcome
                await outcome.release()
                taken += 1
        assert cancelled
        await loops.eventually(lambda: contenders(server, path) == [])


async def test_r05_a_release_that_is_cancelled_goes_on(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path)
        for end in (0, 1, 2):
            guard = await lock.lock(timeout=5)
            releasing = asyncio.create_task(guard.release())
            for _ in range(end):
                await asyncio.sleep(0)
            releasing.cancel()
            ended = (await asyncio.gather(releasing, return_exceptions=True))[0]
            if end == 0:
                assert isinstance(ended, asyncio.CancelledError)
                # It had not begun.
                assert guard.held
                await guard.release()
            assert guard.state == "released"
            await loops.eventually(lambda: contenders(server, path) == [])

        async def body() -> None:
            async with lock:
                await asyncio.sleep(60)

        # Once in the body, and again while the block is left.
        task = asyncio.create_task(body())
        await loops.eventually(lambda: len(contenders(server, path)) == 1)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await loops.eventually(lambda: contenders(server, path) == [])
        assert await lock.acquire(timeout=5)
        await lock.release()


async def test_r05_cancelled_twice_a_wait_ends_once(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path)
        async with lock:
            waiting = asyncio.create_task(lock.lock())
            await loops.eventually(lambda: len(contenders(server, path)) == 2)
            waiting.cancel()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            waiting.cancel()
            await loops.eventually(lambda: len(contenders(server, path)) == 1)


async def test_r05_a_connect_that_is_cancelled_leaves_no_session(zoolock_server: Server) -> None:
    zoolock_server.delay_answers(0.05)
    for moment in (0, 0.001, 0.03, 0.06):
        connecting = asyncio.create_task(zoolock.aio.connect(zoolock_server.hosts, exclusive=True))
        await asyncio.sleep(moment)
        connecting.cancel()
        outcome = (await asyncio.gather(connecting, return_exceptions=True))[0]
        if isinstance(outcome, zoolock.aio.Session):
            await outcome.close()
        else:
            assert isinstance(outcome, asyncio.CancelledError)
    await loops.eventually(lambda: zoolock_server.sessions() == [])


async def test_what_is_cancelled_leaves_nothing_in_the_loop(server: Server, path: str) -> None:
    port = port_of(asyncio.get_running_loop())
    async with await zoolock.aio.connect(server.hosts) as session:
        async with session.mutex(path) as held:
            waits: list[asyncio.Task[object]] = [
                asyncio.create_task(session.mutex(path).lock()) for _ in range(10)
            ]
            waits += [asyncio.create_task(held.wait_lost(60)) for _ in range(10)]
            await asyncio.sleep(0)
            assert len(port) == 20
            assert not await held.wait_lost(0.01)
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
            assert len(port) == 0
        await loops.eventually(lambda: contenders(server, path) == [])
    assert len(port) == 0


async def test_r05_wait_for_gives_up_a_wait(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path)
        async with lock:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(lock.lock(), 0.1)
            await loops.eventually(lambda: len(contenders(server, path)) == 1)


if sys.version_info >= (3, 11):

    async def test_r05_asyncio_timeout_and_task_groups_give_up_a_wait(
        server: Server, path: str
    ) -> None:
        async with await zoolock.aio.connect(server.hosts) as session:
            lock = session.mutex(path)
            async with lock:
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.1), lock:
                        pytest.fail("entered")
                with pytest.raises(Exception, match="unhandled errors in a TaskGroup") as raised:
                    async with asyncio.TaskGroup() as group:
                        for _ in range(5):
                            group.create_task(lock.lock())
                        await loops.eventually(lambda: len(contenders(server, path)) == 6)
                        raise KeyError
                assert [type(error) for error in raised.value.exceptions] == [KeyError]  # type: ignore[attr-defined]
                await loops.eventually(lambda: len(contenders(server, path)) == 1)
            assert contenders(server, path) == []


async def test_r05_queries_may_be_cancelled(zoolock_server: Server, path: str) -> None:
    async with await zoolock.aio.connect(zoolock_server.hosts) as session:
        lock = session.mutex(path)
        async with lock as held:
            zoolock_server.delay_answers(0.2)
            for call in (lock.contenders, lock.locked, held.lost, lambda: held.wait_lost(60)):
                task = asyncio.ensure_future(call())
                await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            zoolock_server.delay_answers(0)
            assert held.held


async def test_a_coroutine_that_is_closed_releases_its_lock(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path)

        async def waits() -> None:
            async with lock:
                await asyncio.sleep(60)

        coroutine = waits()
        task = asyncio.create_task(coroutine)
        await loops.eventually(lambda: len(contenders(server, path)) == 1)
        # As the garbage collector does with one that nothing refers to; it cannot wait any more.
        coroutine.close()
        await loops.eventually(lambda: contenders(server, path) == [])
        task.cancel()
        with pytest.raises(RuntimeError, match="cannot reuse"):
            await task
