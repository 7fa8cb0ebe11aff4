#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A crowd against the real server: exact, whatever clients and networks do (bar 2 of the spine).

  crowd.py [--only a,b,c] [--users 50000] [--units 1000] [--connections 400] [--seed N]

Scenarios, each on a server of its own; bench/crowd.c plays the users and writes down all that they were told:
  a  one unit each: as many distinct winners as units, a retry tells the same ticket, order rows = winners
  b  limit 3 and quantities of 1 to 3, several purchases per user, each with its key
  c  stock is added and removed meanwhile
A "sold out" must be true at some moment during its request. What is certain from outside: a win is decided between the
start of its first request that could have won and the end of the first answer that told it, and in the order of the
ticket numbers. So units that were certainly still there during the whole of a refused request prove a wrong refusal.

Prints one line per scenario, then what is wrong. Exit status 1 if something is. TEST_SERVER names the binary; the crowd is
next to it in bench/ (make benches), or TEST_CROWD.
"""
import argparse
import base64
import bisect
import collections
import itertools
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))  # run as a program too

from kit import harness  # noqa: E402
from kit.harness import Failure, eventually  # noqa: E402

Request = collections.namedtuple("Request", "user number quantity keyed kind start end status what ticket order")
Order = collections.namedtuple("Order", "number user ticket order item quantity")
Adjust = collections.namedtuple("Adjust", "start end applied")
UNANSWERED = 0  # status of a request whose answer was lost; it may have been decided
TOLD_MAX = 5    # violations of one kind that are printed


def binary():
    """A release build: a crowd is about races, and a sanitizer slows them down. E2E_SERVER overrules."""
    built = os.path.join(harness.REPOSITORY, "build", "release", "stampede")
    return os.environ.get("E2E_SERVER") or os.environ.get("TEST_SERVER") or built


def crowd_binary():
    path = os.environ.get("TEST_CROWD") or os.path.join(os.path.dirname(binary()), "bench", "crowd")
    if not os.path.exists(path):
        sys.exit(f"{path} is not built: make benches")
    return path


# ---- playing -----------------------------------------------------------------------------------------


class Crowd:
    """Users first … first + users - 1 of `mint`, against one item. start(), then finish() for the requests."""

    def __init__(self, server, item, users, first=0, seed=1, **options):
        self.passes = os.path.join(server.folder, f"passes-{item}-{first}")
        self.log = os.path.join(server.folder, f"crowd-{item}-{first}")
        with open(self.passes, "wb") as file:
            subprocess.run([server.binary, "mint", "--config", server.config, "--item", str(item),
                            "--users", f"{first}:{users}"], stdout=file, check=True)
        self.command = [crowd_binary(), "--port", str(server.port), "--item", str(item), "--passes", self.passes,
                        "--log", self.log, "--seed", str(seed)]
        for name, value in options.items():
            self.command += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        return self

    def finish(self, patience_s=600):
        """(the crowd's own figures, its requests)"""
        try:
            said, _ = self.process.communicate(timeout=patience_s)
        finally:
            self.end()
        if self.process.returncode != 0:
            raise Failure(f"the crowd ended with {self.process.returncode}: {said}")
        return json.loads(said), requests_read(self.log)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def user_ids(self):
        """As the API shows users: 16 hex digits. A pass begins with the user, little-endian."""
        with open(self.passes, encoding="ascii") as file:
            return [f"{int.from_bytes(base64.urlsafe_b64decode(line[:12])[:8], 'little'):016x}" for line in file]


def requests_read(path):
    with open(path, encoding="ascii") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [Request(*(int(value) for value in row[:4]), row[4], *(int(value) for value in row[5:8]), *row[8:])
            for row in rows]


def orders_read(server, item):
    """All orders of an item through the admin API, first ticket first."""
    orders, before = [], ""
    with server.connect() as connection:
        while True:
            reply = connection.request("GET", f"/admin/v1/orders?item={item}&limit=100{before}", headers={
                "Authorization": f"Bearer {server.keys['viewer']}"})
            harness.equal(reply.status, 200, f"orders: {reply.body[:200]!r}")
            page = reply.json()
            for row in page["orders"]:
                view = row["view"]
                orders.append(Order(row["number"], row["user"], view["ticket"], view["order"], view["item"],
                                    view["quantity"]))
            if "next" not in page:
                return orders[::-1]
            before = f"&before={page['next']}"


def orders_settled(server, item, patience_s=60):
    """Waits until every win has its order row; the counts then."""
    def all_written():
        counts = server.counts(item)
        return counts if server.item_orders(item)[1] == counts["held"] + counts["sold"] else None
    return eventually(all_written, "not every win has its order", patience_s, every_s=0.1)


def database_rows(server, item):
    """(number, user, quantity) from SQLite itself; the server must be stopped."""
    path = os.path.join(server.data, "stampede.db")
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        rows = database.execute("SELECT ticket, user_id, quantity FROM orders WHERE item = ? ORDER BY ticket", (item,))
        return [(number, f"{user & (1 << 64) - 1:016x}", quantity) for number, user, quantity in rows]


def verify_findings(server):
    run = subprocess.run([server.binary, "verify", server.data], capture_output=True, text=True, check=False)
    return [] if run.returncode == 0 else [f"stampede verify says {run.returncode}: {(run.stdout + run.stderr)[-1500:]}"]


# ---- judging -----------------------------------------------------------------------------------------


class Findings(list):
    def say(self, kind, text):
        """Keeps the first few of a kind, and counts."""
        seen = sum(1 for finding in self if finding.startswith(kind + ":"))
        if seen < TOLD_MAX:
            self.append(f"{kind}: {text}")
        elif seen == TOLD_MAX:
            self.append(f"{kind}: … and more")


def wins_told(requests):
    """{(user, number): ticket of the first 202}"""
    told = {}
    for request in requests:
        if request.status == 202:
            told.setdefault((request.user, request.number), request.ticket)
    return told


def check_told(findings, requests, orders, user_ids, item, one_each):
    """Told wins and orders are the same set, each told to its owner only, and each retry the same."""
    by_ticket = {order.ticket: order for order in orders}
    told = wins_told(requests)
    first_end = {}
    for request in requests:
        if request.status == 202:
            key = (request.user, request.number)
            first_end[key] = min(first_end.get(key, request.end), request.end)
    told_tickets = set()
    for request in requests:
        key = (request.user, request.number)
        who = f"user {request.user} purchase {request.number} ({request.kind}, {request.what})"
        if request.status == 202 and request.ticket != told[key]:
            findings.say("two outcomes", f"{who} was told {told[key]} and {request.ticket}")
        if request.ticket != "-":
            told_tickets.add(request.ticket)
            order = by_ticket.get(request.ticket)
            if order is None:
                findings.say("told and lost", f"{who} was told {request.ticket}, which has no order")
            elif order.user != user_ids[request.user] or order.item != item:
                findings.say("told to another", f"{who} was told {order}")
            elif request.status == 202 and (order.quantity, order.order) != (request.quantity, request.order):
                findings.say("told otherwise", f"{who} asked for {request.quantity}, order {request.order}; got {order}")
        elif request.status != UNANSWERED and request.status != 503 and request.start >= first_end.get(key, 1 << 63):
            findings.say("win hidden", f"{who} had won {told[key]} before it asked")
        if request.keyed and one_each and request.what in ("already-bought", "in-progress"):
            findings.say("key forgotten", f"{who} with the same key was told {request.status} {request.what}")
    for order in orders:
        if order.ticket not in told_tickets:
            findings.say("never told", f"{order}, and its user has a final answer")
    asked = {user_ids[request.user] for request in requests}
    for order in orders:
        if order.user not in asked:
            findings.say("never asked", f"{order}")
    if len(by_ticket) != len(orders):
        findings.say("ticket twice", f"{len(orders)} orders, {len(by_ticket)} tickets")


class WinTimes:
    """When wins were decided at the earliest, in the order in which they were: the running maximum of what each says."""

    def __init__(self, requests, orders):
        could_win = {}
        ticket_of = wins_told(requests)
        for request in requests:
            if request.status in (202, UNANSWERED):
                key = (request.user, request.number)
                could_win[key] = min(could_win.get(key, request.start), request.start)
        earliest = {ticket: could_win[key] for key, ticket in ticket_of.items()}
        self.by_ticket = earliest
        own = [earliest.get(order.ticket, 0) for order in orders]
        self.not_before = list(itertools.accumulate(own, max))
        self.units = [0, *itertools.accumulate(order.quantity for order in orders)]

    def taken_at_most(self, moment):
        """Units that can have been won by then."""
        return self.units[bisect.bisect_right(self.not_before, moment)]


class Given:
    """Units that had been given at the least during the whole of a request: what was added before, less what may
    have been removed by its end."""

    def __init__(self, initial, adjusts):
        added = sorted((a.end, a.applied) for a in adjusts if a.applied > 0)
        removed = sorted((a.start, a.applied) for a in adjusts if a.applied < 0)
        self.added_at, self.removed_at = [[moment for moment, _ in changes] for changes in (added, removed)]
        self.added, self.removed = [[0, *itertools.accumulate(units for _, units in changes)]
                                    for changes in (added, removed)]
        self.initial = initial

    def at_least(self, start, end):
        return (self.initial + self.added[bisect.bisect_left(self.added_at, start)]
                + self.removed[bisect.bisect_left(self.removed_at, end)])


def check_sold_out(findings, requests, orders, initial, adjusts=()):
    """No refusal whose quantity was there during the whole of the request."""
    times, given = WinTimes(requests, orders), Given(initial, adjusts)
    refusals = [request for request in requests if request.what == "sold-out"]
    for request in refusals:
        free = given.at_least(request.start, request.end) - times.taken_at_most(request.end)
        if free >= request.quantity:
            findings.say("refused while units were left",
                         f"user {request.user} asked for {request.quantity} when at least {free} were free")
    return len(refusals)


def check_limit(findings, requests, orders, limit):
    by_user = collections.Counter()
    for order in orders:
        by_user[order.user] += order.quantity
    for user, units in by_user.items():
        if units > limit:
            findings.say("above the limit", f"user {user} has {units} of {limit}")
    times = WinTimes(requests, orders)
    wins = collections.defaultdict(list)
    for request in {(r.user, r.number): r for r in requests if r.status == 202}.values():
        wins[request.user].append((times.by_ticket[request.ticket], request.quantity))
    for request in requests:
        if request.what == "limit-reached":
            used = sum(units for moment, units in wins[request.user] if moment < request.end)
            if used + request.quantity <= limit:
                findings.say("limit too early", f"user {request.user} had {used}, asked for {request.quantity}")
    return sum(request.what == "limit-reached" for request in requests)


def check_counts(findings, counts, orders, given):
    units = sum(order.quantity for order in orders)
    if counts["given"] != given:
        findings.say("units not conserved", f"given {counts['given']}, but {given} were")
    if counts["held"] + counts["sold"] != units:
        findings.say("orders differ from stock", f"{units} units in orders, counts {counts}")
    if units > given:
        findings.say("oversold", f"{units} of {given}")


def check_database(findings, server, item, orders):
    rows = database_rows(server, item)
    if rows != [(order.number, order.user, order.quantity) for order in orders]:
        findings.say("database differs", f"{len(rows)} rows, {len(orders)} orders by the API")


# ---- scenarios ---------------------------------------------------------------------------------------


class Scenario:
    """One server, one item, one crowd."""

    def __init__(self, options, units, **item):
        self.options = options
        self.units = units
        self.server = harness.Server(settings={"server.log_level": "warn"}, binary=binary()).start()
        self.item = self.server.open_item(total=units, **item)
        self.findings = Findings()
        self.requests, self.user_ids = [], []
        self.said = {}

    def crowd(self, **more):
        return Crowd(self.server, self.item, self.options.users, seed=self.options.seed,
                     connections=self.options.connections, again=True, **more)

    def judge(self, given, one_each, adjusts=()):
        """All that holds whatever the scenario; returns orders, counts, refusals."""
        counts = orders_settled(self.server, self.item)
        orders = orders_read(self.server, self.item)
        if self.said["unexpected"]:
            self.findings.say("unexpected answers", f"{self.said['unexpected']}")
        check_counts(self.findings, counts, orders, given)
        check_told(self.findings, self.requests, orders, self.user_ids, self.item, one_each)
        refusals = check_sold_out(self.findings, self.requests, orders, self.units, adjusts)
        self.server.stop()
        check_database(self.findings, self.server, self.item, orders)
        self.findings += verify_findings(self.server)
        if "invariant" in self.server.log():
            self.findings.say("server log", self.server.log()[-500:])
        return orders, counts, refusals

    def figures(self, orders):
        return (f"{self.options.users:,} users, {self.said['requests']:,} requests ({self.said['lost']:,} answers lost) "
                f"on {self.options.connections} connections in {self.said['seconds']:.1f} s: "
                f"{len({order.user for order in orders}):,} winners, {len(orders):,} order rows")


def one_unit_each(options):
    scenario = Scenario(options, options.units)
    crowd = scenario.crowd(keyless=33).start()
    scenario.said, scenario.requests = crowd.finish()
    scenario.user_ids = crowd.user_ids()
    orders, _, refusals = scenario.judge(given=options.units, one_each=True)
    winners = {order.user for order in orders}
    if len(winners) != options.units or len(orders) != options.units:
        scenario.findings.say("not exact", f"{len(winners)} winners, {len(orders)} orders, {options.units} units")
    return f"{options.units:,} units, {scenario.figures(orders)}, {refusals:,} told sold out", scenario.findings


def limits_and_quantities(options):
    limit = 3
    scenario = Scenario(options, options.units, limit_per_user=limit)
    crowd = scenario.crowd(purchases=3, quantity=3).start()
    scenario.said, scenario.requests = crowd.finish()
    scenario.user_ids = crowd.user_ids()
    orders, counts, refusals = scenario.judge(given=options.units, one_each=False)
    over_limit = check_limit(scenario.findings, scenario.requests, orders, limit)
    refused = min((r.quantity for r in scenario.requests if r.what == "sold-out"), default=limit + 1)
    if counts["free"] >= refused:
        scenario.findings.say("left over", f"{counts['free']} free, {refused} refused")
    sold = sum(order.quantity for order in orders)
    return (f"{sold:,} of {options.units:,} units sold in 1–3 each, limit {limit}: {scenario.figures(orders)}, "
            f"{over_limit:,} refused by the limit, {refusals:,} told sold out"), scenario.findings


def adjust_all_the_while(server, item, units, seed, stop, adjusts, failures):
    """Adds and removes until told to stop; each with its times and what was applied."""
    dice = random.Random(seed)
    try:
        while not stop.is_set():
            delta = dice.choice((1, -1)) * dice.randrange(1, max(2, units // 20))
            start = time.monotonic_ns()
            answer = server.admin_ok("POST", f"/items/{item}/adjust", {"delta": delta}, role="operator")
            adjusts.append(Adjust(start, time.monotonic_ns(), answer["applied"]))
            if not (0 <= answer["applied"] <= delta or delta <= answer["applied"] <= 0):
                failures.append(f"adjust {delta} applied {answer['applied']}")
            stop.wait(dice.uniform(0, 0.05))
    except Exception as error:  # a thread can only report
        failures.append(f"adjust: {error!r}")


def stock_moves_meanwhile(options):
    scenario = Scenario(options, options.units)
    server, item = scenario.server, scenario.item
    adjusts, failures, stop = [], [], threading.Event()
    threads = [threading.Thread(target=adjust_all_the_while,
                                args=(server, item, options.units, options.seed + i, stop, adjusts, failures))
               for i in range(2)]
    crowd = scenario.crowd(persist=3, rate=max(1000, options.users / 5)).start()
    for thread in threads:
        thread.start()
    try:
        scenario.said, scenario.requests = crowd.finish()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    scenario.user_ids = crowd.user_ids()
    # At rest: what is added now is sold to the last unit, to people who were never there before.
    extra = 10
    start = time.monotonic_ns()
    server.admin_ok("POST", f"/items/{item}/adjust", {"delta": extra}, role="operator")
    adjusts.append(Adjust(start, time.monotonic_ns(), extra))
    late = Crowd(server, item, 100 + server.counts(item)["free"], first=options.users, connections=50).start()
    _, requests = late.finish()
    scenario.requests += [request._replace(user=request.user + options.users) for request in requests]
    scenario.user_ids += late.user_ids()
    given = options.units + sum(a.applied for a in adjusts)
    orders, counts, refusals = scenario.judge(given, one_each=True, adjusts=adjusts)
    scenario.findings += failures
    if counts["free"] != 0:
        scenario.findings.say("left over", f"{counts['free']} free although {refusals} were refused")
    added = sum(a.applied for a in adjusts if a.applied > 0)
    removed = -sum(a.applied for a in adjusts if a.applied < 0)
    return (f"{options.units:,} + {added:,} - {removed:,} units in {len(adjusts)} adjustments, {counts['held']:,} sold: "
            f"{scenario.figures(orders)}, {refusals:,} told sold out"), scenario.findings


SCENARIOS = {"a": one_unit_each, "b": limits_and_quantities, "c": stock_moves_meanwhile}


def play(name, options):
    """(line, findings)"""
    began = time.monotonic()
    try:
        line, findings = SCENARIOS[name](options)
    except Failure as failure:
        line, findings = "did not end", [str(failure)]
    return f"{line} ({time.monotonic() - began:.0f} s)", findings


def options_read(words=None):
    parser = argparse.ArgumentParser(description="A crowd against the real server.")
    parser.add_argument("--only", default="a,b,c")
    parser.add_argument("--users", type=int, default=50000)
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--connections", type=int, default=400)
    parser.add_argument("--seed", type=int, default=None, help="else another one each time; it is printed")
    options = parser.parse_args(words)
    if options.seed is None:
        options.seed = random.randrange(1, 1 << 31)
    return options


def main():
    options = options_read()
    failed = False
    for name in options.only.split(","):
        line, findings = play(name, options)
        print(f"crowd {name}  {line}, seed {options.seed}  {'FAIL' if findings else 'ok'}", flush=True)
        for finding in findings:
            print(f"  {finding}")
        failed |= bool(findings)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
