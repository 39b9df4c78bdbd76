"""What both stores raise."""

from __future__ import annotations


class StaleTokenError(Exception):
    """The database has seen a higher token: another holder came after us. Nothing was written."""

    def __init__(self, token: int) -> None:
        super().__init__(f"refused: a later holder has written, and token {token} is old")
