"""The C tarball, unpacked anywhere, found by pkg-config and by CMake, shared and static."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import artefacts
import pytest
import readme
from clean import succeed
from zookeeper import ZooKeeper

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
COMPILERS = {"c": ("cc", "-std=c11"), "cpp": ("c++", "-std=c++17")}
CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(reader LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
find_package(zoolock {version} REQUIRED CONFIG)
add_executable(program program.{language})
target_link_libraries(program PRIVATE {target})
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return artefacts.unpack(artefacts.c_tarball(), tmp_path_factory.mktemp("c"))


def pkg_config(prefix: Path, *arguments: str) -> list[str]:
    """As a build asks it, with this installation and the system's own."""
    variables = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    return subprocess.check_output(
        ["pkg-config", *arguments, "zoolock"], env=variables, text=True
    ).split()


def compiler(program: readme.Program, folder: Path, *options: str) -> Path:
    source = folder / f"program.{program.language}"
    source.write_text(program.text)
    output = folder / "program"
    # The libraries come after what uses them.
    subprocess.run(
        [*COMPILERS[program.language], *WARNINGS, source, "-o", output, *options], check=True
    )
    return output


def by_pkg_config(program: readme.Program, prefix: Path, folder: Path) -> Path:
    return compiler(
        program, folder, *pkg_config(prefix, "--cflags", "--libs"), f"-Wl,-rpath,{prefix}/lib"
    )


def by_pkg_config_static(program: readme.Program, prefix: Path, folder: Path) -> Path:
    options = pkg_config(prefix, "--static", "--cflags", "--libs")
    return compiler(
        program,
        folder,
        *[f"{prefix}/lib/libzoolock.a" if option == "-lzoolock" else option for option in options],
    )


def by_cmake(target: str) -> Callable[[readme.Program, Path, Path], Path]:
    def build(program: readme.Program, prefix: Path, folder: Path) -> Path:
        (folder / f"program.{program.language}").write_text(program.text)
        text = CMAKE.format(version=artefacts.VERSION, language=program.language, target=target)
        (folder / "CMakeLists.txt").write_text(text)
        built = folder / "build"
        prefixed = f"-DCMAKE_PREFIX_PATH={prefix}"
        quiet = subprocess.DEVNULL
        subprocess.run(["cmake", "-S", folder, "-B", built, prefixed], check=True, stdout=quiet)
        subprocess.run(["cmake", "--build", built], check=True, stdout=quiet)
        return built / "program"

    return build


WAYS: dict[str, Callable[[readme.Program, Path, Path], Path]] = {
    "pkg-config": by_pkg_config,
    "pkg-config-static": by_pkg_config_static,
    "cmake": by_cmake("zoolock::zoolock"),
    "cmake-static": by_cmake("zoolock::static"),
}
PROGRAMS = [*readme.programs("c"), *readme.programs("cpp")]


@pytest.mark.parametrize(
    "program", PROGRAMS, ids=lambda program: f"{program.language}-{program.name}"
)
@pytest.mark.parametrize("way", WAYS)
def test_a_program_of_the_readmes_is_built_and_runs(
    way: str, program: readme.Program, prefix: Path, zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    built = WAYS[way](program, prefix, tmp_path)
    assert is_linked_to_the_library(built) == ("static" not in way)
    assert readme.prints_a_token(succeed([built], tmp_path))
    if program.can_connect_elsewhere:
        (tmp_path / "elsewhere").mkdir()
        real = readme.Program(
            program.name, program.language, program.connecting_to(zookeeper.hosts)
        )
        with zookeeper.is_used():
            assert readme.prints_a_token(
                succeed([WAYS[way](real, prefix, tmp_path / "elsewhere")], tmp_path)
            )


def is_linked_to_the_library(program: Path) -> bool:
    return "libzoolock.so" in subprocess.check_output(["readelf", "-d", program], text=True)


def test_a_wrong_version_is_not_found(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "CMakeLists.txt").write_text(
        CMAKE.format(version="99.0", language="c", target="zoolock::zoolock")
    )
    prefixed = f"-DCMAKE_PREFIX_PATH={prefix}"
    command = ["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "build"), prefixed]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode != 0
    assert "99.0" in outcome.stderr
