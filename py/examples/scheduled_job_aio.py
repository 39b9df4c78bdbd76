"""The scheduled job with asyncio: its work is cancelled when the lock is lost.

    python scheduled_job_aio.py BATCH

Waits 10 seconds (or JOB_PATIENCE) for the lock, else skips the round; that ZooKeeper cannot be
reached is a failure. The servers come from ZOOLOCK_HOSTS, the database from JOBS_DB. A batch is
done once, whoever comes when: its key is unique in the table.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys

import zoolock


async def work(batch: str, database: sqlite3.Connection, token: int) -> bool:
    """Do the batch; False if it was done before. May be cancelled between its steps."""
    with database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS batches (name TEXT PRIMARY KEY, token INTEGER)"
        )
        done = database.execute("SELECT 1 FROM batches WHERE name = ?", (batch,)).fetchone()
        if done is not None:
            return False
        for _step in range(10):
            # A cancel comes here, and undoes the transaction.
            await asyncio.sleep(0.01)
        database.execute("INSERT INTO batches VALUES (?, ?)", (batch, token))
    return True


async def while_held(held: zoolock.aio.Guard, batch: str, database: sqlite3.Connection) -> bool:
    """Do the batch for as long as the lock is held. Raises `zoolock.LockLost` if it is lost."""
    working = asyncio.ensure_future(work(batch, database, held.fencing_token))
    loss = asyncio.ensure_future(held.lost())
    try:
        await asyncio.wait((working, loss), return_when=asyncio.FIRST_COMPLETED)
        held.ensure_held()
        return await working
    finally:
        for task in (working, loss):
            task.cancel()
        await asyncio.gather(working, loss, return_exceptions=True)


async def main(batch: str) -> int:
    patience = float(os.environ.get("JOB_PATIENCE", "10"))
    database = sqlite3.connect(os.environ.get("JOBS_DB", "jobs.db"))
    try:
        async with (
            await zoolock.aio.connect() as session,
            session.mutex("/locks/job/nightly").hold(timeout=patience) as held,
        ):
            did = await while_held(held, batch, database)
    except zoolock.LockTimeout as timeout:
        if isinstance(timeout.__cause__, zoolock.Unavailable):
            print(timeout.__cause__, file=sys.stderr)
            return 1
        print("skipped: another instance is at it")
        return 0
    except zoolock.Unavailable as outage:
        print(outage, file=sys.stderr)
        return 1
    except zoolock.LockLost:
        print("the lock was lost, and nothing was done", file=sys.stderr)
        return 1
    finally:
        database.close()
    print("done" if did else "was done before")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: scheduled_job_aio.py BATCH", file=sys.stderr)
        sys.exit(2)
    sys.exit(asyncio.run(main(*sys.argv[1:])))
