#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each operation costs as a data folder grows, and with which exponent: 0 is flat, 1 grows with the size.

  make bench-growth                                            # about five minutes
  make bench-growth GROWTH_SIZES=10000,100000,1000000,4000000
  make bench-growth GROWTH_ARGS='--only orders'                # one folder with ever more orders; or: others

Processor time is of the named threads, from /proc; it hardly depends on what else the machine does. What could not be
measured has no figure but a reason, and the exit status is 1.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import growth_bans  # noqa: E402
import growth_orders  # noqa: E402
import growth_reads  # noqa: E402
import growth_rooms  # noqa: E402
import growth_sales  # noqa: E402
import growth_start  # noqa: E402
import growth_users  # noqa: E402
import long_year  # noqa: E402
from bars import Ended  # noqa: E402
from growth_kit import exponent, shop, thread_seconds  # noqa: E402
from growth_moves import PRICE, request  # noqa: E402
from kit import harness  # noqa: E402
from measure import MeasureError  # noqa: E402
from stampede import ADMIN_KEY, FIRST_WINNER  # noqa: E402

SIZES = tuple(int(size) for size in (os.environ.get("GROWTH_SIZES") or "10000,100000,400000").split(","))
SAMPLE = 5000     # requests, of those that are cheap
FEW = 100         # of those that are not
PAGE = 4096
TROUBLE = (Ended, MeasureError, harness.Failure, harness.Closed, OSError, ValueError, KeyError, RuntimeError, IndexError,
           subprocess.SubprocessError)


class Table:
    """Rows of costs by size; a cost that is a text is the reason why there is none."""
    def __init__(self):
        self.rows = {}
        self.complete = True

    def add(self, name, unit, size, measure):
        began = time.monotonic()
        try:
            cost = float(measure())
        except TROUBLE as trouble:
            cost = f"not measured: {trouble}"
            self.complete = False
        print(f"{name} at {size:,}: {cost} ({time.monotonic() - began:.1f} s)", file=sys.stderr, flush=True)
        self.rows.setdefault((name, unit), {})[size] = cost

    def add_costs(self, name, measure):
        """measure() answers what growth_kit.told takes."""
        try:
            sizes, costs, unit, what = measure()
        except TROUBLE as trouble:
            self.complete = False
            print(f"{name}: not measured: {trouble}", file=sys.stderr, flush=True)
            self.rows[(name, "")] = {}
            return
        for size, cost in zip(sizes, costs):
            self.rows.setdefault((what, unit), {})[size] = cost

    def show(self):
        for (name, unit), costs in self.rows.items():
            known = {size: cost for size, cost in costs.items() if not isinstance(cost, str)}
            figures = ", ".join(f"{cost:,.0f} at {size:,}" if cost >= 100 else f"{cost:.3g} at {size:,}" for size, cost in known.items()) or "not measured"
            grows = f"exponent {exponent(list(known), list(known.values())):.2f}" if len(known) > 1 else "no exponent"
            print(f"{name:<38} {unit:<34} {figures}; {grows}")


