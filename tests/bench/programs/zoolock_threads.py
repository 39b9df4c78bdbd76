"""The workloads in Python, by threads: zoolock_threads.py HOSTS LOCK_PATH."""

from __future__ import annotations

import sys
from collections.abc import Callable

from serve import serve
from threads import Take, Threads

import zoolock


def main(hosts: str, path: str) -> None:
    with zoolock.connect(hosts) as session:

        def make(path: str) -> Take:
            mutex = session.mutex(path)

            def take() -> tuple[int, Callable[[], object]]:
                guard = mutex.lock()
                return guard.fencing_token, guard.release

            return take

        serve(Threads(make, path, has_tokens=True).obey())


if __name__ == "__main__":
    main(*sys.argv[1:])
