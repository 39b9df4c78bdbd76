#!/usr/bin/env python3
"""Gets the other libraries and their servers, and writes the manifest of all programs.

prepare.py OUTPUT TARGET [LIBRARY…]. What cannot be had is written down as skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "tests" / "peers"
PROGRAMS = ROOT / "tests" / "bench" / "programs"
LOCK_NODE = "_c_00000000-0000-4000-8000-000000000000-lock-"
KAZOO_NODE = "00000000000000000000000000000000__lock__"


@dataclass
class Library:
    """One program.

    `contender` begins the names of its nodes, `light` means no thread for each waiter, `objects`
    that it can weigh as many waiting objects of its language. `interpreter` starts that alone.
    """

    name: str
    library: str
    language: str
    version: str
    command: list[str]
    service: str = "zookeeper"
    tokens: bool = False
    contender: str = LOCK_NODE
    light: bool = False
    objects: bool = False
    without: list[str] = field(default_factory=list)
    interpreter: list[str] = field(default_factory=list)


class Unavailable(Exception):
    """Why a library is not measured."""


def run(*command: str | Path, cwd: Path | None = None) -> None:
    try:
        subprocess.run(command, cwd=cwd, check=True, stdout=sys.stderr, env=environment())
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"{Path(str(command[0])).name}: {error}") from error


def output(*command: str | Path) -> str:
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"{Path(str(command[0])).name}: {error}") from error
    return done.stdout.strip()


def environment() -> dict[str, str]:
    # No other tool chain is fetched, and none looks for the version of this repository.
    return {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}


def ours(target: Path) -> list[Library]:
    release = target / "release"
    python = str(ROOT / "py" / ".venv" / "bin" / "python")
    version = output(python, "-c", "import zoolock; print(zoolock.__version__)")
    commands: list[tuple[str, str, list[str], bool, bool]] = [
        (
            "rust-blocking",
            "Rust, blocking",
            [str(release / "bench-rust"), "blocking"],
            False,
            False,
        ),
        ("rust-async", "Rust, async", [str(release / "bench-rust"), "async"], True, False),
        ("c", "C", [str(release / "bench-c")], True, False),
        ("python", "Python", [python, str(PROGRAMS / "zoolock_threads.py")], False, False),
        (
            "python-asyncio",
            "Python, asyncio",
            [python, str(PROGRAMS / "zoolock_aio.py")],
            True,
            True,
        ),
        ("node", "Node", ["node", str(PROGRAMS / "zoolock.mjs")], True, True),
    ]
    interpreters = {python: [python, "-c", ""], "node": ["node", "-e", ""]}
    return [
        Library(
            name,
            "zoolock",
            language,
            version,
            command,
            tokens=True,
            light=light,
            objects=objects,
            interpreter=interpreters.get(command[0], []),
        )
        for name, language, command, light, objects in commands
    ]


def curator(target: Path) -> Library:
    run(PEERS / "setup.sh", "curator")
    built = target / "peers" / "curator"
    (jar,) = (built / "jars").glob("curator-recipes*.jar")
    command = [
        "java",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-cp",
        f"{built}/classes:{built}/jars/*",
        "zoolock.peers.bench.Bench",
    ]
    version = jar.stem.removeprefix("curator-recipes").removeprefix("-") or "of Debian"
    return Library("curator", "Curator", "Java", version, command)


def kazoo(target: Path) -> Library:
    run(PEERS / "setup.sh", "kazoo")
    python = str(target / "peers" / "kazoo" / "bin" / "python")
    version = output(python, "-c", "import kazoo.version; print(kazoo.version.__version__)")
    command = [python, str(PEERS / "kazoo" / "bench.py")]
    return Library(
        "kazoo",
        "kazoo",
        "Python",
        version,
        command,
        contender=KAZOO_NODE,
        interpreter=[python, "-c", ""],
    )


def go(target: Path) -> Library:
    run(PEERS / "setup.sh", "go")
    program = target / "peers" / "go" / "bin" / "bench"
    version = module_version(program, "go-zookeeper/zk")
    return Library("go", "go-zookeeper", "Go", version, [str(program)], light=True)


def zookeeper_client(target: Path) -> Library:
    folder = PEERS / "zookeeper-client"
    built = target / "peers" / "zookeeper-client"
    run(
        "cargo",
        "build",
        "--release",
        "--locked",
        "--manifest-path",
        folder / "Cargo.toml",
        "--target-dir",
        built,
    )
    command = [str(built / "release" / "bench-zookeeper-client")]
    return Library(
        "zookeeper-client", "zookeeper-client", "Rust, async", "0.11.2", command, light=True
    )


def redis(target: Path, service: str, server: str) -> Library:
    venv = target / "peers" / "redis"
    requirements = PEERS / "redis" / "requirements.txt"
    stamp = venv / "fetched"
    if not stamp.exists() or stamp.stat().st_mtime < requirements.stat().st_mtime:
        run(sys.executable, "-m", "venv", venv)
        pip = venv / "bin" / "pip"
        run(
            pip,
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "-r",
            requirements,
        )
        stamp.touch()
    python = str(venv / "bin" / "python")
    client = output(python, "-c", "import redis; print(redis.__version__)")
    version = f"{output(server, '--version').split()[2].removeprefix('v=')}, redis-py {client}"
    command = [python, str(PEERS / "redis" / "bench.py")]
    # It has no queue, so there is nobody to hand over to.
    without = ["waiters", "growth", "hand-off"]
    return Library(
        service,
        "Redis",
        "Python",
        version,
        command,
        service=service,
        without=without,
        interpreter=[python, "-c", ""],
    )


def etcd(target: Path, server: str) -> Library:
    program = target / "peers" / "etcd" / "bench"
    if shutil.which("go") is None:
        raise Unavailable("Go is not there")
    run("go", "build", "-mod=readonly", "-o", program, ".", cwd=PEERS / "etcd")
    version = output(server, "--version").splitlines()[0].removeprefix("etcd Version: ")
    version = f"{version}, client {module_version(program, 'etcd/client/v3')}"
    return Library(
        "etcd", "etcd", "Go", version, [str(program)], service="etcd", without=["waiters", "growth"]
    )


def module_version(program: Path, module: str) -> str:
    """Of a module that a Go program was built with; a replaced one has none."""
    for line in output("go", "version", "-m", program).splitlines():
        words = line.split()
        if words and words[0] == "dep" and words[1].endswith(module):
            return words[2]
    return "of Debian"


def server(name: str, package: str) -> str:
    """A server's program, from Debian's package if it is missing and may be installed."""
    found = shutil.which(name)
    if found is None:
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            raise Unavailable(f"{name} is not there (Debian's package {package})")
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        run("apt-get", "update", "-qq")
        # The package's own service is not wanted.
        os.environ["RUNLEVEL"] = "1"
        run("apt-get", "install", "-y", "-qq", "--no-install-recommends", package)
        found = shutil.which(name)
    if found is None:
        raise Unavailable(f"{package} has no {name}")
    return found


def attempt(
    make: Callable[[], Library], name: str, libraries: list[Library], skipped: list[dict[str, str]]
) -> None:
    try:
        libraries.append(make())
    except Unavailable as reason:
        print(f"skipped: {name}: {reason}", file=sys.stderr)
        skipped.append({"name": name, "reason": str(reason)})


def main(out: str, target_folder: str, *chosen: str) -> None:
    target = Path(target_folder)
    libraries = ours(target)
    skipped: list[dict[str, str]] = []
    servers: dict[str, str | None] = {"redis_server": None, "etcd_server": None}

    def other(key: str, name: str, package: str) -> str:
        servers[key] = server(name, package)
        return str(servers[key])

    def redis_in(service: str) -> Library:
        return redis(target, service, other("redis_server", "redis-server", "redis-server"))

    makers: dict[str, Callable[[], Library]] = {
        "curator": partial(curator, target),
        "kazoo": partial(kazoo, target),
        "go": partial(go, target),
        "zookeeper-client": partial(zookeeper_client, target),
        "redis-memory": partial(redis_in, "redis-memory"),
        "redis-fsync": partial(redis_in, "redis-fsync"),
        "etcd": lambda: etcd(target, other("etcd_server", "etcd", "etcd-server")),
    }
    for name, make in makers.items():
        if not chosen or name in chosen:
            attempt(make, name, libraries, skipped)
    manifest = {
        "libraries": [asdict(library) for library in libraries],
        "skipped": skipped,
        **servers,
    }
    Path(out).write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
