"""The shop's tables in PostgreSQL. Every write brings the fencing token of its lock."""

from __future__ import annotations

import psycopg
from stale import StaleTokenError


class PostgresStore:
    def __init__(self, url: str) -> None:
        # READ COMMITTED, PostgreSQL's default, is what the statements below are written for: one
        # that has waited for another transaction compares with what that one has committed. Under
        # stricter levels it fails with a serialization error instead, and writes nothing either.
        self._database = psycopg.connect(url, autocommit=True)
        self._database.isolation_level = psycopg.IsolationLevel.READ_COMMITTED

    def place(self, order: str, customer: str, item: str, token: int) -> bool:
        """Store an order; False if it is stored already. Raises `StaleTokenError`."""
        with self._database.transaction():
            # First of all, in one statement: compare the token and leave it behind. The row stays
            # locked until the end of the transaction, so whatever is read after that, no older
            # holder can change any more.
            claimed = self._database.execute(
                "INSERT INTO customers (name, fence) VALUES (%s, %s)"
                " ON CONFLICT (name) DO UPDATE SET fence = excluded.fence"
                " WHERE customers.fence <= excluded.fence",
                (customer, token),
            )
            if claimed.rowcount == 0:
                raise StaleTokenError(token)
            stored = self._database.execute(
                "INSERT INTO orders (id, customer, item, token) VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (id) DO NOTHING",
                (order, customer, item, token),
            )
            return stored.rowcount == 1

    def bill(self, batch: str, token: int) -> bool:
        """Bill every customer; False if the batch was done before. Raises `StaleTokenError`."""
        with self._database.transaction():
            claimed = self._database.execute(
                "UPDATE jobs SET fence = %(token)s WHERE name = 'billing' AND fence <= %(token)s",
                {"token": token},
            )
            if claimed.rowcount == 0:
                raise StaleTokenError(token)
            # The key and the work are committed together: both, or neither.
            begun = self._database.execute(
                "INSERT INTO batches (name, token) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING",
                (batch, token),
            )
            if begun.rowcount == 0:
                return False
            self._database.execute("UPDATE customers SET invoices = invoices + 1")
            return True

    def close(self) -> None:
        self._database.close()
