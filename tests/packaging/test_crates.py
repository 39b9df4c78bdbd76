"""The crates, as a program of somebody else's depends on them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import artefacts
import pytest
import readme
from clean import succeed
from zookeeper import ZooKeeper

MANIFEST = """
[package]
name = "reader"
version = "0.0.0"
edition = "2024"

# Not a part of the workspace in whose build folder it may lie.
[workspace]

[dependencies]
zoolock = {{ version = "={version}", features = ["testing"] }}
{tokio}

# In the place of the registry.
[patch.crates-io]
zoolock = {{ path = "{zoolock}" }}
zoolock-testserver = {{ path = "{testserver}" }}
"""
TOKIO = 'tokio = { version = "1", features = ["macros", "rt-multi-thread", "time"] }'
PROGRAMS = readme.programs("rust")


def build(project: Path, texts: dict[str, str]) -> None:
    """Each text as a program of its own; without a network."""
    programs = project / "src" / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (programs / f"{name}.rs").write_text(text)
    # What the crates depend on was built there when they were packed.
    variables = {**os.environ, "CARGO_TARGET_DIR": str(artefacts.BUILT)}
    subprocess.run(
        ["cargo", "build", "--quiet", "--offline"], cwd=project, env=variables, check=True
    )


def built(name: str) -> Path:
    return artefacts.BUILT / "debug" / name


@pytest.fixture(scope="module")
def project(zookeeper: ZooKeeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with all programs, as they are and with a real server, built."""
    folder = tmp_path_factory.mktemp("crates")
    testserver, zoolock = (
        artefacts.unpack(crate, folder / crate.stem) for crate in artefacts.crates()
    )
    project = folder / "reader"
    project.mkdir()
    manifest = MANIFEST.format(
        version=artefacts.VERSION,
        zoolock=zoolock,
        testserver=testserver,
        tokio=TOKIO if any("tokio" in program.text for program in PROGRAMS) else "",
    )
    (project / "Cargo.toml").write_text(manifest)
    # The versions that are here.
    shutil.copy(artefacts.ROOT / "Cargo.lock", project)
    texts = {f"p{number}": program.text for number, program in enumerate(PROGRAMS)}
    for number, program in enumerate(PROGRAMS):
        if program.can_connect_elsewhere:
            texts[f"real{number}"] = program.connecting_to(zookeeper.hosts)
    build(project, texts)
    yield project
    shutil.rmtree(folder)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=[program.name for program in PROGRAMS])
def test_a_program_of_the_readme_runs(number: int, project: Path, zookeeper: ZooKeeper) -> None:
    said = succeed([built(f"p{number}")], project)
    if PROGRAMS[number].can_connect_elsewhere:
        assert readme.prints_a_token(said)
        with zookeeper.is_used():
            assert readme.prints_a_token(succeed([built(f"real{number}")], project))


def test_the_crate_that_is_needed_is_published_first() -> None:
    """The other one's manifest asks the registry for it, in this version."""
    needed, crate = artefacts.crates()
    manifests = [
        next(
            data.decode()
            for name, data in artefacts.contents(file).items()
            if name.endswith("/Cargo.toml")
        )
        for file in (needed, crate)
    ]
    assert "zoolock-testserver" in manifests[1]
    assert "[dependencies.zoolock]" not in manifests[0]
    assert "[dev-dependencies.zoolock]" not in manifests[0]
