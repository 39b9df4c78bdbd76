"""What every benchmark program in Python does.

It obeys commands on standard input, one a line, and answers each with one line of JSON. See the
README for the commands.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from time import monotonic_ns as now

Answer = Mapping[str, object]


def serve(obey: Mapping[str, Callable[..., Answer]]) -> None:
    """Obeys until standard input ends. Every word after the first is a whole number."""
    print("ready", flush=True)
    for line in sys.stdin:
        name, *words = line.split()
        answer(obey[name](*map(int, words)))


def answer(value: Answer) -> None:
    print(json.dumps(value), flush=True)


__all__ = ["Answer", "answer", "now", "serve"]
