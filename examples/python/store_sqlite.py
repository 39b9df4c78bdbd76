"""The shop's tables in SQLite. Every write brings the fencing token of its lock."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from stale import StaleTokenError


class SqliteStore:
    def __init__(self, file: str) -> None:
        # In autocommit mode the module begins no transactions of its own. `timeout` is how long to
        # wait for another writer.
        self._database = sqlite3.connect(file, isolation_level=None, timeout=10)
        self._database.execute("PRAGMA foreign_keys = ON")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        # IMMEDIATE takes the write lock before anything is read. A transaction that reads first and
        # writes later fails with SQLITE_BUSY if somebody wrote in between.
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def place(self, order: str, customer: str, item: str, token: int) -> bool:
        """Store an order; False if it is stored already. Raises `StaleTokenError`."""
        with self._transaction() as database:
            # First of all, in one statement: compare the token and leave it behind. Whatever this
            # transaction reads after that, no older holder can change any more.
            claimed = database.execute(
                "INSERT INTO customers (name, fence) VALUES (:customer, :token)"
                " ON CONFLICT (name) DO UPDATE SET fence = excluded.fence"
                " WHERE customers.fence <= excluded.fence",
                {"customer": customer, "token": token},
            )
            if claimed.rowcount == 0:
                raise StaleTokenError(token)
            stored = database.execute(
                "INSERT INTO orders (id, customer, item, token) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (id) DO NOTHING",
                (order, customer, item, token),
            )
            return stored.rowcount == 1

    def bill(self, batch: str, token: int) -> bool:
        """Bill every customer; False if the batch was done before. Raises `StaleTokenError`."""
        with self._transaction() as database:
            claimed = database.execute(
                "UPDATE jobs SET fence = :token WHERE name = 'billing' AND fence <= :token",
                {"token": token},
            )
            if claimed.rowcount == 0:
                raise StaleTokenError(token)
            # The key and the work are committed together: both, or neither.
            begun = database.execute(
                "INSERT INTO batches (name, token) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
                (batch, token),
            )
            if begun.rowcount == 0:
                return False
            database.execute("UPDATE customers SET invoices = invoices + 1")
            return True

    def close(self) -> None:
        self._database.close()
