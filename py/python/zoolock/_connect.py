"""`zoolock.connect`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from zoolock import _native
from zoolock._options import (
    ExponentialBackoff,
    FixedBackoff,
    Tls,
    backoff_parts,
    tls_parts,
)


def connect(
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
) -> _native.Session:
    """Connect to a ZooKeeper ensemble and return the `Session`.

    Blocks until connected, at most `connect_timeout` seconds; Ctrl-C interrupts it.

    Args:
        hosts: "host:port,host:port/chroot"; if left out the environment's ZOOLOCK_HOSTS, else
            "127.0.0.1:2181".
        session_timeout: Seconds to ask for; the server may grant another. Locks of a process that
            is killed are freed after it.
        connect_timeout: Seconds that the first connect, and a try for a lock, may take.
        auth: Credentials, such as [("digest", "user:password")]. Never shown.
        tls: A `Tls`, or a mapping of its fields.
        acl: "open", "creator", or a list of `AclEntry`, of the nodes made. Default "creator" with
            credentials, else "open".
        identity: What contenders' data says of the holder. Default "host/pid".
        exclusive: A ZooKeeper session of this object's own, instead of one shared with equal ones.
        backoff: How the first connect is retried: an `ExponentialBackoff`, a `FixedBackoff`, or a
            mapping {"exponential": {"base": …, "max": …, "retries": …}} or
            {"fixed": {"delay": …, "retries": …}}.
        lease_confirmation: "sync", or "write": what renews the leases of held locks.

    Raises:
        InvalidArgument: For bad hosts or options, before anything is sent.
        Unavailable: At `connect_timeout`, or when the retries are used up.
        AuthFailed: At once, if the server does not accept the credentials.
        Unsupported: For a server older than 3.5.5.

    >>> with zoolock.connect("127.0.0.1:2181") as session:
    ...     print(session.state)
    connected
    """
    return _native.connect(
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
