#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 under load, again and again, on the same data folder (bar 3 of the spine).

  torture.py [--kills 100] [--rate 3000] [--connections 200] [--seed N]

The crowd (bench/crowd.c) buys all the while: ever new users, lost answers, retries with the same key while the server is away
and after it is back, and in the end every win that was told once more. The server is killed at random moments, now and
then a second time while it recovers, and started again. Stock is adjusted meanwhile. In the end:
  told ⊆ recovered     every ticket that was told has exactly one order, of that user and item
  recovered ⊆ asked    every order was asked for, and has been told by now
  one outcome          the same key tells the same ticket before and after every restart; no ticket has two owners
  conserved            units given, free and held add up, with every adjustment that was told
and `stampede verify` finds nothing. Exit status 1 if anything differs.
"""
import argparse
import itertools
import os
import random
import signal
import statistics
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))  # run as a program too

from kit import crowd  # noqa: E402
from kit import harness  # noqa: E402
from kit.harness import Closed, Failure  # noqa: E402

SECONDS_PER_KILL = 4       # more than a round takes, for sizing passes and the crowd's own bound
MINIMUM_SECONDS = 60
UNKNOWN_MAX = 14           # adjustments without an answer that are tried in all combinations
READY_SECONDS_MAX = 60


class Adjuster(threading.Thread):
    """Adds stock now and then. An answer that got lost leaves open whether it was applied."""

    def __init__(self, server, item, seed):
        super().__init__(daemon=True)
        self.server, self.item, self.dice = server, item, random.Random(seed)
        self.told, self.unknown = [], []
        self.stop = threading.Event()

    def run(self):
        while not self.stop.wait(self.dice.uniform(0.1, 0.6)):
            delta = self.dice.randrange(1, 1000)
            if len(self.unknown) == UNKNOWN_MAX:
                return
            try:
                reply = self.server.admin("POST", f"/items/{self.item}/adjust", {"delta": delta}, role="operator")
                if reply.status == 200:
                    self.told.append(reply.json()["applied"])
            except ConnectionRefusedError:
                pass
            except (OSError, Closed):
                self.unknown.append(delta)

    def given_possible(self, initial):
        sure = initial + sum(self.told)
        return {sure + sum(chosen) for size in range(len(self.unknown) + 1)
                for chosen in itertools.combinations(self.unknown, size)}


class Torture:
    def __init__(self, options):
        self.options = options
        self.dice = random.Random(options.seed)
        self.seconds_max = MINIMUM_SECONDS + options.kills * SECONDS_PER_KILL
        self.users = int(options.rate * self.seconds_max)
        self.server = harness.Server(binary=crowd.binary(), settings={
            "server.log_level": "warn", "data.tickets_max": self.users + 1000,
            "data.segment_bytes": options.segment_bytes, "orders.lag_max": 100000000})
        self.server.start()
        self.units = 2 * self.users
        self.item = self.server.open_item(total=self.units)
        self.kills = 0
        self.ready_ms = []
        self.findings = crowd.Findings()

    def kill_and_start(self):
        """One kill, sometimes a second one while it recovers; then until it is ready."""
        self.server.kill()
        self.kills += 1
        began = time.monotonic()
        self.server.spawn()
        if self.kills < self.options.kills and self.dice.random() < 0.2:
            time.sleep(self.dice.uniform(0, 0.06))
            self.server.kill()
            self.kills += 1
            began = time.monotonic()
            self.server.spawn()
        while True:
            if self.server.process.poll() is not None:
                raise Failure(f"kill {self.kills}: it does not start again ({self.server.process.returncode}):\n"
                              f"{self.server.log()[-1500:]}")
            try:
                if self.server.request("GET", "/readyz", timeout_s=READY_SECONDS_MAX).status == 200:
                    break
            except (OSError, Closed):
                pass
            if time.monotonic() - began > READY_SECONDS_MAX:
                raise Failure(f"kill {self.kills}: not ready within {READY_SECONDS_MAX} s")
            time.sleep(0.002)
        self.ready_ms.append((time.monotonic() - began) * 1000)

    def run(self):
        load = crowd.Crowd(self.server, self.item, self.users, seed=self.options.seed, until_term=True, again=True,
                           connections=self.options.connections, rate=self.options.rate, keyless=20, later=20,
                           seconds=self.seconds_max).start()
        adjuster = Adjuster(self.server, self.item, self.options.seed)
        adjuster.start()
        try:
            while self.kills < self.options.kills:
                spread_s = self.dice.choice((0.02, 0.1, 0.4, 0.8))
                time.sleep(self.dice.uniform(0.02, max(0.03, spread_s)))
                self.kill_and_start()
            time.sleep(0.2)
            adjuster.stop.set()
            adjuster.join()
            load.process.send_signal(signal.SIGTERM)
            said, requests = load.finish(self.seconds_max)
        finally:
            adjuster.stop.set()
            load.end()
        self.judge(said, requests, load.user_ids(), adjuster)
        return said

    def judge(self, said, requests, user_ids, adjuster):
        counts = crowd.orders_settled(self.server, self.item)
        orders = crowd.orders_read(self.server, self.item)
        letters = self.server.admin_ok("GET", "/dead-letters", role="viewer")["dead_letters"]
        self.server.stop()
        self.orders, self.told = orders, {r.ticket for r in requests if r.ticket != "-"}
        if said["unexpected"]:
            self.findings.say("unexpected answers", f"{said['unexpected']}")
        for letter in letters:
            self.findings.say("dead letter", f"{letter}")
        for request in requests:
            if request.what in ("sold-out", "limit-reached"):
                self.findings.say("refused", f"{request}, with {self.units} units for {self.users} users")
        possible = adjuster.given_possible(self.units)
        if counts["given"] not in possible:
            self.findings.say("units not conserved", f"given {counts['given']}, told {adjuster.told}, "
                              f"unknown {adjuster.unknown}, first {self.units}")
        crowd.check_counts(self.findings, counts, orders, counts["given"])
        crowd.check_told(self.findings, requests, orders, user_ids, self.item, one_each=True)
        if len({order.user for order in orders}) != len(orders):
            self.findings.say("above the limit", "a user has two orders")
        crowd.check_database(self.findings, self.server, self.item, orders)
        self.findings += crowd.verify_findings(self.server)
        if "invariant" in self.server.log():
            self.findings.say("server log", self.server.log()[-500:])
        self.adjusts = len(adjuster.told)


def options_read(words=None):
    parser = argparse.ArgumentParser(description="kill -9 under load: nothing told is lost, nothing is invented.")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--rate", type=float, default=3000, help="new purchases per second (3000)")
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--segment-bytes", type=int, default=2 * 1024 * 1024,
                        help="small, so that journals roll and snapshots are made meanwhile (2 MB)")
    parser.add_argument("--seed", type=int, default=None, help="else another one each time; it is printed")
    options = parser.parse_args(words)
    if options.seed is None:
        options.seed = random.randrange(1, 1 << 31)
    return options


def torment(options):
    """(line, findings)"""
    began = time.monotonic()
    torture = Torture(options)
    try:
        said = torture.run()
    except Failure as failure:
        return f"{torture.kills} kills, did not end: seed {options.seed}", [*torture.findings, str(failure)]
    ready = sorted(torture.ready_ms)
    line = (f"{torture.kills} kills, {said['requests']:,} requests ({said['broken']:,} cut by a kill, {said['lost']:,} answers "
            f"lost), {len(torture.told):,} told wins, {len(torture.orders):,} recovered, {torture.adjusts} adjustments; "
            f"ready again in {statistics.median(ready):.0f} ms (median), {ready[-1]:.0f} ms (most), "
            f"seed {options.seed} ({time.monotonic() - began:.0f} s)")
    return line, torture.findings


def main():
    line, findings = torment(options_read())
    print(f"torture  {line}  {'FAIL' if findings else 'ok'}")
    for finding in findings:
        print(f"  {finding}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
