"""The driver for Python's synchronous API: one thread per request, or per logical thread."""

import gc
import logging
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote, unquote

import zoolock

Fields = list[tuple[str, object]]

KINDS = {
    "InvalidArgument": zoolock.InvalidArgument,
    "Unavailable": zoolock.Unavailable,
    "Timeout": zoolock.LockTimeout,
    "Cancelled": zoolock.Cancelled,
    "LockLost": zoolock.LockLost,
    "NotHeld": zoolock.NotHeld,
    "WouldDeadlock": zoolock.WouldDeadlock,
    "SequenceExhausted": zoolock.SequenceExhausted,
    "NoAuth": zoolock.NoAuth,
    "AuthFailed": zoolock.AuthFailed,
    "SessionExpired": zoolock.SessionExpired,
    "Closed": zoolock.Closed,
    "Unsupported": zoolock.Unsupported,
    "Internal": zoolock.Internal,
}

sessions: dict[str, zoolock.Session] = {}
locks: dict[str, zoolock.Lock] = {}
guards: dict[str, zoolock.Guard] = {}
cancels: dict[str, zoolock.Cancel] = {}
threads: dict[str, "queue.SimpleQueue[tuple[str, str, dict[str, str]]]"] = {}
output = threading.Lock()
naming = threading.Lock()
shown: list[str] = []
"""How options and errors show themselves to who debugs."""


def tell(ident: str, word: str, fields: Iterable[tuple[str, object]] = ()) -> None:
    """Write one line."""
    line = " ".join([ident, word, *(f"{key}={quote(str(value))}" for key, value in fields)])
    with output:
        print(line, flush=True)


def seconds(milliseconds: str | None) -> float | None:
    """The unit that Python takes."""
    return None if milliseconds is None else float(milliseconds) / 1000


