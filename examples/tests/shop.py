"""The tests of the shop, the same for each language and database."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from databases import LIMIT, Database

import zoolock
from zoolock.testing import Server

NOBODY = "127.0.0.1:1"
"""Where nothing listens."""


@dataclass
class Outcome:
    status: int
    out: str
    err: str


@dataclass
class Shop:
    """The example of one language, on one database."""

    command: list[str]
    database: Database
    server: Server

    def start(self, *arguments: str, hosts: str | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.command, *arguments],
            env={
                **os.environ,
                "ZOOLOCK_HOSTS": hosts or self.server.hosts,
                "SHOP_DB": self.database.name,
                "NODE_NO_WARNINGS": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, hosts: str | None = None) -> Outcome:
        return finish(self.start(*arguments, hosts=hosts))

    def expect(self, status: int, out: str, *arguments: str) -> None:
        outcome = self.run(*arguments)
        assert (outcome.status, outcome.out) == (status, out), outcome


def finish(process: subprocess.Popen[str]) -> Outcome:
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"it hung; {out!r}, {err!r}") from None
    return Outcome(process.returncode, out, err)


def orders_are_stored_once(shop: Shop) -> None:
    shop.expect(0, "order placed\n", "place", "o-1", "ann", "tea")
    # What a client does that got no answer.
    shop.expect(0, "was placed before\n", "place", "o-1", "ann", "tea")
    shop.expect(0, "order placed\n", "place", "o-2", "ann", "milk")
    orders = shop.database.read("SELECT id, item, token FROM orders ORDER BY id")
    assert [row[:2] for row in orders] == [("o-1", "tea"), ("o-2", "milk")]
    assert 0 < orders[0][2] < orders[1][2]
    assert shop.database.read("SELECT fence FROM customers") == [(orders[1][2],)]


def an_order_waits_for_another_of_the_same_customer(shop: Shop) -> None:
    with zoolock.connect(shop.server.hosts) as session, session.mutex("/locks/order/bob"):
        busy = shop.start("place", "o-1", "bob", "tea")
        shop.expect(0, "order placed\n", "place", "o-2", "ann", "tea")
        outcome = finish(busy)
    assert (outcome.status, outcome.out) == (1, "order in progress\n"), outcome
    assert shop.database.read("SELECT id FROM orders") == [("o-2",)]


def a_batch_is_billed_once(shop: Shop) -> None:
    shop.expect(0, "order placed\n", "place", "o-1", "ann", "tea")
    shop.expect(0, "done\n", "bill", "monday")
    shop.expect(0, "was done before\n", "bill", "monday")
    assert shop.database.read("SELECT invoices FROM customers") == [(1,)]
    # At the same time.
    instances = [shop.start("bill", "tuesday") for _ in range(3)]
    said = sorted(finish(instance).out for instance in instances)
    assert said == ["done\n", "was done before\n", "was done before\n"], said
    assert shop.database.read("SELECT invoices FROM customers") == [(2,)]
    assert shop.database.read("SELECT name FROM batches ORDER BY name") == [
        ("monday",),
        ("tuesday",),
    ]


def a_round_is_skipped_while_another_instance_is_at_it(shop: Shop) -> None:
    with zoolock.connect(shop.server.hosts) as session, session.mutex("/locks/job/billing"):
        shop.expect(0, "skipped: another instance is at it\n", "bill", "monday")
    assert shop.database.read("SELECT name FROM batches") == []


def an_outage_is_not_somebody_elses_lock(shop: Shop) -> None:
    with ThreadPoolExecutor() as threads:
        calls = [("place", "o-1", "ann", "tea"), ("bill", "monday")]
        for outcome in threads.map(lambda call: shop.run(*call, hosts=NOBODY), calls):
            assert (outcome.status, outcome.out) == (1, ""), outcome
            assert "no server" in outcome.err, outcome


def wrong_arguments_are_answered_by_the_usage(shop: Shop) -> None:
    for arguments in [(), ("place", "o-1", "ann"), ("place", "o-1", "an/n", "tea"), ("bill",)]:
        outcome = shop.run(*arguments)
        assert (outcome.status, outcome.out) == (2, ""), outcome
        assert outcome.err.startswith("usage: shop"), outcome


def stop_past_its_lease(shop: Shop, arguments: list[str], path: str, row: str, write: str) -> int:
    """A holder is stopped on its way into the database, and continued when another one has written.

    `write` is what the other one does, with its token for `{token}`. Returns that token.
    """
    with zoolock.connect(shop.server.hosts) as session:
        with shop.database.writing(row) as execute:
            stale = shop.start(*arguments)
            try:
                # It has been granted the lock by then, with a token that will be old.
                shop.database.await_writer(stale.pid)
                stale.send_signal(signal.SIGSTOP)
                # Free when the session of the stopped process has timed out, and not before.
                with session.mutex(path).hold(timeout=LIMIT) as held:
                    token = held.fencing_token
                    execute(write.format(token=token))
            except BaseException:
                stale.kill()
                raise
        # The other one's transaction is committed.
        stale.send_signal(signal.SIGCONT)
        outcome = finish(stale)
    said = re.fullmatch(
        r"refused: a later holder has written, and token (\d+) is old\n", outcome.err
    )
    assert outcome.status == 3, outcome
    assert outcome.out == "", outcome
    assert said is not None, outcome
    assert int(said[1]) < token, outcome
    return token


def r02_a_stale_order_is_refused(shop: Shop) -> None:
    shop.expect(0, "order placed\n", "place", "o-1", "ann", "tea")
    token = stop_past_its_lease(
        shop,
        ["place", "o-stale", "ann", "milk"],
        "/locks/order/ann",
        "customers WHERE name = 'ann'",
        "UPDATE customers SET fence = {token} WHERE name = 'ann' AND fence <= {token}",
    )
    assert shop.database.read("SELECT id FROM orders") == [("o-1",)]
    assert shop.database.read("SELECT fence FROM customers") == [(token,)]
    # Sent once more, under a lock of its own, it is an order like any other.
    shop.expect(0, "order placed\n", "place", "o-stale", "ann", "milk")


def r02_a_stale_job_is_refused(shop: Shop) -> None:
    shop.expect(0, "order placed\n", "place", "o-1", "ann", "tea")
    token = stop_past_its_lease(
        shop,
        ["bill", "monday"],
        "/locks/job/billing",
        "jobs WHERE name = 'billing'",
        "UPDATE jobs SET fence = {token} WHERE name = 'billing' AND fence <= {token}",
    )
    assert shop.database.read("SELECT invoices FROM customers") == [(0,)]
    assert shop.database.read("SELECT name FROM batches") == []
    assert shop.database.read("SELECT fence FROM jobs") == [(token,)]


EVERY_DATABASE = [
    r02_a_stale_order_is_refused,
    r02_a_stale_job_is_refused,
    orders_are_stored_once,
    an_order_waits_for_another_of_the_same_customer,
    a_batch_is_billed_once,
    a_round_is_skipped_while_another_instance_is_at_it,
]
ONE_DATABASE = [an_outage_is_not_somebody_elses_lock, wrong_arguments_are_answered_by_the_usage]
