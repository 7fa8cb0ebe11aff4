#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a hot hour and a long year cost, one line per bar with its figure.

  make check-growth
  make check-growth GROWTH_ARGS='--bars 1'

Numbers are those of the bars, but 6: the rows of `make bench` that have a goal of growth. The last lines say which are met,
which are not, and where a miss is explained. Exit status 1 if a bar is missed. Leave the machine alone meanwhile.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import growth_bans  # noqa: E402
import growth_journal  # noqa: E402
import growth_moves  # noqa: E402
import growth_orders  # noqa: E402
import growth_push  # noqa: E402
import growth_reads  # noqa: E402
import growth_rooms  # noqa: E402
import growth_sales  # noqa: E402
import growth_speed  # noqa: E402
import growth_start  # noqa: E402
import growth_users  # noqa: E402
import long_year  # noqa: E402
from bars import BUILD_ROOT, Ended, main  # noqa: E402
from growth_kit import EXPONENT_MAX, shop, told  # noqa: E402

USERS = 130000
USERS_SECONDS = 10
RETURNS = 20000
RETURNS_SECONDS = 5
RETURNS_WINS_PER_S = 15000
RETURNS_PATIENCE_SECONDS = 40
PAY_WINDOW_MS = 15000
MOVES_PER_S = 10000
WRITING_ORDERS = 4000000
WRITING_PER_S = 100000


def strangers():
    """Each user buys once; the limit by user is the default."""
    with shop(2 * USERS, ["limits.user_requests=10", "limits.user_window_ms=10000"]) as (lab, server):
        source = server.make_requests("win", USERS)
        began = time.monotonic()
        result = lab.load.run(server.port, source, 64, 8, 60, 0, ["--count", str(USERS)])
        seconds = time.monotonic() - began
        refused = USERS - result["status"].get("202", 0)
        return f"{USERS:,} users within {seconds:.1f} s, {refused:,} refused", refused == 0 and seconds <= USERS_SECONDS


def free_units(server, item):
    return json.loads(server.get(f"/v1/items/{item}")[1])["counts"]["free"]


def returns():
    """Orders that nobody pays give their units back while another item sells."""
    seconds = PAY_WINDOW_MS / 1000 + RETURNS_PATIENCE_SECONDS
    hot_wins = round(seconds * RETURNS_WINS_PER_S)
    with shop(3 * RETURNS + 2 * hot_wins) as (lab, server):
        waiting = server.open_item(RETURNS, pay_window_ms=PAY_WINDOW_MS)
        hot = server.open_item(hot_wins)
        selling = [*server.requests_of(hot, 0, hot_wins), "--once"]
        result = lab.load.run(server.port, [*server.requests_of(waiting, hot_wins, RETURNS), "--once"], 64, 8, 60, 0,
                              ["--count", str(RETURNS)])
        due = time.monotonic() + PAY_WINDOW_MS / 1000
        if result["status"] != {"202": RETURNS}:
            raise Ended(f"{RETURNS} wins asked: {result['status']}")
        command = lab.load.command(server.port, selling, 512, 1,
                                   ["--seconds", str(round(seconds)), "--warm", "0", "--rate", str(RETURNS_WINS_PER_S)])
        began = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as load:
            while (left := RETURNS - free_units(server, waiting)) > 0 and load.poll() is None:
                time.sleep(0.05)
            late = time.monotonic() - due
            pace = (hot_wins - free_units(server, hot)) / (time.monotonic() - began)
            load.terminate()
        return (f"{RETURNS - left:,} of {RETURNS:,} units back {late:.1f} s after their time, beside {pace:,.0f} wins/s",
                left == 0 and late <= RETURNS_SECONDS and pace >= 0.9 * RETURNS_WINS_PER_S)


def moves():
    """One server, one kind after the other; the line is the slowest one's."""
    with shop(4 * growth_moves.ORDERS, cores=growth_moves.CORES) as (lab, server):
        rates = growth_moves.measure(lab, server)
    return (", ".join(f"{rate:,.0f} {kind}/s" for kind, rate in rates.items()), min(rates.values()) >= MOVES_PER_S)


def writing():
    """Orders of one item: the store alone."""
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        command = [os.path.join(BUILD_ROOT, "release", "bench", "order_growth"), "--to", os.path.join(folder, "stampede.db"),
                   "--orders", str(WRITING_ORDERS)]
        steps = [json.loads(line) for line in subprocess.run(command, capture_output=True, check=True).stdout.splitlines()]
    first, last = steps[0], steps[-1]
    return (f"{last['orders_per_s']:,} orders/s with {last['orders']:,} orders ({first['orders_per_s']:,} with {first['orders']:,}), "
            f"{first['cpu_us']} to {last['cpu_us']} µs each", last["orders_per_s"] >= WRITING_PER_S)


def bar_1(bars):
    bars.part("1", f"{USERS:,} users within {USERS_SECONDS} s, none refused by a limit that they did not reach", strangers)


def bar_2(bars):
    bars.part("2", "what operators read refuses no view of an order and makes its p99 at most twice as long, or 0.5 ms",
              lambda: growth_reads.reads(shop))


def bar_3(bars):
    bars.part("3 returns", f"{RETURNS:,} units back within {RETURNS_SECONDS} s beside {RETURNS_WINS_PER_S:,} wins/s", returns)
    bars.part("3 writing", f"{WRITING_PER_S:,} orders/s with {WRITING_ORDERS:,} orders of one item", writing,
              "docs/performance.md#an-order-costs-more-as-its-item-grows")
    growth_speed.stall_parts(bars)
    growth_journal.parts(bars)


def bar_4(bars):
    bars.part("4 edits", f"an exponent of at most {EXPONENT_MAX}", lambda: told(*long_year.edits(shop)))
    for module in (growth_bans,
                   growth_orders,
                   growth_users,
                   growth_rooms,
                   growth_sales,
                   growth_start,
                   growth_push):
        module.parts(bars)


def bar_5(bars):
    bars.part("5 moves", f"{MOVES_PER_S:,} payments, refunds, cancels and joins of the waitlist a second each", moves)


def bar_6(bars):
    growth_speed.bench_parts(bars)


if __name__ == "__main__":
    sys.exit(main("check-growth", __doc__, {"1": bar_1, "2": bar_2, "3": bar_3, "4": bar_4, "5": bar_5, "6": bar_6}))
