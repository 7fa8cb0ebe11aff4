#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alarms of the store thread: raised once, shown, cleared when the cause is gone."""
import glob
import os
import sqlite3
import time

from kit.harness import REPOSITORY, Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"reconcile.interval_ms": 0}).start()
item = server.open_item(total=5)


def shown(name):
    return next(row for row in server.admin_ok("GET", "/alarms", role="viewer")["alarms"] if row["name"] == name)


def alarm(name):
    """What the list says of it; the metric says the same, unless it changes while we look."""
    row, metric, again = shown(name), server.metrics()[f'stampede_alarm{{name="{name}"}}'], shown(name)
    true(metric == row["up"] or row["up"] != again["up"], f"the list says {row}, the metric {metric}")
    return again


@rule
def at_first_nothing_is_up():
    rows = server.admin_ok("GET", "/alarms")["alarms"]
    equal({row["up"] for row in rows}, {False})
    equal(len({row["name"] for row in rows}), len(rows))
    problem(server.request("GET", "/admin/v1/alarms"), 401, "admin-key-required")


@rule
def a_database_that_is_away_is_told_and_its_return_too():
    other = sqlite3.connect(os.path.join(server.data, "stampede.db"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    buyer = Buyer(server)
    buyer.win(item)
    row = eventually(lambda: alarm("database-away")["up"] and alarm("database-away"), "no alarm")
    true("orders wait" in row["detail"] and 0 < row["since_ms"] <= server.now_ms(), row)
    time.sleep(0.5)  # it stays away for some tries
    other.execute("ROLLBACK")
    other.close()
    eventually(lambda: not alarm("database-away")["up"], "the alarm stays")
    equal((server.log().count("raised name=database-away"), server.log().count("cleared name=database-away")), (1, 1))


@rule
def each_alarm_is_explained_and_named_by_a_test_that_causes_it():
    with open(os.path.join(REPOSITORY, "docs", "operations.md"), encoding="utf-8") as file:
        operations = file.read()
    tests = []
    for path in glob.glob(os.path.join(REPOSITORY, "tests", "e2e", "*", "*_test.py")):
        with open(path, encoding="utf-8") as file:
            tests.append(file.read())
    names = [row["name"] for row in server.admin_ok("GET", "/alarms")["alarms"]]
    equal([name for name in names if f"`{name}`" not in operations], [])
    equal([name for name in names if not any(f"{mark}{name}" in text for text in tests for mark in ('"', "name="))], [])


run()
