"""The package: its names, types, errors, and what it refuses."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path

import pytest

import zoolock
from zoolock import _errors, _native


def test_the_stub_tells_what_the_compiled_module_has(tmp_path: Path) -> None:
    # stubtest takes a Literal of several texts for a union, also at run time.
    allowed = tmp_path / "allowed"
    allowed.write_text("zoolock._states.GuardState\nzoolock._states.SessionState\n")
    outcome = subprocess.run(
        [
            *(sys.executable, "-m", "mypy.stubtest", "--ignore-disjoint-bases"),
            *("--allowlist", allowed, "zoolock"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stdout


def test_the_package_is_typed_and_has_a_version() -> None:
    assert resources.files("zoolock").joinpath("py.typed").is_file()
    assert zoolock.__version__ == metadata.version("zoolock")
    assert metadata.requires("zoolock") is None
    assert all(hasattr(zoolock, name) for name in zoolock.__all__)


def test_every_kind_of_error_has_its_class() -> None:
    assert sorted(_errors.BY_CODE) == sorted(_native.ERROR_CODES)
    for code, kind in _errors.BY_CODE.items():
        assert issubclass(kind, zoolock.Error)
        assert getattr(zoolock, kind.__name__) is kind
        assert kind.code == code


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (zoolock.InvalidArgument, ValueError),
        (zoolock.Unavailable, ConnectionError),
        (zoolock.LockTimeout, TimeoutError),
        (zoolock.NotHeld, RuntimeError),
    ],
)
def test_errors_are_pythons_own_too(kind: type[zoolock.Error], builtin: type[Exception]) -> None:
    error = kind("why", "lock", "/a")
    assert isinstance(error, builtin)
    assert str(error) == "lock /a: why"
    assert repr(error) == f"{kind.__name__}('lock /a: why')"
    assert error.args == ("why", "lock", "/a")


@pytest.mark.parametrize("kind", [zoolock.Unavailable, zoolock.LockTimeout])
def test_errors_that_are_os_errors_name_no_number_and_no_file(kind: type[OSError]) -> None:
    for error in (kind("why", "lock", "/a"), pickle.loads(pickle.dumps(kind("why", "lock", "/a")))):  # noqa: S301
        assert (error.errno, error.strerror, error.filename) == (None, None, None)


def test_what_caused_an_error_is_its_cause() -> None:
    down = _errors.make("UNAVAILABLE", "no server can be reached", "connect", None, "refused")
    late = _errors.make("TIMEOUT", "not granted in time", "lock", "/a", down)
    assert isinstance(late, zoolock.LockTimeout)
    assert late.__cause__ is down
    assert str(down.__cause__) == "refused"
    assert _errors.make("TIMEOUT", "not granted in time", "lock", "/a", None).__cause__ is None


def test_what_is_public_does_not_show_the_modules_that_are_not() -> None:
    public = [getattr(zoolock, name) for name in zoolock.__all__]
    for thing in public:
        if isinstance(thing, type) or inspect.isroutine(thing):
            assert not thing.__module__.startswith("zoolock."), thing
    entry = zoolock.AclEntry(31, "world", "anyone")
    for value in (entry, zoolock.Permission.ALL, zoolock.FixedBackoff(1)):
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301


@pytest.mark.parametrize("kind", _errors.BY_CODE.values(), ids=_errors.BY_CODE)
def test_errors_can_be_pickled(kind: type[zoolock.Error]) -> None:
    error = pickle.loads(pickle.dumps(kind("why", "lock", "/a")))  # noqa: S301
    assert type(error) is kind
    assert (error.code, error.operation, error.path) == (kind.code, "lock", "/a")
    assert str(error) == "lock /a: why"


def test_handles_cannot_be_pickled(session: zoolock.Session, path: str) -> None:
    rw = session.rwlock(path)
    with session.mutex(path + "/a") as held:
        for handle in (
            session,
            session.mutex(path),
            session.reentrant_mutex(path),
            session.mutex(path).hold(),
            rw,
            rw.read,
            held,
            zoolock.Cancel(),
        ):
            name = type(handle).__name__
            with pytest.raises(TypeError, match=f"cannot pickle 'zoolock.{name}' object"):
                pickle.dumps(handle)
            with pytest.raises(TypeError, match="cannot pickle"):
                copy.copy(handle)


def test_classes_are_not_made_by_hand() -> None:
    for kind in (zoolock.Session, zoolock.Mutex, zoolock.Guard, zoolock.RwLock):
        with pytest.raises(TypeError):
            kind()


def test_reprs_say_what_matters(session: zoolock.Session, path: str) -> None:
    assert repr(session.mutex(path)) == f"<zoolock.Mutex path='{path}'>"
    assert repr(session.rwlock(path).read) == f"<zoolock.RwLockSide path='{path}'>"
    assert repr(session).startswith("<zoolock.Session connected session_id=0x")
    with session.mutex(path) as held:
        assert repr(held).startswith("<zoolock.Guard held node_path='")
    assert repr(zoolock.Cancel()) == "<zoolock.Cancel not cancelled>"


def test_everything_public_is_documented() -> None:
    for name in zoolock.__all__:
        thing = getattr(zoolock, name)
        if isinstance(thing, type) or inspect.isroutine(thing):
            assert thing.__doc__, name
            members = vars(thing) if isinstance(thing, type) else {}
            for member, value in members.items():
                if callable(value) and not member.startswith("_"):
                    assert value.__doc__, f"{name}.{member}"


def test_contenders_are_values() -> None:
    one = zoolock.Contender("/a/b-lock-1", 1, "me", 7, True)
    assert one == zoolock.Contender("/a/b-lock-1", 1, "me", 7, True)
    with pytest.raises(AttributeError):
        one.holds = False  # type: ignore[misc]
