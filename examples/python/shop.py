"""A shop on several instances: orders of a customer one at a time, and a billing job done once.

    python shop.py place ORDER CUSTOMER ITEM
    python shop.py bill BATCH

The servers come from ZOOLOCK_HOSTS, the database from SHOP_DB: a PostgreSQL URL, or SQLite's file.
The lock keeps instances apart. The database refuses one that has lost its lock without knowing: see
the stores.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Protocol

from stale import StaleTokenError

import zoolock

if TYPE_CHECKING:
    from collections.abc import Callable

ORDER_PATIENCE = 3
"""Seconds that a customer waits for an order of theirs that is being placed elsewhere."""
JOB_PATIENCE = 10
"""Seconds after which an instance leaves a round to another."""


class Store(Protocol):
    def place(self, order: str, customer: str, item: str, token: int) -> bool: ...
    def bill(self, batch: str, token: int) -> bool: ...
    def close(self) -> None: ...


def open_store(database: str) -> Store:
    # Imported here, so that one needs only the driver of the database that one has.
    if database.startswith("postgresql://"):
        from store_postgres import PostgresStore

        return PostgresStore(database)
    from store_sqlite import SqliteStore

    return SqliteStore(database)


class Busy(Exception):
    """Somebody else had the lock for the whole time."""


def under_lock(lock: zoolock.Mutex, timeout: float, write: Callable[[int], bool]) -> bool:
    """Run `write` with a fencing token, and return what it does."""
    wrote = False
    try:
        with lock.hold(timeout=timeout) as held:
            wrote = write(held.fencing_token)
    except zoolock.LockTimeout as busy:
        # An outage is not somebody else's lock.
        if isinstance(busy.__cause__, zoolock.Unavailable):
            raise busy.__cause__ from None
        raise Busy from None
    except zoolock.LockLost:
        # Told at the end of the block, when `write` has returned. The database had the last word:
        # it took the token, so what it committed stands. Work that no fence guards would have to
        # stop at the loss: see `held.on_lost` and `held.ensure_held`.
        pass
    return wrote


def place(session: zoolock.Session, store: Store, order: str, customer: str, item: str) -> int:
    lock = session.mutex(f"/locks/order/{customer}")
    try:
        placed = under_lock(
            lock, ORDER_PATIENCE, lambda token: store.place(order, customer, item, token)
        )
    except Busy:
        print("order in progress")
        return 1
    print("order placed" if placed else "was placed before")
    return 0


def bill(session: zoolock.Session, store: Store, batch: str) -> int:
    lock = session.mutex("/locks/job/billing")
    try:
        done = under_lock(lock, JOB_PATIENCE, lambda token: store.bill(batch, token))
    except Busy:
        print("skipped: another instance is at it")
        return 0
    print("done" if done else "was done before")
    return 0


def main(command: str, *arguments: str) -> int:
    store = open_store(os.environ.get("SHOP_DB", "shop.db"))
    try:
        with zoolock.connect() as session:
            run = place if command == "place" else bill
            return run(session, store, *arguments)
    except StaleTokenError as stale:
        print(stale, file=sys.stderr)
        return 3
    except zoolock.Unavailable as outage:
        print(outage, file=sys.stderr)
        return 1
    finally:
        store.close()


if __name__ == "__main__":
    match sys.argv[1:]:
        # A slash would make a lock path of the name.
        case ["place", _, customer, _] if "/" not in customer:
            pass
        case ["bill", _]:
            pass
        case _:
            print("usage: shop.py place ORDER CUSTOMER ITEM | bill BATCH", file=sys.stderr)
            sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
