"""Prints what the artefacts weigh, and how long their import takes, as medians of runs in turns."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import artefacts

ROUNDS = 21


def installed(archive: Path) -> int:
    """Links weigh nothing."""
    if archive.suffix == ".whl":
        return sum(len(data) for data in artefacts.contents(archive).values())
    with tarfile.open(archive) as packed:
        return sum(member.size for member in packed)


def seconds(command: list[str | Path], cwd: Path) -> float:
    began = time.perf_counter()
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def python_import(folder: Path) -> list[str | Path]:
    """A program that imports the installed wheel."""
    venv = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    pip = artefacts.TOOLS / "bin" / "pip"
    options = ("--disable-pip-version-check", "install", "--quiet", "--no-index")
    subprocess.run(
        [pip, "--python", venv / "bin" / "python", *options, artefacts.wheel()], check=True
    )
    return [venv / "bin" / "python", "-I", "-c", "import zoolock"]


def node_import(folder: Path) -> list[str | Path]:
    """The same for Node."""
    packages = folder / "node_modules"
    for archive, name in (
        (artefacts.npm_package(), "zoolock"),
        (artefacts.npm_platform(), "platform"),
    ):
        artefacts.unpack(archive, folder / name).rename(folder / f"{name}-package")
    packages.mkdir()
    (folder / "zoolock-package").rename(packages / "zoolock")
    (addon,) = (folder / "platform-package").glob("*.node")
    shutil.move(addon, packages / "zoolock")
    return ["node", "-e", "require('zoolock')"]


def median_difference(
    loaded: list[str | Path], bare: list[str | Path], cwd: Path
) -> tuple[float, float]:
    """What loading adds to the start of the interpreter, and that start; in milliseconds."""
    bare_times, added = [], []
    for _ in range(ROUNDS):
        bare_times.append(seconds(bare, cwd))
        added.append(seconds(loaded, cwd) - bare_times[-1])
    return statistics.median(added) * 1000, statistics.median(bare_times) * 1000


def main() -> None:
    print(f"{'artefact':60} {'download':>10} {'installed':>10}")
    for archive in artefacts.archives():
        download, unpacked = archive.stat().st_size / 2**20, installed(archive) / 2**20
        print(f"{archive.name:60} {download:6.2f} MiB {unpacked:6.2f} MiB")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "python").mkdir()
        (folder / "node").mkdir()
        python = python_import(folder / "python")
        node = node_import(folder / "node")
        runs: list[tuple[str, list[str | Path], list[str | Path]]] = [
            ("Python", python, [*python[:-1], "pass"]),
            ("Node", node, ["node", "-e", ""]),
        ]
        for what, loaded, bare in runs:
            added, start = median_difference(loaded, bare, folder / what.lower())
            print(f"import in {what}: {added:.1f} ms, after the interpreter's {start:.1f} ms")


if __name__ == "__main__":
    main()
