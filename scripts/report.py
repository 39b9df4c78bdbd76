#!/usr/bin/env python3
"""Collects the results of all test suites in one file, and sums them up.

The file has a line for each test: `ok SUITE NAME` or `FAIL SUITE NAME`. A suite that crashes, runs
nothing, or says something else at its end than its lines do gets a FAIL line of its own, so that
silence never passes for success.

report.py libtest SUITE OUTPUT REPORT
    adds the tests that cargo's OUTPUT tells of
report.py check SUITE STATUS OUTPUT REPORT LINES_BEFORE
    holds the suite's lines against its exit STATUS and its end
report.py table REPORT
    prints which rules of the contract were tested, and the sum
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

RULES = range(1, 21)
TEST = re.compile(r"^test (?P<name>.+?) +\.\.\. (?P<outcome>ok|FAILED|ignored)\b")
BINARY = re.compile(r"^running \d+ tests?$")
RESULT = re.compile(r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed;")
CLOSING = re.compile(r"^(?P<passed>\d+) passed, (?P<failed>\d+) failed(, \d+ skipped)?$")
# `r07_…` in Rust, Python and C, `R07 …` in Node; a name may show several rules.
RULE = re.compile(r"(?<![A-Za-z0-9])(?:test_)?[rR](\d\d)(?=[_ ])")


def libtest(output: str) -> tuple[list[tuple[bool, str]], list[str]]:
    """The tests in libtest's output, and what is wrong with the output."""
    tests: list[tuple[bool, str]] = []
    binaries = results = passed = failed = 0
    for line in output.splitlines():
        if BINARY.match(line):
            binaries += 1
        elif match := RESULT.match(line):
            results += 1
            passed += int(match["passed"])
            failed += int(match["failed"])
        elif (match := TEST.match(line)) and match["outcome"] != "ignored":
            tests.append((match["outcome"] == "ok", match["name"]))
    problems = []
    if binaries != results:
        problems.append(f"{binaries} test programs began and {results} ended")
    seen = Counter(ok for ok, _ in tests)
    if (seen[True], seen[False]) != (passed, failed):
        problems.append(
            f"{seen[True]} tests were seen to pass and {seen[False]} to fail; "
            f"{passed} and {failed} were counted"
        )
    return tests, problems


def check(status: int, output: str, lines: list[str]) -> list[str]:
    """What does not fit together in what a suite did; `lines` are its own."""
    passed = sum(line.startswith("ok ") for line in lines)
    failed = sum(line.startswith("FAIL ") for line in lines)
    problems = []
    if not lines:
        problems.append("no test was run")
    if status != 0 and failed == 0:
        problems.append(f"it ended with status {status}")
    if status == 0 and failed != 0:
        problems.append("it ended with status 0 although tests failed")
    last = output.rstrip().rsplit("\n", 1)[-1]
    closing = CLOSING.match(last)
    if closing is None:
        problems.append("it did not end with its sum")
    elif (int(closing["passed"]), int(closing["failed"])) != (passed, failed):
        problems.append(f"it ended with `{last}` but reported {passed} passed and {failed} failed")
    return problems


def rules_of(name: str) -> list[int]:
    """The rules that a test's name says it shows."""
    return [int(number) for number in RULE.findall(name)]


def table(report: str) -> tuple[list[str], int, int]:
    """The lines to print, and how many passed and failed.

    A rule without a passed test counts as a failure.
    """
    entries = [line.split(" ", 2) for line in report.splitlines()]
    rows = [f"{'rule':<5} {'passed':>6} {'failed':>6}  suites"]
    untested = 0
    for rule in RULES:
        tests = [(mark, suite) for mark, suite, name in entries if rule in rules_of(name)]
        passed = sum(mark == "ok" for mark, _ in tests)
        suites = " ".join(dict.fromkeys(suite for _, suite in tests))
        if passed == 0:
            untested += 1
            suites = f"{suites} NO TEST PASSED".strip()
        rows.append(f"{f'R{rule}':<5} {passed:>6} {len(tests) - passed:>6}  {suites}")
    failures = [f"FAIL {suite}: {name}" for mark, suite, name in entries if mark != "ok"]
    passed = len(entries) - len(failures)
    return rows + failures, passed, len(failures) + untested


def append(report: Path, lines: list[str]) -> None:
    with report.open("a") as file:
        file.writelines(line + "\n" for line in lines)


def main(command: str, *args: str) -> int:
    if command == "libtest":
        suite, output, report = args
        tests, problems = libtest(Path(output).read_text(errors="replace"))
        lines = [f"{'ok' if ok else 'FAIL'} {suite} {name}" for ok, name in tests]
        lines += [f"FAIL {suite} ({problem})" for problem in problems]
        append(Path(report), lines)
        failed = sum(line.startswith("FAIL") for line in lines)
        with Path(output).open("a") as file:
            file.write(f"{len(lines) - failed} passed, {failed} failed\n")
        return 0
    if command == "check":
        suite, status, output, report, before = args
        lines = Path(report).read_text(errors="replace").splitlines()[int(before) :]
        problems = check(int(status), Path(output).read_text(errors="replace"), lines)
        append(Path(report), [f"FAIL {suite} ({problem})" for problem in problems])
        return 0
    if command == "table":
        rows, passed, failed = table(Path(args[0]).read_text(errors="replace"))
        print("\n".join(rows))
        print(f"{passed} passed, {failed} failed")
        return 0 if failed == 0 and passed > 0 else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
