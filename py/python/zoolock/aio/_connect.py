"""`zoolock.aio.connect`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from zoolock import _native
from zoolock._options import ExponentialBackoff, FixedBackoff, Tls, backoff_parts, tls_parts
from zoolock.aio._port import outcome
from zoolock.aio._session import Session


async def connect(
    hosts: str | None = None,
    *,
    session_timeout: float = 15,
    connect_timeout: float = 10,
    auth: Iterable[tuple[str, str | bytes]] | None = None,
    tls: Tls | Mapping[str, Any] | None = None,
    acl: Literal["open", "creator"] | Iterable[tuple[int, str, str]] | None = None,
    identity: str | None = None,
    exclusive: bool = False,
    backoff: ExponentialBackoff | FixedBackoff | Mapping[str, Any] | None = None,
    lease_confirmation: Literal["sync", "write"] = "sync",
) -> Session:
    """Connect to a ZooKeeper ensemble and return the `Session`; as `zoolock.connect`, awaited.

    Cancelled, it leaves no session behind.

    >>> async with await zoolock.aio.connect("127.0.0.1:2181") as session:
    ...     print(session.state)
    connected
    """
    session = await outcome(
        _native.start_connect(
            hosts,
            session_timeout,
            connect_timeout,
            auth,
            tls_parts(tls),
            acl,
            identity,
            exclusive,
            backoff_parts(backoff),
            lease_confirmation,
        )
    )
    return Session(session)
