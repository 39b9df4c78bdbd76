"""Runs the code of all pages against an embedded server, and reports as other suites do.

run.py [PAGE…]: pages by their names, such as `start/python`; all if none.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from blocks import MarkupError, Program, programs
from languages import ROOT, RUNNERS, FailedError, Place, Tools

from zoolock.testing import Server

DOCS = ROOT / "docs"


class Report:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.passed: int = 0
        self.failed: int = 0

    def add(self, name: str, problem: str) -> None:
        with self._lock:
            self.passed += not problem
            self.failed += bool(problem)
            word = "FAIL" if problem else "ok"
            print(f"{word} docs {name}\n{problem}".rstrip(), flush=True)
            if file := os.environ.get("ZOOLOCK_TEST_REPORT"):
                with Path(file).open("a", encoding="utf-8") as report:
                    report.write(f"{word} docs {name}\n")


def check(program: Program, tools: Tools) -> str:
    """What is wrong with it; empty if nothing is."""
    with tempfile.TemporaryDirectory() as folder, Server() as server:
        try:
            output = RUNNERS[program.language](program, Place(Path(folder), server.hosts, tools))
        except FailedError as failed:
            return str(failed)
    missing = [text for text in program.prints if text not in output]
    return f"it did not print {missing}, but:\n{output}" if missing else ""


def main(pages: list[str]) -> int:
    report = Report()
    # What docs/test.sh has reported before.
    built = os.environ.get("ZOOLOCK_DOCS_SITE")
    report.passed, report.failed = int(built == "ok"), int(built == "FAIL")
    found: list[Program] = []
    for page in sorted(DOCS.rglob("*.md")):
        name = page.relative_to(DOCS).with_suffix("").as_posix()
        if pages and name not in pages:
            continue
        try:
            found += programs(page, name)
        except MarkupError as error:
            report.add(f"{name}_can_be_checked", str(error))
    tools = Tools.find()
    # Compilers come first: they take longest.
    found.sort(key=lambda program: program.language not in ("rust", "cpp", "c"))
    with ThreadPoolExecutor(4) as threads:
        for program, problem in zip(
            found, threads.map(lambda p: check(p, tools), found), strict=True
        ):
            report.add(program.name, problem)
    print(f"{report.passed} passed, {report.failed} failed")
    return 0 if report.failed == 0 and report.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
