# SPDX-License-Identifier: Apache-2.0
"""Eligible users: how fast they are loaded, whether that grows with their number, and what others feel of it."""
import contextlib
import threading
import time

from growth_kit import serving, told
from kit.harness import Buyer

CALL = 1000
SIZES = (10000, 100000, 1000000)
LOADED_PER_S = 100000
VIEWS_TIMES = 2


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


def views_p99(connection, session, wanted):
    """Milliseconds; the client asks one after the other until `wanted` is false."""
    took = []
    while wanted(len(took)):
        began = time.monotonic()
        reply = connection.request("GET", "/v1/orders", headers={"Authorization": f"Bearer {session}"})
        took.append((time.monotonic() - began) * 1000)
        if reply.status != 200:
            raise ValueError(f"{reply.status}: {reply.body[:200]!r}")
        time.sleep(0.002)
    took.sort()
    return took[len(took) * 99 // 100]


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


def views():
    with invited() as (server, sale), server.connect() as loads, server.connect() as connection:
        session = Buyer(server).session
        idle = views_p99(connection, session, lambda count: count < 500)
        thread = threading.Thread(target=load, args=(server, loads, sale, 0, 200 * CALL))
        thread.start()
        beside = views_p99(connection, session, lambda count: thread.is_alive() or count < 200)
        thread.join()
    return f"order views p99 {idle:.2f} ms idle, {beside:.2f} ms beside 200 calls of 1,000", beside <= VIEWS_TIMES * idle


def parts(bars):
    bars.part("4 eligible users", f"exponent ≤ 0.2 and {LOADED_PER_S:,} users/s", told_loading)
    bars.part("4 views", f"beside loads of eligible users ≤ {VIEWS_TIMES}× idle", views)
