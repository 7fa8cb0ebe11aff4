#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A shop with many orders moves to many machines, killed in the middle of its largest table (bar 5 of step 3 of check-cluster).

  tools/with-postgres tools/with-redis python3 tests/bars/cluster_migrate.py [--kind postgres|mysql] [--orders 100000] [--whole]

A server sells the orders to a crowd and is stopped. `stampede migrate` is killed (kill -9) when a third of the orders is copied, and run
again: it goes on where it was, and tells how many rows were there already. The target verifies. --whole: it is not killed (to measure).
Prints a line of figures, then what is wrong; exit status 1 if something is.
"""
import argparse
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from bars import REPOSITORY  # noqa: E402, F401 (it finds the kit)
from kit import crowd, databases  # noqa: E402
from kit.harness import Server, temp_folder  # noqa: E402

BEGINS, ENDS = "The target is being filled", "All is copied"


def arguments():
    parser = argparse.ArgumentParser(description="A shop with many orders moves to many machines.")
    parser.add_argument("--kind", default="postgres", choices=("postgres", "mysql"))
    parser.add_argument("--orders", type=int, default=100000)
    parser.add_argument("--whole", action="store_true")
    return parser.parse_args()


def shop_make(orders):
    """A stopped server with so many orders."""
    server = Server(settings={"server.threads": 1, "data.tickets_max": 2 * orders + 1000, "orders.lag_max": orders + 1000, "server.log_level": "warn",
                              "limits.address_per_s": 1000000, "limits.address_burst": 1000000, "limits.connections_per_address": 1000000})
    server.start()
    item = server.open_item(total=orders, pay_window_ms=86400000)
    crowd.Crowd(server, item, orders, connections=100, twins=0, lost=0, later=0).start().finish()
    crowd.orders_settled(server, item, 300)
    server.stop()
    return server


def target_make(kind, orders):
    folder = temp_folder()
    store, name = databases.fresh(kind)
    settings = {**store, **databases.inventory_settings(folder), "data.tickets_max": 2 * orders + 1000, "cluster.role": "all"}
    os.remove(settings["cluster.secret_file"])
    server = Server(settings=settings)
    done = databases.migrate(server)
    if done.returncode != 0:
        raise SystemExit(f"no tables: {done.stderr}")
    return server, name


class Move:
    """One run of `stampede migrate`; when it came to its steps."""

    def __init__(self, source, target):
        self.process = subprocess.Popen([source.binary, "migrate", "--from", source.data, "--to", target.config], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        self.lines, self.at = [], {}

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            for step in (BEGINS, ENDS):
                if line.startswith(step):
                    self.at[step] = time.monotonic()
        self.process.wait()
        return self


def killed_in_the_middle(source, target, kind, name, orders):
    """How many orders were there after it."""
    move = Move(source, target)
    for _ in range(6000):
        if int(databases.ask(kind, name, "SELECT count(*) FROM orders")) * 3 >= orders or move.process.poll() is not None:
            break
        time.sleep(0.02)
    move.process.kill()
    move.read()
    return int(databases.ask(kind, name, "SELECT count(*) FROM orders"))


def main():
    given = arguments()
    databases.beside(given.kind, "redis")
    findings = crowd.Findings()
    source, (target, name) = shop_make(given.orders), target_make(given.kind, given.orders)
    there = 0 if given.whole else killed_in_the_middle(source, target, given.kind, name, given.orders)
    if not given.whole and not 0 < there < given.orders:
        findings.say("not in the middle", f"{there} orders were copied when it was killed")
    began = time.monotonic()
    move = Move(source, target).read()
    seconds = time.monotonic() - began
    said = re.search(r"Moved: (\d+) rows of \d+ tables(?: \((\d+) were there already\))?", move.lines[-1] if move.lines else "")
    if move.process.returncode != 0 or not said:
        findings.say("not moved", " ".join(move.lines[-3:]))
        said = re.match("()()", "")
    rows, kept = int(said[1] or 0), int(said[2] or 0)
    if kept < there:
        findings.say("copied again", f"{there} orders were there, it says {kept} rows")
    if not findings:
        done = subprocess.run([source.binary, "verify", "--config", target.config], capture_output=True, text=True, timeout=600)
        if done.returncode != 0 or int(databases.ask(given.kind, name, "SELECT count(*) FROM orders")) != given.orders:
            findings.say("verify", done.stdout[-300:])
    copying = move.at.get(ENDS, 0) - move.at.get(BEGINS, began)
    print(f"{given.kind}: {given.orders} orders, {rows} rows; killed after {there} orders, {kept} rows were there when it went on; {rows - kept} rows and the log copied in "
          f"{copying:.1f} s ({(rows - kept) / max(copying, 1e-6):.0f} rows/s), all in {seconds:.1f} s, {len(findings)} findings")
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
