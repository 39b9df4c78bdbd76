"""Kept locks: the pair as token, and who gets them."""

from __future__ import annotations

import asyncio
import threading

import pytest
from queues import contenders

import zoolock
from zoolock.testing import Server


def test_r02_a_kept_contender_is_granted_again_and_the_pair_rises(
    server: Server, path: str
) -> None:
    with zoolock.connect(server.hosts) as session:
        lock = session.mutex(path, keep=60)
        tokens = []
        for _ in range(100):
            with lock as held:
                assert (lock.fencing_token, lock.grant_count) == (
                    held.fencing_token,
                    held.grant_count,
                )
                tokens.append((held.fencing_token, held.grant_count))
        first, _ = tokens[0]
        assert tokens == [(first, count) for count in range(1, 101)]
        assert len(contenders(server, path)) == 1
        with zoolock.connect(server.hosts, exclusive=True) as other, other.mutex(path) as held:
            assert (held.fencing_token, held.grant_count) > tokens[-1]


def test_r07_threads_share_a_kept_contender(server: Server, path: str) -> None:
    with zoolock.connect(server.hosts) as session:
        lock, inside, tokens = session.mutex(path, keep=60), [0], []

        def work() -> None:
            for _ in range(50):
                with lock as held:
                    inside[0] += 1
                    assert inside == [1]
                    tokens.append((held.fencing_token, held.grant_count))
                    inside[0] -= 1

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(tokens) == 200
        assert tokens == sorted(set(tokens))


async def test_r02_tasks_share_a_kept_contender(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.reentrant_mutex(path, keep=60)
        tokens = []
        for _ in range(10):
            async with lock as held, lock as again:
                assert again.grant_count == held.grant_count == lock.grant_count
                tokens.append((held.fencing_token, held.grant_count))
        first, _ = tokens[0]
        assert tokens == [(first, count) for count in range(1, 11)]


@pytest.mark.parametrize("keep", [0, -1, float("nan"), 90_000])
def test_r20_a_bad_keep_is_refused(server: Server, path: str, keep: float) -> None:
    with (
        zoolock.connect(server.hosts) as session,
        pytest.raises(zoolock.InvalidArgument, match="keep"),
    ):
        session.mutex(path, keep=keep)


def test_r20_keep_is_no_switch(server: Server, path: str) -> None:
    with (
        zoolock.connect(server.hosts) as session,
        pytest.raises(TypeError, match="keep"),
    ):
        session.mutex(path, keep=True)


async def test_r05_cancelled_tasks_leave_a_kept_contender_to_the_others(
    server: Server, path: str
) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path, keep=60)
        async with lock as held:
            token = held.fencing_token
        held = await lock.lock()
        leaving = [asyncio.create_task(lock.lock()) for _ in range(3)]
        late = asyncio.create_task(lock.lock(timeout=0.05))
        staying = asyncio.create_task(lock.lock())
        await asyncio.sleep(0)
        for task in leaving:
            task.cancel()
        outcomes = await asyncio.gather(*leaving, late, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [
            *([asyncio.CancelledError] * 3),
            zoolock.LockTimeout,
        ]
        # Cancelled in the very turn of the loop in which its lock is granted.
        crossed = asyncio.create_task(lock.lock())
        await asyncio.sleep(0)
        await held.release()
        crossed.cancel()
        guard = await staying
        assert (guard.fencing_token, guard.grant_count) == (token, 3)
        await guard.release()
        await asyncio.wait([crossed])
        async with lock as held:
            assert held.fencing_token == token
        assert len(contenders(server, path)) == 1


async def test_r07_a_kept_lock_is_taken_again_without_another_turn_of_the_loop(
    server: Server, path: str
) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path, keep=60)
        async with lock:
            pass
        turns: list[None] = []
        asyncio.get_running_loop().call_soon(turns.append, None)
        guard = await lock.lock()
        await guard.release()
        assert turns == []
        await asyncio.sleep(0)
        assert turns == [None]
