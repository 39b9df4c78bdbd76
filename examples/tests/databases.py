"""The databases of the tests, as a second holder and as an onlooker see them."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from postgres import Postgres

Row = tuple[Any, ...]
Execute = Callable[[str], list[Row]]

LIMIT = 60
"""Seconds that anything may take that is waited for."""


def until(what: str, condition: Callable[[], bool]) -> None:
    """Wait for a condition, and fail if it does not come."""
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not seen in {LIMIT} s: {what}")
        time.sleep(0.01)


class Sqlite:
    """A file of one test's own."""

    def __init__(self, file: Path, schema: str) -> None:
        self.name = str(file)
        with closing(sqlite3.connect(file)) as database:
            # Who writes does not wait for who reads, or was stopped while it did.
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(schema)

    def read(self, query: str) -> list[Row]:
        with closing(sqlite3.connect(self.name)) as database:
            return database.execute(query).fetchall()

    @contextmanager
    def writing(self, row: str) -> Iterator[Execute]:
        """A transaction that other writers wait for; committed at the end. It locks all rows."""
        del row
        with closing(sqlite3.connect(self.name, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            yield lambda statement: database.execute(statement).fetchall()
            database.execute("COMMIT")

    def await_writer(self, process: int) -> None:
        """Until a process is in a transaction, or waits for one."""
        # Its first one opens the index of the write-ahead log.
        index = Path(f"{self.name}-shm").resolve()
        files = Path(f"/proc/{process}/fd")
        until(
            "a writer that waits for the database",
            lambda: any(opened(file) == index for file in files.iterdir()),
        )


def opened(descriptor: Path) -> Path | None:
    """What a process has open; None if it has closed it meanwhile."""
    try:
        return descriptor.readlink()
    except FileNotFoundError:
        return None


class PostgresDatabase:
    """A database of one test's own."""

    def __init__(self, server: Postgres) -> None:
        self.name = server.new_database()

    def read(self, query: str) -> list[Row]:
        with psycopg.connect(self.name) as database:
            return database.execute(query.encode()).fetchall()

    @contextmanager
    def writing(self, row: str) -> Iterator[Execute]:
        """A transaction that who wants to write the row waits for; committed at the end."""
        with psycopg.connect(self.name) as database:
            database.execute(f"SELECT 1 FROM {row} FOR UPDATE".encode())

            def execute(statement: str) -> list[Row]:
                cursor = database.execute(statement.encode())
                return cursor.fetchall() if cursor.description else []

            yield execute

    def await_writer(self, process: int) -> None:
        """Until a transaction waits for another one."""
        del process
        waiting = (
            "SELECT 1 FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        until("a writer that waits in the database", lambda: bool(self.read(waiting)))


Database = Sqlite | PostgresDatabase
