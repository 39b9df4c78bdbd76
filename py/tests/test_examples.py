"""The example programs, run as a user would."""

from __future__ import annotations

import asyncio
import importlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from children import eventually
from ensemble import Ensemble

import zoolock
from zoolock.testing import Server

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, EXAMPLES / program, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def test_the_order_service(session: zoolock.Session, hosts: str, tmp_path: Path) -> None:
    environment = {"ZOOLOCK_HOSTS": hosts, "ORDERS_DB": str(tmp_path / "orders.db")}
    placed = run("order_service.py", "user-1", "book", **environment)
    assert placed.stdout.startswith("order placed, token "), placed.stderr
    with session.mutex("/locks/order/user-1"):
        busy = run("order_service.py", "user-1", "pen", **environment)
        assert (busy.stdout, busy.returncode) == ("order in progress\n", 1), busy.stderr
        other = run("order_service.py", "user-2", "pen", **environment)
        assert other.returncode == 0, other.stderr
    again = run("order_service.py", "user-1", "pen", **environment)
    assert int(again.stdout.split()[-1]) > int(placed.stdout.split()[-1])


@pytest.mark.parametrize("job", ["scheduled_job.py", "scheduled_job_aio.py"])
def test_the_scheduled_job(session: zoolock.Session, hosts: str, tmp_path: Path, job: str) -> None:
    environment = {"ZOOLOCK_HOSTS": hosts, "JOBS_DB": str(tmp_path / "jobs.db")}
    assert run(job, "monday", **environment).stdout == "done\n"
    assert run(job, "monday", **environment).stdout == "was done before\n"
    assert run(job, "tuesday", **environment).stdout == "done\n"
    with session.mutex("/locks/job/nightly"):
        skipped = run(job, "friday", JOB_PATIENCE="0.3", **environment)
    assert skipped.stdout == "skipped: another instance is at it\n", skipped.stderr
    assert skipped.returncode == 0


def test_an_outage_is_not_taken_for_somebody_elses_lock(tmp_path: Path) -> None:
    environment = {
        "ZOOLOCK_HOSTS": "127.0.0.1:1",  # nothing listens there
        "ORDERS_DB": str(tmp_path / "orders.db"),
        "JOBS_DB": str(tmp_path / "jobs.db"),
    }
    calls = [
        ("order_service.py", "ann", "tea"),
        ("scheduled_job.py", "friday"),
        ("scheduled_job_aio.py", "friday"),
    ]
    # At once, since each takes as long as a connect may.
    with ThreadPoolExecutor() as threads:
        for outage in threads.map(lambda call: run(*call, **environment), calls):
            assert (outage.stdout, outage.returncode) == ("", 1)
            assert outage.stderr.startswith("connect: no server")


def test_an_outage_during_an_order_is_no_order_in_progress(
    connect: Callable[..., zoolock.Session], ensemble: Ensemble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    example = importlib.import_module("order_service")
    monkeypatch.setattr(example, "PATIENCE", 0.3)
    session = connect()
    orders = example.OrderService(session, sqlite3.connect(":memory:"))
    with session.mutex("/locks/order/ann"), pytest.raises(example.OrderInProgress):
        orders.place("ann", "tea")
    ensemble.tell("freeze client all")
    eventually(lambda: session.state == "suspended")
    with pytest.raises(zoolock.Unavailable):
        orders.place("ann", "tea")


async def test_the_job_of_a_lost_lock_is_cancelled_and_undone(
    zoolock_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    example = importlib.import_module("scheduled_job_aio")
    database = sqlite3.connect(":memory:")
    cancelled: list[bool] = []

    async def endless(batch: str, database: sqlite3.Connection, token: int) -> bool:
        try:
            with database:
                database.execute("CREATE TABLE batches (name TEXT, token INTEGER)")
                database.execute("INSERT INTO batches VALUES (?, ?)", (batch, token))
                zoolock_server.expire_all()
                await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        return True

    monkeypatch.setattr(example, "work", endless)
    with pytest.raises(zoolock.LockLost):
        async with (
            await zoolock.aio.connect(zoolock_server.hosts) as session,
            session.mutex("/locks/job/nightly") as held,
        ):
            await example.while_held(held, "friday", database)
    assert cancelled
    assert database.execute("SELECT count(*) FROM batches").fetchone() == (0,)
    database.close()


@pytest.mark.parametrize(
    "program", ["order_service.py", "scheduled_job.py", "scheduled_job_aio.py"]
)
def test_wrong_arguments_are_answered_by_the_usage(program: str) -> None:
    for arguments in ((), ("one", "two", "three")):
        refused = run(program, *arguments)
        assert (refused.stdout, refused.returncode) == ("", 2)
        assert refused.stderr.startswith(f"usage: {program} ")
