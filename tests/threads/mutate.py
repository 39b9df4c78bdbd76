#!/usr/bin/env python3
"""Breaks the core's hand-offs on purpose, one mistake at a time, and asks that a model finds each.

    tests/threads/mutate.py [NAME...]

The mistakes are in mistakes.txt. Works on a copy. One that no model finds, or whose text is not in
the source any more, is a failure.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COPIED = [
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "core",
    "testserver",
    "ffi-c",
    "py",
    "node",
    "tests",
    "examples",
]

Mistake = tuple[str, str, str, str]


def mistakes() -> list[Mistake]:
    """Name, file in core/src, what is written there, and what is put in its place."""
    found = []
    for block in (HERE / "mistakes.txt").read_text().split("==== ")[1:]:
        name, file, texts = block.split("\n", 2)
        written, put = texts.split("\n----\n")
        found.append((name, file, written, put.removesuffix("\n")))
    return found


def run(copy: Path, only: list[str]) -> int:
    environment = dict(os.environ, RUST_BACKTRACE="0")
    # One of its own: cargo would look for changes where the other builds were made.
    target = Path(environment.get("CARGO_TARGET_DIR", ROOT / "target"))
    environment["CARGO_TARGET_DIR"] = str(target / "mutations")
    # A run that was killed has left its copy behind, in which nothing changes any more.
    clean = ["cargo", "clean", "--quiet", "-p", "zoolock-threads"]
    subprocess.run(clean, cwd=copy, env=environment, check=True)
    missed = 0
    for name, file, written, put in mistakes():
        if only and name not in only:
            continue
        path = copy / "core/src" / file
        source = path.read_text()
        if source.count(written) < 1:
            print(f"FAIL {name}: its text is not in {file}")
            missed += 1
            continue
        path.write_text(source.replace(written, put, 1))
        command = ["cargo", "test", "--quiet", "-p", "zoolock-threads", "--test", "models"]
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, check=False
        )
        path.write_text(source)
        finders = re.findall(r"^test (\S+) +\.\.\. FAILED$", done.stdout, re.MULTILINE)
        finders = finders or re.findall(r"^---- (\S+) ----$", done.stdout, re.MULTILINE)
        if finders:
            print(f"ok {name}: found by {', '.join(finders)}", flush=True)
        else:
            missed += 1
            print(f"FAIL {name}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}", flush=True)
    return missed


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in COPIED:
            source = ROOT / part
            if source.is_dir():
                ignored = shutil.ignore_patterns("node_modules", ".venv", "target", "*.node")
                shutil.copytree(source, copy / part, ignore=ignored)
            else:
                shutil.copy2(source, copy / part)
        missed = run(copy, sys.argv[1:])
    print(f"{missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
