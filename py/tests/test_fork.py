"""Forked children (R18). They run in a process of their own, which forks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from children import Child
from ensemble import Ensemble

FORK = """
        import warnings
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        def fork(body):
            pid = os.fork()
            if pid:
                return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            try:
                body()
            except BaseException as error:
                say("the child raised", repr(error))
                os._exit(9)
            sys.exit(7)
"""


def test_r18_a_child_has_lost_its_parents_locks(child: Callable[[str], Child]) -> None:
    process = child(
        FORK
        + """
        session = zoolock.connect(hosts)
        lock = session.mutex(path)
        guard = lock.lock()
        told = []
        guard.on_lost(lambda: told.append(True))
        def body():
            again = threading.Event()
            assert (guard.state, guard.held) == ("lost", False)
            assert guard.wait_lost() is True
            guard.on_lost(again.set)
            assert again.wait(20)
            assert not told
            for call in (guard.ensure_held, guard.release):
                try:
                    call()
                except zoolock.LockLost:
                    pass
                else:
                    raise AssertionError(call)
        say(fork(body))
        assert guard.held and not told
        guard.release()
        """
    )
    assert process.end() == "7\n"


def test_r18_inherited_objects_open_a_session_of_the_childs_own(
    child: Callable[[str], Child], ensemble: Ensemble, path: str
) -> None:
    process = child(
        FORK
        + """
        session = zoolock.connect(hosts, session_timeout=60)
        lock, parents = session.mutex(path), session.session_id
        guard = lock.lock()
        def body():
            assert lock.try_lock() is None
            assert session.session_id not in (0, parents)
            assert session.state == "connected"
            with session.mutex(path + "/other") as held:
                assert held.held
            session.mutex(path + "/kept").acquire()
        say(fork(body))
        assert guard.held and session.state == "connected" and session.session_id == parents
        guard.release()
        with lock as held:
            assert held.held
        say(session.mutex(path + "/kept").locked())
        """
    )
    assert process.end() == "7\nFalse\n"
    assert ensemble.children(f"{path}/kept") == []


def test_r18_a_child_owns_nothing_of_its_parents(child: Callable[[str], Child]) -> None:
    process = child(
        FORK
        + """
        session = zoolock.connect(hosts)
        lock, rw = session.reentrant_mutex(path + "/re"), session.rwlock(path + "/rw")
        lock.acquire()
        rw.write.acquire()
        def body():
            for inherited in (lock, rw.read, rw.write):
                assert inherited.try_lock() is None, inherited
                assert not inherited.held
                try:
                    inherited.release()
                except zoolock.NotHeld:
                    pass
                else:
                    raise AssertionError(inherited)
        say(fork(body))
        with lock, rw.write, rw.read:
            say("re-entered")
        """
    )
    assert process.end() == "7\nre-entered\n"


def test_r18_a_child_leaves_an_inherited_block(child: Callable[[str], Child]) -> None:
    process = child(
        """
        session = zoolock.connect(hosts)
        pid = None
        try:
            with session.mutex(path) as held:
                pid = os.fork()
        except zoolock.LockLost:
            assert pid == 0
            os._exit(3)
        assert pid != 0
        say(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """
    )
    assert process.end() == "3\n"


def test_r18_forks_while_threads_use_locks(child: Callable[[str], Child]) -> None:
    process = child(
        FORK
        + """
        session = zoolock.connect(hosts)
        stop = threading.Event()
        def work(number):
            lock = session.mutex(f"{path}/{number}")
            while not stop.is_set():
                with lock as held:
                    held.on_lost(lambda: None)
        workers = [threading.Thread(target=work, args=[number]) for number in range(4)]
        for worker in workers:
            worker.start()
        def body():
            with session.mutex(path + "/child").hold(timeout=20) as held:
                assert held.held
        codes = {fork(body) for _ in range(10)}
        stop.set()
        for worker in workers:
            worker.join()
        say(codes)
        """
    )
    assert process.end() == "{7}\n"


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_r18_multiprocessing(method: str, hosts: str, path: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """
import multiprocessing, sys, warnings
import zoolock

warnings.filterwarnings("ignore", category=DeprecationWarning)
method, hosts, path = sys.argv[1:]
session = None

def work(number):
    global session
    if session is None:
        session = zoolock.connect(hosts, session_timeout=60)
    for _ in range(3):
        with session.mutex(path):
            pass
    # Held at the end: freed because the process ends as it should, long before the time-out.
    session.mutex(f"{path}/{number}").acquire()

if __name__ == "__main__":
    context = multiprocessing.get_context(method)
    session = zoolock.connect(hosts, session_timeout=60)
    with session.mutex(path):
        processes = [context.Process(target=work, args=[number]) for number in range(3)]
        for process in processes:
            process.start()
    for process in processes:
        process.join()
    print([process.exitcode for process in processes])
    print([session.mutex(f"{path}/{number}").locked() for number in range(3)])
"""
    )
    outcome = subprocess.run(
        [sys.executable, program, method, hosts, path],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert outcome.stdout == "[0, 0, 0]\n[False, False, False]\n", outcome.stderr
