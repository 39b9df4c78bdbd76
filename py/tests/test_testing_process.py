"""The server for tests, and the ends and forks of its process (R17, R18)."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from children import Child


@pytest.fixture
def hosts() -> str:
    """Children start servers of their own."""
    return ""


@pytest.mark.parametrize("call", ["sessions", "cut_all", "thaw_all", "accept_connections", "stop"])
def test_other_threads_run_during_a_call(call: str, child: Callable[[str], Child]) -> None:
    process = child(
        f"""
        import _thread
        from zoolock.testing import Server
        with Server() as server:
            ran = []
            # Nobody is asked to let another thread run.
            sys.setswitchinterval(1000)
            _thread.start_new_thread(ran.append, (True,))
            until = time.monotonic() + 20
            while not ran and time.monotonic() < until:
                server.{call}()
            meanwhile = list(ran)
            say(meanwhile)
        """
    )
    assert process.end() == "[True]\n"


def test_the_package_imports_no_server_and_the_server_no_pytest(
    child: Callable[[str], Child],
) -> None:
    process = child(
        """
        say("zoolock.testing" in sys.modules)
        import zoolock.testing
        say("pytest" in sys.modules)
        """
    )
    assert process.end() == "False\nFalse\n"


def test_r17_an_exit_with_a_server_and_a_lock_is_quick(child: Callable[[str], Child]) -> None:
    # Not the second that closing a session takes of which the server has gone before.
    process = child(
        """
        from zoolock.testing import Server
        server = Server()
        session = zoolock.connect(server.hosts)
        guard = session.mutex(path).lock()
        say(time.monotonic())
        """
    )
    began = float(process.hear())
    process.end()
    assert time.monotonic() - began < 1


def test_r18_a_child_leaves_its_parents_server_alone(child: Callable[[str], Child]) -> None:
    process = child(
        """
        import gc
        from zoolock.testing import Server
        server = Server()
        session = zoolock.connect(server.hosts, session_timeout=60)
        guard = session.mutex(path).lock()
        def body():
            global server
            for call in (server.sessions, server.expire_all, server.freeze_all):
                try:
                    call()
                except zoolock.Closed:
                    pass
                else:
                    raise AssertionError(call)
            # A client like any other.
            with zoolock.connect(server.hosts) as own:
                assert own.mutex(path).try_lock() is None
                with own.mutex(path + "/other") as held:
                    assert held.held
            with Server() as another, zoolock.connect(another.hosts) as own:
                with own.mutex(path) as held:
                    assert held.held
            server.stop()
            del server
            gc.collect()
        pid = os.fork()
        if pid == 0:
            try:
                body()
            except BaseException as error:
                say("the child raised", repr(error))
                os._exit(9)
            sys.exit(7)
        say(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        assert guard.held and session.session_id in [known.id for known in server.sessions()]
        guard.release()
        with session.mutex(path) as held:
            assert held.held
        """
    )
    assert process.end() == "7\n"


def test_r18_children_of_multiprocessing_lock_on_their_parents_server(
    child: Callable[[str], Child],
) -> None:
    process = child(
        """
        import multiprocessing
        from zoolock.testing import Server
        def work(hosts, path, tokens):
            with zoolock.connect(hosts) as session, session.mutex(path) as held:
                tokens.put(held.fencing_token)
        context = multiprocessing.get_context("fork")
        with Server() as server:
            tokens = context.Queue()
            workers = [
                context.Process(target=work, args=(server.hosts, path, tokens)) for _ in range(3)
            ]
            for worker in workers:
                worker.start()
            got = {tokens.get(timeout=20) for _ in workers}
            for worker in workers:
                worker.join()
            say(len(got), {worker.exitcode for worker in workers}, server.sessions())
        """
    )
    assert process.end() == "3 {0} []\n"
