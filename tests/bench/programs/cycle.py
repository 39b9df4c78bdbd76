"""The uncontended cycle in Python: cycle.py sync|aio HOSTS LOCK_PATH.

For each number on standard input, that many cycles, and one line of times (nanoseconds) and
fencing tokens.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

import zoolock
from zoolock import aio


def show(nanos: list[int], tokens: list[int]) -> None:
    print(json.dumps({"nanos": nanos, "tokens": tokens}), flush=True)


def synchronous(hosts: str, path: str) -> None:
    with zoolock.connect(hosts) as session:
        lock = session.mutex(path)
        print("ready", flush=True)
        for line in sys.stdin:
            nanos: list[int] = []
            tokens: list[int] = []
            for _ in range(int(line)):
                start = time.monotonic_ns()
                with lock as held:
                    tokens.append(held.fencing_token)
                nanos.append(time.monotonic_ns() - start)
            show(nanos, tokens)


async def asynchronous(hosts: str, path: str) -> None:
    async with await aio.connect(hosts) as session:
        lock = session.mutex(path)
        print("ready", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            nanos: list[int] = []
            tokens: list[int] = []
            for _ in range(int(line)):
                start = time.monotonic_ns()
                async with lock as held:
                    tokens.append(held.fencing_token)
                nanos.append(time.monotonic_ns() - start)
            show(nanos, tokens)


if __name__ == "__main__":
    mode, hosts, path = sys.argv[1:]
    if mode == "aio":
        asyncio.run(asynchronous(hosts, path))
    else:
        synchronous(hosts, path)
