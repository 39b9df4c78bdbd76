"""The workloads of tests/bench with the lock of redis-py: bench.py HOST:PORT NAME.

It is what people pick in place of ZooKeeper's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import redis

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "programs"))

from serve import serve
from threads import Take, Threads

TIME_TO_LIVE = 15  # seconds


def main(address: str, name: str) -> None:
    host, port = address.rsplit(":", 1)
    client = redis.Redis(host=host, port=int(port))
    client.ping()

    def make(name: str) -> Take:
        lock = client.lock(name, timeout=TIME_TO_LIVE)

        def take() -> tuple[int, Callable[[], object]]:
            lock.acquire()
            return 0, lock.release

        return take

    serve(Threads(make, name, has_tokens=False).obey())
    client.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
