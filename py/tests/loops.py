"""Plugin: tests that are coroutines, each run on asyncio's own loop and on uvloop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest
import uvloop
from children import PATIENCE

T = TypeVar("T")

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.SelectorEventLoop,
    "uvloop": uvloop.new_event_loop,
}


def run(body: Coroutine[Any, Any, T], loops: str = "asyncio") -> T:
    """Run it to its end, on a loop of its own that complains of what nobody caught."""
    loop = LOOPS[loops]()
    complaints: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: complaints.append(context))
    try:
        result = loop.run_until_complete(asyncio.wait_for(body, 2 * PATIENCE))
        loop.run_until_complete(_tidy())
    finally:
        loop.close()
    assert complaints == []
    return result


async def _tidy() -> None:
    """Do what `asyncio.run` does at its end."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


async def eventually(condition: Callable[[], object]) -> None:
    """Wait until the condition holds, awaiting it where it has to be; fail if it never does."""
    until = asyncio.get_running_loop().time() + PATIENCE
    while True:
        holds = condition()
        if inspect.isawaitable(holds):
            holds = await holds
        if holds:
            return
        assert asyncio.get_running_loop().time() < until, "did not happen in time"
        await asyncio.sleep(0.005)


class Coroutines:
    """Runs them; each is two tests."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if inspect.iscoroutinefunction(metafunc.function):
            metafunc.fixturenames.append("loops")
            metafunc.parametrize("loops", LOOPS)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        names = inspect.signature(pyfuncitem.obj).parameters
        arguments = {name: pyfuncitem.funcargs[name] for name in names}
        run(pyfuncitem.obj(**arguments), str(pyfuncitem.callspec.params["loops"]))
        return True
