"""The programs of the READMEs, run with the package and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_pytest_plugin import run

PACKAGE = Path(__file__).parent.parent
READMES = {"package": PACKAGE / "README.md", "project": PACKAGE.parent / "README.md"}


def programs(readme: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", readme.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", READMES)
def test_the_quick_start_runs_as_it_is(name: str, tmp_path: Path) -> None:
    quick_start = programs(READMES[name])[0]
    outcome = subprocess.run(
        [sys.executable, "-c", quick_start],
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert re.match(r"fencing token \d+\n", outcome.stdout)
    assert "in progress" not in outcome.stdout


@pytest.mark.parametrize("name", READMES)
def test_the_asyncio_program_runs_as_it_is(name: str, tmp_path: Path) -> None:
    shown = [program for program in programs(READMES[name]) if "asyncio.run" in program]
    assert len(shown) == 1
    outcome = subprocess.run(
        [sys.executable, "-W", "error", "-c", shown[0]],
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert re.fullmatch(r"fencing token \d+\n", outcome.stdout)


@pytest.mark.parametrize("name", READMES)
def test_the_tests_of_an_application_pass(name: str, tmp_path: Path) -> None:
    shown = [program for program in programs(READMES[name]) if "def test_" in program]
    assert shown
    for number, program in enumerate(shown):
        (tmp_path / f"test_{number}.py").write_text(program)
    outcome = run(tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert f"{len(shown)} passed" in outcome.stdout
