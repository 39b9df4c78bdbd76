"""ZooKeeper locks: a mutex, a re-entrant mutex and a read-write lock over one session manager.

    >>> import zoolock
    >>> with zoolock.connect("127.0.0.1:2181") as session:
    ...     with session.mutex("/locks/order/user-123") as held:
    ...         save(order, fencing_token=held.fencing_token)

Times are seconds. Every wait can be interrupted by Ctrl-C and leaves no contender behind. What a
lock promises is written as numbered rules, R1 to R20, in the project's DESIGN.md.
"""

from typing import TYPE_CHECKING, Any

from zoolock import _exit, _logging
from zoolock._connect import connect
from zoolock._contender import Contender
from zoolock._errors import (
    AuthFailed,
    Cancelled,
    Closed,
    Error,
    Internal,
    InvalidArgument,
    LockLost,
    LockTimeout,
    NoAuth,
    NotHeld,
    SequenceExhausted,
    SessionExpired,
    Unavailable,
    Unsupported,
    WouldDeadlock,
)
from zoolock._native import (
    Cancel,
    Guard,
    Hold,
    Lock,
    Mutex,
    Owner,
    ReentrantMutex,
    RwLock,
    RwLockSide,
    Session,
    __version__,
)
from zoolock._options import AclEntry, ExponentialBackoff, FixedBackoff, Permission, Tls
from zoolock._states import GuardState, SessionState
from zoolock._statistics import LockStatistics

if TYPE_CHECKING:
    from zoolock import aio as aio

__all__ = [
    "AclEntry",
    "AuthFailed",
    "Cancel",
    "Cancelled",
    "Closed",
    "Contender",
    "Error",
    "ExponentialBackoff",
    "FixedBackoff",
    "Guard",
    "GuardState",
    "Hold",
    "Internal",
    "InvalidArgument",
    "Lock",
    "LockLost",
    "LockStatistics",
    "LockTimeout",
    "Mutex",
    "NoAuth",
    "NotHeld",
    "Owner",
    "Permission",
    "ReentrantMutex",
    "RwLock",
    "RwLockSide",
    "SequenceExhausted",
    "Session",
    "SessionExpired",
    "SessionState",
    "Tls",
    "Unavailable",
    "Unsupported",
    "WouldDeadlock",
    "__version__",
    "connect",
]

# Tracebacks and `repr` should not send users to the private modules that things are written in.
for _public in (globals()[_name] for _name in __all__):
    if str(getattr(_public, "__module__", "")).startswith("zoolock._"):
        _public.__module__ = "zoolock"

_logging.install()
_exit.install()


def __getattr__(name: str) -> Any:
    # asyncio takes longer to import than all of zoolock, which programs without it need not pay.
    if name == "aio":
        import importlib

        return importlib.import_module("zoolock.aio")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
