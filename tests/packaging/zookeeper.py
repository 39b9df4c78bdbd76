"""A real ZooKeeper server, from the project's ensemble tool."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class ZooKeeper:
    """One server. A context manager that ends it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [os.environ["ZOOLOCK_ENSEMBLE"], "run", "--servers", "1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.hosts: str = self._read()["hosts"]

    def __enter__(self) -> ZooKeeper:
        return self

    def __exit__(self, *_: object) -> None:
        # The end of its input is its end.
        self._process.communicate(timeout=30)

    @contextmanager
    def is_used(self) -> Iterator[None]:
        """Sees to it that contenders are created at the server."""
        before = self._creates()
        yield
        assert self._creates() > before, "nobody has created a contender at this server"

    def _creates(self) -> int:
        counts: dict[str, int] = self._tell("counts")["counts"]
        return counts.get("create2", 0) + counts.get("multi", 0)

    def _tell(self, command: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        print(command, file=self._process.stdin, flush=True)
        answer = self._read()
        assert answer["ok"], f"{command}: {answer}"
        return answer

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the server has ended"
        answer: dict[str, Any] = json.loads(line)
        return answer
