"""An order service: one order of a user at a time, on however many instances it runs.

    python order_service.py USER ITEM

Tries for 3 seconds to get the user's lock, and says "order in progress" if somebody else has it.
That is no answer to an outage, which is told apart.
The servers come from ZOOLOCK_HOSTS, the database from ORDERS_DB.
"""

from __future__ import annotations

import os
import sqlite3
import sys

import zoolock

PATIENCE = 3.0
"""Seconds that a user waits for an order of theirs that is being placed elsewhere."""


class OrderInProgress(Exception):
    """Another order of the user is being placed at this moment."""


class OrderService:
    """Places orders, one at a time for each user."""

    def __init__(self, session: zoolock.Session, database: sqlite3.Connection) -> None:
        self._session = session
        self._database = database
        with database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS orders (user TEXT, item TEXT, token INTEGER)"
            )

    def place(self, user: str, item: str) -> int:
        """Place an order, and return its fencing token.

        Raises `OrderInProgress`, `zoolock.Unavailable`, or `zoolock.LockLost` if the lock was lost
        on the way.
        """
        lock = self._session.mutex(f"/locks/order/{user}")
        try:
            with lock.hold(timeout=PATIENCE) as held:
                self._store(user, item, held.fencing_token)
                return held.fencing_token
        except zoolock.LockTimeout as timeout:
            if isinstance(timeout.__cause__, zoolock.Unavailable):
                raise timeout.__cause__ from None
            raise OrderInProgress(user) from None

    def _store(self, user: str, item: str, token: int) -> None:
        # The database has the last word: a holder that was stopped, and continued after others had
        # the lock, comes with an old token and changes nothing.
        with self._database:
            stored = self._database.execute(
                "INSERT INTO orders SELECT ?1, ?2, ?3 WHERE NOT EXISTS"
                " (SELECT 1 FROM orders WHERE user = ?1 AND token >= ?3)",
                (user, item, token),
            )
        if stored.rowcount == 0:
            raise RuntimeError("a later order of the user was placed meanwhile")


def main(user: str, item: str) -> int:
    database = sqlite3.connect(os.environ.get("ORDERS_DB", "orders.db"))
    try:
        with zoolock.connect() as session:
            token = OrderService(session, database).place(user, item)
    except OrderInProgress:
        print("order in progress")
        return 1
    except zoolock.Unavailable as outage:
        print(outage, file=sys.stderr)
        return 1
    print(f"order placed, token {token}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print("usage: order_service.py USER ITEM", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
