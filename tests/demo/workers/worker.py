"""Takes a lock again and again until it is told to stop, and reports each hold.

worker.py HOSTS LOCK_PATH WITNESS; the time to stop comes on standard input.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import zoolock


def work(held: zoolock.Guard, asked: int, witness: Path) -> str:
    """The critical section.

    Whoever is alone in it can make the witness, a link that names its holder's token.
    """
    entered = time.monotonic_ns()
    token = held.fencing_token
    try:
        witness.symlink_to(str(token))
        met = "none"
    except FileExistsError:
        met = str(witness.readlink())
    time.sleep((30 + asked // 1000 % 100) / 1000)
    if met == "none":
        witness.unlink()
    left = time.monotonic_ns()
    state = "held" if held.held else "lost"
    return f"hold {token=} {asked=} {entered=} {left=} state={state} met={met}"


def main(hosts: str, path: str, witness: str) -> None:
    with zoolock.connect(hosts) as session:
        lock = session.mutex(path)
        print("ready", flush=True)
        end = int(sys.stdin.readline())

        while (asked := time.monotonic_ns()) < end:
            report = ""
            try:
                with lock.hold(timeout=(end - asked) / 1e9) as held:
                    report = work(held, asked, Path(witness))
            except zoolock.LockTimeout:
                break
            except zoolock.LockLost:
                pass  # the report says so too
            print(report, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
