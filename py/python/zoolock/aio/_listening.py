"""Callbacks of guards and sessions, called by the loop that they were registered in.

A callback belongs to the object that it was registered with: what waits in the loop refers to it
weakly, so that a callback that names its own guard does not keep the lock for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import ref

F = TypeVar("F", bound=Callable[..., Any])


class Listener(Generic[F]):
    """A callback, as the object that it was registered with keeps it."""

    __slots__ = ("__weakref__", "callback")

    def __init__(self, callback: F) -> None:
        if not callable(callback):
            raise TypeError(f"callback must be callable, not {type(callback).__name__}")
        self.callback: F | None = callback


class Heard(Generic[F]):
    """The same, as the loop knows it."""

    __slots__ = ("_kept", "_listener")

    def __init__(self, listener: Listener[F]) -> None:
        self._listener = ref(listener)
        self._kept: Listener[F] | None = None

    def keep(self) -> None:
        """Call it even if the object that it was registered with goes away now."""
        self._kept = self._listener()

    def callback(self) -> F | None:
        """Return the callback, if it is still to be called."""
        listener = self._listener()
        return None if listener is None else listener.callback

    def drop(self) -> None:
        """Do not call it again."""
        listener = self._listener()
        if listener is not None:
            listener.callback = None
        self._kept = None
