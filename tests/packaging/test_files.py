"""What is in the artefacts, and what is not."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import artefacts
import pytest
from nodes import NODES

VERSION = artefacts.VERSION
# Each name has to match one of its artefact's patterns, and each pattern has to match a name.
MODULE = ("*.py", "_native.pyi", "py.typed", "testing/*.py")
WANTED = {
    "wheel": (
        *(f"zoolock/{name}" for name in MODULE),
        "zoolock/_native.abi3.so",
        *(
            f"zoolock-{VERSION}.dist-info/{name}"
            for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")
        ),
        f"zoolock-{VERSION}.dist-info/licenses/LICENSE-*",
        f"zoolock-{VERSION}.dist-info/sboms/zoolock-{VERSION}-python.cdx.json",
    ),
    "sdist": (
        *(
            f"zoolock-{VERSION}/{name}"
            for name in ("PKG-INFO", "Cargo.lock", "Cargo.toml", "pyproject.toml")
        ),
        *(
            f"zoolock-{VERSION}/{folder}{name}"
            for folder in ("", "core/", "py/", "testserver/")
            for name in ("README.md", "LICENSE-*")
        ),
        *(f"zoolock-{VERSION}/{crate}/Cargo.toml" for crate in ("core", "py", "testserver")),
        *(f"zoolock-{VERSION}/{crate}/src/*.rs" for crate in ("core", "py", "testserver")),
        *(f"zoolock-{VERSION}/python/zoolock/{name}" for name in MODULE),
        # Named by the manifests of the core and the testserver, and not built.
        *(
            f"zoolock-{VERSION}/tests/ensemble/{name}"
            for name in ("Cargo.toml", "README.md", "src/*.rs")
        ),
        *(f"zoolock-{VERSION}/tests/one-build/{name}" for name in ("Cargo.toml", "src/lib.rs")),
    ),
    "npm_package": (
        *(
            f"package/{name}"
            for name in ("package.json", "README.md", "LICENSE-*", "index.?js", "index.d.*ts")
        ),
        *(f"package/{name}" for name in ("lib/*.js", "native.js", "native.d.ts")),
    ),
    "npm_platform": (
        "package/package.json",
        "package/README.md",
        "package/LICENSE-*",
        "package/zoolock.*.node",
    ),
    "c_tarball": (
        *("*/include/zoolock.h", "*/include/zoolock.hpp", "*/include/zoolock/*.hpp"),
        *("*/lib/libzoolock.so", "*/lib/libzoolock.so.*", "*/lib/libzoolock.a"),
        *("*/lib/pkgconfig/zoolock.pc", "*/lib/cmake/zoolock/zoolockConfig*.cmake"),
        *(
            "*/share/doc/zoolock/LICENSE-*",
            "*/share/doc/zoolock/*.md",
            "*/share/doc/zoolock/examples/*.c*",
        ),
    ),
    "zoolock.crate": (
        *(
            f"zoolock-{VERSION}/{name}"
            for name in ("Cargo.toml", "Cargo.toml.orig", "Cargo.lock", ".cargo_vcs_info.json")
        ),
        *(f"zoolock-{VERSION}/{name}" for name in ("README.md", "LICENSE-*", "src/*.rs")),
    ),
    "zoolock-testserver.crate": (
        *(
            f"zoolock-testserver-{VERSION}/{name}"
            for name in ("Cargo.toml", "Cargo.toml.orig", "Cargo.lock")
        ),
        *(
            f"zoolock-testserver-{VERSION}/{name}"
            for name in (".cargo_vcs_info.json", "README.md", "LICENSE-*", "src/*.rs")
        ),
    ),
}
# Some headers and examples are there only in some versions.
MAY_BE_MISSING = (
    "*/include/zoolock/*.hpp",
    "*/include/zoolock.hpp",
    f"zoolock-{VERSION}/README.md",
)
# Of tests and of tools; the embedded server is called testing.
STRAY = re.compile(
    r"(^|/)(tests?|fixtures|__pycache__|node_modules|target|\.git\w*)(/|$)|_tests?\.|\.pyc$|\.map$|~$|\.orig\.|\.DS_Store"
)
ALLOWED = re.compile(r"/Cargo\.toml\.orig$|/tests/(ensemble|one-build)/")


def archive(name: str) -> Path:
    if name.endswith(".crate"):
        return artefacts.DIST / name.replace(".crate", f"-{VERSION}.crate")
    return {
        "wheel": artefacts.wheel,
        "sdist": artefacts.sdist,
        "npm_package": artefacts.npm_package,
        "npm_platform": artefacts.npm_platform,
        "c_tarball": artefacts.c_tarball,
    }[name]()


@pytest.mark.parametrize("name", WANTED)
def test_an_artefact_has_its_files_and_no_others(name: str) -> None:
    names = list(artefacts.contents(archive(name)))
    patterns = WANTED[name]
    assert not [file for file in names if not any(fnmatch(file, pattern) for pattern in patterns)]
    missing = [pattern for pattern in patterns if not any(fnmatch(file, pattern) for file in names)]
    assert not [pattern for pattern in missing if pattern not in MAY_BE_MISSING]
    assert not [file for file in names if STRAY.search(file) and not ALLOWED.search(file)]


@pytest.mark.parametrize("name", WANTED)
def test_both_licences_are_in_an_artefact(name: str) -> None:
    files = artefacts.contents(archive(name))
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        text = (artefacts.ROOT / licence).read_bytes()
        assert text in [data for file, data in files.items() if file.endswith(licence)], licence


def machine_paths() -> list[bytes]:
    """Of folders that are of this machine alone."""
    cargo = os.environ.get("CARGO_HOME", str(Path.home() / ".cargo"))
    return [
        os.fsencode(path) for path in (artefacts.ROOT, artefacts.TARGET, cargo, f"{Path.home()}/")
    ]


@pytest.mark.parametrize("name", WANTED)
def test_no_path_of_the_machine_is_in_an_artefact(name: str) -> None:
    found = {
        (file, data[max(0, at - 20) : at + 100])
        for file, data in artefacts.contents(archive(name)).items()
        for path in machine_paths()
        if (at := data.find(path)) >= 0
    }
    assert not found


def test_every_file_is_in_the_list_of_sums() -> None:
    lines = (artefacts.DIST / "SHA256SUMS").read_text().splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    files = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in artefacts.DIST.iterdir()
    }
    del files["SHA256SUMS"]
    assert listed == files
    assert len(files) == len(artefacts.archives()) + 4


@pytest.mark.parametrize("artefact", ["python", "node", "c", "crate"])
def test_a_bill_of_materials_names_what_is_compiled_in(artefact: str) -> None:
    bill = json.loads((artefacts.DIST / f"zoolock-{VERSION}-{artefact}.cdx.json").read_text())
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["version"] == VERSION
    parts = {part["name"]: part for part in bill["components"]}
    assert {"zoolock-testserver", "tokio", "rustls", "ring"} <= parts.keys()
    assert ("pyo3" in parts, "napi" in parts) == (artefact == "python", artefact == "node")
    # What only tests, build scripts and macros need.
    assert not {"proptest", "zookeeper", "rcgen", "cc", "syn"} & parts.keys()
    ours = {part for part in parts if part.startswith("zoolock")}
    assert all("licenses" in part for part in parts.values())
    assert all("hashes" in part for name, part in parts.items() if name not in ours)
    graph = {node["ref"]: node.get("dependsOn", []) for node in bill["dependencies"]}
    reached, unread = set(), [bill["metadata"]["component"]["bom-ref"]]
    while unread:
        reached.add(ref := unread.pop())
        unread += [needed for needed in graph[ref] if needed not in reached]
    assert len(reached) == len(bill["components"]) + 1


def test_the_wheel_is_for_all_pythons_and_an_old_linux() -> None:
    """The tag is what maturin's audit of the symbols found; newer ones would not load there."""
    name, version, python, abi, platform = artefacts.wheel().stem.split("-")
    assert (name, version, python, abi) == ("zoolock", VERSION, "cp310", "abi3")
    tag = re.match(r"manylinux_(\d+)_(\d+)_", platform)
    assert tag, platform
    assert newest_glibc(artefacts.wheel(), ".so") <= (int(tag[1]), int(tag[2]))


