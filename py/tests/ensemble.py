"""Real ZooKeeper servers behind fault proxies, from the project's ensemble tool."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from types import TracebackType
from typing import Any


class Ensemble:
    """A running ensemble. A context manager that ends it."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [os.environ["ZOOLOCK_ENSEMBLE"], "run", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._turn = threading.Lock()
        ready = self._read()
        self.hosts: str = ready["hosts"]

    def __enter__(self) -> Ensemble:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # The end of its input is its end; reads on so that nothing blocks it.
        self._process.communicate(timeout=30)

    def tell(self, command: str) -> dict[str, Any]:
        """Have a command carried out; its effect is there when this returns."""
        assert self._process.stdin is not None
        with self._turn:
            print(command, file=self._process.stdin, flush=True)
            answer = self._read()
        assert answer["ok"], f"{command}: {answer}"
        return answer

    def children(self, path: str) -> list[str]:
        """Look past zoolock for who queues under a path, which may be missing."""
        if self.tell(f"exists {path}")["exists"]:
            names: list[str] = self.tell(f"children {path}")["children"]
            return names
        return []

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the ensemble has ended"
        answer: dict[str, Any] = json.loads(line)
        return answer
