"""Puts figures into pages.

tables.py RESULTS GROWTH PAGE…. In a page, what stands between `<!-- figures: NAME -->` and
`<!-- end of figures -->` is written anew; `NAME` is a workload, or one of `machine`, `targets`,
`estimate`, `failures`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from estimate import estimate

Row = dict[str, Any]
Results = dict[str, Any]

BLOCK = re.compile(r"(<!-- figures: ([a-z0-9-]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
MEASURES = {
    "uncontended": "cycle",
    "kept": "cycle",
    "paths-16": "cycles",
    "paths-128": "cycles",
    "hand-off": "hand-off",
    "contention": "grants",
    "start": "start",
}
UNITS = {"us": "µs", "ms": "ms", "1/s": "/s", "": "", "B": "B", "%": "%"}
COUNTED = {
    "uncontended": ["requests", "flights", "bytes"],
    "kept": ["acquire", "requests"],
    "paths-16": ["requests"],
    "paths-128": ["requests"],
    "hand-off": ["requests", "bytes"],
    "contention": ["requests", "bytes", "fairness"],
    "start": ["beyond interpreter"],
}


def main(results: str, growth: str, *pages: str) -> None:
    compared = json.loads(Path(results).read_text())
    grown = json.loads(Path(growth).read_text())
    for page in pages:
        path = Path(page)
        path.write_text(filled(path.read_text(), compared, grown))


def filled(text: str, compared: Results, grown: Results) -> str:
    """The page with its tables anew; an unknown name is an error: its figures would grow old."""
    return BLOCK.sub(lambda found: found[1] + table(found[2], compared, grown) + found[3], text)


def table(name: str, compared: Results, grown: Results) -> str:
    if name in MEASURES:
        return compared_table(compared, name)
    if name.startswith("waiters-"):
        return waiters_table(compared, name)
    if name.startswith("growth-"):
        return growth_table(grown, name)
    others: dict[str, Callable[[], str]] = {
        "machine": lambda: machine(compared),
        "targets": lambda: targets(compared),
        "failures": lambda: failures(compared),
        "estimate": lambda: estimate(grown),
    }
    return others[name]()


def markdown(head: list[str], lines: list[list[str]]) -> str:
    rule = ["---"] * len(head)
    return "".join("| " + " | ".join(line) + " |\n" for line in [head, rule, *lines])


def figure(value: float) -> str:
    """With about three digits."""
    if abs(value) >= 100:
        return f"{value:,.0f}".replace(",", " ")
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"


def ratio_figure(ratio: float) -> str:
    """With two decimals; what costs next to nothing, with one digit that says how little."""
    return f"{ratio:.2f}" if ratio >= 0.01 else f"{ratio:.1g}"


def with_unit(value: float, unit: str) -> str:
    return f"{figure(value)} {UNITS[unit]}".strip()


def title(row: Row) -> str:
    if row["library"] == "zoolock":
        return f"**{row['language']}**"
    if row["name"] == "bare":
        return "bare socket"
    return f"{row['name']} ({row['language'].split(',')[0]})"


def find(rows: list[Row], name: str, measure: str) -> Row | None:
    for row in rows:
        if row["name"] == name and row["measure"] == measure:
            return row
    return None


def compared_table(results: Results, workload: str) -> str:
    rows = [row for row in results["rows"] if row["workload"] == workload]
    measure, counted = MEASURES[workload], COUNTED[workload]
    lines = []
    for row in (row for row in rows if row["measure"] == measure):
        spread = f"{figure(row['lower_quartile'])} … {figure(row['upper_quartile'])}"
        ratio = "" if row["ratio"] is None else ratio_figure(row["ratio"]["median"])
        more = [find(rows, row["name"], name) for name in counted]
        cells = ["" if one is None else with_unit(one["median"], one["unit"]) for one in more]
        lines.append([title(row), with_unit(row["median"], row["unit"]), spread, ratio, *cells])
    return markdown(["program", "median", "quartiles", "ratio to the bare socket", *counted], lines)


def waiters_table(results: Results, workload: str) -> str:
    rows = [row for row in results["rows"] if row["workload"] == workload]
    measures = ["memory", "objects", "threads", "watches", "requests", "turn"]
    lines = []
    for row in (row for row in rows if row["measure"] == "memory"):
        cells = [find(rows, row["name"], measure) for measure in measures]
        lines.append(
            [
                title(row),
                *("" if one is None else with_unit(one["median"], one["unit"]) for one in cells),
            ]
        )
    head = [
        "memory each",
        "of it the language's own",
        "threads",
        "watches each",
        "requests each",
        "turn",
    ]
    return markdown(["program", *head], lines)


def growth_table(results: Results, workload: str) -> str:
    rows = [row for row in results["rows"] if row["workload"] == workload and row["name"] != "bare"]
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    several = len({row["name"] for row in rows}) > 1
    lines = []
    for name, at in dict.fromkeys((row["name"], row["at"]) for row in rows):
        these = [row for row in rows if row["name"] == name and row["at"] == at]
        cells = [find(these, name, measure) for measure in measures]
        shown = ["" if one is None else with_unit(one["median"], one["unit"]) for one in cells]
        lines.append([*([name] if several else []), figure_of_count(at), *shown])
    head = [*(["program"] if several else []), workload.removeprefix("growth-"), *measures]
    return markdown(head, lines)


def figure_of_count(count: int) -> str:
    return f"{count:,}".replace(",", " ")


def machine(results: Results) -> str:
    facts = {**results["machine"], **results["versions"]}
    return markdown(["what", "which"], [[name, value] for name, value in facts.items()])


def targets(results: Results) -> str:
    lines = [
        [
            one["workload"],
            one["name"],
            one["target"],
            figure(one["seen"]),
            "yes" if one["met"] else "**no**",
        ]
        for one in results["targets"]
    ]
    return markdown(["workload", "program", "target", "seen", "met"], lines)


def failures(results: Results) -> str:
    lines = [[one["workload"], one["name"], one["reason"]] for one in results["failures"]]
    lines += [["all", one["name"], f"skipped: {one['reason']}"] for one in results["skipped"]]
    return markdown(["workload", "program", "what"], lines) if lines else "None.\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
