"""The workloads of tests/bench with kazoo's lock: bench.py HOSTS LOCK_PATH."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from kazoo.client import KazooClient

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "programs"))

from serve import serve
from threads import Take, Threads

SESSION_TIMEOUT = 15  # seconds


def main(hosts: str, path: str) -> None:
    client = KazooClient(hosts, timeout=SESSION_TIMEOUT)
    client.start()

    def make(path: str) -> Take:
        lock = client.Lock(path)

        def take() -> tuple[int, Callable[[], object]]:
            lock.acquire()
            return 0, lock.release

        return take

    serve(Threads(make, path, has_tokens=False).obey())
    client.stop()
    client.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
