"""`zoolock.aio`: the verbs, and whose hold is whose (R10, R11, R12)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import loops
import pytest
from queues import contenders

import zoolock
from zoolock.testing import Server


async def test_a_block_holds_the_lock(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path)
        async with lock as held:
            assert held.held
            assert held.state == "held"
            assert held.path == path
            assert contenders(server, path) == [held.node_path]
            assert (lock.held, lock.fencing_token) == (True, held.fencing_token)
            held.ensure_held()
            assert await lock.try_lock() is None
            assert await lock.locked()
            assert [one.holds for one in await lock.contenders()] == [True]
        after: str = held.state
        assert after == "released"
        assert not lock.held
        assert contenders(server, path) == []
        assert not await lock.locked()
    assert session.state == "closed"


async def test_r01_tasks_take_turns_in_their_order(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock, inside, order = session.mutex(path), 0, []

        async def work(number: int) -> None:
            nonlocal inside
            async with lock as held:
                inside += 1
                assert inside == 1
                await asyncio.sleep(0)
                order.append((number, held.fencing_token))
                inside -= 1

        await asyncio.gather(*(work(number) for number in range(20)))
        assert order == sorted(order)
        tokens = [token for _, token in order]
        assert tokens == sorted(set(tokens))


async def test_a_guard_is_passed_around_and_released_once(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path)
        guard = await lock.lock(timeout=3)
        await asyncio.create_task(guard.release())
        assert guard.state == "released"
        with pytest.raises(zoolock.NotHeld):
            await guard.release()
        with pytest.raises(zoolock.NotHeld):
            guard.ensure_held()
        async with await lock.lock() as again:
            assert again.fencing_token > guard.fencing_token
        taken = await lock.try_lock()
        assert taken is not None
        await taken.release()


async def test_r06_a_time_out_is_kept(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path)
        async with lock:
            began = asyncio.get_running_loop().time()
            with pytest.raises(zoolock.LockTimeout):
                await lock.lock(timeout=0.2)
            with pytest.raises(TimeoutError):
                async with lock.hold(timeout=0.2):
                    pytest.fail("entered")
            assert not await lock.acquire(timeout=0.2)
            assert 0.6 <= asyncio.get_running_loop().time() - began < 0.6 + 3 * 0.05 + 0.2
            assert not await lock.acquire(blocking=False)
            await loops.eventually(lambda: len(contenders(server, path)) == 1)
        assert lock.statistics().timeouts == 3


async def test_it_has_the_shape_of_threading_lock(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path)
        assert await lock.acquire()
        assert lock.held
        assert not await lock.acquire(False)
        await lock.release()
        with pytest.raises(RuntimeError):
            await lock.release()
        assert contenders(server, path) == []


async def test_r10_a_release_ends_the_hold_that_the_task_took(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.rwlock(path).read
        taken, go = asyncio.Event(), asyncio.Event()

        async def other() -> int:
            await lock.acquire()
            token = lock.fencing_token
            taken.set()
            await go.wait()
            assert lock.held
            await lock.release()
            return token

        task = asyncio.create_task(other())
        await taken.wait()
        await lock.acquire()
        mine = lock.fencing_token
        assert len(contenders(server, path)) == 2
        await lock.release()
        # The only hold that is left is another task's, and still nameable by this one.
        assert lock.fencing_token != mine
        go.set()
        assert await task != mine
        with pytest.raises(zoolock.NotHeld):
            await lock.release()


async def test_r10_nobody_releases_one_of_several_holds_of_others(
    server: Server, path: str
) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.rwlock(path).read
        owners = [zoolock.Owner(), zoolock.Owner()]
        for owner in owners:
            assert await lock.acquire(owner=owner)
        with pytest.raises(zoolock.NotHeld):
            await lock.release()
        with pytest.raises(zoolock.NotHeld):
            _ = lock.fencing_token
        assert not lock.held
        for owner in owners:
            await lock.release(owner=owner)
        assert contenders(server, path) == []


async def test_r10_a_lost_hold_is_its_takers_until_it_is_released(
    zoolock_server: Server, path: str
) -> None:
    async with await zoolock.aio.connect(zoolock_server.hosts) as session:
        lock = session.mutex(path)
        await lock.acquire()
        zoolock_server.expire_session(session.session_id)
        await loops.eventually(lambda: not lock.held)

        async def other() -> None:
            async with lock:
                pass

        await asyncio.create_task(other())
        with pytest.raises(zoolock.LockLost):
            await lock.release()
        with pytest.raises(zoolock.NotHeld):
            await lock.release()


async def test_r10_a_block_may_be_left_by_another_task(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path)
        held = await asyncio.create_task(lock.__aenter__())
        assert held.held
        await asyncio.create_task(lock.__aexit__(None, None, None))
        assert held.state == "released"
        with pytest.raises(zoolock.NotHeld):
            await lock.__aexit__(None, None, None)


async def test_r10_a_task_leaves_its_own_block(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        read, first_leaves = session.rwlock(path).read, asyncio.Event()

        async def first() -> None:
            async with read as held:
                await first_leaves.wait()
                assert held.held
            assert held.state == "released"

        async def second() -> None:
            async with read as outer:
                async with read as inner:
                    assert inner.fencing_token == outer.fencing_token
                assert (inner.state, outer.state) == ("released", "held")
            assert outer.state == "released"
            first_leaves.set()

        tasks = [asyncio.create_task(first())]
        await loops.eventually(lambda: len(contenders(server, path)) == 1)
        tasks.append(asyncio.create_task(second()))
        await asyncio.gather(*tasks)
        assert contenders(server, path) == []


async def test_r11_its_task_gets_it_again_with_the_same_token(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock, same = session.reentrant_mutex(path), session.reentrant_mutex(path)
        async with lock as outer, same as inner:
            assert inner.fencing_token == outer.fencing_token
            assert len(contenders(server, path)) == 1
            assert await asyncio.create_task(lock.try_lock()) is None
        assert contenders(server, path) == []


async def test_r11_a_later_task_is_another_owner(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.reentrant_mutex(path)
        first = await asyncio.create_task(lock.try_lock())
        assert first is not None
        # Memory of a task that has ended is given to the next one.
        assert [await asyncio.create_task(lock.try_lock()) for _ in range(5)] == [None] * 5
        await first.release()


async def test_r11_an_owner_may_be_named(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock, owner = session.reentrant_mutex(path), zoolock.Owner()
        # `wait_for` runs its body in another task before Python 3.12; so does this one.
        outer = await asyncio.create_task(lock.lock(owner=owner))
        inner = await asyncio.wait_for(lock.lock(owner=owner), 5)
        assert inner.fencing_token == outer.fencing_token
        async with lock.hold(owner=owner) as block:
            assert block.fencing_token == outer.fencing_token
        again = await lock.try_lock(owner=owner)
        assert again is not None
        assert await lock.acquire(owner=owner)
        assert await lock.try_lock() is None
        await lock.release(owner=owner)
        for guard in (again, inner, outer):
            await guard.release()
        assert contenders(server, path) == []


async def test_r12_the_writers_task_may_downgrade(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        rw = session.rwlock(path)
        write = await rw.write.lock()
        assert await asyncio.create_task(rw.read.try_lock()) is None
        read = await rw.read.lock()
        await write.release()
        other = await asyncio.create_task(rw.read.try_lock())
        assert other is not None
        with pytest.raises(zoolock.WouldDeadlock):
            await rw.write.lock()
        assert [one.holds for one in await rw.contenders()] == [True, True]
        await other.release()
        await read.release()
        assert rw.statistics().acquisitions == 3


async def test_leaving_never_hides_what_the_body_raised(zoolock_server: Server, path: str) -> None:
    async with await zoolock.aio.connect(zoolock_server.hosts) as session:
        lock = session.mutex(path)
        with pytest.raises(zoolock.LockLost):
            async with lock as held:
                zoolock_server.expire_all()
                assert await held.wait_lost(20)
        with pytest.raises(KeyError) as raised:
            async with lock.hold(timeout=20) as held:
                await held.release()
                raise KeyError
        notes = getattr(raised.value, "__notes__", [])
        assert all("leaving the block: release" in note for note in notes)
    with pytest.raises(KeyError):
        async with await zoolock.aio.connect(zoolock_server.hosts) as other:
            raise KeyError
    with pytest.raises(zoolock.Closed):
        async with other:
            pytest.fail("entered")


async def test_r20_bad_arguments_are_named(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock = session.mutex(path)
        calls: list[tuple[type[Exception], str, Callable[[], Awaitable[object]]]] = [
            (zoolock.InvalidArgument, "timeout", lambda: lock.lock(timeout=-1)),
            (TypeError, "timeout", lambda: lock.lock(timeout="1")),  # type: ignore[arg-type]
            (TypeError, "cancel", lambda: lock.lock(cancel=1)),  # type: ignore[arg-type]
            (TypeError, "owner", lambda: lock.lock(owner=1)),  # type: ignore[arg-type]
            (TypeError, "owner", lambda: lock.release(owner=1)),  # type: ignore[arg-type]
            (zoolock.InvalidArgument, "timeout", lambda: lock.acquire(False, 1)),
            (zoolock.InvalidArgument, "hosts", lambda: zoolock.aio.connect("a:b")),
            (zoolock.InvalidArgument, "timeout", lambda: session.close(-1)),
        ]
        for kind, argument, call in calls:
            with pytest.raises(kind, match=argument):
                await call()
        with pytest.raises(zoolock.InvalidArgument):
            lock.hold(timeout=-1)
        with pytest.raises(TypeError, match=r"owner must be a zoolock\.Owner, not int"):
            lock.hold(owner=1)  # type: ignore[arg-type]
        with pytest.raises(zoolock.InvalidArgument):
            session.mutex("relative")
        with pytest.raises(TypeError, match="callback must be callable"):
            session.on_state(1)  # type: ignore[arg-type]
        assert contenders(server, path) == []


async def test_r17_closing_ends_what_waits_and_what_is_held(server: Server, path: str) -> None:
    session = await zoolock.aio.connect(server.hosts)
    lock = session.mutex(path)
    held = await lock.lock()
    waiting = asyncio.create_task(lock.lock())
    await loops.eventually(lambda: len(contenders(server, path)) == 2)
    await session.close()
    with pytest.raises(zoolock.Closed):
        await waiting
    assert held.state == "lost"
    await session.close()
    assert contenders(server, path) == []
    for call in (lock.lock, lock.try_lock, lock.contenders):
        with pytest.raises(zoolock.Closed):
            await call()
    with pytest.raises(zoolock.Closed):
        session.on_state(print)
    with pytest.raises(zoolock.Closed):
        session.mutex(path)


async def test_an_outage_is_unavailable(unused_port: int) -> None:
    with pytest.raises(zoolock.Unavailable):
        await zoolock.aio.connect(f"127.0.0.1:{unused_port}", connect_timeout=0.3)
    with pytest.raises(ConnectionError):
        await zoolock.aio.connect(
            f"127.0.0.1:{unused_port}", backoff=zoolock.FixedBackoff(0.01, retries=1)
        )


async def test_a_cancel_from_another_thread_ends_a_wait(server: Server, path: str) -> None:
    async with await zoolock.aio.connect(server.hosts) as session:
        lock, cancel = session.mutex(path), zoolock.Cancel()
        async with lock:
            waiting = asyncio.create_task(lock.lock(cancel=cancel))
            await loops.eventually(lambda: len(contenders(server, path)) == 2)
            await asyncio.to_thread(cancel.cancel)
            with pytest.raises(zoolock.Cancelled):
                await waiting
            await loops.eventually(lambda: len(contenders(server, path)) == 1)


def test_verbs_need_a_running_loop(server: Server) -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        zoolock.aio.connect(server.hosts).send(None)
    # A session that is there is joined at once, with nothing to wait for.
    with zoolock.connect(server.hosts), pytest.raises(RuntimeError, match="no running event loop"):
        zoolock.aio.connect(server.hosts).send(None)
