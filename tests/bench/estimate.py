"""On paper: what three and five servers carry, from what a request costs one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Results = dict[str, Any]

WRITES, READS = 2, 1
"""Of an uncontended cycle: create and delete; the listing."""

CORES = 2.0
"""Of each server on paper; a server of one's own has as many as it likes."""


@dataclass
class Costs:
    """Processor time of one server for one cycle, in microseconds; bytes on the wire."""

    cycle_micros: float
    bytes: float


def measured(growth: Results) -> Costs | None:
    """From the paths' curve where the server was busiest: it spends no time on waking up there."""
    rows = [
        row for row in growth["rows"] if row["workload"] == "growth-paths" and row["name"] != "bare"
    ]
    processor = {row["at"]: row["median"] for row in rows if row["measure"] == "server processor"}
    sent = {row["at"]: row["median"] for row in rows if row["measure"] == "bytes"}
    if not processor:
        return None
    busiest = min(processor, key=lambda at: processor[at])
    return Costs(processor[busiest], sent[busiest])


def cycles_per_second(costs: Costs, servers: int) -> tuple[float, float]:
    """What the leader's processor carries, at the least and at the most.

    Every server applies every write, so more servers carry no more of them; reads are done by the
    server that the client is connected to. The leader sends each write to each follower, gets its
    acknowledgement, and sends the commit: three messages a follower, which cost no more than a
    request of a client each, and no less than nothing. A request is a third of a cycle.
    """
    request = costs.cycle_micros / (WRITES + READS)
    # Its share of the listings: clients are spread over all servers.
    own = request * (WRITES + READS / servers)
    messages = 3 * WRITES * (servers - 1) * request
    return CORES * 1e6 / (own + messages), CORES * 1e6 / own


def estimate(growth: Results) -> str:
    costs = measured(growth)
    if costs is None:
        return "Not measured.\n"
    lines = [
        "| servers | cycles a second, at least | at most |\n",
        "| --- | --- | --- |\n",
        *(line(costs, servers) for servers in (1, 3, 5)),
    ]
    return "".join(lines)


def line(costs: Costs, servers: int) -> str:
    least, most = cycles_per_second(costs, servers)
    return f"| {servers} | {rounded(least)} | {rounded(most)} |\n"


def rounded(value: float) -> str:
    """To two digits: it is an estimate."""
    digits = 10 ** max(len(str(int(value))) - 2, 0)
    return f"{int(round(value / digits) * digits):,}".replace(",", " ")
