"""Running something in another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from children import PATIENCE

T = TypeVar("T")


def start(body: Callable[[], T]) -> Future[T]:
    """Run it in a thread of its own, which does not keep the process alive."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(body())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def in_thread(body: Callable[[], T]) -> T:
    """Run it in another thread, and wait for what comes of it."""
    return start(body).result(PATIENCE)