class Folder:
    """A server whose one item gets ever more orders."""
    def __init__(self, lab, server):
        self.lab, self.server, self.orders = lab, server, 0
        self.item = server.item_for("win")
        self.sale = json.loads(growth_reads.admin_get(f"/items/{self.item}")(server)[1])["sale"]
        self.own, self.paid = 0, 0  # orders besides; orders that were paid
        self.before_start = 0       # orders that the present process has not written

    def fast(self):
        """Processor time of everything that answers buyers."""
        return thread_seconds(self.server, "edge-0", "journal", "inventory")

    def grow(self, size, table):
        last = min(SAMPLE, size - self.orders)
        growth_reads.orders_make(self.lab, self.server, size - self.orders - last)
        self.drain(size - last)
        worker = thread_seconds(self.server, "worker")
        before, bytes_before = self.fast(), self.journal_bytes()
        growth_reads.orders_make(self.lab, self.server, last)
        table.add("win", "µs of edge and journal", size, lambda: (self.fast() - before) / last * 1e6)
        self.drain(size)
        table.add("order writing", "µs of the worker", size,
                  lambda: (thread_seconds(self.server, "worker") - worker) / last * 1e6)
        table.add("journal, a flood of wins", "bytes a record", size, lambda: (self.journal_bytes() - bytes_before) / last)
        self.orders = size

    def drain(self, size):
        self.server.orders_drain(size + self.own - self.before_start)

    def journal_bytes(self):
        """Of whole pages that are written."""
        used = 0
        for path in self.server.journal_files(""):
            with open(path, "rb") as file:
                used += -(-len(file.read().rstrip(b"\0")) // PAGE) * PAGE
        return used

    def answered(self, source, status, count=SAMPLE):
        """µs of the edge for each of `count` requests."""
        before = self.fast()
        result = self.lab.load.run(self.server.port, source, 64, 1, 60, 0, ["--count", str(count)])
        if result["status"] != {str(status): count}:
            raise Ended(f"expected {status}: {result['status']}")
        return (self.fast() - before) / count * 1e6

    def views(self):
        template = growth_reads.view_template(self.server, self.item)
        self.own += 1
        return ["--template", self.lab.template(template)]

    def own_orders(self, source):
        with open(source[1], encoding="ascii", newline="") as file:
            text = file.read()
        return ["--template", self.lab.template(text.replace(text.split()[1], "/v1/orders", 1))]

    def slow(self, source):
        """µs for each of all threads but those that answer buyers: who reads the database."""
        def used():
            return self.server.cpu_seconds() - self.fast()
        before = used()
        self.answered(source, 200)
        return (used() - before) / SAMPLE * 1e6

    def read_ms(self, path):
        took = []
        for _ in range(5):
            began = time.monotonic()
            status, body = growth_reads.admin_get(path)(self.server)
            took.append((time.monotonic() - began) * 1000)
            if status != 200:
                raise Ended(f"{path}: {status} {body[:120]!r}")
        return statistics.median(took)

    def pay(self):
        """µs of the worker for a payment."""
        _, body = growth_reads.admin_get(f"/orders?item={self.item}&state=pending&limit={FEW}")(self.server)
        orders = [row["view"]["order"] for row in json.loads(body)["orders"]][:FEW]
        path = self.lab.path("requests")
        with open(path, "w", encoding="ascii", newline="") as file:
            for number, order in enumerate(orders):
                text = request("POST", f"/admin/v1/orders/{order}/paid", {"Authorization": f"Bearer {ADMIN_KEY}"},
                               f'{{"amount":{PRICE},"currency":"CNY","reference":"growth-{self.paid + number}"}}')
                file.write(f"{len(text)}\n{text}")
        self.paid += len(orders)
        before = thread_seconds(self.server, "worker")
        result = self.lab.load.run(self.server.port, ["--requests", path, "--once"], 16, 1, 60, 0, ["--count", str(len(orders))])
        if result["status"] != {"200": len(orders)} or not orders:
            raise Ended(f"{len(orders)} payments: {result['status']}")
        return (thread_seconds(self.server, "worker") - before) / len(orders) * 1e6

    def slow_wins(self):
        """Journal bytes a win when wins come one by one."""
        before = self.journal_bytes()
        source = self.server.make_requests("win", FEW)
        result = self.lab.load.run(self.server.port, source, 1, 1, 60, 0, ["--count", str(FEW), "--rate", str(FEW)])
        self.server.wins_sent(FEW)
        self.own += FEW
        if result["status"] != {"202": FEW}:
            raise Ended(f"expected 202: {result['status']}")
        return (self.journal_bytes() - before) / FEW

    def restart(self, table):
        """Verifies while it is stopped; seconds until it is ready again."""
        self.drain(self.orders)
        self.before_start = self.orders + self.own
        self.server.stop()
        began = time.monotonic()
        done = subprocess.run(self.server.verify_command(), capture_output=True, text=True, check=False)
        seconds = time.monotonic() - began
        if done.returncode != 0:
            raise Ended(f"verify: exit {done.returncode}: {done.stderr.strip()[:200]}")
        table.add("verify, whole", "s", self.orders, lambda: seconds)
        began = time.monotonic()
        self.server.start()
        return time.monotonic() - began


def limits_rows(folder):
    """Each of many users asks again: their rows are looked up in turn."""
    count = min(folder.orders, 100000)
    return folder.answered(folder.server.requests_of(folder.item, FIRST_WINNER, count), 409, count)


def orders(table):
    """One folder, one item, ever more orders."""
    largest = max(SIZES)
    with shop(2 * largest + 100000, ["reconcile.interval_ms=0"], cores="0-1") as (lab, server):
        folder = Folder(lab, server)
        refusals = server.make_requests("sold_out", 0)
        folder.own += 1
        for size in sorted(SIZES):
            folder.grow(size, table)
            table.add("refusal", "µs of the edge", size, lambda: folder.answered(refusals, 409))
            table.add("limits: rows of so many users", "µs of the edge", size, lambda: limits_rows(folder))
            view = folder.views()
            table.add("order view", "µs of the database's threads", size, lambda: folder.slow(view))
            table.add("own orders", "µs of the database's threads", size, lambda: folder.slow(folder.own_orders(view)))
            table.add("counts of an item", "ms", size, lambda: folder.read_ms(f"/items/{folder.item}/counts"))
            table.add("report of a sale", "ms", size, lambda: folder.read_ms(f"/sales/{folder.sale}/report"))
            table.add("page of an item's orders", "ms", size, lambda: folder.read_ms(f"/orders?item={folder.item}"))
            table.add("payment", "µs of the worker", size, folder.pay)
            table.add("catalog edit", "ms of the worker", size, lambda: long_year.edit_ms(server, folder.sale))
            table.add("reconciliation, whole", "s", size, lambda: growth_reads.reconcile_s(server, False))
            table.add("reconciliation of a minute", "s", size, lambda: growth_reads.reconcile_s(server, True))
            table.add("journal, wins one by one", "bytes a record", size, folder.slow_wins)
            table.add("start", "s", size, lambda: folder.restart(table))


def others(table):
    """What grows with something else than orders."""
    def within(sizes, largest):
        return tuple(size for size in sizes if size <= largest)
    largest = max(SIZES)
    table.add_costs("ban", lambda: growth_bans.next_ban(growth_bans.SIZES))
    table.add_costs("past sales", lambda: growth_sales.idle_worker(within(growth_sales.SIZES, largest)))
    table.add_costs("eligible users", lambda: growth_users.loading(within(growth_users.SIZES, largest)))
    table.add_costs("catalog edit, items", lambda: long_year.edits(shop, within((1000, 10000, 100000), max(10000, largest // 40))))
    both = []  # measured in one go
    items = within(growth_orders.SIZES, max(10000, largest // 40))
    table.add_costs("own orders, items", lambda: both.extend(growth_orders.own_orders_costs(items)) or both[0])
    table.add_costs("push connect", lambda: both[1])
    years = []  # likewise
    table.add_costs("start, items", lambda: years.extend(growth_start.costs(items)) or years[0])
    table.add_costs("front page", lambda: years[1])
    table.add_costs("waiting rooms", lambda: growth_rooms.restarts(within(growth_rooms.SIZES, max(32, largest // 10000)))[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"orders": orders, "others": others}
    parser.add_argument("--only", choices=list(parts), help="one half")
    chosen = parser.parse_args().only
    began, table = time.monotonic(), Table()
    for name, part in parts.items():
        if chosen in (None, name):
            part(table)
    table.show()
    print(f"bench-growth: {'everything was measured' if table.complete else 'something was not measured'} "
          f"({time.monotonic() - began:.0f} s)")
    return 0 if table.complete else 1


if __name__ == "__main__":
    sys.exit(main())
