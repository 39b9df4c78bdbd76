"""Who queues on a path of the server inside the tests, as that server knows it."""

from __future__ import annotations

from zoolock.testing import Server


def contenders(server: Server, path: str) -> list[str]:
    """Return the nodes under a lock path."""
    return [
        node
        for session in server.sessions()
        for node in session.ephemerals
        if node.startswith(path + "/")
    ]
