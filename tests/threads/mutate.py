#!/usr/bin/env python3
"""Breaks the core's hand-offs on purpose, one mistake at a time, and asks that a model finds each.

    tests/threads/mutate.py [NAME...]

Works on a copy. A mistake that no model finds, or whose text is not in the source any more, is a failure.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIED = ["Cargo.toml", "Cargo.lock", "README.md", "core", "testserver", "ffi-c", "py", "node", "tests"]

# Name, file in core/src, what is written there, what is put in its place.
MISTAKES = [
    (
        "a sender does not notify",
        "sync/completion.rs",
        "self.filled.notify_all();",
        "",
    ),
    (
        "a sleeper does not say that it sleeps",
        "sync/completion.rs",
        "*blocked = true",
        "*blocked = false",
    ),
    (
        "a sender does not wake the task",
        "sync/completion.rs",
        "waker.wake();",
        "drop(waker);",
    ),
    (
        "a sender that leaves does not say so",
        "sync/completion.rs",
        "let _closed = shared.fill(Slot::Closed);",
        "drop(shared);",
    ),
    (
        "a receiver that leaves stays open",
        "sync/completion.rs",
        "std::mem::replace(slot, Slot::Closed)",
        "std::mem::replace(slot, Slot::Empty { waker: None, blocked: false })",
    ),
    (
        "a letter does not wake the reader",
        "sync/mailbox.rs",
        "waker.wake();",
        "drop(waker);",
    ),
    (
        "the reader registers after another look at the lock",
        "sync/mailbox.rs",
        "if inner.letters.is_empty() {",
        "if inner.letters.is_empty() {\n            drop(inner);\n            let mut inner = self.0.lock();",
    ),
    (
        "a closed mailbox takes letters",
        "sync/mailbox.rs",
        "inner.closed = true;",
        "",
    ),
    (
        "an event does not notify",
        "sync/latch.rs",
        "self.ended.notify_all();",
        "",
    ),
    (
        "an event does not wake the tasks",
        "sync/latch.rs",
        "waker.wake();",
        "drop(waker);",
    ),
    (
        "a callback is registered by an old look",
        "sync/latch.rs",
        "let mut waiters = self.waiters.lock();\n        if self.is_fired() {\n            return Some(callback);",
        "let fired = self.is_fired();\n        let mut waiters = self.waiters.lock();\n        if fired {\n"
        "            return Some(callback);",
    ),
    (
        "a future registers by an old look",
        "sync/latch.rs",
        "let mut waiters = self.waiters.lock();\n        if self.is_fired() {\n            return true;",
        "let fired = self.is_fired();\n        let mut waiters = self.waiters.lock();\n        if fired {\n"
        "            return true;",
    ),
    (
        "a retired latch fires",
        "sync/latch.rs",
        "waiters.retired || self.fired",
        "self.fired",
    ),
    (
        "a value is published without Release",
        "process.rs",
        "fresh, Ordering::AcqRel, Ordering::Acquire",
        "fresh, Ordering::Relaxed, Ordering::Relaxed",
    ),
    (
        "a value is found without Acquire",
        "process.rs",
        "self.slot.load(Ordering::Acquire).as_ref()",
        "self.slot.load(Ordering::Relaxed).as_ref()",
    ),
    (
        "the last of two first users wins",
        "process.rs",
        ".compare_exchange(seen, fresh, Ordering::AcqRel, Ordering::Acquire)",
        ".fetch_update(Ordering::AcqRel, Ordering::Acquire, |_| Some(fresh))",
    ),
    (
        "a child takes its parent's value",
        "process.rs",
        "(stamped.process == id()).then_some(stamped)",
        "Some(stamped)",
    ),
    (
        "a lease seen to end is not broken",
        "lease_term.rs",
        "            match self\n                .0\n                .compare_exchange(until, BROKEN, Ordering::AcqRel, Ordering::Acquire)\n"
        "            {\n                Ok(_) => return false,\n                Err(renewed) => until = renewed,\n            }",
        "            until = BROKEN;",
    ),
    (
        "a lease is renewed by a store",
        "lease_term.rs",
        "                .compare_exchange(known, until.0, Ordering::AcqRel, Ordering::Acquire)",
        "                .fetch_update(Ordering::AcqRel, Ordering::Acquire, |_| Some(until.0))",
    ),
    (
        "a call is registered without a second look",
        "cancel.rs",
        "        if self.is_cancelled() {\n            self.cancel();\n        }\n        Registration",
        "        Registration",
    ),
    (
        "a cancel takes the calls before it fires",
        "cancel.rs",
        "        self.0.fired.store(true, Ordering::SeqCst);\n"
        "        let targets = std::mem::take(&mut *self.targets().lock());\n",
        "        let targets = std::mem::take(&mut *self.targets().lock());\n"
        "        self.0.fired.store(true, Ordering::SeqCst);\n",
    ),
    (
        "a dropped call is not withdrawn",
        "pending.rs",
        "link.send(Command::Cancel { attempt });",
        "drop((link, attempt));",
    ),
    (
        "a guard for nobody is forgotten",
        "command.rs",
        "GrantTo::Lock(to) => drop(to.complete(Ok(guard))),",
        "GrantTo::Lock(to) => std::mem::forget(to.complete(Ok(guard))),",
    ),
    (
        "the end of a session forgets unread calls",
        "link.rs",
        "        for command in self.mailbox.close() {\n            refuse(command);\n        }",
        "        drop(self.mailbox.close());",
    ),
    (
        "a call to a session that has ended is forgotten",
        "link.rs",
        "        if let Err(command) = self.mailbox.push(command) {\n            refuse(command);\n        }",
        "        drop(self.mailbox.push(command));",
    ),
    (
        "a guard ends whatever it was",
        "guard.rs",
        "            .compare_exchange(ACTIVE, status, Ordering::AcqRel, Ordering::Acquire)",
        "            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |_| Some(status))",
    ),
    (
        "a release leaves those who wait for the loss",
        "guard.rs",
        "        self.cell.lost.retire();\n        let held = now.saturating_since(self.cell.granted);\n"
        "        self.cell.target.stats.ended(held, false);\n        let (completer",
        "        let held = now.saturating_since(self.cell.granted);\n"
        "        self.cell.target.stats.ended(held, false);\n        let (completer",
    ),
    (
        "the last handle's end looks at no letters",
        "manager.rs",
        "        if !link.mailbox().is_empty() {\n            return false;\n        }\n",
        "",
    ),
    (
        "a handle joins outside the lock",
        "manager.rs",
        "            link.send(Command::Open { handle });\n            return (Arc::clone(link), false);",
        "            let link = Arc::clone(link);\n            drop(sessions);\n"
        "            link.send(Command::Open { handle });\n            return (link, false);",
    ),
    (
        "an exit does not wait",
        "manager.rs",
        "then: Box::new(move |_| drop(done)),",
        "then: Box::new({\n                    drop(done);\n                    |_| ()\n                }),",
    ),
    (
        "a change of state wakes nobody",
        "state.rs",
        "queue.waker.take()",
        "None",
    ),
]


def run(copy: Path, only: list[str]) -> int:
    environment = dict(os.environ, RUST_BACKTRACE="0")
    # One of its own: cargo would look for changes where the other builds were made.
    target = Path(environment.get("CARGO_TARGET_DIR", ROOT / "target"))
    environment["CARGO_TARGET_DIR"] = str(target / "mutations")
    missed = 0
    for name, file, written, put in MISTAKES:
        if only and name not in only:
            continue
        path = copy / "core/src" / file
        source = path.read_text()
        if source.count(written) < 1:
            print(f"FAIL {name}: its text is not in {file}")
            missed += 1
            continue
        path.write_text(source.replace(written, put, 1))
        command = ["cargo", "test", "--quiet", "-p", "zoolock-threads", "--test", "models"]
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
        path.write_text(source)
        finders = re.findall(r"^test (\S+) +\.\.\. FAILED$", done.stdout, re.MULTILINE)
        finders = finders or re.findall(r"^---- (\S+) ----$", done.stdout, re.MULTILINE)
        if finders:
            print(f"ok {name}: found by {', '.join(finders)}", flush=True)
        else:
            missed += 1
            print(f"FAIL {name}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}", flush=True)
    return missed


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in COPIED:
            source = ROOT / part
            if source.is_dir():
                ignored = shutil.ignore_patterns("node_modules", ".venv", "target", "*.node")
                shutil.copytree(source, copy / part, ignore=ignored)
            else:
                shutil.copy2(source, copy / part)
        missed = run(copy, sys.argv[1:])
    print(f"{missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
