"""What a lock object counts about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LockStatistics:
    """A reading of the counters of one lock object; both sides of an `RwLock` are one."""

    acquisitions: int
    """Grants."""
    contended: int
    """Grants that had to wait for another contender."""
    timeouts: int
    """Attempts that ended at their time-out."""
    losses: int
    """Guards that were lost."""
    waited: float
    """Seconds from call to grant, summed up."""
    held: float
    """Seconds from grant to release or loss, summed up."""
