"""The workloads in Python, by threads: zoolock_threads.py HOSTS LOCK_PATH."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

from serve import Answer, now, serve
from threads import Take, Threads

import zoolock

KEEP = 3600.0  # seconds: longer than others' blocks take


def kept(mutex: zoolock.Mutex, count: int) -> Answer:
    nanos: list[int] = []
    acquires: list[int] = []
    tokens: list[tuple[int, int]] = []
    for _ in range(count):
        start = now()
        guard = mutex.lock()
        acquired = now()
        guard.release()
        nanos.append(now() - start)
        acquires.append(acquired - start)
        tokens.append((guard.fencing_token, guard.grant_count))
    return {"nanos": nanos, "acquires": acquires, "tokens": tokens}


def main(hosts: str, path: str) -> None:
    with zoolock.connect(hosts) as session:

        def make(path: str) -> Take:
            mutex = session.mutex(path)

            def take() -> tuple[int, Callable[[], object]]:
                guard = mutex.lock()
                return guard.fencing_token, guard.release

            return take

        keeping = session.mutex(path, keep=KEEP)
        threads = Threads(make, path, has_tokens=True)
        serve({**threads.obey(), "kept": partial(kept, keeping)})


if __name__ == "__main__":
    main(*sys.argv[1:])
