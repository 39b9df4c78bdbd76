"""Who takes a lock: the running task, unless another owner is named."""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

from zoolock._native import Owner

_owners: WeakKeyDictionary[asyncio.Task[Any], Owner] = WeakKeyDictionary()


def running() -> Owner:
    """Return the owner that stands for the running task; nobody's, where none runs."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    if task is None:
        return Owner()
    owner = _owners.get(task)
    if owner is None:
        owner = _owners[task] = Owner()
    return owner


def named(owner: Owner | None) -> Owner:
    """Return the owner given, or the running task's."""
    if owner is None:
        return running()
    # Callers without a type checker pass anything.
    if not isinstance(owner, Owner):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"owner must be a zoolock.Owner, not {type(owner).__name__}")
    return owner
