"""kazoo's locks as a driver: it obeys the protocol of tests/conformance, as far as kazoo can."""

from __future__ import annotations

import logging
import queue
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote, unquote

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import CancelledError, LockTimeout, NoNodeError

Fields = dict[str, str]
Answer = list[tuple[str, object]]
Recipe = Callable[[], Any]

EXTRA = {"mutex": ["-lock-"], "read": ["__WRIT__"], "write": ["__WRIT__", "__READ__"]}
"""What kazoo has to be told of other libraries' names, for each recipe."""

STATES = {KazooState.CONNECTED: "connected", KazooState.SUSPENDED: "suspended", KazooState.LOST: "expired"}

sessions: dict[str, KazooClient] = {}
identities: dict[str, str] = {}
locks: dict[str, tuple[str, Recipe]] = {}
guards: dict[str, tuple[str, Any]] = {}
lost: set[str] = set()
cancels: dict[str, list[Any]] = {}
threads: dict[str, queue.SimpleQueue[tuple[str, str, Fields]]] = {}
output = threading.Lock()
tables = threading.Lock()


def tell(ident: str, word: str, fields: Iterable[tuple[str, object]] = ()) -> None:
    line = " ".join([ident, word, *(f"{key}={quote(str(value))}" for key, value in fields)])
    with output:
        print(line, flush=True)


def connect(fields: Fields) -> Answer:
    name = fields["session"]
    client = KazooClient(fields["hosts"], timeout=float(fields["session_timeout_ms"]) / 1000)
    client.add_listener(lambda state: changed(name, state))
    client.start(timeout=float(fields.get("connect_timeout_ms", "30000")) / 1000)
    sessions[name] = client
    identities[name] = fields["identity"]
    return []


def changed(session: str, state: str) -> None:
    """kazoo tells of sessions, not of locks: those that were held are lost with theirs."""
    tell("!", "state", [("state", STATES[state])])
    if state == KazooState.LOST:
        with tables:
            theirs = [guard for guard, (its, _) in guards.items() if its == session and guard not in lost]
            lost.update(theirs)
        for guard in theirs:
            tell("!", "lost", [("guard", guard)])


def open_lock(verb: str, fields: Fields) -> Answer:
    """kazoo sees the names of Curator, Go and zoolock where it is told of them: unless the scenario says `naming=kazoo`."""
    session, path = fields["session"], fields["path"]
    client = sessions[session]
    extra = [] if fields.get("naming") == "kazoo" else EXTRA[verb]
    recipe = {"mutex": client.Lock, "read": client.ReadLock, "write": client.WriteLock}[verb]
    identity = fields.get("data", identities[session])
    locks[fields["lock"]] = (session, lambda: recipe(path, identity, extra_lock_patterns=extra))
    return []


def acquire(fields: Fields, *, blocking: bool) -> Answer | None:
    session, recipe = locks[fields["lock"]]
    lock = recipe()
    if "cancel" in fields:
        with tables:
            cancels.setdefault(fields["cancel"], []).append(lock)
    timeout = float(fields["timeout_ms"]) / 1000 if "timeout_ms" in fields else None
    if not lock.acquire(blocking=blocking, timeout=timeout):
        if blocking:
            raise LockTimeout(f"no lock on {lock.path}")
        return None
    node = f"{lock.path}/{lock.node}"
    stat = sessions[session].exists(node)
    if stat is None:
        raise NoNodeError(node)
    with tables:
        guards[fields["guard"]] = (session, lock)
    return [("token", stat.czxid), ("node", node)]


def cancel(fields: Fields) -> Answer:
    with tables:
        attempts = list(cancels.get(fields["cancel"], []))
    for attempt in attempts:
        attempt.cancel()
    return []


def release(fields: Fields) -> Answer:
    with tables:
        _, lock = guards.pop(fields["guard"])
    lock.release()
    return []


def state(fields: Fields) -> Answer:
    with tables:
        session, lock = guards.get(fields["guard"], ("", None))
        if lock is None:
            word = "released"
        elif fields["guard"] in lost:
            word = "lost"
        else:
            word = "held" if sessions[session].connected else "suspended"
    return [("state", word), ("held", "yes" if word in ("held", "suspended") else "no")]


def session_state(fields: Fields) -> Answer:
    return [("state", STATES[sessions[fields["session"]].state])]


def close(fields: Fields) -> Answer:
    client = sessions[fields["session"]]
    client.stop()
    client.close()
    return []


VERBS: dict[str, Callable[[Fields], Answer | None]] = {
    "connect": connect,
    "mutex": lambda fields: open_lock("mutex", fields),
    "read": lambda fields: open_lock("read", fields),
    "write": lambda fields: open_lock("write", fields),
    "lock": lambda fields: acquire(fields, blocking=True),
    "try": lambda fields: acquire(fields, blocking=False),
    "cancel": cancel,
    "release": release,
    "state": state,
    "session_state": session_state,
    "close": close,
}


def obey(ident: str, verb: str, fields: Fields) -> None:
    def failed(kind: str, error: Exception) -> None:
        path = locks[fields["lock"]][1]().path if "lock" in fields else ""
        tell(ident, "error", [("kind", kind), ("path", path), ("message", repr(error))])

    try:
        answer = VERBS[verb](fields)
    except LockTimeout as error:
        failed("Timeout", error)
    except CancelledError as error:
        failed("Cancelled", error)
    except Exception as error:  # The runner shows it, and expects it nowhere.
        failed(type(error).__name__, error)
    else:
        tell(ident, "none" if answer is None else "ok", answer or [])


def work(inbox: queue.SimpleQueue[tuple[str, str, Fields]]) -> None:
    while True:
        obey(*inbox.get())


def main() -> None:
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    for line in sys.stdin:
        ident, verb, *words = line.split()
        pairs = (word.split("=", 1) for word in words)
        fields = {key: unquote(value) for key, value in pairs}
        if verb == "exit":
            break
        name = fields.get("thread")
        if name is None:
            threading.Thread(target=obey, args=(ident, verb, fields), daemon=True).start()
            continue
        if name not in threads:
            threads[name] = queue.SimpleQueue()
            threading.Thread(target=work, args=(threads[name],), daemon=True).start()
        threads[name].put((ident, verb, fields))
    for client in sessions.values():
        client.stop()


if __name__ == "__main__":
    main()
