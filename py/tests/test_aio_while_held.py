"""The way to stop at a loss that the documentation shows, as it is there (R4)."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import loops
import pytest
from queues import contenders

import zoolock
from zoolock.testing import Server

PACKAGE = Path(__file__).parent.parent
PAGES = {
    "readme": PACKAGE / "README.md",
    "start": PACKAGE.parent / "docs" / "start" / "python.md",
}
WhileHeld = Callable[[zoolock.aio.Guard, Awaitable[Any]], Awaitable[Any]]


@pytest.fixture(params=PAGES)
def while_held(request: pytest.FixtureRequest) -> WhileHeld:
    text = PAGES[request.param].read_text(encoding="utf-8")
    shown = re.findall(r"^async def while_held.*?(?=^\S)", text, re.MULTILINE | re.DOTALL)
    assert len(shown) == 1
    names: dict[str, Any] = {"asyncio": asyncio, "zoolock": zoolock, "Awaitable": Awaitable}
    exec(shown[0], names | {"T": TypeVar("T")}, names)  # noqa: S102
    found: WhileHeld = names["while_held"]
    return found


class Work:
    """Work that notes what becomes of it; `end` is how it ends once `go` is set."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.end: Callable[[], str] = lambda: "done"
        self.cleaned_up = False

    async def run(self) -> str:
        self.begun.set()
        try:
            await self.go.wait()
            return self.end()
        finally:
            await asyncio.sleep(0.01)
            self.cleaned_up = True


async def test_r04_the_work_of_a_lost_lock_is_cancelled_and_the_loss_raised(
    zoolock_server: Server, path: str, while_held: WhileHeld
) -> None:
    async with await zoolock.aio.connect(zoolock_server.hosts) as session:
        work = Work()
        with pytest.raises(zoolock.LockLost) as lost:
            async with session.mutex(path) as held:
                guarded = asyncio.ensure_future(while_held(held, work.run()))
                await work.begun.wait()
                zoolock_server.expire_session(session.session_id)
                await guarded
        assert isinstance(lost.value.__cause__, zoolock.SessionExpired)
        assert work.cleaned_up


if sys.version_info >= (3, 11):

    async def test_r04_a_loss_is_not_silent_in_a_task_group(
        zoolock_server: Server, path: str, while_held: WhileHeld
    ) -> None:
        async with await zoolock.aio.connect(zoolock_server.hosts) as session:
            work, other = Work(), Work()

            async def job() -> None:
                async with session.mutex(path) as held:
                    await while_held(held, work.run())

            with pytest.raises(Exception, match="unhandled errors in a TaskGroup") as raised:
                async with asyncio.TaskGroup() as group:
                    group.create_task(job())
                    group.create_task(other.run())
                    await work.begun.wait()
                    zoolock_server.expire_session(session.session_id)
            assert [type(error) for error in raised.value.exceptions] == [zoolock.LockLost]  # type: ignore[attr-defined]
            assert (work.cleaned_up, other.cleaned_up) == (True, True)


async def test_r05_a_cancel_from_outside_ends_the_work_and_releases(
    zoolock_server: Server, path: str, while_held: WhileHeld
) -> None:
    async with await zoolock.aio.connect(zoolock_server.hosts) as session:
        work = Work()

        async def job() -> None:
            async with session.mutex(path) as held:
                try:
                    await while_held(held, work.run())
                finally:
                    assert (work.cleaned_up, held.held) == (True, True)

        task = asyncio.create_task(job())
        await work.begun.wait()
        assert len(contenders(zoolock_server, path)) == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await loops.eventually(lambda: contenders(zoolock_server, path) == [])


async def test_what_the_work_results_in_comes_through(
    zoolock_server: Server, path: str, while_held: WhileHeld
) -> None:
    def fail() -> str:
        raise KeyError("tea")

    async with (
        await zoolock.aio.connect(zoolock_server.hosts) as session,
        session.mutex(path) as held,
    ):
        tasks = asyncio.all_tasks()
        work = Work()
        work.go.set()
        assert await while_held(held, work.run()) == "done"
        work.end = fail
        with pytest.raises(KeyError, match="tea"):
            await while_held(held, work.run())
        assert asyncio.all_tasks() == tasks