def connect_options(fields: dict[str, str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name in ("session_timeout", "connect_timeout"):
        if f"{name}_ms" in fields:
            options[name] = seconds(fields[f"{name}_ms"])
    if "identity" in fields:
        options["identity"] = fields["identity"]
    if "auth" in fields:
        options["auth"] = [(fields.get("auth_scheme", "digest"), fields["auth"])]
    if "exclusive" in fields:
        options["exclusive"] = True
    if "tls" in fields:
        files = {name: fields.get(f"tls_{name}") for name in ("ca", "cert", "key")}
        options["tls"] = zoolock.Tls(**files, check_server_name="tls_any_name" not in fields)
        shown.append(repr(options["tls"]))
    if "acl" in fields:
        options["acl"] = acl(fields["acl"])
    return options


def acl(text: str) -> Any:
    """`open`, `creator`, or entries such as `31 digest user:hash;1 world anyone`."""
    if text in ("open", "creator"):
        return text
    entries = (entry.split(" ", 2) for entry in text.split(";"))
    return [(int(permissions), scheme, ident) for permissions, scheme, ident in entries]


def connect(fields: dict[str, str]) -> Fields:
    session = zoolock.connect(fields["hosts"], **connect_options(fields))
    session.on_state(lambda state: tell("!", "state", [("state", state)]))
    sessions[fields["session"]] = session
    return []


def open_lock(verb: str, fields: dict[str, str]) -> Fields:
    session = sessions[fields["session"]]
    options: Any = {key: fields[key] for key in ("naming", "data") if key in fields}
    if "acl" in fields:
        options["acl"] = acl(fields["acl"])
    if "keep_ms" in fields:
        options["keep"] = seconds(fields["keep_ms"])
    path = fields["path"]
    if verb == "mutex":
        lock: zoolock.Lock = session.mutex(path, **options)
    elif verb == "reentrant":
        lock = session.reentrant_mutex(path, **options)
    else:
        lock = getattr(session.rwlock(path, **options), verb)
    locks[fields["lock"]] = lock
    return []


def cancel_named(name: str) -> zoolock.Cancel:
    with naming:
        return cancels.setdefault(name, zoolock.Cancel())


def lock(fields: dict[str, str]) -> Fields:
    cancel = cancel_named(fields["cancel"]) if "cancel" in fields else None
    timeout = seconds(fields.get("timeout_ms"))
    return granted(fields, locks[fields["lock"]].lock(timeout=timeout, cancel=cancel))


def try_lock(fields: dict[str, str]) -> Fields | None:
    guard = locks[fields["lock"]].try_lock()
    return None if guard is None else granted(fields, guard)


def granted(fields: dict[str, str], guard: zoolock.Guard) -> Fields:
    name = fields["guard"]
    guard.on_lost(lambda: tell("!", "lost", [("guard", name)]))
    guards[name] = guard
    return [
        ("token", guard.fencing_token),
        ("count", guard.grant_count),
        ("node", guard.node_path),
    ]


def release(fields: dict[str, str]) -> Fields:
    guards[fields["guard"]].release()
    return []


def drop(fields: dict[str, str]) -> Fields:
    del guards[fields["guard"]]
    gc.collect()
    return []


def state(fields: dict[str, str]) -> Fields:
    guard = guards[fields["guard"]]
    return [("held", "yes" if guard.held else "no"), ("state", guard.state)]


def contender_fields(contenders: list[zoolock.Contender]) -> Fields:
    def text(one: zoolock.Contender) -> str:
        holds = "holds" if one.holds else "waits"
        return f"{holds},{one.sequence},{one.session_id},{one.node_path},{one.identity}"

    return [("contender", text(one)) for one in contenders]


def contenders(fields: dict[str, str]) -> Fields:
    return contender_fields(locks[fields["lock"]].contenders())


def close(fields: dict[str, str]) -> Fields:
    timeout = seconds(fields.get("timeout_ms"))
    session = sessions[fields["session"]]
    session.close() if timeout is None else session.close(timeout)
    return []


def show(_fields: dict[str, str]) -> Fields:
    """How everything shows itself to who debugs."""
    objects: list[object] = [*sessions.values(), *locks.values(), *guards.values()]
    texts = [text for one in objects for text in (repr(one), str(one), str(dir(one)))]
    return [("text", " ".join(shown + texts))]


def fire(fields: dict[str, str]) -> Fields:
    cancel_named(fields["cancel"]).cancel()
    return []


VERBS: dict[str, Callable[[dict[str, str]], Fields | None]] = {
    "connect": connect,
    "mutex": lambda fields: open_lock("mutex", fields),
    "reentrant": lambda fields: open_lock("reentrant", fields),
    "read": lambda fields: open_lock("read", fields),
    "write": lambda fields: open_lock("write", fields),
    "lock": lock,
    "try": try_lock,
    "cancel": fire,
    "release": release,
    "drop": drop,
    "state": state,
    "session_state": lambda fields: [("state", sessions[fields["session"]].state)],
    "contenders": contenders,
    "close": close,
    "show": show,
}


def kind_of(error: zoolock.Error) -> str:
    return next(kind for kind, its_class in KINDS.items() if type(error) is its_class)


def obey(ident: str, verb: str, fields: dict[str, str]) -> None:
    try:
        answer = VERBS[verb](fields)
    except zoolock.Error as error:
        shown.extend([repr(error), str(error.args), *traceback.format_exception(error)])
        about = [("operation", error.operation), ("path", error.path or "")]
        tell(ident, "error", [("kind", kind_of(error)), *about, ("message", str(error))])
    except Exception as error:  # The runner shows it, and expects it nowhere.
        tell(ident, "misunderstood", [("message", repr(error))])
    else:
        tell(ident, "none" if answer is None else "ok", answer or [])


def work(inbox: "queue.SimpleQueue[tuple[str, str, dict[str, str]]]") -> None:
    while True:
        obey(*inbox.get())


def main() -> None:
    if "ZOOLOCK_DRIVER_LOG" in os.environ:
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
        logging.getLogger("zoolock").setLevel(1)
    for line in sys.stdin:
        ident, verb, *words = line.split()
        pairs = (word.split("=", 1) for word in words)
        fields = {key: unquote(value) for key, value in pairs}
        if verb == "exit":
            break
        name = fields.get("thread")
        if name is None:
            request = (ident, verb, fields)
            threading.Thread(target=obey, args=request, daemon=True).start()
            continue
        if name not in threads:
            threads[name] = queue.SimpleQueue()
            threading.Thread(target=work, args=(threads[name],), daemon=True).start()
        threads[name].put((ident, verb, fields))


if __name__ == "__main__":
    main()
