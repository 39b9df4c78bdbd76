"""A session as a test server knows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServerSession:
    """A session that a `Server` knows, at the moment of `Server.sessions()`."""

    id: int
    """A signed 64-bit number: what `Session.session_id` and `Contender.session_id` say."""
    timeout: float
    """The session timeout that was granted, in seconds."""
    connected: bool
    """Whether it has an open connection."""
    ephemerals: list[str]
    """The paths of its ephemeral nodes, which are contenders for locks, in alphabetical order."""
