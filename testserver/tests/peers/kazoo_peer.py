"""kazoo's lock as a program: see peer.rs for what it is told and says."""

from __future__ import annotations

import sys

from kazoo.client import KazooClient, KazooState


def say(*words: object) -> None:
    print(*words, flush=True)


def main(hosts: str, path: str) -> None:
    client = KazooClient(hosts, timeout=4)
    client.add_listener(lambda state: say("lost") if state == KazooState.LOST else None)
    client.start(timeout=30)
    say("session", client.client_id[0])
    lock = client.Lock(path, "kazoo")
    for line in sys.stdin:
        if line == "lock\n":
            lock.acquire()
            say("locked")
        elif line == "unlock\n":
            lock.release()
            say("unlocked")
        else:
            sys.exit(f"unknown order {line!r}")
    client.stop()
    client.close()


main(*sys.argv[1:])
