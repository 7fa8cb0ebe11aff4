# SPDX-License-Identifier: Apache-2.0
"""What operators read with millions of orders in the database, beside a crowd that looks at its orders."""
import http.client
import json
import os
import statistics
import threading
import time

from bars import Ended, asked

from lab import LOAD_CORE
from stampede import ADMIN_KEY

VIEWS_PER_S = 5000
VIEW_CONNECTIONS = 64
ROUNDS = 5  # of views beside a read and views beside /livez, in turns
ROUND_SECONDS = 2
CHUNK = 500000  # wins that are asked for at a time
RECONCILE_PATIENCE_S = 900
SLOWER_MAX = 2  # p99 of views beside a read, over p99 beside /livez
# Beside /livez alone the medians of one run were 0.07 to 0.31 ms: below this the machine's own pauses decide.
SLOW_MS = 0.5


def orders_make(lab, server, count):
    """So many orders of one item, all written."""
    made = 0
    while made < count:
        wanted = min(CHUNK, count - made)
        source = server.make_requests("win", wanted)
        result = lab.load.run(server.port, source, 512, 8, 300, 0, ["--count", str(wanted)])
        if result["status"] != {"202": wanted}:
            raise Ended(f"{wanted} wins asked: {result['status']}")
        server.wins_sent(wanted)
        made += wanted
    server.orders_drain(count)
    return server.item_for("win")


def view_template(server, item):
    """A request for an order of a guest who has just bought."""
    status, body = server.call("POST", "/v1/session", {})
    if status not in (200, 201):
        raise Ended(f"POST /v1/session: {status} {body[:200]!r}")
    session = json.loads(body)["session"]
    headers = {"Authorization": f"Bearer {session}"}
    status, body = server.call("POST", f"/v1/items/{item}/pass", {}, headers)
    proof = json.loads(body)["pass"]
    status, body = server.call("POST", f"/v1/items/{item}/buy", headers={"Stampede-Pass": proof, **headers})
    if status != 202:
        raise Ended(f"the guest buys: {status} {body[:200]!r}")
    order = json.loads(body)["order"]
    deadline = time.monotonic() + 30
    while server.call("GET", f"/v1/orders/{order}", headers=headers)[0] != 200:
        if time.monotonic() > deadline:
            raise Ended("the guest's order was not written within 30 s")
        time.sleep(0.05)
    return (f"GET /v1/orders/{order} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {session}\r\n\r\n")


def views(lab, server, source):
    result = lab.load.run(server.port, source, VIEW_CONNECTIONS, 1, ROUND_SECONDS, 0.5, ["--rate", str(VIEWS_PER_S)])
    refused = sum(count for status, count in result["status"].items() if status != "200") + result["errors"]
    return result["p99_us"] / 1000, refused


class Asker(threading.Thread):
    """Asks the same again and again, one at a time, until it is told to end. It stands for a machine of its own: it never runs on
    the server's core, and the client that measures goes first on the other. What it costs that client all the same, one that asks
    for /livez costs it, too."""

    def __init__(self, server, ask):
        super().__init__(daemon=True)
        self.server, self.ask = server, ask
        self.over = threading.Event()
        self.slowest, self.asked, self.wrong = 0.0, 0, None
        self.start()

    def run(self):
        os.sched_setaffinity(0, {LOAD_CORE})
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
        while not self.over.is_set():
            began = time.monotonic()
            try:
                status, body = self.ask(self.server)
            except (OSError, http.client.HTTPException) as trouble:
                self.wrong = repr(trouble)
                return
            if status >= 300:
                self.wrong = f"{status} {body[:120]!r}"
                return
            self.asked += 1
            self.slowest = max(self.slowest, time.monotonic() - began)
            time.sleep(0.05)


def livez(body):
    """What costs the asker as much as a request with such a body, and the server nothing."""
    def ask(server):
        json.dumps(body())
        return server.call("GET", "/livez")
    return ask


def beside(lab, server, source, ask):
    """Views while somebody asks: (p99 in ms, refused, the asker)."""
    asker = Asker(server, ask)
    p99, refused = views(lab, server, source)
    asker.over.set()
    asker.join(180)
    return p99, refused, asker


