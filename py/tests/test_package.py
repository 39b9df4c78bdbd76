"""The package: its names, types, errors, and what it refuses."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from importlib import metadata, resources

import pytest

import zoolock
from zoolock import _errors, _native


def test_the_stub_tells_what_the_compiled_module_has() -> None:
    outcome = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--ignore-disjoint-bases", "zoolock"],
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
            zoolock.Owner(),
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


def test_owners_are_different() -> None:
    one, two = zoolock.Owner(), zoolock.Owner()
    assert one == one
    assert one != two
    assert len({one, two}) == 2


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
        if isinstance(thing, type) or callable(thing):
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
