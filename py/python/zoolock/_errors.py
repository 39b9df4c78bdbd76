"""The exceptions, one class for each kind of failure of the core."""

from __future__ import annotations

from typing import Any, ClassVar


class Error(Exception):
    """Base of everything that zoolock raises, but for wrong types (`TypeError`).

    `code` is the kind's name in capitals, such as "LOCK_LOST"; `operation` what failed, such as
    "lock"; `path` the lock path, or None if it was about none. The message is one line and never
    holds credentials. `__cause__` is the failure underneath, where there is one.
    """

    code: ClassVar[str] = ""
    operation: str
    path: str | None

    def __init__(self, message: str = "", operation: str = "", path: str | None = None) -> None:
        # To an OSError the second and third of several arguments are a text and a file.
        super().__init__(message)
        self.args = (message, operation, path)
        self.operation = operation
        self.path = path

    def __str__(self) -> str:
        about = " ".join(word for word in (self.operation, self.path) if word)
        message = str(self.args[0])
        return f"{about}: {message}" if about else message

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class InvalidArgument(Error, ValueError):
    """An argument is malformed; the message names it. Fix the call; nothing was sent."""

    code = "INVALID_ARGUMENT"


class Unavailable(Error, ConnectionError):
    """No server could be reached in time. Try again later, or raise `connect_timeout`."""

    code = "UNAVAILABLE"


class LockTimeout(Error, TimeoutError):
    """The lock was not granted in the time given. Give up, or try later.

    Somebody else holds it, or no server could be reached in that time: then `__cause__` is the
    `Unavailable` error.
    """

    code = "TIMEOUT"


class Cancelled(Error):
    """The caller cancelled the call. No contender is left behind."""

    code = "CANCELLED"


class LockLost(Error):
    """The lock was held and is no longer. Stop the protected work; others may be in it."""

    code = "LOCK_LOST"


class NotHeld(Error, RuntimeError):
    """The caller does not hold what it tries to release. A bug in the caller."""

    code = "NOT_HELD"


class WouldDeadlock(Error):
    """The holder of a read lock asked for the write lock. Release the read lock first."""

    code = "WOULD_DEADLOCK"


class SequenceExhausted(Error):
    """The path's 32-bit sequence is used up. Let the path empty, or use another."""

    code = "SEQUENCE_EXHAUSTED"


class NoAuth(Error):
    """The server denies it: the message names the path and the missing right."""

    code = "NO_AUTH"


class AuthFailed(Error):
    """The server does not accept the credentials. Trying again does not help."""

    code = "AUTH_FAILED"


class SessionExpired(Error):
    """The session ended before the call could finish."""

    code = "SESSION_EXPIRED"


class Closed(Error):
    """The session is closed. Open another one."""

    code = "CLOSED"


class Unsupported(Error):
    """The server, or this build, does not offer what was asked for."""

    code = "UNSUPPORTED"


class Internal(Error):
    """Something that should not happen; please report it with its message."""

    code = "INTERNAL"


class Source(Exception):
    """What the core was told by a lower layer: the `__cause__` of an `Error`."""


BY_CODE: dict[str, type[Error]] = {kind.code: kind for kind in Error.__subclasses__()}


def make(
    code: str,
    message: str,
    operation: str,
    path: str | None,
    cause: BaseException | str | None,
) -> Error:
    """Make the exception for an error of the core, which calls this."""
    error = BY_CODE.get(code, Internal)(message, operation, path)
    error.__cause__ = Source(cause) if isinstance(cause, str) else cause
    return error


def invalid_argument(argument: str, problem: Any, operation: str = "connect") -> InvalidArgument:
    """Make an error of an argument that the Python side checks."""
    return InvalidArgument(f"{argument}: {problem}", operation)
