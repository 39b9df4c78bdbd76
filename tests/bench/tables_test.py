"""Tests of what is made of the results: tables, estimate, and what is skipped.

They report to `$ZOOLOCK_TEST_REPORT`, a line a test.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import estimate
import prepare
import tables

SPREAD = {"median": 426.31, "lower_quartile": 420.0, "upper_quartile": 431.0}


def row(workload: str, name: str, measure: str, unit: str, **more: Any) -> dict[str, Any]:
    library = "zoolock" if name == "c" else "bare socket" if name == "bare" else name
    fixed = {"language": "C", "ratio": None, "at": None, **SPREAD}
    return {
        **fixed,
        "workload": workload,
        "name": name,
        "library": library,
        "measure": measure,
        "unit": unit,
        **more,
    }


def results(*rows: dict[str, Any]) -> dict[str, Any]:
    return {
        "rows": list(rows),
        "targets": [],
        "failures": [],
        "skipped": [],
        "machine": {},
        "versions": {},
    }


def test_a_block_is_written_anew_and_the_rest_kept() -> None:
    page = "before\n<!-- figures: uncontended -->\nold\n<!-- end of figures -->\nafter\n"
    ratio = {"median": 1.043}
    new = tables.filled(
        page, results(row("uncontended", "c", "cycle", "us", ratio=ratio)), results()
    )
    assert new.startswith("before\n<!-- figures: uncontended -->\n| program |")
    assert new.endswith("<!-- end of figures -->\nafter\n")
    assert "| **C** | 426 µs | 420 … 431 | 1.04 |  |  |  |\n" in new
    assert "old" not in new
    assert tables.filled(new, results(), results()).count("\n") == new.count("\n") - 1


def test_counted_figures_stand_beside_the_measured_ones() -> None:
    rows = [row("contention", "c", "grants", "1/s", median=1234.5, ratio={"median": 0.9})]
    rows.append(row("contention", "c", "requests", "", median=5.96))
    assert "| 1 234 /s |" in tables.compared_table(results(*rows), "contention")
    assert "| 0.90 | 5.96 |" in tables.compared_table(results(*rows), "contention")


def test_an_unknown_name_is_an_error() -> None:
    page = "<!-- figures: uncontestd -->\n<!-- end of figures -->"
    try:
        tables.filled(page, results(), results())
    except KeyError:
        return
    raise AssertionError("a figure would have grown old")


def test_growth_has_a_line_for_each_point() -> None:
    rows = [
        row("growth-paths", "rust-async", "cycles", "1/s", at=at, median=at * 2.0)
        for at in (1, 10_000)
    ]
    text = tables.growth_table(results(*rows), "growth-paths")
    assert text.splitlines()[2:] == ["| 1 | 2.00 /s |", "| 10 000 | 20 000 /s |"]


def test_what_failed_or_was_skipped_is_told() -> None:
    found = results()
    assert tables.failures(found) == "None.\n"
    found["skipped"] = [{"name": "etcd", "reason": "no server"}]
    assert "| all | etcd | skipped: no server |" in tables.failures(found)


def test_the_estimate_lies_between_its_bounds() -> None:
    costs = estimate.Costs(cycle_micros=300.0, bytes=600.0)
    alone = estimate.cycles_per_second(costs, 1)
    assert alone[0] == alone[1] == estimate.CORES * 1e6 / 300.0
    for servers in (3, 5):
        least, most = estimate.cycles_per_second(costs, servers)
        assert least < alone[0] < most
    assert estimate.cycles_per_second(costs, 5)[0] < estimate.cycles_per_second(costs, 3)[0]
    assert (estimate.rounded(12345.0), estimate.rounded(87.4)) == ("12 000", "87")


def test_the_estimate_takes_the_busiest_point() -> None:
    rows = []
    for at, processor in ((1, 500.0), (256, 200.0)):
        rows.append(
            row("growth-paths", "rust-async", "server processor", "us", at=at, median=processor)
        )
        rows.append(row("growth-paths", "rust-async", "bytes", "B", at=at, median=float(at)))
    assert estimate.measured(results(*rows)) == estimate.Costs(200.0, 256.0)
    assert estimate.measured(results()) is None


def test_a_library_that_cannot_be_had_is_skipped_with_its_reason() -> None:
    def make() -> prepare.Library:
        raise prepare.Unavailable("no server")

    libraries: list[prepare.Library] = []
    skipped: list[dict[str, str]] = []
    prepare.attempt(make, "etcd", libraries, skipped)
    assert (libraries, skipped) == ([], [{"name": "etcd", "reason": "no server"}])


def main() -> int:
    passed = failed = 0
    report = os.environ.get("ZOOLOCK_TEST_REPORT")
    for name, test in sorted(globals().items()):
        if not name.startswith("test_"):
            continue
        try:
            test()
        except Exception:
            traceback.print_exc()
            outcome, failed = "FAIL", failed + 1
        else:
            outcome, passed = "ok", passed + 1
        line = f"{outcome} bench {name.removeprefix('test_')}"
        print(line)
        if report:
            with Path(report).open("a") as file:
                print(line, file=file)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
