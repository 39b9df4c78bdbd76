"""The ends of a process's life that Python has to tell the core of.

A process that exits normally closes its sessions through the C library's exit handlers. Two things
are left: no callback may enter an interpreter that is being finalised, and the children of
`multiprocessing` may end without those handlers.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading

from zoolock import _native


def install() -> None:
    """Install the hooks, once, when the package is imported."""
    atexit.register(_native.end_callbacks)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_hook_multiprocessing)
    # The package may be imported on the way to a child's work, or during it.
    _hook_multiprocessing()
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        _finalize_sessions(None)


_hooked = False


def _hook_multiprocessing() -> None:
    # Its children forget all finalisers when they begin, and then call those who have registered
    # for that moment. What is registered is inherited, like this flag.
    global _hooked
    util = sys.modules.get("multiprocessing.util")
    if util is not None and not _hooked:
        util.register_after_fork(_finalize_sessions, _finalize_sessions)
        _hooked = True


def _finalize_sessions(_registered: object) -> None:
    from multiprocessing.util import Finalize

    # Below zero: after the processes that this one has started are joined.
    Finalize(None, _close_sessions, exitpriority=-100)


def _close_sessions() -> None:
    # Unlike at an interpreter's exit, threads are joined after this, and may need their locks.
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    if all(thread.daemon for thread in others):
        _native.close_all_sessions()
