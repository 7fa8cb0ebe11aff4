#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many machines, one line per bar with its figure. STEP=1: one store logic on SQLite, PostgreSQL and MariaDB. STEP=2: Redis
proposes, the engine confirms, the database keeps (cluster_step_2.py). STEP=3: all combinations of servers, everything is killed, and
networks are cut (cluster_step_3.py). Without STEP: all of them, as --bars 1.2,3.1.

  make check-cluster STEP=1
  make check-cluster STEP=2 COMMANDS=1000000 WORLD_SEEDS=10000 CROWD_UNITS=10000 LOST_ROUNDS=20 CLUSTER_LONG=1
  make check-cluster STEP=3 KILLS=100 CUTS=18 BROKER_KILLS=9 CLUSTER_LONG=1
  make check-cluster STEP=1 CLUSTER_ARGS='--bars 3,5'
  make check-cluster STEP=1 WRITER_SECONDS=60 DATABASE_KILLS=50 CLUSTER_LONG=1

The servers are real ones, on spare ports of this machine; they are gone afterwards. The quick form of a step takes up to ten minutes;
variables ask for the long one: WRITER_SECONDS (5) of bar 2, DATABASE_KILLS (5) of bar 3, RAW_ORDERS (200000) of bar 4,
SIM_SEEDS (2) and CLUSTER_LONG (all files of orders and payments) of bar 1. Rules that only SQLite can keep are named in
cluster_rules.py. Exit status 1 if a bar is missed.
"""
import concurrent.futures
import json
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True

from bars import BUILD_ROOT, CLEAN_ENVIRONMENT, REPOSITORY, Ended, asked, box, command_run, main, several, units  # noqa: E402

os.environ["E2E_SERVER"] = CLEAN_ENVIRONMENT["E2E_SERVER"] = os.path.join(BUILD_ROOT, "release", "stampede")

import cluster_step_2  # noqa: E402
import cluster_step_3  # noqa: E402
import cluster_storm  # noqa: E402 (it reads E2E_SERVER)
from cluster_rules import files, rules_run  # noqa: E402

SERVERS = ("postgres", "mariadb")
KINDS = {"postgres": "postgres", "mariadb": "mysql"}
ODD = {"postgres": ["--odd-defaults"], "mariadb": ["--latin1", "--loose"]}
URLS = {"postgres": "$STAMPEDE_TEST_POSTGRES", "mariadb": "$STAMPEDE_TEST_MYSQL"}
QUICK_RULES = ("orders/order_requests", "orders/reconcile_tickets", "orders/reconcile_sums", "orders/dead_letters")
SUITE_SECONDS = 600
RATIO_MIN = 0.7
RAW_ROWS = 500
BATCH = 2000


def beside(server, *words):
    return [os.path.join(REPOSITORY, "tools", f"with-{server}"), *words]


def program(folder, name):
    """Optimized; test programs are linked without LTO (BUILD=sim)."""
    return os.path.join(BUILD_ROOT, "sim" if folder.startswith("tests") else "release", folder, name)


def suite(name, wrapper=(), words=(), seconds=300):
    """A program of tests/seam; (what it counted, whether all passed)."""
    path = program("tests/seam", f"{name}_test")
    if not os.path.exists(path):
        raise Ended(f"{path} is not there")
    output = command_run([*wrapper, path, *words], seconds, may_fail=True)
    found = [re.findall(rf"^\[  {word}  \] (\d+) test", output, re.M) for word in ("PASSED", "FAILED")]
    if not found[0] and not found[1]:
        raise Ended(f"{name}: {output[-400:]}")
    numbers = [sum(map(int, groups)) for groups in found]  # a program has several groups of tests
    odd = " (odd defaults)" if wrapper and wrapper[1:] else ""
    which = sorted(set(re.findall(r"^\[  FAILED  \] ([a-z]\w+)$", output, re.M)))
    told = f" ({', '.join(which)})" if which else ""
    return f"{name}{odd} {numbers[0]} passed, {numbers[1]} failed{told}", numbers[0] > 0 and numbers[1] == 0


def suites_of(server, is_long):
    """The suites on a server with odd defaults; in the long form also the driver's on a plain one."""
    parts = [suite(f"{name}_{server}", beside(server, *ODD[server]), seconds=SUITE_SECONDS) for name in ("driver", "store")]
    plain = ("driver", "store") if is_long else ("store",)
    return parts + [suite(f"{name}_{server}", beside(server), seconds=SUITE_SECONDS) for name in plain]


