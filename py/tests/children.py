"""Child processes that tests talk to by lines, and waiting for what has to happen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from types import TracebackType

PATIENCE = 20.0
"""Seconds that anything may take which is not itself being timed."""


def eventually(condition: Callable[[], object], within: float = PATIENCE) -> None:
    """Wait until the condition holds; fail when it does not in time."""
    until = time.monotonic() + within
    while not condition():
        assert time.monotonic() < until, "did not happen in time"
        time.sleep(0.01)


class Child:
    """A Python process that runs some code. A context manager that ends it.

    The code finds the servers as `hosts`, the lock path as `path`, `zoolock` imported, `say(…)` to
    write a line and `hear()` to wait for one.
    """

    PREAMBLE = textwrap.dedent(
        """
        import os, signal, sys, threading, time
        import zoolock
        # A shell starts what runs in the background with SIGINT ignored, and children inherit that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        hosts, path = sys.argv[1:]
        def say(*words):
            print(*words, flush=True)
        def hear():
            return sys.stdin.readline().strip()
        """
    )

    def __init__(self, code: str, hosts: str, path: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.PREAMBLE + textwrap.dedent(code), hosts, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.process.kill()
        errors = self.process.communicate()[1]
        if raised is not None:
            sys.stderr.write(errors)

    def hear(self) -> str:
        """Wait for the child's next line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the child has ended"
        return line.rstrip("\n")

    def say(self, line: str = "") -> None:
        """Send the child a line."""
        assert self.process.stdin is not None
        print(line, file=self.process.stdin, flush=True)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    def end(self, status: int = 0) -> str:
        """Wait for the child's own end, and return what it wrote since."""
        output, errors = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == status, errors
        return output
