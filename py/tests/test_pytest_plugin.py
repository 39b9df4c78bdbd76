"""The fixtures that the installed package brings to pytest, in a user's project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from importlib import metadata
from pathlib import Path

import pytest
from test_examples import EXAMPLES

APPLICATION = """
    import zoolock

    def place(user, order, orders):
        with zoolock.connect() as session:
            with session.mutex(f"/locks/order/{user}").hold(timeout=3) as held:
                orders.append((held.fencing_token, order))
"""

CONFTEST = """
    import pytest
    import zoolock

    @pytest.fixture
    def orders(zoolock_server, monkeypatch):
        monkeypatch.setenv("ZOOLOCK_HOSTS", zoolock_server.hosts)
        return []

    @pytest.fixture(scope="session")
    def service(zoolock_shared_server):
        with zoolock.connect(zoolock_shared_server.hosts) as session:
            yield session
"""

TESTS = """
    import socket
    import application
    import zoolock

    def test_orders_are_placed(orders):
        application.place("user-1", "tea", orders)
        application.place("user-1", "milk", orders)
        assert [order for _, order in sorted(orders)] == ["tea", "milk"]

    seen = []

    def test_a_server_of_its_own(zoolock_server):
        seen.append(zoolock_server.hosts)
        with zoolock.connect(zoolock_server.hosts) as session:
            assert [known.id for known in zoolock_server.sessions()] == [session.session_id]

    def test_another_server_when_that_is_gone(zoolock_server):
        host, port = seen[0].split(":")
        assert zoolock_server.hosts != seen[0]
        assert zoolock_server.sessions() == []
        with socket.socket() as client:
            assert client.connect_ex((host, int(port))) != 0

    def test_the_shared_server(service, zoolock_shared_server, zoolock_server):
        seen.append(zoolock_shared_server.hosts)
        assert zoolock_shared_server is not zoolock_server
        with service.mutex("/locks/a") as held:
            assert held.held

    def test_the_same_shared_server(service, zoolock_shared_server):
        assert seen[-1] == zoolock_shared_server.hosts
        assert [known.id for known in zoolock_shared_server.sessions()] == [service.session_id]
"""


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest as a user would, who has installed it and zoolock."""
    (project / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def test_a_users_project_finds_the_fixtures(tmp_path: Path) -> None:
    for name, text in {
        "application.py": APPLICATION,
        "conftest.py": CONFTEST,
        "test_application.py": TESTS,
    }.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    outcome = run(tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "5 passed" in outcome.stdout


def test_the_example_of_testing_for_a_lost_lock(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "test_lost_lock.py", tmp_path)
    outcome = run(tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "3 passed" in outcome.stdout


def test_the_fixtures_are_documented(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    outcome = run(tmp_path, "--fixtures")
    assert outcome.returncode in (0, 5), outcome.stdout + outcome.stderr
    shown = outcome.stdout
    for name in ("zoolock_server", "zoolock_shared_server [session scope]"):
        assert f"\n{name} -- " in shown
    assert "A ZooKeeper server of this test's own" in shown
    assert pytestconfig.pluginmanager.hasplugin("zoolock")
    (plugin,) = metadata.entry_points(group="pytest11", name="zoolock")
    assert plugin.value == "zoolock.testing.pytest_plugin"
