"""Who queues on a lock path."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Contender:
    """A holder or a waiter as the server shows it, of zoolock or of another library."""

    node_path: str
    """Its node, without the session's chroot."""
    sequence: int
    """The number that the server gave it."""
    identity: str
    """The node's data as text: zoolock writes the holder's identity there."""
    session_id: int
    """The session that owns the node, a signed 64-bit number."""
    holds: bool
    """Whether the lock is its own by the order of the queue."""
