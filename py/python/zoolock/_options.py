"""Options of a session that have parts, and what they come down to."""

# Callers without a type checker pass anything: what the types exclude is checked all the same.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, NamedTuple, TypeVar

from zoolock._errors import invalid_argument

T = TypeVar("T")


class Permission(enum.IntFlag):
    """ZooKeeper's permissions, for an `AclEntry`."""

    READ = 1
    WRITE = 2
    CREATE = 4
    DELETE = 8
    ADMIN = 16
    ALL = 31


class AclEntry(NamedTuple):
    """One entry of an access control list. A plain tuple of the three will do as well."""

    permissions: int
    """A sum of `Permission`."""
    scheme: str
    """Such as "world", "auth", "digest", "x509"."""
    id: str
    """The identity within the scheme, such as "anyone" or "user:hash"."""


@dataclass(frozen=True)
class ExponentialBackoff:
    """Pauses of `base` · 2ⁿ seconds, at most `max`, between attempts of the first connect."""

    base: float = 0.05
    max: float = 1.0
    retries: int | None = None
    """Full rounds of servers that may fail; None for no limit but `connect_timeout`."""


@dataclass(frozen=True)
class FixedBackoff:
    """Pauses of `delay` seconds between attempts of the first connect."""

    delay: float
    retries: int | None = None
    """Full rounds of servers that may fail; None for no limit but `connect_timeout`."""


@dataclass(frozen=True)
class Tls:
    """TLS towards the servers.

    `ca`: file with the trusted authorities, PEM; the platform's if left out. `cert` and `key`:
    files with the client's certificate chain and private key, PEM. `check_server_name`: whether
    the server's name is checked against its certificate.
    """

    ca: str | None = None
    """File with the trusted authorities, PEM; the platform's if left out."""
    cert: str | None = None
    """File with the client's certificate chain, PEM."""
    key: str | None = None
    """File with the client's private key, PEM."""
    check_server_name: bool = True
    """Whether the server's name is checked against its certificate."""


def backoff_parts(
    backoff: ExponentialBackoff | FixedBackoff | Mapping[str, Any] | None,
) -> tuple[float, float | None, int | None] | None:
    """Return (base, max, retries) or (delay, None, retries)."""
    if isinstance(backoff, Mapping):
        backoff = _named_backoff(backoff)
    if backoff is None:
        return None
    if isinstance(backoff, ExponentialBackoff):
        return backoff.base, backoff.max, backoff.retries
    if isinstance(backoff, FixedBackoff):
        return backoff.delay, None, backoff.retries
    raise TypeError(
        "backoff must be an ExponentialBackoff, a FixedBackoff or a mapping, "
        f"not {type(backoff).__name__}"
    )


def _named_backoff(given: Mapping[str, Any]) -> ExponentialBackoff | FixedBackoff:
    if len(given) == 1:
        if "exponential" in given:
            return _from_mapping(ExponentialBackoff, "backoff", given["exponential"])
        if "fixed" in given:
            return _from_mapping(FixedBackoff, "backoff", given["fixed"])
    raise invalid_argument("backoff", 'must have one key, "exponential" or "fixed"')


def tls_parts(
    tls: Tls | Mapping[str, Any] | None,
) -> tuple[str | None, str | None, str | None, bool] | None:
    """Return (ca, cert, key, check_server_name)."""
    if tls is None:
        return None
    if isinstance(tls, Mapping):
        tls = _from_mapping(Tls, "tls", tls)
    if isinstance(tls, Tls):
        return tls.ca, tls.cert, tls.key, tls.check_server_name
    raise TypeError(f"tls must be a Tls or a mapping, not {type(tls).__name__}")


def _from_mapping(kind: type[T], argument: str, given: Mapping[str, Any]) -> T:
    if not isinstance(given, Mapping):
        raise TypeError(f"{argument} must be a mapping, not {type(given).__name__}")
    parts = fields(kind)  # type: ignore[arg-type]
    known = [part.name for part in parts]
    for name in given:
        if name not in known:
            raise invalid_argument(argument, f"has no part {name!r}, only {', '.join(known)}")
    for part in parts:
        if part.default is MISSING and part.name not in given:
            raise invalid_argument(f"{argument}.{part.name}", "is missing")
    return kind(**given)
