"""The programs of the READMEs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from artefacts import ROOT

READMES = {
    "python": ("README.md", "py/README.md"),
    "js": ("README.md", "node/README.md"),
    "c": ("README.md", "ffi-c/README.md"),
    "cpp": ("README.md", "ffi-c/README.md"),
    "rust": ("README.md",),
}
# A program that brings its own server, or a test for the language's runner. The rest are parts
# of programs.
WHOLE = {
    "python": r"testing import Server|def test_",
    "js": r"startTestServer|node:test",
    "c": r"int main\(",
    "cpp": r"int main\(",
    "rust": r"fn main\(",
}
IS_TEST = {"python": r"def test_", "js": r"node:test"}
# What a program connects to.
HOSTS = {
    "python": r"server\.hosts",
    "js": r"server\.hosts",
    "c": r"zoolock_test_server_hosts\(server\)",
    "cpp": r"server\.hosts\(\)|zoolock_test_server_hosts\(server\)",
    "rust": r"&server\.hosts\(\)",
}
# The embedded server alone obeys these.
ORDERS = re.compile(r"\b(zoolock_test_server_)?(expire|cut|freeze|thaw|delay|refuse)\w*\(")


@dataclass(frozen=True)
class Program:
    """A program as it is shown."""

    name: str
    language: str
    text: str

    @property
    def is_test(self) -> bool:
        pattern = IS_TEST.get(self.language)
        return bool(pattern and re.search(pattern, self.text))

    @property
    def can_connect_elsewhere(self) -> bool:
        return bool(re.search(HOSTS[self.language], self.text)) and not ORDERS.search(self.text)

    def connecting_to(self, hosts: str) -> str:
        """The program with other servers, as its comment tells the reader to do."""
        changed, count = re.subn(HOSTS[self.language], f'"{hosts}"', self.text)
        assert count > 0, self.name
        return changed


def programs(language: str, *, tests: bool = False) -> list[Program]:
    """Those that are whole: tests for the language's test runner, or all others."""
    found = []
    for readme in READMES[language]:
        text = (ROOT / readme).read_text()
        blocks = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        for number, block in enumerate(blocks, 1):
            if re.search(WHOLE[language], block):
                found.append(Program(f"{readme}:{number}", language, block))
    return [program for program in found if program.is_test == tests]


def elsewhere(language: str) -> list[Program]:
    """Those that can be given other servers."""
    return [program for program in programs(language) if program.can_connect_elsewhere]


def prints_a_token(output: str) -> bool:
    return bool(re.search(r"^fencing token \d+$", output, re.MULTILINE))
