"""What `make dist` has built, and where things are."""

from __future__ import annotations

import os
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = Path(os.environ["ZOOLOCK_DIST"])
VERSION = os.environ["ZOOLOCK_VERSION"]
# Where the tests of the sources have built theirs, so that it is not built again.
TARGET = Path(os.environ["ZOOLOCK_TARGET"])
# Where the artefacts were built.
BUILT = Path(os.environ["ZOOLOCK_BUILT"])
TOOLS = Path(os.environ["ZOOLOCK_DIST_TOOLS"])


def one(pattern: str) -> Path:
    """The artefact whose name matches."""
    found = sorted(DIST.glob(pattern))
    assert len(found) == 1, f"{pattern}: {[file.name for file in found]} in {DIST}"
    return found[0]


def wheel() -> Path:
    return one("zoolock-*.whl")


def sdist() -> Path:
    return DIST / f"zoolock-{VERSION}.tar.gz"


def npm_package() -> Path:
    return DIST / f"zoolock-{VERSION}.tgz"


def npm_platform() -> Path:
    return one(f"zoolock-*-*-{VERSION}.tgz")


def c_tarball() -> Path:
    return one(f"zoolock-c-{VERSION}-*.tar.gz")


def crates() -> list[Path]:
    """In the order in which they are published."""
    return [DIST / f"{name}-{VERSION}.crate" for name in ("zoolock-testserver", "zoolock")]


def archives() -> list[Path]:
    return [wheel(), sdist(), npm_package(), npm_platform(), c_tarball(), *crates()]


def contents(archive: Path) -> dict[str, bytes]:
    """The files in it by name; links are followed, and directories are none."""
    files: dict[str, bytes] = {}
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            for name in opened.namelist():
                files[name] = opened.read(name)
        return files
    with tarfile.open(archive) as packed:
        for member in packed:
            if not member.isdir():
                file = packed.extractfile(member)
                assert file is not None, member.name
                files[member.name] = file.read()
    return files


def unpack(archive: Path, into: Path) -> Path:
    """The one folder that is in a tar archive, unpacked."""
    with tarfile.open(archive) as packed:
        packed.extractall(into, filter="tar")
    (folder,) = into.iterdir()
    return folder
