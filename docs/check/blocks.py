"""The code blocks of a page, and what its marks say of how to run them.

A mark is an HTML comment right before a block:

    <!-- session -->            a fragment: `session` is connected (see `languages`)
    <!-- async session -->      the same, in Rust's asynchronous API
    <!-- continues -->          goes on from the block before, as one program
    <!-- tests -->              a file of tests for pytest, or for Node's runner
    <!-- prints: TEXT -->       the program's output has TEXT in it
    <!-- not run: REASON -->    only its syntax is checked, as far as that is possible

Without a mark a block is a program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

MARK = re.compile(r"<!--\s*(?P<text>.*?)\s*-->\s*$")
# Around a table that `make figures` writes.
FIGURES = re.compile(r"<!-- (figures: [a-z0-9-]+|end of figures) -->\s*")
FENCE = re.compile(r"^```(?P<language>[a-z+]+)?\s*$")
DIRECTIVE = re.compile(r"^```\{[a-z]+\}\s*$")
WORDS = {"session", "async session", "continues", "tests"}
CODE = {"python", "js", "rust", "c", "cpp", "sql", "sh"}
PLAIN = {"text", "toml", "ini", "cmake", "properties"}
"""What there is nothing to run of."""


class MarkupError(Exception):
    """A page that cannot be checked."""


@dataclass
class Program:
    """One block, or several that go on from each other."""

    page: str
    line: int
    language: str
    code: str
    form: str = "program"
    prints: list[str] = field(default_factory=list)
    not_run: str | None = None

    @property
    def name(self) -> str:
        return f"{self.page}_line_{self.line} ({self.language})"


def programs(page: Path, name: str) -> list[Program]:
    """The programs of a page, in order."""
    found: list[Program] = []
    marks: list[str] = []
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), start=1))
    for number, line in lines:
        if FIGURES.fullmatch(line):
            continue
        if mark := MARK.fullmatch(line):
            marks.append(mark["text"])
            continue
        if DIRECTIVE.fullmatch(line):
            # Sphinx's own: it checks them.
            while next(lines)[1] != "```":
                pass
            continue
        if not (fence := FENCE.fullmatch(line)):
            if line.startswith("```"):
                raise MarkupError(f"{name}:{number}: what begins here? {line}")
            if marks and line.strip():
                raise MarkupError(f"{name}:{number}: the mark before belongs to no block")
            continue
        language = fence["language"] or ""
        body = []
        for _, inner in lines:
            if inner == "```":
                break
            body.append(inner)
        else:
            raise MarkupError(f"{name}:{number}: the block has no end")
        if language in CODE:
            add(found, Program(name, number, language, "\n".join(body) + "\n"), marks)
        elif language not in PLAIN:
            raise MarkupError(f"{name}:{number}: nobody checks {language or 'no language'}")
        marks = []
    return found


def add(found: list[Program], program: Program, marks: list[str]) -> None:
    """Apply the marks, and join the program to the one before if they say so."""
    continues = False
    for mark in marks:
        key, _, value = mark.partition(":")
        if key == "prints":
            program.prints.append(value.strip())
        elif key == "not run":
            program.not_run = value.strip()
        elif mark == "continues":
            continues = True
        elif mark in WORDS:
            program.form = mark
        else:
            raise MarkupError(f"{program.page}:{program.line}: unknown mark {mark!r}")
    if not continues:
        found.append(program)
        return
    before = next((p for p in reversed(found) if p.language == program.language), None)
    if before is None:
        raise MarkupError(f"{program.page}:{program.line}: nothing to go on from")
    before.code += program.code
    before.prints += program.prints
