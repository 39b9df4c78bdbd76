"""The wheel, on every CPython that is here, in an environment with nothing else in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import artefacts
import pytest
import readme
from clean import succeed
from pythons import Python, find
from zookeeper import ZooKeeper

PYTHONS = find()
# The whole API, and what differs between versions of Python. The others wait for servers, or need
# tools that are no part of the package.
SUITE = (
    *("test_aio.py", "test_aio_parity.py", "test_mutex.py"),
    *("test_reentrant.py", "test_rwlock.py", "test_unreleased.py"),
)


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the wheel."""

    version: str
    python: Path
    folder: Path

    def install(self, *arguments: str | Path) -> None:
        pip = artefacts.TOOLS / "bin" / "pip"
        options = ("--disable-pip-version-check", "install", "--quiet")
        subprocess.run([pip, "--python", self.python, *options, *arguments], check=True)


@pytest.fixture(scope="module", params=PYTHONS, ids=str)
def environment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Environment]:
    python: Python = request.param
    folder = tmp_path_factory.mktemp(f"python-{python.version}")
    subprocess.run([python.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    environment = Environment(python.version, folder / "venv" / "bin" / "python", folder)
    environment.install("--no-index", artefacts.wheel())
    yield environment
    shutil.rmtree(folder)


def test_there_is_a_python_of_each_kind_that_path_names() -> None:
    """So that a machine on which none is found does not pass."""
    here = re.match(
        r"\d+\.\d+\.\d+",
        subprocess.check_output(
            ["python3", "-c", "import platform; print(platform.python_version())"], text=True
        ),
    )
    assert here is not None
    assert here[0] in [python.version for python in PYTHONS]


def test_the_wheel_is_imported(environment: Environment, tmp_path: Path) -> None:
    program = """
import sys, zoolock, zoolock._native
from importlib import metadata
assert all(hasattr(zoolock, name) for name in zoolock.__all__)
print(sys.version.split()[0], zoolock.__version__, metadata.requires("zoolock"), zoolock.__file__)
"""
    said = succeed([environment.python, "-I", "-c", program], tmp_path).split()
    version, own, requirements, file = said
    assert version.startswith(environment.version)
    assert own == artefacts.VERSION
    assert requirements == "None"
    assert Path(file).is_relative_to(environment.folder)


@pytest.mark.parametrize("program", readme.programs("python"), ids=lambda program: program.name)
def test_a_program_of_the_readmes_runs(
    environment: Environment, program: readme.Program, tmp_path: Path
) -> None:
    assert readme.prints_a_token(succeed([environment.python, "-c", program.text], tmp_path))


@pytest.mark.parametrize("program", readme.elsewhere("python"), ids=lambda program: program.name)
def test_a_program_of_the_readmes_runs_on_apache_zookeeper(
    environment: Environment, program: readme.Program, zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    with zookeeper.is_used():
        text = program.connecting_to(zookeeper.hosts)
        assert readme.prints_a_token(succeed([environment.python, "-c", text], tmp_path))


@pytest.mark.timeout(600)
def test_the_sources_tests_pass(environment: Environment, tmp_path: Path) -> None:
    """The whole API, with the READMEs' tests of an application among it."""
    wanted = (artefacts.ROOT / "py/tests/requirements.txt").read_text()
    environment.install(*re.findall(r"^(?:pytest|uvloop).*", wanted, re.MULTILINE))
    sources = tmp_path / "py"
    shutil.copytree(
        artefacts.ROOT / "py/tests", sources / "tests", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("README.md", "py/README.md", "py/pyproject.toml"):
        shutil.copy(artefacts.ROOT / name, tmp_path / name)
    outcome = subprocess.run(
        [
            environment.python,
            "-m",
            "pytest",
            "-q",
            "--tb=short",
            *(f"tests/{name}" for name in SUITE),
        ],
        cwd=sources,
        env={name: value for name, value in os.environ.items() if name != "ZOOLOCK_TEST_REPORT"},
        capture_output=True,
        text=True,
        timeout=590,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert re.search(r"^[1-9]\d+ passed, 0 failed$", outcome.stdout, re.MULTILINE)