class Compared:
    """Views beside a read and beside /livez, in turns: the medians of their p99."""

    def __init__(self, lab, server, source, ask, body):
        alone = livez(body)
        self.asked, self.slowest, self.refused, self.wrong = 0, 0.0, 0, None
        times = {alone: [], ask: []}
        for number in range(ROUNDS):
            for one in (alone, ask) if number % 2 == 0 else (ask, alone):
                p99, refused, asker = beside(lab, server, source, one)
                times[one].append(p99)
                self.refused += refused
                self.wrong = self.wrong or asker.wrong
                if one is ask:
                    self.asked += asker.asked
                    self.slowest = max(self.slowest, asker.slowest)
        self.alone, self.p99 = statistics.median(times[alone]), statistics.median(times[ask])

    def good(self):
        return self.refused == 0 and self.wrong is None and self.p99 <= max(SLOWER_MAX * self.alone, SLOW_MS)

    def text(self):
        return (f"{self.p99:.2f} and {self.alone:.2f} ms ({self.asked} asked, slowest {self.slowest * 1000:.0f} ms)"
                + (f", {self.refused} refused" if self.refused else "") + (f", {self.wrong}" if self.wrong else ""))


def admin_get(path):
    return lambda server: server.call("GET", f"/admin/v1{path}", headers={"Authorization": f"Bearer {ADMIN_KEY}"}, timeout=120)


def admin_post(path, body):
    return lambda server: server.call("POST", f"/admin/v1{path}", body() if callable(body) else body,
                                      {"Authorization": f"Bearer {ADMIN_KEY}"}, timeout=120)


def reconcile(server):
    """Begins a run, unless one is under way."""
    status, body = admin_post("/reconcile", {"repair": False})(server)
    return (200 if status == 409 else status), body


def reconcile_s(server, recent):
    """How long a run took, by its own report."""
    status, body = admin_post("/reconcile", {"recent": recent})(server)
    if status != 202:
        raise Ended(f"reconcile: {status} {body[:200]!r}")
    deadline = time.monotonic() + RECONCILE_PATIENCE_S
    while (report := json.loads(admin_get("/reconcile")(server)[1]))["state"] == "running":
        if time.monotonic() > deadline:
            raise Ended(f"a reconciliation runs longer than {RECONCILE_PATIENCE_S} s")
        time.sleep(0.05)
    if report["state"] != "done" or report["left"] > 0 or report["recent"] != recent:
        raise Ended(f"reconcile: {report}")
    return (report["ended_ms"] - report["started_ms"]) / 1000


def reconciled(server):
    """A whole run and a recent one after it."""
    return ", ".join(f"{name} reconciliation {reconcile_s(server, recent):.2f} s" for name, recent in (("whole", False), ("recent", True)))


def reads(shop):
    """(figure, met)"""
    orders, _ = asked("ORDERS", 400000)
    with shop(2 * orders + 1000000, ["reconcile.interval_ms=0"]) as (lab, server):
        item = orders_make(lab, server, orders)
        sale = json.loads(admin_get(f"/items/{item}")(server)[1])["sale"]
        source = ["--template", lab.template(view_template(server, item))]
        numbers = iter(range(1, 1 << 30))

        def users():
            return {"users": [f"u{next(numbers)}" for _ in range(1000)]}
        asks = {
            "counts": admin_get(f"/items/{item}/counts"),
            "report": admin_get(f"/sales/{sale}/report"),
            "orders of the item": admin_get(f"/orders?item={item}&state=paid"),
            "money": admin_get("/payments/totals"),
            "reconcile": reconcile,
            "ban": admin_post("/bans", lambda: {"user_id": f"{next(numbers):016x}", "minutes": 60, "reason": "bar"}),
            "edit": lambda one: one.call("PATCH", f"/admin/v1/sales/{sale}", {"title": f"Bar {next(numbers)}"},
                                         {"Authorization": f"Bearer {ADMIN_KEY}"}),
            "1,000 eligible users": admin_post(f"/sales/{sale}/users", users),
        }
        told_runs = reconciled(server)
        views(lab, server, source)
        told, met = [f"{orders:,} orders; {told_runs}; p99 of views beside, and without"], True
        for name, ask in asks.items():
            compared = Compared(lab, server, source, ask, users if "users" in name else dict)
            met = met and compared.good()
            told.append(f"{name} {compared.text()}")
        return "; ".join(told), met
