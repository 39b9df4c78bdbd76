"""Many threads on the same objects: nothing rests on the interpreter's lock."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
import threads
from children import eventually
from queues import contenders

import zoolock
from zoolock.testing import Server

THREADS = 4
ROUNDS = 25


@pytest.fixture
def hasty() -> Iterator[None]:
    """Let threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
@pytest.mark.filterwarnings("ignore:unreleased:ResourceWarning")
def test_threads_share_every_object(zoolock_server: Server, path: str) -> None:
    session = zoolock.connect(zoolock_server.hosts)
    lock, again, rw = session.mutex(path), session.reentrant_mutex(path), session.rwlock(path)
    shared = session.rwlock(f"{path}/shared").read
    inside: list[int] = []
    told = threading.Semaphore(0)

    def work(number: int) -> None:
        for round_ in range(ROUNDS):
            with lock as held:
                inside.append(number)
                assert inside == [number]
                held.on_lost(told.release)
                assert lock.fencing_token == held.fencing_token
                inside.remove(number)
            with again, again.hold(timeout=30) as held:
                inside.append(number)
                assert inside == [number]
                inside.remove(number)
            with rw.read if round_ % 4 else rw.write as held:
                repr((held, rw, session))
            # Dropped, and collected beside all others; some time, so that nobody may wait for it.
            dropped = shared.lock(owner=zoolock.Owner())
            dropped.on_lost(lambda dropped=dropped: dropped.path)  # type: ignore[misc]
            del dropped
            gc.collect(0)
            lock.statistics()

    running = [threads.start(lambda number=number: work(number)) for number in range(THREADS)]  # type: ignore[misc]
    for thread in running:
        thread.result(60)
    assert lock.statistics().acquisitions == THREADS * ROUNDS
    gc.collect()
    eventually(lambda: contenders(zoolock_server, path) == [])
    session.close()
    assert not told.acquire(blocking=False)


@pytest.mark.usefixtures("hasty")
def test_threads_with_loops_share_objects_with_threads_without(server: Server, path: str) -> None:
    session = zoolock.connect(server.hosts)
    inside: list[int] = []

    def work(number: int) -> None:
        lock = session.mutex(path)
        for _ in range(ROUNDS):
            with lock:
                inside.append(number)
                assert inside == [number]
                inside.remove(number)

    async def await_work(number: int) -> None:
        async with await zoolock.aio.connect(server.hosts) as session:
            lock = session.mutex(path)
            for _ in range(ROUNDS):
                async with lock:
                    inside.append(number)
                    assert inside == [number]
                    inside.remove(number)
                waiting = asyncio.create_task(lock.lock())
                await asyncio.sleep(0)
                waiting.cancel()
                for guard in await asyncio.gather(waiting, return_exceptions=True):
                    if isinstance(guard, zoolock.aio.Guard):
                        await guard.release()

    running = [threads.start(lambda number=number: work(number)) for number in range(3)]  # type: ignore[misc]
    running += [
        threads.start(lambda number=number: asyncio.run(await_work(number)))  # type: ignore[misc]
        for number in range(3, 6)
    ]
    for thread in running:
        thread.result(60)
    eventually(lambda: contenders(server, path) == [])
    session.close()


class Slow(logging.Handler):
    """Takes locks and the interpreter's, as a handler may."""

    def emit(self, record: logging.LogRecord) -> None:
        with self.lock or threading.Lock():
            record.getMessage()


def test_r19_the_log_has_pythons_levels_and_holds_up_nobody(
    zoolock_server: Server, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    logger, handler = logging.getLogger("zoolock"), Slow()
    logger.addHandler(handler)
    caplog.set_level(logging.DEBUG)
    try:
        with zoolock.connect(zoolock_server.hosts) as session:
            for _ in range(5):
                # Its connection is lost while this thread holds what the handler wants.
                with session.mutex(path), handler.lock or threading.Lock():
                    zoolock_server.cut_all()
                    eventually(lambda: session.state == "connected")
            zoolock_server.expire_all()
            eventually(lambda: "the session is over" in caplog.text)
    finally:
        logger.removeHandler(handler)
    levels = {record.levelname for record in caplog.records if record.name == "zoolock"}
    assert levels <= {"DEBUG", "INFO", "WARNING"}
    over = [record for record in caplog.records if record.getMessage() == "the session is over"]
    assert [record.levelno for record in over] == [logging.WARNING]


SHORT = """
import logging, sys
import zoolock
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
zoolock.connect().close()
"""


def test_what_was_logged_before_an_exit_is_delivered(zoolock_server: Server) -> None:
    environment = os.environ | {"ZOOLOCK_HOSTS": zoolock_server.hosts}
    # Several at a time, so that one has to wait for its turn between the log and its exit.
    for _ in range(8):
        programs = [
            subprocess.Popen(
                [sys.executable, "-c", SHORT], env=environment, stdout=subprocess.PIPE, text=True
            )
            for _ in range(6)
        ]
        printed = [program.communicate(timeout=60)[0] for program in programs]
        assert [program.returncode for program in programs] == [0] * len(programs)
        assert all("zoolock" in text for text in printed), printed
