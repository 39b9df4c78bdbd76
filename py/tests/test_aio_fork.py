"""Forks of programs with event loops (R18). They run in a process of their own, which forks."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from children import PATIENCE, Child, eventually
from queues import contenders
from test_fork import FORK

from zoolock.testing import Server

KINDS = {"asyncio": "asyncio.SelectorEventLoop()", "uvloop": "uvloop.new_event_loop()"}
PROGRAM = (
    """
        import asyncio, multiprocessing, uvloop
"""
    + FORK
)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_r18_a_child_of_a_running_loop_has_a_loop_and_a_session_of_its_own(
    server: Server, path: str, kind: str
) -> None:
    code = (
        PROGRAM
        + f"""
        new_loop = lambda: {kind}
        """
        + """
        async def childs(session, lock, held):
            assert (held.state, held.held, lock.held) == ("lost", False, False)
            assert await held.wait_lost()
            for call in (held.release, lock.release):
                try:
                    await call()
                except (zoolock.LockLost, zoolock.NotHeld):
                    pass
                else:
                    raise AssertionError(call)
            assert await lock.try_lock() is None
            assert session.session_id not in (0, parents)
            async with session.mutex(path + "/other") as other:
                assert other.held
            told = []
            held.on_lost(lambda: told.append(True))
            while not told:
                await asyncio.sleep(0.001)
        def body():
            loop = new_loop()
            loop.run_until_complete(childs(session, lock, held))
            loop.close()
        async def main():
            global session, lock, held, parents
            session = await zoolock.aio.connect(hosts, session_timeout=60)
            lock, parents = session.mutex(path), session.session_id
            held = await lock.lock()
            told = []
            held.on_lost(lambda: told.append(True))
            waits = [asyncio.create_task(lock.lock()) for _ in range(3)]
            await asyncio.sleep(0.02)
            # Twice: what the first child did at its end must not have hurt the loop.
            for _ in range(2):
                say(fork(body))
                assert held.held and not told and session.session_id == parents
            await held.release()
            for wait in waits:
                await (await asyncio.wait_for(wait, 10)).release()
            await session.close()
        loop = new_loop()
        loop.run_until_complete(main())
        loop.close()
        """
    )
    with Child(code, server.hosts, path) as process:
        assert process.end() == "7\n7\n"
    eventually(lambda: contenders(server, path) == [], within=2)


def test_r18_a_child_is_refused_the_loop_of_its_parent(server: Server, path: str) -> None:
    code = (
        PROGRAM
        + """
        loop = asyncio.SelectorEventLoop()
        session = loop.run_until_complete(zoolock.aio.connect(hosts))
        lock = session.mutex(path)
        guard = loop.run_until_complete(lock.lock())
        def body():
            for verb in (lock.try_lock, lock.lock, guard.wait_lost):
                try:
                    loop.run_until_complete(verb())
                except RuntimeError as error:
                    assert "forked process" in str(error)
                else:
                    raise AssertionError(verb)
            asyncio.run(turn())
            # What the end of an interpreter does to a loop that it shares is asyncio's own matter.
            os._exit(7)
        async def turn():
            assert await lock.try_lock() is None
            async with session.mutex(path + "/other") as other:
                assert other.held
        say(fork(body))
        assert guard.held
        loop.run_until_complete(guard.release())
        loop.run_until_complete(session.close())
        loop.close()
        """
    )
    with Child(code, server.hosts, path) as process:
        assert process.end() == "7\n"
    eventually(lambda: contenders(server, path) == [], within=2)


def test_r18_workers_of_multiprocessing_take_turns(server: Server, path: str) -> None:
    code = (
        PROGRAM
        + """
        async def take(count):
            for _ in range(count):
                async with session.mutex(path) as held:
                    assert held.held
        def work():
            asyncio.run(take(5))
        async def main():
            global session
            session = await zoolock.aio.connect(hosts)
            async with session.mutex(path):
                context = multiprocessing.get_context("fork")
                workers = [context.Process(target=work) for _ in range(3)]
                for worker in workers:
                    worker.start()
                await asyncio.sleep(0.1)
                assert all(worker.is_alive() for worker in workers)
            await take(5)
            for worker in workers:
                await asyncio.to_thread(worker.join)
                say(worker.exitcode)
            await session.close()
        asyncio.run(main())
        """
    )
    with Child(code, server.hosts, path) as process:
        assert process.end() == "0\n0\n0\n"


APPLICATION = """
import asyncio, os
import zoolock

# Opened before the workers are forked, as whatever a module does with --preload.
session = zoolock.connect()
held = session.mutex("PATH/held").lock()
master = os.getpid()


async def asynchronously():
    async with await zoolock.aio.connect() as session, session.mutex("PATH/orders") as held:
        return held.fencing_token


def application(environ, start_response):
    assert os.getpid() != master
    with session.mutex("PATH/orders").hold(timeout=5) as order:
        tokens = [order.fencing_token]
    tokens.append(asyncio.run(asynchronously()))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{held.state} {os.getpid()} {tokens[0] < tokens[1]}".encode()]
"""


@pytest.mark.parametrize("worker", ["sync", "gthread"])
def test_r18_workers_of_a_preloaded_gunicorn(
    server: Server, path: str, tmp_path: Path, unused_port: int, worker: str
) -> None:
    (tmp_path / "application.py").write_text(APPLICATION.replace("PATH", path))
    command = [
        *(sys.executable, "-m", "gunicorn", "--preload", "--workers", "2"),
        *("--bind", f"127.0.0.1:{unused_port}", "--worker-class", worker, "application"),
        *("--graceful-timeout", "5", "--no-control-socket"),
    ]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "ZOOLOCK_HOSTS": server.hosts},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            eventually(lambda: _listens(unused_port))
            answers = {_get(unused_port) for _ in range(20)}
            assert {answer.split()[0] for answer in answers} == {"lost"}
            assert {answer.split()[2] for answer in answers} == {"True"}
            # The master's lock is still its own.
            assert len(contenders(server, f"{path}/held")) == 1
            assert contenders(server, f"{path}/orders") == []
            began = time.monotonic()
        finally:
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=PATIENCE)[1]
        assert process.returncode == 0, errors
        assert time.monotonic() - began < 10
        assert "Traceback" not in errors, errors
    eventually(lambda: contenders(server, path) == [], within=2)


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def _get(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE) as answer:
        text: bytes = answer.read()
    return text.decode()
