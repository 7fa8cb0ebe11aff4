# SPDX-License-Identifier: Apache-2.0
"""The bars of STEP=3 of check-cluster: the order suite on each combination of servers, everything is killed in turn, networks are cut, one
of three brokers is killed, and what a client hears. cluster_crowded.py has crowds, moves and neighbours."""
import os
import re

from bars import Ended, asked, box, rules
from cluster_crowded import bar_4, bar_5, bar_6
from cluster_lost import NODE_TIMEOUT_S
from cluster_rules import files, rules_run
from cluster_step_2 import CLUSTER, POSTGRES, REDIS, TOOLS, program

MARIADB, KAFKA = ([os.path.join(TOOLS, f"with-{name}")] for name in ("mariadb", "kafka"))
QUICK_RULES = ("orders/order_requests", "orders/order_life", "payments/payment_requests", "purchase/purchase")
BY_REDIS, BY_KAFKA = {"E2E_INVENTORY": "redis"}, {"E2E_INVENTORY": "redis", "E2E_QUEUE": "kafka"}
COMBINATIONS = (
    ("embedded, SQLite", [], {}),
    ("embedded, PostgreSQL", POSTGRES, {"E2E_STORE": "postgres"}),
    ("Redis, PostgreSQL", [*POSTGRES, *REDIS], {"E2E_STORE": "postgres", **BY_REDIS}),
    ("Redis Cluster, Kafka, PostgreSQL", [*KAFKA, *POSTGRES, *CLUSTER], {"E2E_STORE": "postgres", **BY_KAFKA}),
    ("Redis Cluster, Kafka, MariaDB", [*KAFKA, *MARIADB, *CLUSTER], {"E2E_STORE": "mysql", **BY_KAFKA}),
)
AT_ONCE = 3  # they wait more than they compute
NOT_READY_S = 1


def program_or_skipped(*words, **more):
    try:
        return program(*words, **more)
    except Ended as ended:
        if "skipped: " in str(ended):  # no broker, no root, or no network namespaces: it says which
            return str(ended).strip().splitlines()[-1], True
        raise


def bar_1(bars):
    is_long = bool(os.environ.get("CLUSTER_LONG"))
    names = files(("orders", "payments")) if is_long else list(QUICK_RULES)
    bars.parts(AT_ONCE, [(f"1 {what}", "the order suite passes", lambda wrapper=wrapper, servers=servers: rules_run(
        names, wrapper, servers, box(600, is_long))) for what, wrapper, servers in COMBINATIONS])


def bar_2(bars):
    kills, many = asked("KILLS", 12)
    bars.part("2", f"{kills} kills under load: each told win is one order, all that was being decided ends, no void without a fault of Redis, "
              "reconcile and verify find nothing",
              lambda: program("cluster_torture.py", [*KAFKA, "--optional", "--nice", *CLUSTER], "--kills", kills, seconds=box(900, many)))


def bar_3(bars):
    cuts, many = asked("CUTS", 9)
    most = 30 if many else 8
    bars.part("3", f"{cuts} cuts between machines, both ways and one way, of 5 to {most} s (Redis from Redis: {NODE_TIMEOUT_S:g} s longer): the same, "
              "and both gateways sell again",
              lambda: program_or_skipped("cluster_cuts.py", [], "--cuts", cuts, "--most", most, seconds=box(900, many)))
    kills, more = asked("BROKER_KILLS", 2)
    bars.part("3 brokers", f"one of three brokers is killed under load, {kills} times: no win is refused, none is void",
              lambda: program_or_skipped("cluster_brokers.py", [*KAFKA, "--three", "--nice", *POSTGRES, *CLUSTER], "--kills", kills, seconds=box(600, more)))


def hears():
    figure, ok = rules("client_hears", 600)
    found = re.search(r"not ready after ([0-9.]+) s", figure)
    return figure, ok and found is not None and float(found[1]) <= NOT_READY_S


def bar_hears(bars):
    bars.part("hears", f"each row of the table 'What a client hears' of docs/cluster.md; a gateway that is cut off is not ready within {NOT_READY_S} s",
              hears)


BARS = {"1": bar_1, "2": bar_2, "3": bar_3, "4": bar_4, "5": bar_5, "6": bar_6, "hears": bar_hears}
