#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The headline of the first source document beside what this machine does: 100,000 connections, requests a second, p99, the
share that is answered, exactness; and the arithmetic from processor time to 150,000 requests a second and a million users.

  make headline                               # prints the table
  make headline HEADLINE_ARGS='--write'       # and puts it into docs/performance.md

Six servers with an embedded engine (a process may have 20,000 files open here), each with a sixth of the connections and of the
units, and six load clients on the same two cores. Three parts: every connection asks once at the same moment (burst); as many
requests as the clients and servers can do with all connections (full); a fixed rate in an open loop (steady), whose p99 is the
one to compare. Exactness is of all parts: wins that were told, orders, units. Everything is on loopback and bounded.
"""
import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from stampede import Stampede  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs", "performance.md")
BEGIN, END = "<!-- make headline: begin -->", "<!-- make headline: end -->"
CORES = "0-1"
SOURCES = 64
WANTED_PER_S = 150000
CORE_SHARE = 0.6
CROWD = 1000000
TICKS = os.sysconf("SC_CLK_TCK")


class Shop(Stampede):
    def cpu_s(self):
        """Of the server; `taskset` has become it."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--servers", type=int, default=6)
    parser.add_argument("--connections", type=int, default=100000)
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=10, help="of the parts full and steady")
    parser.add_argument("--rate", type=int, default=40000, help="of the steady part, all clients together")
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "release", "stampede"))
    parser.add_argument("--load", default=os.path.join(ROOT, "build", "release", "bench", "load"))
    parser.add_argument("--write", action="store_true", help="into docs/performance.md")
    return parser.parse_args()


class Part:
    """All load clients at once, each at its server."""
    def __init__(self, given, shops, sources, words):
        each = -(-given.connections // given.servers)
        self.shops = shops
        self.clients = [subprocess.Popen([given.load, "--port", str(shop.port), *source, "--connections", str(each), "--sources",
                                          str(SOURCES), "--gate", "--hold", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                        for shop, source in zip(shops, sources)]

    def run(self):
        """What was seen by all clients together."""
        opened = sum(json.loads(client.stdout.readline())["open"] for client in self.clients)
        cpu = sum(shop.cpu_s() for shop in self.shops)
        began = time.monotonic()
        for client in self.clients:
            client.stdin.write(b"!")
            client.stdin.flush()
        results = [json.loads(client.stdout.readline()) for client in self.clients]
        seconds = time.monotonic() - began
        cpu = sum(shop.cpu_s() for shop in self.shops) - cpu
        at_once = sum(shop.metric("stampede_edge_connections_open") for shop in self.shops)
        self.end()
        status = {}
        for result in results:
            for code, count in result["status"].items():
                status[code] = status.get(code, 0) + count
        answered = sum(status.values())
        return {"opened": opened, "open_at_the_end": int(at_once), "seconds": seconds, "sent": sum(r["sent"] for r in results),
                "answered": answered, "errors": sum(r["errors"] for r in results), "status": status, "cpu_s": cpu,
                "p50_ms": max(r["p50_us"] for r in results) / 1000, "p99_ms": max(r["p99_us"] for r in results) / 1000,
                "per_s": sum(r["rate"] for r in results), "unsent": sum(r["unsent"] for r in results)}

    def end(self):
        for client in self.clients:
            client.stdin.close()
        for client in self.clients:
            client.wait(timeout=60)


def play(given, shops):
    each = -(-given.connections // given.servers)
    sources = []
    for number, shop in enumerate(shops):
        shop.units = given.units // given.servers + (number < given.units % given.servers)
        sources.append(shop.requests_of(shop.open_item(shop.units), 0, each))
    parts = {
        "burst": (["--count", str(each), "--seconds", "30", "--warm", "0"]),
        "full": (["--seconds", str(given.seconds), "--warm", "2"]),
        "steady": (["--seconds", str(given.seconds), "--warm", "2", "--rate", str(given.rate / given.servers), "--sleep"]),
    }
    results = {}
    for name, words in parts.items():
        results[name] = Part(given, shops, sources, words).run()
        print(f"{name}: {json.dumps(results[name])}", flush=True)
    return results


def exactness(given, shops, results):
    """(told wins, orders, units free); waits for the orders."""
    told = sum(result["status"].get("202", 0) for result in results.values())
    for shop in shops:
        shop.orders_drain(shop.units)
    orders = sum(shop.orders_written() for shop in shops)
    return told, orders, told == orders == given.units


def table(given, results, exact, told, orders):
    burst, full, steady = results["burst"], results["full"], results["steady"]
    answered = sum(result["answered"] for result in results.values())
    busiest = full["cpu_s"] / max(1, full["sent"]) * 1e6
    cores = WANTED_PER_S * busiest / 1e6
    lost = burst["sent"] - burst["answered"] + steady["unsent"] + steady["errors"]
    share = 100 * (1 - lost / max(1, burst["sent"] + steady["answered"] + lost))
    lines = [
        "| what | document | here: two cores for six servers and six clients |",
        "|---|---|---|",
        f"| concurrent users | 100,000 | {burst['opened']:,} connections open at once |",
        f"| requests a second | 150,000 | {full['per_s']:,.0f} with all connections asking all the time (100,000 in flight: p99 {full['p99_ms']:,.0f} ms); {burst['answered'] / burst['seconds']:,.0f} in a burst of one request each |",
        f"| p99 | 50 ms | {steady['p99_ms']:.1f} ms at {steady['per_s']:,.0f} requests/s in an open loop (p50 {steady['p50_ms']:.1f} ms); burst: {burst['p99_ms']:,.0f} ms, as all ask at one moment |",
        f"| answered | 99.9 % | {share:.3f} % of burst and steady part; {answered:,} answers, {burst['status'].get('503', 0):,} of them "
        f"*too popular, try again* in the burst; {sum(r['errors'] for r in results.values())} errors |",
        f"| stock exact | 100 % | {'yes' if exact else 'NO'}: {told:,} wins told, {orders:,} orders, {given.units:,} units |",
        "",
        f"Arithmetic: a request cost the servers {busiest:.1f} µs of processor ({full['cpu_s']:.1f} s for {full['sent']:,} requests, nearly all of them refusals, as in a real sale). "
        f"150,000 requests/s are {cores:.1f} cores that do nothing else, or {cores / CORE_SHARE:.1f} cores at 60 %: "
        f"{-(-cores / CORE_SHARE // 2):.0f} machines with two cores. "
        f"A million users who ask once within 10 s are {CROWD / 10:,.0f} requests/s: {CROWD / 10 * busiest / 1e6 / CORE_SHARE:.1f} cores at 60 %. "
        f"The clients had as many cores as the servers, so the rates are floors; the processor time is what counts.",
    ]
    return "\n".join(lines)


def document_write(text):
    with open(DOCUMENT, encoding="utf-8") as file:
        document = file.read()
    before, rest = document.split(BEGIN)
    _, after = rest.split(END)
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main():
    given = arguments()
    each = -(-given.connections // given.servers)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="headline-"))
        shops = [Shop(os.path.join(folder, str(number)), CORES, given.binary, 20000, [f"server.connections_max={each + 500}"])
                 for number in range(given.servers)]
        for shop in shops:
            stack.callback(shop.stop_hard)
            shop.start()
        results = play(given, shops)
        told, orders, exact = exactness(given, shops, results)
    text = table(given, results, exact, told, orders)
    print(text)
    if given.write:
        document_write(text)
    return 0 if exact and all(result["errors"] == 0 for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
