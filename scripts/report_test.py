"""Shows that report.py takes nothing but success for success. A test suite of its own."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from report import RULES, check, libtest, rules_of, table

GOOD = """
running 3 tests
test a::r01_one ... ok
test b (line 3) - compile ... ok
test c ... ignored, why

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
ALL_RULES = "".join(f"ok core r{rule:02}_x\n" for rule in RULES)


def libtest_reads_good_output() -> None:
    tests, problems = libtest(GOOD)
    assert tests == [(True, "a::r01_one"), (True, "b (line 3) - compile")]
    assert problems == []


def libtest_reads_names_in_a_column() -> None:
    tests, problems = libtest(GOOD.replace("r01_one ... ok", "r01_one          ... ok"))
    assert (True, "a::r01_one") in tests
    assert problems == []


def libtest_sees_a_failed_test() -> None:
    output = GOOD.replace("r01_one ... ok", "r01_one ... FAILED")
    tests, problems = libtest(output.replace("ok. 2 passed; 0", "FAILED. 1 passed; 1"))
    assert (False, "a::r01_one") in tests
    assert problems == []


def libtest_misses_a_program_that_did_not_end() -> None:
    _, problems = libtest(GOOD.split("test result")[0])
    assert problems[0] == "1 test programs began and 0 ended"


def libtest_misses_a_test_whose_line_was_garbled() -> None:
    assert libtest(GOOD.replace("one ... ok", "one ... noise ok"))[1]


def a_suite_that_agrees_with_itself_passes_the_check() -> None:
    assert check(0, "…\n2 passed, 0 failed\n", ["ok s a", "ok s b"]) == []
    assert check(1, "1 passed, 1 failed\n", ["ok s a", "FAIL s b"]) == []


def silence_is_a_problem() -> None:
    assert "no test was run" in check(0, "0 passed, 0 failed\n", [])


def a_crash_is_a_problem() -> None:
    assert check(139, "1 passed, 0 failed\n", ["ok s a"])
    assert check(0, "Segmentation fault\n", ["ok s a"])
    assert check(0, "", ["ok s a"])


def contradictions_are_problems() -> None:
    assert check(0, "2 passed, 0 failed\n", ["ok s a"])
    assert check(0, "1 passed, 1 failed\n", ["ok s a", "FAIL s b"])


def all_rules_tested_is_a_success() -> None:
    rows, passed, failed = table(ALL_RULES)
    assert (passed, failed) == (20, 0)
    assert rows[1].split() == ["R1", "1", "0", "core"]


def a_rule_without_a_passed_test_is_a_failure() -> None:
    assert table(ALL_RULES.replace("r07_x", "x"))[1:] == (20, 1)
    assert table(ALL_RULES.replace("ok core r07_x", "FAIL core r07_x"))[1:] == (19, 2)


def rules_are_found_in_every_languages_names() -> None:
    assert rules_of("queue::tests::r07_order") == [7]
    assert rules_of("test_locks.py::test_r10_release[x]") == [10]
    assert rules_of("R11 re-enters") == [11]
    assert rules_of("r01_r02_both") == [1, 2]
    assert rules_of("xr01_not floor03_not") == []


TESTS: list[Callable[[], None]] = [
    value
    for value in list(globals().values())
    if callable(value) and getattr(value, "__module__", "") == __name__
]


def main() -> int:
    passed = 0
    for test in TESTS:
        try:
            test()
        except Exception:  # whatever went wrong, the others are still worth running
            traceback.print_exc()
            line = f"FAIL scripts {test.__name__}"
        else:
            passed += 1
            line = f"ok scripts {test.__name__}"
        print(line)
        if report := os.environ.get("ZOOLOCK_TEST_REPORT"):
            with Path(report).open("a") as file:
                file.write(line + "\n")
    print(f"{passed} passed, {len(TESTS) - passed} failed")
    return 0 if passed == len(TESTS) else 1


if __name__ == "__main__":
    sys.exit(main())
