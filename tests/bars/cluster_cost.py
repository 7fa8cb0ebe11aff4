#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a win on many machines costs (bar 6 of step 2 of check-cluster).

  tools/with-postgres --durable tools/with-redis --cluster python3 tests/bars/cluster_cost.py [--rate 1000] [--seconds 10]

One gateway, one worker. Wins at a fixed rate, open loop: how long a buyer waits in all, and how long of it the win waited for the
database after Redis had answered (stampede_told_wait_total). Trips to Redis for each purchase, and what of a core each process took.
Prints one line; exit status 1 if the median of that wait is above the goal.
"""
import argparse
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "bench")]

from cluster_shop import Shop, redis_ask, redis_nodes  # noqa: E402
from kit import crowd  # noqa: E402
from stampede import buy_template  # noqa: E402

MEDIAN_MS_MAX = 10


def arguments():
    parser = argparse.ArgumentParser(description="What a win on many machines costs.")
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--connections", type=int, default=64)
    return parser.parse_args()


def buckets(gateway):
    text = gateway.request("GET", "/metrics").body.decode()
    return {float("inf") if edge == "all" else float(edge): int(count)
            for edge, count in re.findall(r'^stampede_told_wait_total\{ms="([^"]+)"\} (\d+)$', text, re.M)}


def share_within(counts, edge):
    return counts[edge] / max(counts[float("inf")], 1)


def median_below(counts):
    return next(edge for edge in sorted(counts) if counts[edge] * 2 >= counts[float("inf")])


def calls_of_scripts():
    total = 0
    for address in redis_nodes():
        found = re.search(r"cmdstat_evalsha:calls=(\d+)", redis_ask(address, "INFO", "commandstats"))
        total += int(found[1]) if found else 0
    return total


def processor_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    given = arguments()
    wins = given.rate * given.seconds
    shop = Shop(1, 1, {"data.tickets_max": 2 * wins + 10000}).start()
    gateway, worker = shop.gateways[0], shop.workers[0]
    item = worker.open_item(total=2 * wins)
    passes, template = (os.path.join(gateway.folder, name) for name in ("passes", "template"))
    with open(passes, "wb") as file:
        subprocess.run([gateway.binary, "mint", "--config", gateway.config, "--item", str(item), "--users", f"0:{wins}"], stdout=file,
                       check=True)
    with open(template, "w", encoding="ascii", newline="") as file:
        file.write(buy_template(item))
    before, used = calls_of_scripts(), [processor_s(process.process.pid) for process in (gateway, worker)]
    load = os.path.join(os.path.dirname(crowd.crowd_binary()), "load")
    done = subprocess.run([load, "--port", str(gateway.port), "--template", template, "--fill", passes, "--once", "--rate", str(given.rate),
                           "--connections", str(given.connections), "--count", str(wins), "--seconds", str(given.seconds + 20)],
                          capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    used = [processor_s(process.process.pid) - start for process, start in zip((gateway, worker), used, strict=True)]
    trips = calls_of_scripts() - before
    counts = buckets(gateway)
    orders = shop.number("SELECT count(*) FROM orders")
    shop.stop()
    median = median_below(counts)
    print(f"{orders} wins at {given.rate}/s: a buyer waits {told['p50_us'] / 1000:.1f} ms (median), {told['p99_us'] / 1000:.1f} ms (p99); after "
          f"the answer of Redis a win waits at most {median:g} ms in the median, {share_within(counts, 10.0):.0%} within 10 ms; "
          f"{trips / max(orders, 1):.2f} calls of the script for each win (with those of the worker); processor time for each win: gateway "
          f"{used[0] / orders * 1e6:.0f} us, worker {used[1] / orders * 1e6:.0f} us, {int(median > MEDIAN_MS_MAX)} findings")
    return 0 if median <= MEDIAN_MS_MAX else 1


if __name__ == "__main__":
    sys.exit(main())
