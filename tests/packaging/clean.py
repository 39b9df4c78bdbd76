"""Running programs in a place where nothing is but what the test put there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

# A program may hang, which is a failure.
LIMIT = 120
TOOLCHAIN = ("cc", "gcc", "g++", "clang", "ld", "make", "cmake", "cargo", "rustc", "maturin")


def commands(folder: Path, *programs: str | Path) -> str:
    """A PATH with these programs and no others: no compiler is among them."""
    folder.mkdir()
    for program in programs:
        found = shutil.which(program)
        assert found, program
        (folder / Path(program).name).symlink_to(Path(found).resolve())
    path = str(folder)
    assert not [tool for tool in TOOLCHAIN if shutil.which(tool, path=path)]
    return path


def run(
    command: Sequence[str | Path],
    cwd: Path,
    *,
    path: str = "",
    variables: Mapping[str, str] | None = None,
    limit: float = LIMIT,
) -> subprocess.CompletedProcess[str]:
    """With an environment of its own; the caller looks at the status."""
    return subprocess.run(
        [os.fspath(part) for part in command],
        cwd=cwd,
        env={"PATH": path or "/nonexistent", "HOME": str(cwd), **(variables or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )


def succeed(
    command: Sequence[str | Path],
    cwd: Path,
    *,
    path: str = "",
    variables: Mapping[str, str] | None = None,
    limit: float = LIMIT,
) -> str:
    """What it prints."""
    outcome = run(command, cwd, path=path, variables=variables, limit=limit)
    assert outcome.returncode == 0, f"{command}\n{outcome.stdout}\n{outcome.stderr}"
    return outcome.stdout
