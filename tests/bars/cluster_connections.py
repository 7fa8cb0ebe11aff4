#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many connections at several gateways, and a burst of one purchase on each (bar 4 of step 3 of check-cluster).

  tools/with-postgres tools/with-redis python3 tests/bars/cluster_connections.py [--connections 6000] [--gateways 6] [--units 1000]

Each gateway has a load client of its own (bench/load.c), whose connections come from many addresses of 127.0.x.y. All connections are open
before the first request is sent. In the first burst each connection asks once for an item that has fewer units; a second burst asks for it again when it is sold out.
  answered      each request has its answer on its connection: nobody is cut off, no other status than won, sold out, too popular
  exact         as many orders as units; each win that was told is one order; processes count the same
A request that is told "too popular, come back in so many seconds" is answered; how many these were is printed.
Prints a line of figures beside those of the source document (150,000 requests/s, P99 50 ms, 99.9 % answered, stock exact), then what is wrong;
exit status 1 if something is.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from cluster_shop import Shop  # noqa: E402
from kit import crowd  # noqa: E402
from kit.harness import Failure, eventually  # noqa: E402

PASS_CHARACTERS = 48
SOURCES = 50000           # addresses that the connections of one client are spread over
WON, SOLD_OUT, POPULAR = "202", "409", "503"
OPEN_S, BURST_S = 240, 120
PER_PROCESS_MAX = 18000   # 20,000 files are the most that a process may have here


def arguments():
    parser = argparse.ArgumentParser(description="Many connections at several gateways.")
    parser.add_argument("--connections", type=int, default=6000, help="of all gateways together")
    parser.add_argument("--gateways", type=int, default=6)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--units", type=int, default=1000)
    given = parser.parse_args()
    given.each = given.connections // given.gateways
    if given.each > PER_PROCESS_MAX:
        parser.error(f"at most {PER_PROCESS_MAX} connections a gateway")
    return given


class Client:
    """The load client of one gateway."""

    def __init__(self, gateway, item, number, each):
        self.gateway, self.item, self.each = gateway, item, each
        self.passes, self.template, self.outcomes = (os.path.join(gateway.folder, name) for name in ("passes", "buy", "outcomes"))
        with open(self.passes, "wb") as file:
            subprocess.run([gateway.binary, "mint", "--config", gateway.config, "--item", str(item), "--users", f"{number * each}:{each}"],
                           stdout=file, check=True)
        with open(self.template, "w", encoding="ascii") as file:
            file.write(f"POST /v1/items/{item}/buy HTTP/1.1\r\nHost: 127.0.0.1\r\nStampede-Pass: {'@' * PASS_CHARACTERS}\r\n"
                       "Content-Length: 0\r\n\r\n")
        self.process = None

    def open(self):
        load = os.path.join(os.path.dirname(crowd.crowd_binary()), "load")
        self.process = subprocess.Popen([load, "--port", str(self.gateway.port), "--template", self.template, "--fill", self.passes, "--once",
                                         "--connections", str(self.each), "--count", str(self.each), "--seconds", str(BURST_S), "--sources",
                                         str(SOURCES), "--outcomes", self.outcomes, "--gate", "--hold"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"a load client ended with {self.process.wait()}")
        return line

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()

    def told(self):
        """[(status, ticket)]"""
        with open(self.outcomes, encoding="ascii") as file:
            return [tuple(line.split("\t")[1:3]) for line in file]


def burst(clients):
    """(seconds to open, seconds of the burst, what each client says)"""
    began = time.monotonic()
    try:
        for client in clients:
            client.open()
        for client in clients:
            client.line()
        opened = time.monotonic()
        for client in clients:
            client.go()
        said = [json.loads(client.line()) for client in clients]
        return opened - began, time.monotonic() - opened, said
    finally:
        for client in clients:
            client.end()


def answered(findings, name, given, said):
    """The share of requests with an answer."""
    requests, closed, errors = (sum(one[key] for one in said) for key in ("requests", "closed", "errors"))
    if requests != given.each * given.gateways or closed or errors:
        findings.say("not answered", f"{name}: {requests} of {given.each * given.gateways} answered, {closed} connections closed, {errors} errors")
    return 100 * requests / (given.each * given.gateways)


def statuses(findings, name, said):
    counted = collections.Counter()
    for one in said:
        counted.update(one["status"])
    wrong = {status: count for status, count in counted.items() if status not in (WON, SOLD_OUT, POPULAR)}
    if wrong:
        findings.say("unexpected", f"{name}: {wrong}")
    return counted


def exact(findings, shop, item, units, tickets):
    """Every told win is an order; all units are sold."""
    operator = shop.workers[0]
    crowd.orders_settled(operator, item, 120)
    orders = crowd.orders_read(operator, item)
    numbers = {order.ticket for order in orders}
    lost = [ticket for ticket in tickets if ticket not in numbers]
    if len(orders) != units:
        findings.say("not exact", f"{len(orders)} orders, {units} units")
    if len(set(order.user for order in orders)) != len(orders):
        findings.say("above the limit", "somebody has two orders")
    if lost:
        findings.say("told and lost", f"{len(lost)} tickets")
    for process in (*shop.workers, *shop.gateways):
        counts = eventually(lambda p=process: (c := p.counts(item))["free"] == 0 and c, "a process still shows free units")
        crowd.check_counts(findings, counts, orders, units)
    return len(orders)


def figures(name, given, result, counted):
    opened, seconds, said = result
    requests = sum(one["requests"] for one in said)
    longest = max(one["seconds"] for one in said)
    return (f"{name}: {requests / max(longest, 1e-6):.0f} requests/s, p99 {max(one['p99_us'] for one in said) / 1000:.0f} ms, "
            f"{counted[WON]} won, {counted[SOLD_OUT]} sold out, {counted[POPULAR]} told to come back")


def main():
    given = arguments()
    findings = crowd.Findings()
    shop = Shop(given.gateways, given.workers, {
        "data.tickets_max": 2 * given.units + 100000, "server.connections_max": given.each + 500, "server.idle_timeout_ms": 600000,
        "limits.address_per_s": 1000000, "limits.address_burst": 1000000, "limits.connections_per_address": 1000000,
        "limits.user_requests": 60, "limits.user_window_ms": 1000, "pass.life_s": 3599, "human.pictures": 0, "inventory.tell_ms": 5000}).start()
    item = shop.workers[0].open_item(total=given.units)
    for gateway in shop.gateways:
        eventually(lambda g=gateway: (c := g.counts(item)) is not None and c["free"] == given.units, "a gateway does not see the units")
    try:
        clients = [Client(gateway, item, number, given.each) for number, gateway in enumerate(shop.gateways)]
        first = burst(clients)
        tickets = [ticket for client in clients for status, ticket in client.told() if status == WON]
        counted = statuses(findings, "first", first[2])
        share = answered(findings, "first", given, first[2])
        orders = exact(findings, shop, item, given.units, tickets)
        second = burst(clients)
        again = statuses(findings, "second", second[2])
        share = min(share, answered(findings, "second", given, second[2]))
    except Failure as failure:
        print(f"{given.connections} connections: did not end: {failure}, 1 findings")
        return 1
    shop.stop()
    print(f"{given.each * given.gateways} connections at {given.gateways} gateways, opened in {first[0]:.1f} s; {figures('burst', given, first, counted)}; "
          f"{figures('sold out', given, second, again)}; {share:.2f} % answered, {orders} orders of {given.units} units "
          f"(S1's table: 150000 requests/s, P99 50 ms, 99.9 %, exact), {len(findings)} findings")
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
