"""Runs the examples of every language against an embedded server, SQLite and PostgreSQL.

run.py RUST_SHOP RUST_EXAMPLES C_SHOP CPP_SHOP NODE NODE_WITH_SQLITE

Tests are reported as other suites report theirs. ZOOLOCK_SKIP_POSTGRES=1 leaves PostgreSQL out.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import core_examples
import shop
from databases import PostgresDatabase, Sqlite
from postgres import Postgres, PostgresMissingError

from zoolock.testing import Server

EXAMPLES = Path(__file__).parent.parent
SHORT_SESSION = 4.0
"""Seconds. A stopped holder's lock is free after it: short, but long enough for a busy machine."""

Test = Callable[[], None]


class Report:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.passed = self.failed = 0

    def run(self, name: str, test: Test) -> None:
        problem = ""
        try:
            test()
        except Exception:
            problem = traceback.format_exc()
        with self._lock:
            self.passed += not problem
            self.failed += bool(problem)
            word = "FAIL" if problem else "ok"
            print(f"{word} examples {name}\n{problem}".rstrip(), flush=True)
            if file := os.environ.get("ZOOLOCK_TEST_REPORT"):
                with Path(file).open("a") as report:
                    report.write(f"{word} examples {name}\n")


def languages(arguments: list[str]) -> dict[str, dict[str, list[str]]]:
    """The shop's command line, by language and database."""
    rust, _, c, cpp, node, node_with_sqlite = arguments
    script = str(EXAMPLES / "node" / "shop.mjs")
    python = [sys.executable, str(EXAMPLES / "python" / "shop.py")]
    return {
        "rust": {"sqlite": [rust], "postgres": [rust]},
        "c": {"sqlite": [c], "postgres": [c]},
        "cpp": {"sqlite": [cpp], "postgres": [cpp]},
        "python": {"sqlite": python, "postgres": python},
        "node": {"sqlite": [node_with_sqlite, script], "postgres": [node, script]},
    }


def main(arguments: list[str]) -> int:
    schema = (EXAMPLES / "schema.sql").read_text()
    report = Report()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers: dict[str, Postgres] = {}
        if os.environ.get("ZOOLOCK_SKIP_POSTGRES") == "1":
            print("skipped postgres: ZOOLOCK_SKIP_POSTGRES is set")
        else:
            try:
                servers["postgres"] = stack.enter_context(Postgres(schema))
            except PostgresMissingError as missing:

                def tell(missing: PostgresMissingError = missing) -> None:
                    raise missing

                report.run("postgres_is_installed", tell)

        def in_shop(command: list[str], database: str, test: Callable[[shop.Shop], None]) -> None:
            # Only where a session's end is waited for.
            limit = SHORT_SESSION if test.__name__.startswith("r02_") else None
            with (
                Server(tick=0.1, max_session_timeout=limit) as server,
                tempfile.TemporaryDirectory(dir=directory) as folder,
            ):
                used = (
                    Sqlite(Path(folder) / "shop.db", schema)
                    if database == "sqlite"
                    else PostgresDatabase(servers[database])
                )
                test(shop.Shop(command, used, server))

        tests: list[tuple[str, Test]] = [
            (f"{test.__name__} (rust)", functools.partial(test, Path(arguments[1])))
            for test in core_examples.TESTS
        ]
        for language, commands in languages(arguments).items():
            for test in shop.EVERY_DATABASE:
                for database in ["sqlite", *servers]:
                    name = f"{test.__name__}_by_{database} ({language})"
                    tests.append(
                        (name, functools.partial(in_shop, commands[database], database, test))
                    )
            for test in shop.ONE_DATABASE:
                run = functools.partial(in_shop, commands["sqlite"], "sqlite", test)
                tests.append((f"{test.__name__} ({language})", run))
        # They wait most of the time; those that wait for long come first.
        tests.sort(key=lambda named: not named[0].startswith(("a_round", "an_o")))
        with ThreadPoolExecutor(20) as threads:
            for _ in threads.map(lambda named: report.run(*named), tests):
                pass
    print(f"{report.passed} passed, {report.failed} failed")
    return 0 if report.failed == 0 and report.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
