"""Fixtures shared by all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from report import Report
from zookeeper import ZooKeeper


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Report())


@pytest.fixture(scope="session")
def zookeeper() -> Iterator[ZooKeeper]:
    with ZooKeeper() as server:
        yield server
