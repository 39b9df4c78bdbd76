"""A PostgreSQL server of the tests' own: a free port, a temporary directory, no superuser."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType

import psycopg

START_LIMIT = 30


class PostgresMissingError(Exception):
    """The server's programs are not installed."""


def find_programs() -> Path:
    """The folder with `initdb` and `postgres`, which Debian keeps out of PATH."""
    candidates = [Path(program).parent for program in [shutil.which("initdb")] if program]
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in candidates:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise PostgresMissingError(
        "PostgreSQL's server is not installed (Debian's package postgresql). Install it, or set "
        "ZOOLOCK_SKIP_POSTGRES=1 to leave its tests out."
    )


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Postgres:
    """Runs between `with` and its end."""

    def __init__(self, schema: str) -> None:
        self._programs = find_programs()
        self._schema = schema
        self._numbers = itertools.count()
        # One CREATE DATABASE at a time may copy a template.
        self._creating = threading.Lock()

    def __enter__(self) -> Postgres:
        self._directory = Path(tempfile.mkdtemp(prefix="zoolock-postgres-"))
        # PostgreSQL refuses to run as root.
        self._user = "nobody" if os.getuid() == 0 else None
        if self._user is not None:
            entry = pwd.getpwnam(self._user)
            os.chown(self._directory, entry.pw_uid, entry.pw_gid)
        data = self._directory / "data"
        self._run(
            "initdb", "--auth=trust", "--username=shop", "--no-locale", "--encoding=UTF8",
            "--no-sync", "--pgdata", str(data),
        )  # fmt: skip
        self._port = free_port()
        with (self._directory / "log").open("w") as log:
            self._server = subprocess.Popen(
                [
                    self._programs / "postgres", "-D", data, "-p", str(self._port),
                    "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
                    "-c", "fsync=off", "-c", "max_connections=200",
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=self._user, cwd="/",
            )  # fmt: skip
        try:
            self._await_start()
            with psycopg.connect(self.url("postgres"), autocommit=True) as database:
                database.execute("CREATE DATABASE shop_template")
            with psycopg.connect(self.url("shop_template"), autocommit=True) as database:
                database.execute(self._schema.encode())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()

    def url(self, database: str) -> str:
        return f"postgresql://shop@127.0.0.1:{self._port}/{database}"

    def new_database(self) -> str:
        """The URL of a database with the schema, for one test."""
        name = f"shop_{next(self._numbers)}"
        with self._creating, psycopg.connect(self.url("postgres"), autocommit=True) as database:
            database.execute(f"CREATE DATABASE {name} TEMPLATE shop_template".encode())
        return self.url(name)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            check=True, stdout=subprocess.DEVNULL, user=self._user, cwd="/",
        )  # fmt: skip

    def _await_start(self) -> None:
        end = time.monotonic() + START_LIMIT
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                if self._server.poll() is not None or time.monotonic() > end:
                    log = (self._directory / "log").read_text()
                    raise RuntimeError(f"PostgreSQL did not start:\n{log}") from None
                time.sleep(0.05)

    def _stop(self) -> None:
        # SIGINT is PostgreSQL's fast shutdown.
        self._server.send_signal(2)
        self._server.wait(30)
        shutil.rmtree(self._directory)