def suites(is_long):
    """Both servers at once: they wait more than they compute."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = [pool.submit(suites_of, server, is_long) for server in SERVERS]
        parts = [suite(f"{name}_sqlite", seconds=SUITE_SECONDS) for name in ("driver", "store")]
        for each in waiting:
            parts += each.result()
    return several(parts)


def rules_on(server, names, seconds):
    """Files of tests/e2e with their orders on that server."""
    figure, ok = rules_run(names, beside(server), {"E2E_STORE": KINDS[server]}, seconds)
    return f"{server}: {figure}", ok


def rule_names(is_long):
    return files(("orders", "payments")) if is_long else list(QUICK_RULES)


def simulated(seeds, seconds):
    simulate = os.path.join(BUILD_ROOT, "sim", "tests", "simulation", "simulate")
    for server in SERVERS:
        command_run([*beside(server), "sh", "-c", f'"$0" --seeds {seeds} --store "server:{URLS[server]}"', simulate], seconds)
    command_run([simulate, "--seeds", str(seeds), "--store", "sqlite"], seconds)
    return f"{seeds} simulated sales on each of sqlite, {', '.join(SERVERS)}, no violation", True


def bar_1(bars):
    is_long = bool(os.environ.get("CLUSTER_LONG"))
    bars.part("1 suites", "driver and store suite on all three, and on servers with odd defaults", lambda: suites(is_long))
    for server in SERVERS:
        bars.part(f"1 {server}", "the files of orders and reconciliation pass",
                  lambda server=server: rules_on(server, rule_names(is_long), box(600, is_long)))
    seeds, many = asked("SIM_SEEDS", 2)
    bars.part("1 simulator", "the simulator finds no violation", lambda: simulated(seeds, box(300, many)))


def writers(server, seconds, is_long):
    path = program("tests/seam", f"store_writers_{server}_test")
    if not os.path.exists(path):
        raise Ended(f"tests/seam/store_writers_{server}_test is not there")
    output = command_run([*beside(server), path, "--seconds", str(seconds)], box(seconds + 120, is_long))
    return f"{server}: {output.strip().splitlines()[-1][:300]}", True


def bar_2(bars):
    seconds, is_long = asked("WRITER_SECONDS", 5)
    for server in SERVERS:
        bars.part(f"2 {server}", f"8 connections contend for {seconds} s: accounting and money exact, 0 dead letters, 0 aborts",
                  lambda server=server: writers(server, seconds, is_long))


def bar_3(bars):
    kills, _ = asked("DATABASE_KILLS", 5)
    seed = random.randrange(1, 1 << 31)
    for server in SERVERS:
        bars.part(f"3 {server}", f"{kills} kills under load: nothing that was told is lost or doubled, verify is green, 0 dead letters",
                  lambda server=server: cluster_storm.storm(server, kills, seed))


def raw_ratio(server, orders):
    words = f"--orders {orders} --step {orders} --batch {BATCH} --raw {RAW_ROWS}"
    command = program("bench", "order_growth")
    if server == "sqlite":
        with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
            output = command_run([command, "--to", os.path.join(folder, "stampede.db"), *words.split()], 600)
    else:
        output = command_run([*beside(server, "--durable"), "sh", "-c", f'"$0" --to "{URLS[server]}" {words}', command], 600)
    step = json.loads(output.strip().splitlines()[-1])
    how = "one by one" if server == "sqlite" else f"{RAW_ROWS} by one statement"
    return (f"{server}: {step['orders_per_s']:,} orders/s, {step['raw_per_s']:,} raw rows/s of the same columns and indexes, {how}, "
            f"{BATCH} in a transaction, in turns: {step['ratio']:.2f}", step["ratio"] >= RATIO_MIN)


def bar_4(bars):
    orders, _ = asked("RAW_ORDERS", 200000)
    for server in ("sqlite", *SERVERS):
        bars.part(f"4 {server}", f"at least {RATIO_MIN} of raw batched inserts of the same run",
                  lambda server=server: raw_ratio(server, orders))


def migrations():
    return several([units("store/sqlite/migrate", 300), *(suite(f"schema_{server}", beside(server)) for server in SERVERS)])


def bar_5(bars):
    bars.part("5", "older versions migrate; killed after each statement a migration ends with the schema of a new database", migrations)


def all_steps(steps):
    """The bars of all of them, as STEP.BAR."""
    def told(step, bar):
        def run(bars):
            print(f"step {step}", flush=True)
            bar(bars)
        return run
    return {f"{step}.{name}": told(step, bar) for step, bars in steps.items() for name, bar in bars.items()}


if __name__ == "__main__":
    STEPS = {"1": {"1": bar_1, "2": bar_2, "3": bar_3, "4": bar_4, "5": bar_5}, "2": cluster_step_2.bars_of(suite, several),
             "3": cluster_step_3.BARS}
    STEP = os.environ.get("STEP", "")
    if STEP not in ("", *STEPS):
        sys.exit("check-cluster: STEP is 1 (databases), 2 (Redis) or 3 (Kafka, faults); without it all are run")
    sys.exit(main("check-cluster", __doc__, STEPS[STEP] if STEP else all_steps(STEPS)))
