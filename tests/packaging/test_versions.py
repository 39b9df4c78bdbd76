"""One version everywhere."""

from __future__ import annotations

# What is imported is in the environment that `make dist` makes.
# mypy: disable-error-code="import-not-found"
import json
import re
import subprocess
from pathlib import Path

import artefacts
import pytest
import tomli

ROOT, VERSION = artefacts.ROOT, artefacts.VERSION


def loads(path: str) -> dict[str, object]:
    loaded: dict[str, object] = json.loads((ROOT / path).read_text())
    return loaded


def test_the_crates_have_the_version_of_the_workspace() -> None:
    metadata = json.loads(
        subprocess.check_output(
            ["cargo", "metadata", "--no-deps", "--locked", "--format-version", "1"],
            cwd=ROOT,
            text=True,
        )
    )
    assert {package["version"] for package in metadata["packages"]} == {VERSION}
    asked = tomli.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"]
    assert [asked[name]["version"] for name in ("zoolock", "zoolock-testserver")] == [
        VERSION,
        VERSION,
    ]
    lock = tomli.loads((ROOT / "Cargo.lock").read_text())["package"]
    assert {entry["version"] for entry in lock if entry["name"].startswith("zoolock")} == {VERSION}


def test_python_takes_its_version_from_the_crate() -> None:
    project = tomli.loads((ROOT / "py/pyproject.toml").read_text())["project"]
    assert "version" in project["dynamic"]
    for archive, name in ((artefacts.wheel(), "METADATA"), (artefacts.sdist(), "PKG-INFO")):
        (metadata,) = (
            data.decode()
            for file, data in artefacts.contents(archive).items()
            if file.endswith(f"/{name}")
        )
        assert re.search(rf"^Version: {re.escape(VERSION)}$", metadata, re.MULTILINE)


def test_node_has_the_version() -> None:
    manifest, lock = loads("node/package.json"), loads("node/package-lock.json")
    assert manifest["version"] == lock["version"] == VERSION
    packages = lock["packages"]
    assert isinstance(packages, dict)
    assert packages[""]["version"] == VERSION
    # The loader takes an addon of its own version alone.
    loader = (ROOT / "node/native.js").read_text()
    assert set(re.findall(r"expected (\d\S*) but got", loader)) == {VERSION}
    packed = json.loads(artefacts.contents(artefacts.npm_package())["package/package.json"])
    platform = json.loads(artefacts.contents(artefacts.npm_platform())["package/package.json"])
    assert packed["version"] == platform["version"] == VERSION
    assert packed["optionalDependencies"] == {platform["name"]: VERSION}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return artefacts.unpack(artefacts.c_tarball(), tmp_path_factory.mktemp("c"))


def test_c_has_the_version(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "v.c").write_text(
        "#include <stdio.h>\n#include <zoolock.h>\n"
        "int main(void) { puts(zoolock_version()); return 0; }\n"
    )
    subprocess.run(
        [
            "cc",
            "v.c",
            f"-I{prefix}/include",
            f"-L{prefix}/lib",
            f"-Wl,-rpath,{prefix}/lib",
            "-lzoolock",
            "-o",
            "v",
        ],
        cwd=tmp_path,
        check=True,
    )
    assert subprocess.check_output([tmp_path / "v"], text=True).strip() == VERSION
    header = (prefix / "include/zoolock.h").read_text()
    macros = dict(
        re.findall(r'^#define ZOOLOCK_VERSION_?(\w*) "?([\w.]+)"?$', header, re.MULTILINE)
    )
    assert macros.get("", VERSION) == VERSION
    if "MAJOR" in macros:
        assert [macros[part] for part in ("MAJOR", "MINOR", "PATCH")] == VERSION.split(".")


def test_pkg_config_and_cmake_have_the_version(prefix: Path) -> None:
    said = subprocess.check_output(
        ["pkg-config", "--modversion", "zoolock"],
        env={"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"},
        text=True,
    )
    assert said.strip() == VERSION
    cmake = (prefix / "lib/cmake/zoolock/zoolockConfigVersion.cmake").read_text()
    assert f'set(PACKAGE_VERSION "{VERSION}")' in cmake
    assert (prefix / "lib" / f"libzoolock.so.{VERSION}").is_file()


def test_the_changelog_begins_with_the_version() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0].split(",")[0] == VERSION
