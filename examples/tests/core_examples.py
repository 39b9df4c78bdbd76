"""The tests of the core's examples, which do without a database."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path

import zoolock
from zoolock.testing import Server

LIMIT = 60
NOBODY = "127.0.0.1:1"


def run(program: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [program, *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def order_service(folder: Path) -> None:
    program = folder / "order_service"
    with Server() as server, zoolock.connect(server.hosts) as session:
        status, out, err = run(program, "ann", "tea", ZOOLOCK_HOSTS=server.hosts)
        assert status == 0, err
        assert re.fullmatch(r"order placed, token \d+\n", out), out
        with session.mutex("/locks/order/ann"):
            busy = run(program, "ann", "tea", ZOOLOCK_HOSTS=server.hosts)
        assert busy == (1, "order in progress\n", "")
        assert server.sessions()[0].ephemerals == []
    assert run(program, "ann")[::2] == (2, "usage: order_service USER ITEM\n")


def order_service_in_an_outage(folder: Path) -> None:
    status, out, err = run(folder / "order_service", "ann", "tea", ZOOLOCK_HOSTS=NOBODY)
    assert (status, out) == (1, ""), err
    assert err.startswith("connect: no server"), err


def scheduled_job(folder: Path) -> None:
    program = folder / "scheduled_job"
    with (
        tempfile.TemporaryDirectory() as jobs,
        Server() as server,
        zoolock.connect(server.hosts) as session,
    ):
        environment = {"ZOOLOCK_HOSTS": server.hosts, "JOBS_DIR": jobs}
        assert run(program, "monday", **environment) == (0, "done\n", "")
        assert run(program, "monday", **environment) == (0, "was done before\n", "")
        with session.mutex("/locks/job/nightly"):
            skipped = run(program, "tuesday", JOB_PATIENCE_MS="300", **environment)
        assert skipped == (0, "skipped: another instance is at it\n", "")
        assert [file.name for file in Path(jobs).iterdir()] == ["monday"]
    assert run(program)[::2] == (2, "usage: scheduled_job BATCH\n")


TESTS = [order_service, order_service_in_an_outage, scheduled_job]
