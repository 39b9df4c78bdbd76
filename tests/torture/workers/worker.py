"""Does the jobs that the runner hands out, several at once, and reports what it sees of its locks.

worker.py HOSTS RESOURCE NAME SESSION_TIMEOUT_MS THREADS ROOT; ends when its standard input does.
The README has the protocol.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable

import zoolock

# Seconds; longer than any outage that the runner makes.
CONNECT = 120

Take = Callable[[], "zoolock.Guard | None"]
now = time.monotonic_ns


class Line:
    """A connection to the runner."""

    def __init__(self, resource: str, name: str, part: str) -> None:
        host, port = resource.split(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.socket.makefile()
        self.lock = threading.Lock()
        self.say("hello", name, part)

    def say(self, *words: object) -> None:
        with self.lock:
            self.socket.sendall((" ".join(map(str, words)) + "\n").encode())

    def ask(self, *words: object) -> str:
        self.say(*words)
        return self.answers.readline().rstrip()

    def ask_value(self, *words: object) -> int | None:
        """The value, None if the resource refuses."""
        outcome, value = self.ask(*words).split(" ")
        return int(value) if outcome == "ok" else None


class Job:
    """A job of one thread's."""

    def __init__(self, line: Line, told: Line, ident: str, pause_ms: str) -> None:
        self.line = line
        self.told = told
        self.ident = ident
        self.pause = int(pause_ms) / 1000

    def take(self, name: str, lock: Take) -> zoolock.Guard | None:
        self.line.say("asked", self.ident, name, now())
        try:
            guard = lock()
        except zoolock.Error as error:
            self.line.say("denied", self.ident, name, error.code, now(), error)
            return None
        granted = now()
        if guard is None:
            self.line.say("denied", self.ident, name, "BUSY", granted)
            return None
        token, node = guard.fencing_token, guard.node_path
        self.line.say("granted", self.ident, name, token, granted, node)
        guard.on_lost(lambda: self.told.say("told", self.ident, name, now()))
        return guard

    def check(self, name: str, guard: zoolock.Guard) -> bool:
        before = now()
        held = guard.held
        after = now()
        self.line.say("check", self.ident, name, int(held), before, after)
        return held

    def write(self, name: str, guard: zoolock.Guard) -> None:
        """Add one to the fenced register and to the counter; stop as soon as the lock is lost."""
        about = (self.ident, name)
        token = guard.fencing_token
        if not self.check(name, guard):
            return
        value = self.line.ask_value("fread", *about, token)
        if value is None:
            self.check(name, guard)
            return
        # Without another look: whoever is stopped here is the fence's affair.
        time.sleep(self.pause / 2)
        written = self.line.ask_value("fwrite", *about, token, value + 1)
        if not self.check(name, guard) or written is None:
            return
        value = self.line.ask_value("read", *about)
        time.sleep(self.pause / 2)
        if self.check(name, guard):
            self.line.ask("write", *about, (value or 0) + 1)
            self.check(name, guard)

    def read(self, name: str, guard: zoolock.Guard) -> None:
        """Look twice at what no writer may change meanwhile."""
        if not self.check(name, guard):
            return
        self.line.ask("look", self.ident, name, guard.fencing_token)
        self.line.ask("read", self.ident, name)
        time.sleep(self.pause)
        self.line.ask("read", self.ident, name)
        self.check(name, guard)

    def release(self, name: str, guard: zoolock.Guard) -> None:
        outcome = "OK"
        before = now()
        try:
            guard.release()
        except zoolock.Error as error:
            outcome = error.code
        self.line.say("released", self.ident, name, outcome, before, now())

    def exclusive(self, lock: Take) -> None:
        if guard := self.take("a", lock):
            self.write("a", guard)
            self.release("a", guard)

    def reentrant(self, lock: Take) -> None:
        if outer := self.take("a", lock):
            self.write("a", outer)
            if inner := self.take("b", lock):
                self.write("b", inner)
                self.release("b", inner)
            self.write("a", outer)
            self.release("a", outer)

    def shared(self, lock: Take) -> None:
        if guard := self.take("a", lock):
            self.read("a", guard)
            self.release("a", guard)

    def downgrade(self, write: Take, read: Take) -> None:
        if writer := self.take("a", write):
            self.write("a", writer)
            reader = self.take("b", read)
            self.release("a", writer)
            if reader:
                self.read("b", reader)
                self.release("b", reader)


def taking(lock: zoolock.Lock, timeout_ms: str) -> Take:
    timeout = int(timeout_ms)
    if timeout == 0:
        return lock.try_lock
    return lambda: lock.lock(timeout=None if timeout < 0 else timeout / 1000)


def work(line: Line, told: Line, session: zoolock.Session, root: str) -> None:
    mutex = session.mutex(f"{root}/mutex")
    reentrant = session.reentrant_mutex(f"{root}/reentrant")
    rw = session.rwlock(f"{root}/rw")
    while (order := line.ask("next")) != "stop":
        _, ident, recipe, timeout_ms, pause_ms = order.split(" ")
        job = Job(line, told, ident, pause_ms)
        match recipe:
            case "mutex":
                job.exclusive(taking(mutex, timeout_ms))
            case "reentrant":
                job.reentrant(taking(reentrant, timeout_ms))
            case "write":
                job.exclusive(taking(rw.write, timeout_ms))
            case "read":
                job.shared(taking(rw.read, timeout_ms))
            case "downgrade":
                job.downgrade(taking(rw.write, timeout_ms), taking(rw.read, timeout_ms))
            case _:
                raise ValueError(f"no recipe is called {recipe}")


def main(hosts: str, resource: str, name: str, timeout_ms: str, threads: str, root: str) -> None:
    session = zoolock.connect(
        hosts, session_timeout=int(timeout_ms) / 1000, connect_timeout=CONNECT, identity=name
    )
    with session:
        told = Line(resource, name, "told")
        running = [
            threading.Thread(
                target=work, args=(Line(resource, name, str(number)), told, session, root)
            )
            for number in range(int(threads))
        ]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        # The session stays open until the runner has looked at what is left of it.
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
