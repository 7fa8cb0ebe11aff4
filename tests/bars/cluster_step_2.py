# SPDX-License-Identifier: Apache-2.0
"""The bars of STEP=2 of check-cluster: Redis proposes, the engine confirms, the database keeps, then it is told."""
import os
import re
import sys

from bars import BUILD_ROOT, REPOSITORY, Ended, asked, box, command_run
from cluster_lost import GOES_ON_S
from cluster_rules import files, rules_run

TOOLS, HERE = os.path.join(REPOSITORY, "tools"), os.path.dirname(os.path.realpath(__file__))
REDIS, CLUSTER, POSTGRES = ([os.path.join(TOOLS, f"with-{name}")] for name in ("redis", "cluster", "postgres"))
SUITES = (("inventory_embedded", []), ("inventory_remote_redis", REDIS), ("inventory_remote_cluster", CLUSTER), ("remote_redis", REDIS),
          ("queue_journal", []), ("stream_redis", REDIS), ("partition_opener_redis", REDIS), ("partition_keeper_redis", REDIS), ("shards_redis", REDIS))
QUICK_RULES = ("orders/order_requests", "orders/order_life", "payments/payment_requests", "purchase/purchase", "rooms/waiting_room")
DIFFERENTIAL = os.path.join(BUILD_ROOT, "release", "tests", "differential", "differential")
PATH = os.path.join(BUILD_ROOT, "sim", "tests", "seam", "path_redis_test")
PATH_ROUNDS, PATH_PURCHASES, PATH_RATIO_MIN = 41, 65536, 0.8
SCRIPT_RATIOS = {"wins": 3.0, "refusals": 1.5}


def rules(is_long):
    """Files of tests/e2e on Redis and PostgreSQL."""
    names = files(("orders", "payments")) if is_long else list(QUICK_RULES)
    return rules_run(names, [*POSTGRES, *REDIS], {"E2E_STORE": "postgres", "E2E_INVENTORY": "redis"}, box(900, is_long))


def differential(commands, is_long):
    output = command_run([DIFFERENTIAL, "--commands", str(commands)], box(600, is_long))
    return output.strip().splitlines()[-1][:200], True


def program(name, wrapper, *words, seconds):
    """A program of this folder that prints one line of figures; its exit status says whether the bar is met."""
    output = command_run([*wrapper, sys.executable, os.path.join(HERE, name), *map(str, words)], seconds, may_fail=True)
    lines = [line for line in output.splitlines() if line.endswith(" findings")]
    if not lines:
        raise Ended(output[-400:])
    bad = output[output.index(lines[-1]) + len(lines[-1]):].strip()
    return (f"{lines[-1]}: {bad[:300]}" if bad else lines[-1]), lines[-1].endswith(", 0 findings")


def bar_1(bars, suite, several):
    bars.part("1 suites", "inventory on embedded, Redis and Redis Cluster; queue on journal and stream",
              lambda: several([suite(name, wrapper, seconds=600) for name, wrapper in SUITES]))
    is_long = bool(os.environ.get("CLUSTER_LONG"))
    bars.part("1 orders", "files of orders, payments, purchases and rooms pass on Redis and PostgreSQL", lambda: rules(is_long))
    commands, many = asked("COMMANDS", 200000)
    bars.part("1 differential", "script and engine come to the same outcomes", lambda: differential(commands, many))


def bar_2(bars):
    seeds, many = asked("WORLD_SEEDS", 300)
    simulate = os.path.join(BUILD_ROOT, "sim", "tests", "simulation", "cluster", "simulate_cluster")

    def world():
        output = command_run([simulate, "--seeds", str(seeds), "--jobs", str(os.cpu_count())], box(900, many))
        return output.strip().splitlines()[-1][:200], True
    bars.part("2", "the world of many machines: no violation", world)


def bar_3(bars):
    units, many = asked("CROWD_UNITS", 1000)
    for shards in (1, 16):
        bars.part(f"3 shards {shards}", "four gateways, three workers, a Redis Cluster: exact, each user's limit kept, every unit sold",
                  lambda shards=shards: program("cluster_crowd.py", [*POSTGRES, *CLUSTER], "--units", units, "--users", 20 * units,
                                                "--shards", shards, seconds=box(600, many)))


def bar_4(bars):
    rounds, many = asked("LOST_ROUNDS", 2)
    others, more = asked("OTHER_ROUNDS", 4)
    bars.part("4", f"acknowledged proposals are lost: no told win is, all that was being decided ends, the sale goes on within {GOES_ON_S:g} s",
              lambda: program("cluster_lost.py", [*POSTGRES, *CLUSTER], "--rounds", rounds, seconds=box(600, many)))
    bars.part("4 others", "the same for FLUSHALL, a restart, a master that comes back, a slot that moves, under load",
              lambda: program("cluster_lost.py", [*POSTGRES, *CLUSTER], "--how", "flushall,restart,back,migrate", "--rounds", others,
                              seconds=box(600, more)))


def bar_5(bars):
    def together():
        path = os.path.join(REPOSITORY, "tests", "e2e", "cluster", "limits_test.py")
        output = command_run([sys.executable, path], 600, may_fail=True)
        total = re.search(r"^(\d+) passed, (\d+) failed", output, re.M)
        if not total:
            raise Ended(output[-300:])
        told = [line.strip() for line in output.splitlines() if "%" in line or "ms" in line][:4]
        return "; ".join([total[0], *told])[:400], total[2] == "0"
    bars.part("5", "four gateways together admit what one may; a challenge, a pass: once; a ban, a switch, an edit: within 1 s", together)


def bar_6(bars):
    def script():
        output = command_run([*REDIS, DIFFERENTIAL, "--server", "--bench"], 600)
        ratios = {kind: float(times) for kind, times in re.findall(r"^(wins|refusals) +in calls of 16:.*?: ([0-9.]+) times", output, re.M)}
        return ", ".join(f"{kind} {times} times" for kind, times in ratios.items()), \
            all(ratios.get(kind, 99) <= most for kind, most in SCRIPT_RATIOS.items())
    bars.part("6 script", "in calls of 16: at most 3 times a plain script for a win, 1.5 times for a refusal", script)

    def path():
        output = command_run([*REDIS, PATH, str(PATH_ROUNDS), str(PATH_PURCHASES)], 600)
        [line] = [line for line in output.splitlines() if line.startswith("refusals:")]
        return line, float(re.search(r"([0-9.]+) times", line)[1]) >= PATH_RATIO_MIN
    bars.part("6 path", "a gateway's path to Redis and back: at least 0.8 times the same calls by a bare client", path)
    bars.part("6 told", "told at most 10 ms after the answer of Redis, in the median, at 1,000 wins/s",
              lambda: program("cluster_cost.py", [*POSTGRES, "--durable", *CLUSTER], seconds=300))


def bar_7(bars):
    bars.part("7", "shards by script cost Redis less than segments behind locks, and sell no unit twice (decision 0045)",
              lambda: program("segments.py", REDIS, DIFFERENTIAL, seconds=300))


def bars_of(suite, several):
    return {"1": lambda bars: bar_1(bars, suite, several), "2": bar_2, "3": bar_3, "4": bar_4, "5": bar_5, "6": bar_6, "7": bar_7}
