"""The workloads in Python, by asyncio: zoolock_aio.py HOSTS LOCK_PATH."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable

from serve import Answer, answer, now

import zoolock
import zoolock.aio

KEEP = 3600.0  # seconds: longer than others' blocks take


async def cycle(mutex: zoolock.aio.Mutex) -> int:
    guard = await mutex.lock()
    await guard.release()
    return guard.fencing_token


async def wait(mutex: zoolock.aio.Mutex) -> tuple[int, int]:
    guard = await mutex.lock()
    granted = now()
    await guard.release()
    return granted, guard.fencing_token


class Program:
    def __init__(self, session: zoolock.aio.Session, path: str) -> None:
        self._session = session
        self._path = path
        self._mutex = session.mutex(path)
        self._keeping = session.mutex(path, keep=KEEP)
        self._paths: dict[int, zoolock.aio.Mutex] = {}
        self._waiters: list[asyncio.Task[tuple[int, int]]] = []
        self._objects: list[asyncio.Task[tuple[int, int]]] = []
        self._never = asyncio.get_running_loop().create_future()

    async def cycles(self, count: int) -> Answer:
        nanos: list[int] = []
        tokens: list[int] = []
        for _ in range(count):
            start = now()
            tokens.append(await cycle(self._mutex))
            nanos.append(now() - start)
        return {"nanos": nanos, "tokens": tokens}

    async def kept(self, count: int) -> Answer:
        nanos: list[int] = []
        acquires: list[int] = []
        tokens: list[tuple[int, int]] = []
        for _ in range(count):
            start = now()
            guard = await self._keeping.lock()
            acquired = now()
            await guard.release()
            nanos.append(now() - start)
            acquires.append(acquired - start)
            tokens.append((guard.fencing_token, guard.grant_count))
        return {"nanos": nanos, "acquires": acquires, "tokens": tokens}

    async def paths(self, paths: int, cycles: int) -> Answer:
        for number in range(paths):
            if number not in self._paths:
                self._paths[number] = self._session.mutex(f"{self._path}/{number}")

        async def one(mutex: zoolock.aio.Mutex) -> list[int]:
            return [await cycle(mutex) for _ in range(cycles)]

        start = now()
        tokens = await asyncio.gather(*(one(self._paths[number]) for number in range(paths)))
        return {"nanos": now() - start, "tokens": tokens}

    async def share(self, millis: int, pause_micros: int) -> Answer:
        begins: list[int] = []
        grants: list[int] = []
        releases: list[int] = []
        tokens: list[int] = []
        end = now() + millis * 1_000_000
        while now() < end:
            begins.append(now())
            guard = await self._mutex.lock()
            grants.append(now())
            tokens.append(guard.fencing_token)
            if pause_micros:
                await asyncio.sleep(pause_micros / 1e6)
            releases.append(now())
            await guard.release()
        return {"begins": begins, "grants": grants, "releases": releases, "tokens": tokens}

    async def queue(self, count: int) -> Answer:
        self._waiters = [asyncio.create_task(wait(self._mutex)) for _ in range(count)]
        await asyncio.sleep(0)  # each has begun
        return {"queued": count}

    async def objects(self, count: int) -> Answer:
        """As many tasks that wait for something else, from within as many coroutines."""

        async def lock() -> int:
            await asyncio.shield(self._never)
            return 0

        async def waiting() -> tuple[int, int]:
            return 0, await lock()

        self._objects += [asyncio.create_task(waiting()) for _ in range(count)]
        await asyncio.sleep(0)
        return {"queued": count}

    async def drain(self) -> Answer:
        start = now()
        got = sorted(await asyncio.gather(*self._waiters))
        self._waiters = []
        return {"nanos": now() - start, "tokens": [token for _, token in got]}

    def obey(self) -> dict[str, Callable[..., Awaitable[Answer]]]:
        return {
            "cycles": self.cycles,
            "kept": self.kept,
            "paths": self.paths,
            "share": self.share,
            "queue": self.queue,
            "objects": self.objects,
            "drain": self.drain,
        }


async def main(hosts: str, path: str) -> None:
    loop = asyncio.get_running_loop()
    async with await zoolock.aio.connect(hosts) as session:
        program = Program(session, path)
        obey = program.obey()
        print("ready", flush=True)
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            name, *words = line.split()
            answer(await obey[name](*map(int, words)))
        for task in program._objects:
            task.cancel()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
