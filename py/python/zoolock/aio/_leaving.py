"""What the objects of `zoolock.aio` have in common at their ends."""

from __future__ import annotations

from typing import NoReturn

from zoolock._errors import Error
from zoolock._native import Call
from zoolock.aio._port import outcome


async def leave(ending: Call[None], raised: BaseException | None) -> None:
    """Wait for what ends a block. What the body raised is never hidden: a failure is its note."""
    if isinstance(raised, GeneratorExit):
        # A coroutine that is being closed cannot wait. What was begun goes on in the background.
        return
    try:
        await outcome(ending)
    except Error as error:
        if raised is None:
            raise
        if hasattr(raised, "add_note"):
            raised.add_note(f"leaving the block: {error}")


class NotPickled:
    """What stands for something in this process is neither pickled nor copied."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"cannot pickle 'zoolock.aio.{type(self).__name__}' object: it belongs to this process;"
            " open a session in the other one"
        )
