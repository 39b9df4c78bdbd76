"""The uncontended cycle in Python: cycle.py HOSTS LOCK_PATH.

For each number on standard input, that many cycles, and one line of times (nanoseconds) and
fencing tokens.
"""

from __future__ import annotations

import json
import sys
import time

import zoolock


def main(hosts: str, path: str) -> None:
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
            print(json.dumps({"nanos": nanos, "tokens": tokens}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
