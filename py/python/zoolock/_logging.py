"""Where the core's log goes."""

from __future__ import annotations

import logging

_logger = logging.getLogger("zoolock")


def install() -> None:
    """Be silent where the application has configured no logging, as libraries should."""
    _logger.addHandler(logging.NullHandler())


def log(level: int, line: str) -> None:
    """Log a line of the core, which calls this on its callback thread."""
    _logger.log(level, "%s", line)
