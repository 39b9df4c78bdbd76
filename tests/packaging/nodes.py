"""The versions of Node that the package is for, as its own tests have them."""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

import artefacts

VERSIONS = artefacts.ROOT / "node/test/versions"


@dataclass(frozen=True)
class Node:
    """A version of Node: the machine's own, or one that npm brings when it is asked for."""

    major: str

    def __str__(self) -> str:
        return f"node-{self.major}"

    def executable(self) -> Path:
        own = subprocess.check_output(["node", "-p", "process.execPath"], text=True).strip()
        if version(Path(own)).split(".")[0] == self.major:
            return Path(own)
        machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
        package = f"node-{platform.system().lower()}-{machine}"
        executable = VERSIONS / self.major / "node_modules" / package / "bin" / "node"
        if not executable.exists():
            command = ["npm", "ci", "--silent", "--no-audit", "--no-fund"]
            subprocess.run(command, cwd=VERSIONS / self.major, check=True)
        return executable


def version(executable: Path) -> str:
    return subprocess.check_output([executable, "-p", "process.versions.node"], text=True).strip()


NODES = [Node(folder.name) for folder in sorted(VERSIONS.iterdir())]
