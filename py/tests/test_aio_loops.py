"""Event loops that end, that are many, and an interpreter that exits."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
import time
import warnings
import weakref

import loops
import pytest
import threads
from children import Child, eventually
from queues import contenders

import zoolock
from zoolock.testing import Server

EACH = pytest.mark.parametrize("kind", loops.LOOPS)
WAITERS = 5000


@EACH
def test_a_session_outlives_the_loop_that_opened_it(server: Server, path: str, kind: str) -> None:
    session = loops.run(zoolock.aio.connect(server.hosts), kind)
    lock = session.mutex(path)
    for _ in range(3):
        guard = loops.run(lock.lock(), kind)
        loops.run(guard.release(), kind)
    loops.run(session.close(), kind)


def test_asyncio_run_works_twice(server: Server, path: str) -> None:
    async def once() -> int:
        async with (
            await zoolock.aio.connect(server.hosts) as session,
            session.mutex(path) as held,
        ):
            return held.fencing_token

    assert asyncio.run(once()) < asyncio.run(once())


def test_r05_a_loop_that_is_dropped_gives_up_its_waits(server: Server, path: str) -> None:
    # uvloop keeps a loop that was never closed for ever, whatever waits in it.
    def begin() -> weakref.ref[asyncio.AbstractEventLoop]:
        loop = asyncio.SelectorEventLoop()
        loop.set_exception_handler(lambda *_: None)
        lock = session.mutex(path)
        waits = [loop.create_task(lock.lock()), loop.create_task(lock.acquire())]
        loop.run_until_complete(asyncio.sleep(0.01))
        eventually(lambda: len(contenders(server, path)) == 3)
        assert not any(wait.done() for wait in waits)
        return weakref.ref(loop)

    with zoolock.connect(server.hosts) as other:
        held = other.mutex(path).lock()
        session = asyncio.run(zoolock.aio.connect(server.hosts))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            dropped = begin()
            gc.collect()
        assert dropped() is None
        eventually(lambda: len(contenders(server, path)) == 1)
        held.release()
        asyncio.run(session.close())


@EACH
def test_r05_a_loop_that_is_closed_gives_up_its_waits(server: Server, path: str, kind: str) -> None:
    with zoolock.connect(server.hosts) as other:
        held = other.mutex(path).lock()
        session = loops.run(zoolock.aio.connect(server.hosts), kind)
        lock = session.mutex(path)
        loop = loops.LOOPS[kind]()
        # Coroutines and tasks that stay alive, as a program's global variables would keep them.
        waits = [loop.create_task(lock.lock()), loop.create_task(lock.acquire())]
        loop.run_until_complete(asyncio.sleep(0.01))
        eventually(lambda: len(contenders(server, path)) == 3)
        complaints: list[object] = []
        loop.set_exception_handler(lambda _, context: complaints.append(context))
        loop.close()
        gc.collect()
        eventually(lambda: len(contenders(server, path)) == 1)
        held.release()
        assert contenders(server, path) == []
        assert not any(task.done() for task in waits)
        loops.run(session.close(), kind)
        waits.clear()
        gc.collect()
        assert {context["message"] for context in complaints} <= {  # type: ignore[index]
            "Task was destroyed but it is pending!"
        }


@EACH
def test_r05_a_lock_granted_to_a_loop_that_was_closed_unseen_is_released(
    server: Server, path: str, kind: str
) -> None:
    with zoolock.connect(server.hosts) as other:
        held = other.mutex(path).lock()
        session = loops.run(zoolock.aio.connect(server.hosts), kind)
        lock = session.mutex(path)
        loop = loops.LOOPS[kind]()
        wait = loop.create_task(lock.lock())
        loop.run_until_complete(asyncio.sleep(0.01))
        eventually(lambda: len(contenders(server, path)) == 2)
        held.release()
        eventually(lambda: lock.statistics().acquisitions == 1)
        assert len(contenders(server, path)) == 1
        loop.set_exception_handler(lambda *_: None)
        loop.close()
        gc.collect()
        eventually(lambda: contenders(server, path) == [])
        assert not wait.done()
        loops.run(session.close(), kind)


def test_a_guard_may_be_dropped_when_its_loop_is_gone(server: Server, path: str) -> None:
    session = loops.run(zoolock.aio.connect(server.hosts))
    guard = loops.run(session.mutex(path).lock())
    told: list[bool] = []
    with pytest.raises(RuntimeError, match="no running event loop"):
        guard.on_lost(lambda: told.append(True))
    assert guard.held
    with pytest.warns(ResourceWarning, match=r"unreleased zoolock\.Guard"):
        del guard
    eventually(lambda: contenders(server, path) == [])
    loops.run(session.close())


@EACH
def test_callbacks_of_a_loop_that_is_closed_are_forgotten(
    zoolock_server: Server, path: str, kind: str
) -> None:
    session = loops.run(zoolock.aio.connect(zoolock_server.hosts), kind)
    told: list[object] = []

    async def register() -> zoolock.aio.Guard:
        session.on_state(told.append)
        guard = await session.mutex(path).lock()
        guard.on_lost(lambda: told.append("lost"))
        return guard

    guard: zoolock.aio.Guard = loops.run(register(), kind)
    zoolock_server.expire_all()
    assert loops.run(guard.wait_lost(20), kind)
    loops.run(session.close(), kind)
    assert told == []


@EACH
def test_loops_of_several_threads_share_a_session(server: Server, path: str, kind: str) -> None:
    session = loops.run(zoolock.aio.connect(server.hosts), kind)
    lock, inside, most = session.mutex(path), [], []

    async def work() -> None:
        for _ in range(10):
            async with lock as held:
                inside.append(held)
                most.append(len(inside))
                await asyncio.sleep(0)
                inside.remove(held)

    async def several() -> None:
        await asyncio.gather(*(work() for _ in range(3)))

    running = [threads.start(lambda: loops.run(several(), kind)) for _ in range(4)]
    for thread in running:
        thread.result(30)
    assert max(most) == 1
    assert lock.statistics().acquisitions == 120
    loops.run(session.close(), kind)


async def test_thousands_wait_without_a_thread_each(zoolock_server: Server) -> None:
    before = threading.active_count()
    async with await zoolock.aio.connect(zoolock_server.hosts, session_timeout=30) as session:
        lock, got = session.mutex("/locks/many"), []
        held = await lock.lock()

        async def wait(number: int) -> None:
            async with lock:
                got.append(number)

        waits = [asyncio.create_task(wait(number)) for number in range(WAITERS)]
        await loops.eventually(
            lambda: len(contenders(zoolock_server, "/locks/many")) == WAITERS + 1
        )
        assert threading.active_count() == before
        # The loop is not busy with them.
        began = time.process_time()
        await asyncio.sleep(0.2)
        busy = time.process_time() - began
        for task in waits[WAITERS // 2 :]:
            task.cancel()
        await held.release()
        await asyncio.gather(*waits, return_exceptions=True)
        assert got == sorted(got)
        assert len(got) == WAITERS // 2
        await loops.eventually(lambda: contenders(zoolock_server, "/locks/many") == [])
    assert busy < 0.15


def test_r08_one_ring_tells_of_all_that_has_ended(server: Server, path: str) -> None:
    async def body() -> None:
        async with await zoolock.aio.connect(server.hosts) as session:
            locks = [session.mutex(f"{path}/{number}") for number in range(100)]
            tasks = [asyncio.create_task(lock.lock()) for lock in locks]
            await asyncio.sleep(0)
            rings = 0
            finish = zoolock.aio._port._Doorbell.__call__

            def ring(bell: object) -> None:
                nonlocal rings
                rings += 1
                finish(bell)  # type: ignore[arg-type]

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("zoolock.aio._port._Doorbell.__call__", ring)
                # The loop stands still until all are granted.
                eventually(lambda: all(lock.statistics().acquisitions for lock in locks))
                guards = await asyncio.gather(*tasks)
            assert rings <= 3
            await asyncio.gather(*(guard.release() for guard in guards))

    loops.run(body())


ENDINGS = {
    "the end of the program": "",
    "an exception": "raise KeyError",
    "sys.exit": "sys.exit(3)",
    "a loop that is left": "sys.exit(0)",
}


@pytest.mark.parametrize("kind", ["asyncio.SelectorEventLoop", "uvloop.new_event_loop"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_r17_an_interpreter_exits_with_waits_and_locks(
    server: Server, path: str, kind: str, ending: str
) -> None:
    run = "asyncio.run" if "left" not in ending else "loop.run_until_complete"
    code = f"""
        import asyncio, uvloop
        loop = {kind}()
        asyncio.set_event_loop_policy(
            uvloop.EventLoopPolicy() if "uvloop" in "{kind}" else None
        )
        async def main():
            global session, held, waits
            session = await zoolock.aio.connect(hosts, session_timeout=60)
            session.on_state(print)
            held = await session.mutex(path).lock()
            held.on_lost(lambda: print("lost"))
            waits = [asyncio.create_task(session.mutex(path).lock()) for _ in range(20)]
            waits += [asyncio.create_task(held.lost())]
            await asyncio.sleep(0.02)
            say("waiting")
            hear()
        try:
            {run}(main())
        finally:
            say("ends", time.time())
        {ENDINGS[ending]}
    """
    with Child(code, server.hosts, path) as process:
        assert process.hear() == "waiting"
        eventually(lambda: len(contenders(server, path)) == 21)
        process.say()
        status = {"an exception": 1, "sys.exit": 3}.get(ending, 0)
        ends = float(process.end(status).split()[-1])
        assert time.time() - ends < 2
    eventually(lambda: contenders(server, path) == [], within=2)


def test_r17_an_interpreter_exits_beside_loops_of_daemon_threads(server: Server, path: str) -> None:
    code = """
        import asyncio
        async def main():
            session = await zoolock.aio.connect(hosts, session_timeout=60)
            held = await session.mutex(path + "/held").lock()
            busy = [asyncio.create_task(take(session, n)) for n in range(5)]
            await session.mutex(path).lock()
            started.release()
            await session.mutex(path).lock()
        async def take(session, number):
            while True:
                async with session.mutex(f"{path}/busy/{number}"):
                    pass
        started = threading.Semaphore(0)
        for _ in range(3):
            threading.Thread(target=lambda: asyncio.run(main()), daemon=True).start()
        time.sleep(0.2)
        say("ends", time.time())
    """
    for _ in range(5):
        with Child(code, server.hosts, path) as process:
            ends = float(process.end().split()[-1])
            assert time.time() - ends < 3
        eventually(lambda: contenders(server, path) == [], within=3)


def test_the_keyboard_interrupts_a_wait(server: Server, path: str) -> None:
    code = """
        import asyncio
        async def main():
            async with await zoolock.aio.connect(hosts) as session:
                async with session.mutex(path):
                    say("waiting")
                    await session.mutex(path).lock()
        try:
            asyncio.run(main())
        except KeyboardInterrupt:
            say("interrupted")
    """
    with Child(code, server.hosts, path) as process:
        assert process.hear() == "waiting"
        eventually(lambda: len(contenders(server, path)) == 2)
        process.signal(signal.SIGINT)
        assert process.hear() == "interrupted"
        process.end()
    assert contenders(server, path) == []
