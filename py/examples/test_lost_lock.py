"""How to test what a program does when its lock is lost. Run it with `pytest`.

The fixture `zoolock_server` comes with zoolock: a ZooKeeper server in the test's own process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import zoolock
from zoolock.testing import Server


# The program.
def copy(
    session: zoolock.Session,
    rows: Iterable[str],
    store: Callable[[str, zoolock.Guard], None],
    patience: float = 10,
) -> str:
    try:
        with session.mutex("/locks/job/copy").hold(timeout=patience) as held:
            for row in rows:
                held.ensure_held()  # raises LockLost: another instance may be at it by now
                store(row, held)  # with held.fencing_token, for what is on its way already
    except zoolock.LockTimeout:
        return "skipped: another instance is at it"
    except zoolock.LockLost as lost:
        return f"stopped: {lost}"
    return "done"


# Its tests.
def test_it_stops_when_its_session_expires(zoolock_server: Server) -> None:
    stored: list[str] = []

    with zoolock.connect(zoolock_server.hosts) as session:

        def store(row: str, held: zoolock.Guard) -> None:
            stored.append(row)
            if row == "second":
                zoolock_server.expire_session(session.session_id)
                # The client learns it a moment later; a test should not depend on when.
                assert held.wait_lost(10)

        outcome = copy(session, ["first", "second", "third"], store)

    assert outcome == "stopped: ensure_held /locks/job/copy: the lock was lost"
    assert stored == ["first", "second"]


def test_it_stops_when_it_is_cut_off_and_another_instance_goes_on(zoolock_server: Server) -> None:
    tokens: dict[str, int] = {}

    # Short, since the test waits for the end of its lease.
    with (
        zoolock.connect(zoolock_server.hosts, session_timeout=2, exclusive=True) as session,
        zoolock.connect(zoolock_server.hosts) as other,
    ):

        def store(row: str, held: zoolock.Guard) -> None:
            tokens[row] = held.fencing_token
            if row == "first":
                zoolock_server.freeze_session(session.session_id)
                # The lease ends before the server can give the lock to anyone else.
                assert held.wait_lost(10)

        assert copy(session, ["first", "second"], store).startswith("stopped")
        with other.mutex("/locks/job/copy") as held:
            tokens["other"] = held.fencing_token
        zoolock_server.thaw_all()

    assert tokens["other"] > tokens["first"]
    assert "second" not in tokens


def test_it_skips_its_turn_when_no_server_answers(zoolock_server: Server) -> None:
    stored: list[str] = []
    with zoolock.connect(zoolock_server.hosts) as session:
        zoolock_server.freeze_all()
        outcome = copy(session, ["first"], lambda row, _: stored.append(row), patience=0.2)
        zoolock_server.thaw_all()
    assert outcome == "skipped: another instance is at it"
    assert stored == []
