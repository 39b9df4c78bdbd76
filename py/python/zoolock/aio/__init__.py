"""The same locks for asyncio: the same names, every verb awaitable, and the task as owner.

    >>> import zoolock
    >>> async with await zoolock.aio.connect("127.0.0.1:2181") as session:
    ...     async with session.mutex("/locks/order/user-123") as held:
    ...         await save(order, fencing_token=held.fencing_token)

Every await may be cancelled, also in the moment in which the lock is granted, and leaves neither a
contender nor a lock behind (R5); a release that is cancelled goes on in the background. No thread
waits for a lock, however many do, and nothing is polled. The objects belong to no event loop: any
may use them, several at once too. Works with asyncio's own loops on Unix and with uvloop.

Errors and options are those of `zoolock`.
"""

from zoolock.aio._connect import connect
from zoolock.aio._guard import Guard
from zoolock.aio._lock import Hold, Lock, Mutex, ReentrantMutex, RwLock, RwLockSide
from zoolock.aio._session import Session

__all__ = [
    "Guard",
    "Hold",
    "Lock",
    "Mutex",
    "ReentrantMutex",
    "RwLock",
    "RwLockSide",
    "Session",
    "connect",
]

for _public in (globals()[_name] for _name in __all__):
    _public.__module__ = "zoolock.aio"
