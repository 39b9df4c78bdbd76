"""The npm packages, installed from a registry into an empty project, on each Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import artefacts
import pytest
import readme
from clean import commands, succeed
from nodes import NODES, Node, version
from registry import Registry
from zookeeper import ZooKeeper

COMMONJS = """
const zoolock = require('zoolock')
import('zoolock').then((module) => {
  const same = Object.keys(zoolock).every((name) => module[name] === zoolock[name])
  console.log(JSON.stringify([same, Object.keys(zoolock).length, process.versions.node]))
})
"""


@dataclass(frozen=True)
class Project:
    """A folder in which the package is installed."""

    folder: Path
    node: Path
    path: str

    def run(self, *command: str | Path) -> str:
        return succeed([self.node, *command], self.folder, path=self.path)


def npm_program() -> Path:
    """The program of npm, which is one for Node."""
    return Path(shutil.which("npm") or "").resolve()


def install(node: Path, folder: Path, what: list[str | Path], registry: str) -> Project:
    """In an empty project, by a PATH with Node and a shell alone."""
    folder.mkdir(parents=True)
    path = commands(folder / "bin", node, "sh")
    (folder / "package.json").write_text(
        '{"name": "reader", "version": "1.0.0", "private": true}\n'
    )
    cache = str(folder / "cache")
    options = ["--no-audit", "--no-fund", "--registry", registry, "--cache", cache]
    succeed([node, npm_program(), "install", *options, *what], folder, path=path)
    return Project(folder, node, path)


@pytest.fixture(scope="module", params=NODES, ids=str)
def project(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    node: Node = request.param
    folder = tmp_path_factory.mktemp(str(node))
    with Registry([artefacts.npm_package(), artefacts.npm_platform()]) as registry:
        yield install(node.executable(), folder / "reader", ["zoolock"], registry.url)
    shutil.rmtree(folder)


def test_the_addon_comes_with_the_package(project: Project) -> None:
    installed = sorted(
        file.name for file in (project.folder / "node_modules").iterdir() if file.name[0] != "."
    )
    platform = json.loads(artefacts.contents(artefacts.npm_platform())["package/package.json"])[
        "name"
    ]
    assert installed == ["zoolock", platform]
    assert not list((project.folder / "node_modules" / "zoolock").glob("*.node"))


def test_both_kinds_of_module_are_one(project: Project) -> None:
    (project.folder / "both.cjs").write_text(COMMONJS)
    same, count, running = json.loads(project.run("both.cjs"))
    assert same
    assert count > 20
    assert running == version(project.node)


@pytest.mark.parametrize("program", readme.programs("js"), ids=lambda program: program.name)
def test_a_program_of_the_readmes_runs(project: Project, program: readme.Program) -> None:
    (project.folder / "program.mjs").write_text(program.text)
    assert readme.prints_a_token(project.run("program.mjs"))


@pytest.mark.parametrize(
    "program", readme.programs("js", tests=True), ids=lambda program: program.name
)
def test_a_test_of_the_readmes_passes(project: Project, program: readme.Program) -> None:
    (project.folder / "program.test.mjs").write_text(program.text)
    assert "\n# pass 1\n" in project.run("--test-reporter=tap", "program.test.mjs")


@pytest.mark.parametrize("program", readme.elsewhere("js"), ids=lambda program: program.name)
def test_a_program_of_the_readmes_runs_on_apache_zookeeper(
    project: Project, program: readme.Program, zookeeper: ZooKeeper
) -> None:
    (project.folder / "program.mjs").write_text(program.connecting_to(zookeeper.hosts))
    with zookeeper.is_used():
        assert readme.prints_a_token(project.run("program.mjs"))


@pytest.mark.timeout(500)
def test_a_typescript_program_compiles(project: Project) -> None:
    """The one of the package's own tests, in strict mode, with the types that were installed."""
    shutil.copy(artefacts.ROOT / "node/test/types.ts", project.folder / "types.ts")
    config = json.loads((artefacts.ROOT / "node/tsconfig.json").read_text())
    config["files"] = ["types.ts"]
    config["compilerOptions"]["typeRoots"] = [str(artefacts.ROOT / "node/node_modules/@types")]
    (project.folder / "tsconfig.json").write_text(json.dumps(config))
    compiler = artefacts.ROOT / "node/node_modules/typescript/bin/tsc"
    # It takes seconds of computing, and minutes on a machine that is busy.
    command: list[str | Path] = [project.node, compiler, "--project", "."]
    succeed(command, project.folder, path=project.path, limit=450)


def test_both_files_are_installed_without_a_registry(tmp_path: Path) -> None:
    node = NODES[0].executable()
    files: list[str | Path] = [artefacts.npm_package(), artefacts.npm_platform()]
    # Nothing listens there.
    project = install(node, tmp_path / "reader", files, "http://127.0.0.1:1")
    assert project.run("-p", "Object.keys(require('zoolock')).length > 20") == "true\n"


def test_the_packages_of_all_platforms_are_prepared(tmp_path: Path) -> None:
    """By napi's own commands, as the forge does with all addons; npm takes the one that fits."""
    ours = artefacts.contents(artefacts.npm_platform())
    (addon,) = (data for name, data in ours.items() if name.endswith(".node"))
    targets = json.loads((artefacts.ROOT / "node/package.json").read_text())["napi"]["targets"]
    out = tmp_path / "out"
    # Stand-ins for what other machines build; none of them is loaded.
    given = tmp_path / "given"
    given.mkdir()
    for platform in ("linux-x64-gnu", "linux-arm64-gnu", "darwin-x64", "darwin-arm64"):
        (given / f"zoolock.{platform}.node").write_bytes(addon)
    subprocess.run(
        [artefacts.ROOT / "scripts/dist-npm.sh", given, tmp_path / "staged", out],
        env={**os.environ},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    packages = sorted(out.glob("*.tgz"))
    assert len(packages) == 1 + len(targets)
    manifest = json.loads(
        artefacts.contents(out / artefacts.npm_package().name)["package/package.json"]
    )
    names = sorted(
        json.loads(artefacts.contents(file)["package/package.json"])["name"] for file in packages
    )
    assert sorted([*manifest["optionalDependencies"], "zoolock"]) == names
    assert set(manifest["optionalDependencies"].values()) == {artefacts.VERSION}
    with Registry(packages) as registry:
        project = install(NODES[0].executable(), tmp_path / "reader", ["zoolock"], registry.url)
    fetched = [path for path in registry.asked if path.startswith("/files/")]
    assert len(fetched) == 2
    assert project.run("-p", "Object.keys(require('zoolock')).length > 20") == "true\n"
