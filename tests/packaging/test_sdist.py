"""Building Python's package from sources: the source distribution, and the folder of a clone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import artefacts
import pytest
import readme
from clean import succeed


def install(source: Path, tmp_path: Path) -> Path:
    """The interpreter of a new environment in which pip has built and installed it."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    python = venv / "bin" / "python"
    # As a user has it. The clone may use what was built of it; the source distribution may not: by
    # a file's time and its path in the workspace, cargo would take the clone's crates for its.
    variables = dict(os.environ)
    variables.pop("CARGO_TARGET_DIR", None)
    if source.is_dir():
        variables["CARGO_TARGET_DIR"] = str(artefacts.TARGET)
    subprocess.run(
        [
            artefacts.TOOLS / "bin" / "pip",
            "--python",
            python,
            "--disable-pip-version-check",
            "install",
            "--quiet",
            source,
        ],
        cwd=tmp_path,
        env=variables,
        check=True,
    )
    return python


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "source", [artefacts.sdist(), artefacts.ROOT / "py"], ids=["sdist", "clone"]
)
def test_pip_builds_and_installs(source: Path, tmp_path: Path) -> None:
    python = install(source, tmp_path)
    said = succeed(
        [python, "-I", "-c", "import zoolock; print(zoolock.__version__, zoolock.__file__)"],
        tmp_path,
    ).split()
    assert said[0] == artefacts.VERSION
    assert Path(said[1]).is_relative_to(tmp_path)
    for program in readme.programs("python"):
        assert readme.prints_a_token(succeed([python, "-c", program.text], tmp_path))
