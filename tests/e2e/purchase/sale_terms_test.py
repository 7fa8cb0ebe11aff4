# SPDX-License-Identifier: Apache-2.0
"""A change of a sale that the inventory has taken stays, also while the database is behind it."""
import contextlib
import os
import sqlite3
import time

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

HOUR_MS = 3600000
server = Server(settings={"session.guests": "yes"}).start()


@contextlib.contextmanager
def database_locked(seconds):
    """Another program holds the write lock: orders can't be written, and the writer's pause grows."""
    with contextlib.closing(sqlite3.connect(os.path.join(server.data, "stampede.db"), timeout=20,
                                            isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        time.sleep(seconds)
        other.execute("ROLLBACK")


def sale_with_item():
    sale = server.sale(lasts_ms=HOUR_MS)
    item = server.item(sale)
    server.publish(sale)
    eventually(lambda: server.metrics()["stampede_order_lag"] == 0, "orders do not catch up")
    return sale, item


def end_in_inventory(item):
    return server.get(f"/v1/items/{item}").json()["end_ms"]


@rule
def a_new_title_does_not_bring_back_terms_that_the_database_has_not_heard_of():
    sale, item = sale_with_item()
    later = server.now_ms() + 2 * HOUR_MS
    with database_locked(0):
        before = end_in_inventory(item)
        problem(server.admin("PATCH", f"/sales/{sale}", {"end_ms": later}), 503, "unavailable")
        equal(end_in_inventory(item), before, "what was refused has changed nothing")
    equal(server.admin("PATCH", f"/sales/{sale}", {"end_ms": later}).status, 200)
    with database_locked(3):
        equal(end_in_inventory(item), later, "the inventory has it")
        Buyer(server).win(item)  # the order writer finds the database away, and pauses longer and longer
    equal(server.admin("PATCH", f"/sales/{sale}", {"title": "Another title"}).status, 200)
    equal(end_in_inventory(item), later, "the end that the inventory had taken")
    eventually(lambda: server.metrics()["stampede_order_lag"] == 0, "orders do not catch up")
    equal(end_in_inventory(item), later)
    shown = server.admin_ok("GET", f"/sales/{sale}")
    equal((shown["end_ms"], shown["title"]), (later, "Another title"))


@rule
def an_item_that_is_added_does_not_bring_back_old_terms():
    sale, item = sale_with_item()
    later = server.now_ms() + 3 * HOUR_MS
    equal(server.admin("PATCH", f"/sales/{sale}", {"end_ms": later, "eligible_only": True}).status, 200)
    with database_locked(3):
        equal(end_in_inventory(item), later, "the inventory has it")
    added = server.item(sale, total=2)
    equal(server.admin("POST", f"/items/{added}/preheat").status, 200)
    equal((end_in_inventory(item), end_in_inventory(added)), (later, later))
    problem(Buyer(server).buy(item), 403, "not-eligible")
    eventually(lambda: server.metrics()["stampede_order_lag"] == 0, "orders do not catch up")
    shown = server.admin_ok("GET", f"/sales/{sale}")
    equal((shown["end_ms"], shown["eligible_only"]), (later, True))


@rule
def the_last_of_many_changes_stays():
    sale, item = sale_with_item()
    start = server.now_ms()
    for minutes in range(1, 30):
        equal(server.admin("PATCH", f"/sales/{sale}", {"end_ms": start + HOUR_MS + minutes * 60000}).status, 200)
        equal(server.admin_ok("GET", f"/sales/{sale}")["end_ms"], start + HOUR_MS + minutes * 60000)
    eventually(lambda: server.metrics()["stampede_order_lag"] == 0, "orders do not catch up")
    equal(server.admin_ok("GET", f"/sales/{sale}")["end_ms"], start + HOUR_MS + 29 * 60000)
    equal(end_in_inventory(item), start + HOUR_MS + 29 * 60000)


@rule
def an_end_in_the_past_is_refused_and_changes_nothing():
    sale, item = sale_with_item()
    before = end_in_inventory(item)
    refused = server.admin("PATCH", f"/sales/{sale}", {"end_ms": server.now_ms() - 60000})
    true("end_ms" in problem(refused, 422, "bad-value")["detail"])
    equal(end_in_inventory(item), before)
    Buyer(server).win(item)
    equal(server.admin("POST", f"/sales/{sale}/end").status, 200)
    equal(server.admin("PATCH", f"/sales/{sale}", {"title": "It is over"}).status, 200)


run()
