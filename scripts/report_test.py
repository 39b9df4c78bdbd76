"""Shows that nothing but success is taken for success by report.py. Run as a program, it is a test suite of its own."""

from __future__ import annotations

import os
import sys
import unittest
from pathlib import Path

import report

GOOD = """
running 3 tests
test a::r01_one ... ok
test b (line 3) - compile ... ok
test c ... ignored, why

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


class Libtest(unittest.TestCase):
    def test_good_output_is_read(self) -> None:
        tests, problems = report.libtest(GOOD)
        self.assertEqual(tests, [(True, "a::r01_one"), (True, "b (line 3) - compile")])
        self.assertEqual(problems, [])

    def test_a_failed_test_is_seen(self) -> None:
        output = GOOD.replace("r01_one ... ok", "r01_one ... FAILED").replace("ok. 2 passed; 0", "FAILED. 1 passed; 1")
        tests, problems = report.libtest(output)
        self.assertIn((False, "a::r01_one"), tests)
        self.assertEqual(problems, [])

    def test_a_program_that_did_not_end_is_a_problem(self) -> None:
        self.assertTrue(report.libtest(GOOD.split("test result")[0])[1])

    def test_a_line_that_was_garbled_is_a_problem(self) -> None:
        self.assertTrue(report.libtest(GOOD.replace("one ... ok", "one ... noise ok"))[1])


class Check(unittest.TestCase):
    def test_a_suite_that_agrees_with_itself_passes(self) -> None:
        self.assertEqual(report.check(0, "…\n2 passed, 0 failed\n", ["ok s a", "ok s b"]), [])
        self.assertEqual(report.check(1, "1 passed, 1 failed\n", ["ok s a", "FAIL s b"]), [])

    def test_silence_is_a_problem(self) -> None:
        self.assertIn("no test was run", report.check(0, "0 passed, 0 failed\n", []))

    def test_a_crash_is_a_problem(self) -> None:
        self.assertTrue(report.check(139, "1 passed, 0 failed\n", ["ok s a"]))
        self.assertTrue(report.check(0, "Segmentation fault\n", ["ok s a"]))
        self.assertTrue(report.check(0, "", ["ok s a"]))

    def test_contradictions_are_problems(self) -> None:
        self.assertTrue(report.check(0, "2 passed, 0 failed\n", ["ok s a"]))
        self.assertTrue(report.check(0, "1 passed, 1 failed\n", ["ok s a", "FAIL s b"]))


class Table(unittest.TestCase):
    ALL = "".join(f"ok core r{rule:02}_x\n" for rule in report.RULES)

    def test_all_rules_tested_and_passed(self) -> None:
        rows, passed, failed = report.table(self.ALL)
        self.assertEqual((passed, failed), (20, 0))
        self.assertEqual(rows[1].split(), ["R1", "1", "0", "core"])

    def test_a_rule_without_a_passed_test_fails(self) -> None:
        self.assertEqual(report.table(self.ALL.replace("r07_x", "x"))[2], 1)
        self.assertEqual(report.table(self.ALL.replace("ok core r07_x", "FAIL core r07_x"))[2], 2)

    def test_rules_are_found_in_every_languages_names(self) -> None:
        self.assertEqual(report.rules_of("queue::tests::r07_order"), [7])
        self.assertEqual(report.rules_of("test_locks.py::test_r10_release[x]"), [10])
        self.assertEqual(report.rules_of("R11 re-enters"), [11])
        self.assertEqual(report.rules_of("r01_r02_both"), [1, 2])
        self.assertEqual(report.rules_of("xr01_not floor03_not"), [])


class Recorded(unittest.TextTestResult):
    """Adds each test to the collected report."""

    def add(self, mark: str, test: unittest.TestCase) -> None:
        if path := os.environ.get("ZOOLOCK_TEST_REPORT"):
            with Path(path).open("a") as file:
                file.write(f"{mark} scripts {test.id()}\n")

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.add("ok", test)

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        super().addFailure(test, err)  # type: ignore[arg-type]
        self.add("FAIL", test)

    def addError(self, test: unittest.TestCase, err: object) -> None:
        super().addError(test, err)  # type: ignore[arg-type]
        self.add("FAIL", test)


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(resultclass=Recorded).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(0 if result.wasSuccessful() else 1)
