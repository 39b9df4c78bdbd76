"""Draws the results: plots.py RESULTS FOLDER. Each workload that is there gets an SVG and a PNG."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl  # type: ignore[import-not-found]

mpl.use("Agg")
# Texts stay texts, and the same figures give the same file.
mpl.rcParams["svg.fonttype"] = "none"
mpl.rcParams["svg.hashsalt"] = "zoolock"

import matplotlib.pyplot as plt  # type: ignore[import-not-found]  # noqa: E402 - after the choice of how to draw

Row = dict[str, Any]

OURS = "#1f6f8b"
OTHERS = "#b0b0b0"
COMPARED = {
    "uncontended": ("cycle", "Uncontended acquire + release"),
    "paths-16": ("cycles", "16 paths at once from one process"),
    "paths-128": ("cycles", "128 paths at once from one process"),
    "hand-off": ("hand-off", "Hand-off between two processes"),
    "contention": ("grants", "8 processes on one path"),
    "start": ("start", "Start, import, connection and first lock"),
}
"""Of each workload the measure that is drawn, and the title."""

GROWTH = {
    "growth-waiters": ("waiters in one process", ["memory", "requests", "turn", "watches"]),
    "growth-paths": ("paths at once from one process", ["cycles", "requests", "server processor"]),
    "growth-processes": ("processes on one path", ["grants", "requests", "server processor"]),
    "growth-sessions": ("other open sessions", ["cycle", "packets", "server processor"]),
}


def main(results: str, folder: str) -> None:
    rows: list[Row] = json.loads(Path(results).read_text())["rows"]
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for workload, (measure, title) in COMPARED.items():
        these = [row for row in rows if row["workload"] == workload and row["measure"] == measure]
        if these:
            save(bars(these, title), out / workload)
    for workload, (what, measures) in GROWTH.items():
        these = [row for row in rows if row["workload"] == workload]
        if these:
            save(curves(these, what, measures), out / workload)
    print(f"plots are in {out}")


def save(figure: Any, name: Path) -> None:
    # Without a date, for the same reason as above.
    figure.savefig(name.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(name.with_suffix(".png"), dpi=120)
    plt.close(figure)


def label(row: Row) -> str:
    if row["library"] in ("zoolock", "bare socket"):
        return f"{row['library']}, {row['language']}"
    return str(row["name"])


def bars(rows: list[Row], title: str) -> Any:
    """Medians with their quartiles; the bare socket's as a line."""
    figure, axes = plt.subplots(figsize=(8, 0.7 + 0.38 * len(rows)), layout="constrained")
    for place, row in enumerate(reversed(rows)):
        median = row["median"]
        errors = [[median - row["lower_quartile"]], [row["upper_quartile"] - median]]
        color = OURS if row["library"] == "zoolock" else OTHERS
        axes.barh(place, median, xerr=errors, color=color, error_kw={"elinewidth": 1, "capsize": 2})
        ratio = "" if row["ratio"] is None else f"  {row['ratio']['median']:.2f}"
        axes.annotate(ratio, (max(row["upper_quartile"], median), place), va="center")
        if row["name"] == "bare":
            axes.axvline(median, color="black", linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(rows)), [label(row) for row in reversed(rows)])
    axes.set_xlabel(f"{rows[0]['measure']}, {rows[0]['unit'].replace('us', 'µs')}")
    axes.set_title(title)
    axes.margins(x=0.12)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def curves(rows: list[Row], what: str, measures: list[str]) -> Any:
    """A picture for each measure, over the number of what grows."""
    figure, panels = plt.subplots(
        1, len(measures), figsize=(4 * len(measures), 3.2), layout="constrained"
    )
    for axes, measure in zip(panels, measures, strict=True):
        these = [row for row in rows if row["measure"] == measure]
        for name in dict.fromkeys(row["name"] for row in these):
            points = sorted(points_of(these, name))
            axes.plot(
                [at for at, _ in points], [value for _, value in points], marker="o", label=name
            )
        axes.set_xscale("symlog")
        axes.set_ylim(bottom=0)
        axes.set_xlabel(what)
        unit = these[0]["unit"].replace("us", "µs") if these else ""
        axes.set_title(f"{measure}, {unit}" if unit else measure)
        axes.grid(visible=True, linewidth=0.3)
    panels[0].legend()
    return figure


def points_of(rows: Iterable[Row], name: str) -> list[tuple[int, float]]:
    return [(row["at"], row["median"]) for row in rows if row["name"] == name]


if __name__ == "__main__":
    main(*sys.argv[1:])
