"""The workloads for locks that block their thread: what happens at once has a thread each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

from serve import Answer, now

T = TypeVar("T")

STACK = 128 * 1024  # bytes: enough for a call of a lock, so that thousands of threads fit

Take = Callable[[], "tuple[int, Callable[[], object]]"]
"""Waits for the lock; its fencing token (0 where there is none) and what gives it back."""


class Threads:
    """`make` gives the lock at a path; `has_tokens` says whether its tokens mean anything."""

    def __init__(self, make: Callable[[str], Take], path: str, has_tokens: bool) -> None:
        self._make = make
        self._path = path
        self._has_tokens = has_tokens
        self._take = make(path)
        self._paths: dict[int, Take] = {}
        self._waiters: list[Future[tuple[int, int]]] = []

    def _shown(self, tokens: list[int]) -> list[int]:
        return tokens if self._has_tokens else []

    def cycles(self, count: int) -> Answer:
        nanos: list[int] = []
        tokens: list[int] = []
        for _ in range(count):
            start = now()
            tokens.append(cycle(self._take))
            nanos.append(now() - start)
        return {"nanos": nanos, "tokens": self._shown(tokens)}

    def paths(self, paths: int, cycles: int) -> Answer:
        for number in range(paths):
            if number not in self._paths:
                self._paths[number] = self._make(f"{self._path}/{number}")
        start = now()
        running = [run(partial(several, self._paths[number], cycles)) for number in range(paths)]
        tokens = [self._shown(thread.result()) for thread in running]
        return {"nanos": now() - start, "tokens": tokens if self._has_tokens else []}

    def share(self, millis: int, pause_micros: int) -> Answer:
        begins: list[int] = []
        grants: list[int] = []
        releases: list[int] = []
        tokens: list[int] = []
        end = now() + millis * 1_000_000
        while now() < end:
            begins.append(now())
            token, release = self._take()
            grants.append(now())
            tokens.append(token)
            if pause_micros:
                time.sleep(pause_micros / 1e6)
            releases.append(now())
            release()
        return {
            "begins": begins,
            "grants": grants,
            "releases": releases,
            "tokens": self._shown(tokens),
        }

    def queue(self, count: int) -> Answer:
        threading.stack_size(STACK)
        # Locks of its own for each: a lock object of some libraries is one contender's.
        self._waiters = [run(lambda: wait(self._make(self._path))) for _ in range(count)]
        return {"queued": count}

    def drain(self) -> Answer:
        start = now()
        got = sorted(waiter.result() for waiter in self._waiters)
        self._waiters = []
        return {"nanos": now() - start, "tokens": self._shown([token for _, token in got])}

    def obey(self) -> dict[str, Callable[..., Answer]]:
        return {
            "cycles": self.cycles,
            "paths": self.paths,
            "share": self.share,
            "queue": self.queue,
            "drain": self.drain,
        }


def cycle(take: Take) -> int:
    token, release = take()
    release()
    return token


def several(take: Take, count: int) -> list[int]:
    return [cycle(take) for _ in range(count)]


def wait(take: Take) -> tuple[int, int]:
    token, release = take()
    granted = now()
    release()
    return granted, token


def run(work: Callable[[], T]) -> Future[T]:
    """In a thread of its own, whose failure is told by the result."""
    future: Future[T] = Future()

    def body() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=body, daemon=True).start()
    return future
