"""A job that a scheduler starts on several instances and that one of them does.

    python scheduled_job.py BATCH

Waits 10 seconds (or JOB_PATIENCE) for the lock, else skips the round; that ZooKeeper cannot be
reached is a failure. The servers come from ZOOLOCK_HOSTS, the database from JOBS_DB. A batch is
done once, whoever comes when: its key is unique in the table.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading

import zoolock


def run(batch: str, database: sqlite3.Connection, held: zoolock.Guard) -> bool:
    """Do the batch; False if it was done before."""
    stop = threading.Event()
    held.on_lost(stop.set)
    with database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS batches (name TEXT PRIMARY KEY, token INTEGER)"
        )
        done = database.execute("SELECT 1 FROM batches WHERE name = ?", (batch,)).fetchone()
        if done is not None:
            return False
        for _step in range(10):
            if stop.is_set():
                # Leaving the transaction this way undoes the steps before.
                held.ensure_held()
        database.execute("INSERT INTO batches VALUES (?, ?)", (batch, held.fencing_token))
    return True


def main(batch: str) -> int:
    patience = float(os.environ.get("JOB_PATIENCE", "10"))
    database = sqlite3.connect(os.environ.get("JOBS_DB", "jobs.db"))
    try:
        with (
            zoolock.connect() as session,
            session.mutex("/locks/job/nightly").hold(timeout=patience) as held,
        ):
            did = run(batch, database, held)
    except zoolock.LockTimeout as timeout:
        if isinstance(timeout.__cause__, zoolock.Unavailable):
            print(timeout.__cause__, file=sys.stderr)
            return 1
        print("skipped: another instance is at it")
        return 0
    except zoolock.Unavailable as outage:
        print(outage, file=sys.stderr)
        return 1
    print("done" if did else "was done before")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: scheduled_job.py BATCH", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
