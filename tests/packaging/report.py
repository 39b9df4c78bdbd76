"""Plugin: the lines that the project's test runner reads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


class Report:
    """Counts tests, and names each in the file of ZOOLOCK_TEST_REPORT."""

    def __init__(self) -> None:
        self.failed: dict[str, bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # Set-up and tear-down are parts of the test; a skipped test has shown nothing.
        bad = report.failed or report.skipped
        self.failed[report.nodeid] = self.failed.get(report.nodeid, False) or bad
        if report.when == "teardown":
            self._name(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = True
            self._name(report.nodeid)

    def _name(self, nodeid: str) -> None:
        path = os.environ.get("ZOOLOCK_TEST_REPORT")
        if path:
            word = "FAIL" if self.failed[nodeid] else "ok"
            name = nodeid.rpartition("::")[2].removeprefix("test_")
            with Path(path).open("a", encoding="utf-8") as lines:
                lines.write(f"{word} packaging {name}\n")

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        failed = sum(self.failed.values())
        print(f"\n{len(self.failed) - failed} passed, {failed} failed", flush=True)
