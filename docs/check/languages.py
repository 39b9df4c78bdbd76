"""How a program of each language is built and run, with the project's own libraries."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from blocks import Program

LIMIT = 120
ROOT = Path(__file__).resolve().parents[2]

PYTHON_SESSION = "import zoolock\nsession = zoolock.connect()\n{code}session.close()\n"

NODE_SESSION = """\
import { connect, LockLostError, LockTimeoutError, Owner, UnavailableError } from 'zoolock'
const session = await connect()
{code}await session.close()
"""

RUST_SESSION = """\
#![allow(unused)]
use std::time::Duration;
use zoolock::ErrorKind;
use zoolock::blocking::Session;
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::connect_default(zoolock::Session::builder())?;
    {code}
    session.close()?;
    Ok(())
}
"""

RUST_ASYNC_SESSION = """\
#![allow(unused)]
use std::time::Duration;
use zoolock::{ErrorKind, Owner, Session};
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::builder().connect_default().await?;
    {code}
    session.close().await?;
    Ok(())
}
"""

C_SESSION = """\
#include <inttypes.h>
#include <stdio.h>
#include <zoolock.h>
int main(void) {
    zoolock_session *session = NULL;
    zoolock_error *error = NULL;
    zoolock_status status = zoolock_session_connect(NULL, NULL, &session, &error);
    if (status == ZOOLOCK_OK) {
        {code}
    }
    if (error != NULL) fprintf(stderr, "%s\\n", zoolock_error_message(error));
    zoolock_error_free(error);
    zoolock_session_close(session, 2000, NULL);
    zoolock_session_free(session);
    return status == ZOOLOCK_OK ? 0 : 1;
}
"""

CPP_SESSION = """\
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <zoolock.hpp>
{includes}
using namespace std::chrono_literals;
int main() {
    const zoolock::session session;
    {code}
}
"""


class FailedError(Exception):
    """A program that did not do what its page says."""


@dataclass
class Tools:
    """Where the libraries are that programs are built with."""

    c_library: Path
    node_package: Path
    rust_libraries: dict[str, str]
    rust_dependencies: Path

    @staticmethod
    def find() -> Tools:
        libraries, dependencies = rust_libraries()
        return Tools(
            Path(os.environ["ZOOLOCK_C_LIB"]),
            Path(os.environ["ZOOLOCK_NODE"]),
            libraries,
            dependencies,
        )


def rust_libraries() -> tuple[dict[str, str], Path]:
    """The core and tokio, as cargo has built them for the core's examples."""
    output = subprocess.run(
        [
            "cargo", "build", "--quiet", "-p", "zoolock", "--features", "testing", "--examples",
            "--message-format=json",
        ],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
    ).stdout  # fmt: skip
    libraries = {}
    for line in output.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and "lib" in message["target"]["kind"]:
            files = [file for file in message["filenames"] if file.endswith(".rlib")]
            if message["target"]["name"] in ("zoolock", "tokio") and files:
                libraries[message["target"]["name"]] = files[0]
    return libraries, Path(libraries["tokio"]).parent


@dataclass
class Place:
    """What a program runs with: a folder and a server of its own, and the libraries."""

    folder: Path
    hosts: str
    tools: Tools


def run(command: list[str | Path], place: Place) -> str:
    """Runs a command; its output. Raises `FailedError`."""
    try:
        done = subprocess.run(
            command,
            cwd=place.folder,
            env={**os.environ, "ZOOLOCK_HOSTS": place.hosts},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise FailedError(f"it hung: {late.stdout!r} {late.stderr!r}") from None
    if done.returncode != 0:
        raise FailedError(f"status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def source(program: Program, wrapped: dict[str, str]) -> str:
    if program.form == "program" or program.form == "tests":
        return program.code
    return wrapped[program.form].replace("{code}", program.code)


def python(program: Program, place: Place) -> str:
    file = place.folder / ("test_page.py" if program.form == "tests" else "program.py")
    file.write_text(source(program, {"session": PYTHON_SESSION}))
    if program.not_run:
        return run([sys.executable, "-m", "py_compile", file], place)
    if program.form == "tests":
        return run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file], place)
    return run([sys.executable, "-W", "error", file], place)


def js(program: Program, place: Place) -> str:
    (place.folder / "node_modules").mkdir()
    (place.folder / "node_modules" / "zoolock").symlink_to(place.tools.node_package)
    file = place.folder / "program.mjs"
    file.write_text(source(program, {"session": NODE_SESSION}))
    if program.not_run:
        return run(["node", "--check", file], place)
    # A file of tests fails by its status, too.
    return run(["node", file], place)


def rust(program: Program, place: Place) -> str:
    file = place.folder / "program.rs"
    file.write_text(source(program, {"session": RUST_SESSION, "async session": RUST_ASYNC_SESSION}))
    command: list[str | Path] = [
        "rustc", "--edition=2024", "-C", "debuginfo=0",
        "-L", f"dependency={place.tools.rust_dependencies}",
    ]  # fmt: skip
    for name, library in place.tools.rust_libraries.items():
        command += ["--extern", f"{name}={library}"]
    if program.form == "tests":
        command.append("--test")
    run([*command, "-o", place.folder / "program", file], place)
    return "" if program.not_run else run([place.folder / "program"], place)


def compiled(program: Program, place: Place, compiler: list[str | Path],
             wrapper: str, suffix: str) -> str:  # fmt: skip
    file = place.folder / f"program.{suffix}"
    file.write_text(source(program, {"session": wrapper}))
    run(
        [
            *compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread",
            f"-I{ROOT / 'include'}",
            "-o", place.folder / "program", file,
            f"-L{place.tools.c_library}", "-lzoolock", f"-Wl,-rpath,{place.tools.c_library}",
        ],
        place,
    )  # fmt: skip
    return "" if program.not_run else run([place.folder / "program"], place)


def c(program: Program, place: Place) -> str:
    compiler: list[str | Path] = ["cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L"]
    return compiled(program, place, compiler, C_SESSION, "c")


def cpp(program: Program, place: Place) -> str:
    # A fragment shows what it includes, which cannot be inside of a function.
    includes = "\n".join(re.findall(r"^#include .*$", program.code, re.M))
    if program.form == "session":
        program.code = re.sub(r"^#include .*\n", "", program.code, flags=re.M)
    wrapper = CPP_SESSION.replace("{includes}", includes)
    return compiled(program, place, ["c++", "-std=c++17"], wrapper, "cpp")


def sh(program: Program, place: Place) -> str:
    if not program.not_run:
        raise FailedError("commands are not run: give the reason")
    (place.folder / "commands.sh").write_text(program.code)
    return run(["bash", "-n", place.folder / "commands.sh"], place)


def sql(program: Program, place: Place) -> str:
    """Runs statements on the examples' tables, with values for their parameters."""
    database = sqlite3.connect(place.folder / "shop.db", isolation_level=None)
    database.executescript((ROOT / "examples" / "schema.sql").read_text())
    values = {
        "customer": "ann", "order": "o-1", "item": "tea", "batch": "monday", "token": 7,
        "count": 1, "invoices": 1, "path": "/locks/job",
    }  # fmt: skip
    statement = ""
    for line in program.code.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            used = {name: values[name] for name in re.findall(r":([a-z]+)", statement)}
            database.execute(statement, used)
            statement = ""
    if statement.strip():
        raise FailedError(f"the last statement does not end: {statement}")
    database.close()
    return ""


RUNNERS = {"python": python, "js": js, "rust": rust, "c": c, "cpp": cpp, "sh": sh, "sql": sql}
