"""ZooKeeper locks: a mutex, a re-entrant mutex and a read-write lock over one session manager.

    >>> import zoolock
    >>> with zoolock.connect("127.0.0.1:2181") as session:
    ...     with session.mutex("/locks/order/user-123") as held:
    ...         save(order, fencing_token=held.fencing_token)

Times are seconds. Every wait can be interrupted by Ctrl-C and leaves no contender behind. What a
lock promises is written as numbered rules, R1 to R20, in the project's DESIGN.md.
"""

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
    ReentrantMutex,
    RwLock,
    RwLockSide,
    Session,
    __version__,
)
from zoolock._options import AclEntry, ExponentialBackoff, FixedBackoff, Permission, Tls
from zoolock._states import GuardState, SessionState

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
    "LockTimeout",
    "Mutex",
    "NoAuth",
    "NotHeld",
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
