"""A ZooKeeper server in your own process, for development and tests of programs that use locks.

    >>> import zoolock
    >>> from zoolock.testing import Server
    >>> with Server() as server, zoolock.connect(server.hosts) as session:
    ...     with session.mutex("/locks/order/user-123") as held:
    ...         print(held.fencing_token > 0)
    True

It starts in milliseconds, keeps everything in memory and forgets it when it stops. It has no
security, no disk and no replicas: do not put it where data or mutual exclusion matter.

Where pytest is installed it finds the fixtures `zoolock_server` and `zoolock_shared_server` by
itself; see `zoolock.testing.pytest_plugin`.
"""

from zoolock._native import Server
from zoolock.testing._session import ServerSession

__all__ = ["Server", "ServerSession"]
