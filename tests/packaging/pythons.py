"""The CPythons of this machine, from 3.10 on."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ASK = """
import json, platform, sys, sysconfig
print(json.dumps([
    platform.python_implementation(), list(sys.version_info[:2]), platform.python_version(),
    sys.base_prefix,
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
]))
"""


@dataclass(frozen=True)
class Python:
    """An interpreter that the wheel is for."""

    version: str
    executable: Path

    def __str__(self) -> str:
        return self.version


def _candidates() -> list[Path]:
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep) if folder]
    folders += [Path("/usr/local/bin"), Path("/usr/bin")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders += sorted(pyenv.glob("versions/*/bin"))
    folders += sorted(Path("/opt").glob("*/bin")) + sorted(
        (Path.home() / ".local/share/uv/python").glob("*/bin")
    )
    name = re.compile(r"python3(\.\d+t?)?$")
    return [
        file
        for folder in folders
        if folder.is_dir()
        for file in sorted(folder.iterdir())
        if name.match(file.name)
    ]


def find() -> list[Python]:
    """Each version once; builds without a GIL have another ABI, which the wheel is not for."""
    found: dict[str, Python] = {}
    for file in _candidates():
        asked = subprocess.run([file, "-I", "-c", ASK], capture_output=True, text=True, check=False)
        # A shim of a version manager without such a version.
        if asked.returncode != 0:
            continue
        implementation, version, release, prefix, is_free_threaded = json.loads(asked.stdout)
        if implementation == "CPython" and tuple(version) >= (3, 10) and not is_free_threaded:
            executable = Path(prefix) / "bin" / f"python{version[0]}.{version[1]}"
            found.setdefault(release, Python(release, executable if executable.exists() else file))
    return [
        found[release]
        for release in sorted(
            found, key=lambda text: [int(part) for part in re.findall(r"\d+", text)]
        )
    ]
