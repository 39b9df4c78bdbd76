"""The versions of Node that the package is for: the machine's own, and some that npm brings."""

from __future__ import annotations

import json
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

import artefacts

VERSIONS: dict[str, str] = json.loads((Path(__file__).parent / "node-versions.json").read_text())


@dataclass(frozen=True)
class Node:
    """A version of Node; it is fetched when it is asked for."""

    major: str

    def __str__(self) -> str:
        return f"node-{self.major}"

    def executable(self) -> Path:
        own = subprocess.check_output(["node", "-p", "process.execPath"], text=True).strip()
        if version(Path(own)).split(".")[0] == self.major:
            return Path(own)
        folder = artefacts.TOOLS / "nodes"
        package = folder / "node_modules" / f"node-{self.major}"
        wanted = VERSIONS[self.major]
        if not (package / "bin" / "node").exists() or version(package / "bin" / "node") != wanted:
            folder.mkdir(exist_ok=True)
            machine = {"x86_64": "x64", "aarch64": "arm64"}.get(
                platform.machine(), platform.machine()
            )
            name = f"node-{platform.system().lower()}-{machine}"
            alias = f"node-{self.major}@npm:{name}@{wanted}"
            subprocess.run(
                ["npm", "install", "--silent", "--no-audit", "--no-fund", alias],
                cwd=folder,
                check=True,
            )
        return package / "bin" / "node"


def version(executable: Path) -> str:
    return subprocess.check_output([executable, "-p", "process.versions.node"], text=True).strip()


NODES = [Node(major) for major in VERSIONS]