def newest_glibc(archive: Path, suffix: str) -> tuple[int, ...]:
    (library,) = (
        data for name, data in artefacts.contents(archive).items() if name.endswith(suffix)
    )
    wanted = re.findall(rb"\bGLIBC_(\d+)\.(\d+)", library)
    return max(tuple(int(part) for part in version) for version in wanted)


def test_the_addon_needs_no_newer_glibc_than_the_wheel() -> None:
    assert newest_glibc(artefacts.npm_platform(), ".node") <= newest_glibc(artefacts.wheel(), ".so")


def test_pypi_would_take_the_wheel_and_the_sources() -> None:
    subprocess.run(["twine", "check", "--strict", artefacts.wheel(), artefacts.sdist()], check=True)


@pytest.mark.parametrize(
    "package", [artefacts.npm_package, artefacts.npm_platform], ids=["package", "platform"]
)
def test_npm_packages_are_well_formed(package: object, tmp_path: Path) -> None:
    assert callable(package)
    publint = Path(__file__).parent / "node_modules" / "publint" / "src" / "cli.js"
    subprocess.run(
        [NODES[0].executable(), publint, "run", "--strict", package()], check=True, cwd=tmp_path
    )


def test_crates_have_what_the_registry_asks_for() -> None:
    for crate in artefacts.crates():
        files = artefacts.contents(crate)
        (manifest,) = (
            data.decode() for name, data in files.items() if name.endswith("/Cargo.toml")
        )
        for field in ("description", "license", "readme", "keywords", "categories", "rust-version"):
            assert re.search(rf"^{field} = ", manifest, re.MULTILINE), f"{crate.name}: {field}"


def test_the_workflows_of_the_forge_are_well_formed() -> None:
    """And give nobody more rights than needed; what zizmor looks for without a network."""
    zizmor = shutil.which("zizmor")
    assert zizmor
    subprocess.run([zizmor, "--offline", "--quiet", artefacts.ROOT / ".github"], check=True)
