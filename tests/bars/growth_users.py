# SPDX-License-Identifier: Apache-2.0
"""Eligible users: how fast they are loaded, and whether that grows with their number. (Views beside it: growth_reads.)"""
import contextlib
import time

from growth_kit import serving, told

CALL = 1000
SIZES = (10000, 100000, 1000000)
LOADED_PER_S = 100000


def load(server, connection, sale, first, count):
    """Seconds for users first … first + count − 1, in calls of CALL."""
    bodies = [{"users": [f"user-{number}" for number in range(at, at + CALL)]} for at in range(first, first + count, CALL)]
    key = {"Authorization": f"Bearer {server.keys['admin']}"}
    began = time.monotonic()
    for body in bodies:
        reply = connection.request("POST", f"/admin/v1/sales/{sale}/users", body, key)
        if reply.status != 200 or reply.json()["loaded"] != CALL:
            raise ValueError(f"{reply.status}: {reply.body[:200]!r}")
    return time.monotonic() - began


@contextlib.contextmanager
def invited():
    """(server, its sale for invited users)"""
    with serving(data__tickets_max=2000000) as server:
        server.start()
        sale = server.sale(eligible_only=True)
        server.item(sale)
        server.publish(sale)
        yield server, sale


def loading(sizes=SIZES):
    """The last ten calls up to each size, for growth_kit.told."""
    costs, at, last = [], 0, 10 * CALL
    with invited() as (server, sale), server.connect() as connection:
        for size in sizes:
            load(server, connection, sale, at, size - last - at)
            costs.append(load(server, connection, sale, size - last, last) / last * 1e6)
            at = size
    return sizes, costs, "µs a user", "eligible users, calls of 1,000"


def told_loading():
    costs = loading()
    figure, flat = told(*costs)
    slowest_per_s = 1e6 / max(costs[1])
    return f"{figure}; {slowest_per_s:,.0f} users/s", flat and slowest_per_s >= LOADED_PER_S


def parts(bars):
    bars.part("4 eligible users", f"exponent ≤ 0.2 and {LOADED_PER_S:,} users/s", told_loading)
