# SPDX-License-Identifier: Apache-2.0
"""Money on a weak network: a fifth of all callbacks is lost, a fifth comes twice, many late and out of order; a tenth of our
requests never reaches the bank and a tenth is never answered. In the end every payment is where it belongs, and captured −
refunded = Σ price of paid orders, in our books and in the bank's; with kill -9 in the middle of it too.

PAYMENTS=120 (orders; a long run: 5000), KILLS=2, SEED."""
import os
import random
import threading
import time

from kit.harness import Buyer, Closed, Failure, Server, equal, rule, run, true

PAYMENTS = int(os.environ.get("PAYMENTS", "120"))
KILLS = int(os.environ.get("KILLS", "2"))
SEED = int(os.environ.get("SEED", str(random.randrange(1 << 30))))
PAYERS = 8
QUERY_MS = 400
SHORT_WINDOW_MS = 4000
AWAY_S = 60          # the longest that a payer tries to be heard
REST_S = 60 + 30     # the longest pause between two questions, and time to ask
WEAK = {"lost": 20, "doubled": 20, "reordered": 20, "delay_ms": 400, "unreached": 10, "unanswered": 10}

server = Server(settings={"payment.providers": "sandbox", "payment.query_ms": QUERY_MS, "payment.extend_ms": 0,
                          "payment.close_wait_ms": 120000, "payment.create_wait_ms": 2000, "orders.grace_ms": 0,
                          "orders.user_refund_ms": 600000})
server.start()


def insist(method, path, body=None, headers=None, session=None):
    """Asks until there is an answer: the server may be away, or busy."""
    end = time.monotonic() + AWAY_S
    while time.monotonic() < end:
        try:
            reply = server.request(method, path, body, headers, session)
            if reply.status < 500 and reply.status != 429:
                return reply
        except (OSError, Closed, ValueError, IndexError):
            pass
        time.sleep(0.05)
    raise Failure(f"no answer to {method} {path}")


class Guest:
    def __init__(self):
        reply = insist("POST", "/v1/session")
        self.session, self.user = reply.json()["session"], reply.json()["user"]

    def ask(self, method, path, body=None, headers=None):
        return insist(method, path, body, headers, self.session)

    def order(self, item):
        """Buys under one key until the order is written."""
        key = f"key-{random.getrandbits(64):x}"
        while True:
            fields = {"Stampede-Pass": self.ask("POST", f"/v1/items/{item}/pass").json()["pass"],
                      "Idempotency-Key": key}
            reply = self.ask("POST", f"/v1/items/{item}/buy", headers=fields)
            if reply.status in (202, 409) and "ticket" in reply.json():
                break
            time.sleep(0.05)
        while True:
            order = self.ask("GET", f"/v1/tickets/{reply.json()['ticket']}").json()
            if order.get("state", "creating") != "creating":
                return order
            time.sleep(0.02)

    def pay_page(self, order):
        """The bank's id of the payment, once it is open; None: the order is over."""
        while True:
            reply = self.ask("POST", f"/v1/orders/{order['order']}/pay")
            if reply.status == 200 and reply.json()["state"] != "pending":
                return None  # paid while this request waited: an earlier try's answer was lost
            if reply.status == 200:
                return reply.json()["payment"]["url"].split("id=")[1]
            if reply.status == 409 and reply.json()["type"] != "/problems/in-progress":
                return None
            time.sleep(0.05)


def bank_pay(payment):
    """Whether the bank has taken the money, whatever was answered."""
    insist("POST", f"/sandbox/v1/pay/{payment}", {"how": "pay"})
    return insist("GET", f"/sandbox/v1/pay/{payment}").json()["state"] == "captured"


class Payers:
    """Several threads that share a number of orders, and what they know of each in the end."""

    def __init__(self, count, seed):
        self.dice, self.lock = random.Random(seed), threading.Lock()
        self.left, self.records, self.broken = count, [], []
        self.long = server.open_item(total=count, limit_per_user=1, pay_window_ms=600000)
        self.short = server.open_item(total=count, limit_per_user=1, pay_window_ms=SHORT_WINDOW_MS)
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(PAYERS)]

    def work(self):
        try:
            while self.take():
                self.one()
        except Exception as wrong:  # told by the rule, not lost with the thread
            self.broken.append(repr(wrong))

    def take(self):
        with self.lock:
            self.left -= 1
            return self.left >= 0

    def one(self):
        with self.lock:
            plan = self.dice.choices(["pay", "cancel", "last", "leave", "refund"], [60, 12, 12, 8, 8])[0]
            pause_s = self.dice.uniform(0, 0.3)
        guest = Guest()
        order = guest.order(self.short if plan in ("last", "leave") else self.long)
        record = {"plan": plan, "user": guest.user, "order": order, "captured": False}
        payment = guest.pay_page(order)
        if payment is not None:
            self.act(guest, plan, order, payment, pause_s, record)
        with self.lock:
            self.records.append(record)

    def act(self, guest, plan, order, payment, pause_s, record):
        cancelled = None
        if plan == "leave":
            return
        if plan == "cancel":
            cancelled = threading.Thread(target=guest.ask, args=("POST", f"/v1/orders/{order['order']}/cancel"))
            cancelled.start()
            time.sleep(pause_s / 10)
        if plan == "last":
            time.sleep(max(0, (order["pay_by_ms"] - 150) / 1000 - time.time() + pause_s))
        record["captured"] = bank_pay(payment)
        if cancelled is not None:
            cancelled.join()
        if plan == "refund" and record["captured"]:
            end = time.monotonic() + REST_S
            while time.monotonic() < end:
                reply = guest.ask("POST", f"/v1/orders/{order['order']}/refund")
                if reply.status == 200:
                    return
                time.sleep(0.1)
            raise Failure(f"no refund: {reply}")

    def run(self, kills=0):
        for thread in self.threads:
            thread.start()
        total = self.left
        for kill in range(1, kills + 1):
            while self.left > total * (kills + 1 - kill) // (kills + 1) and not self.broken:
                time.sleep(0.01)
            server.restart(kill=True)
            weaken()
        for thread in self.threads:
            thread.join()
        equal(self.broken, [])


def weaken():
    equal(server.admin("PATCH", "/sandbox", WEAK).status, 200)


def orders_of(item):
    orders, before = [], ""
    while True:
        page = server.admin_ok("GET", f"/orders?item={item}&limit=100{before}", role="viewer")
        orders += page["orders"]
        if "next" not in page:
            return orders
        before = f"&before={page['next']}"


def books():
    ours, bank = server.admin_ok("GET", "/payments/totals"), server.admin_ok("GET", "/sandbox")
    return ours, {name: bank[name] for name in ("captured", "refunded")}


def is_at_rest(items):
    ours, bank = books()
    if ours["wanted"] or ours["late"] or any(ours[name] != bank[name] for name in bank):
        return False
    return ours["captured"] - ours["refunded"] == ours["paid"] and not any(
        row["view"]["state"] == "pending" for item in items for row in orders_of(item))


def rest_wait(items):
    began = time.monotonic()
    while not is_at_rest(items):
        pending = [row["view"] for item in items for row in orders_of(item) if row["view"]["state"] == "pending"]
        true(time.monotonic() - began < REST_S, f"not at rest: {books()}, {len(pending)} pending: {pending[:3]}")
        time.sleep(0.1)
    return time.monotonic() - began


def is_right(record, view, paid_users):
    """Whether the order is what became of its money."""
    if not record["captured"]:
        return view["state"] == "closed"
    if record["plan"] == "refund":
        return view["state"] == "refunded" and view["refund"]["state"] == "done"
    if view["state"] == "closed":  # the money was late: it is back, or has paid another order
        return view.get("refund", {}).get("state") == "done" or record["user"] in paid_users
    return view["state"] == "paid"


def play(kills):
    weaken()
    before = books()[0]
    began = time.monotonic()
    payers = Payers(PAYMENTS, SEED + kills)
    payers.run(kills)
    paying_s = time.monotonic() - began
    rest_s = rest_wait((payers.long, payers.short))
    rows = orders_of(payers.long) + orders_of(payers.short)
    views = {row["view"]["order"]: row["view"] for row in rows}
    paid = [row for row in rows if row["view"]["state"] == "paid"]
    paid_users = {row["user"] for row in paid}
    equal(len(payers.records), PAYMENTS)
    for record in payers.records:
        view = views[record["order"]["order"]]
        true(is_right(record, view, paid_users), f"{record} became {view}")
    ours, bank = books()
    equal({name: ours[name] for name in bank}, bank)
    equal(ours["paid"] - before["paid"], sum(row["view"]["amount"] for row in paid), "Σ price of paid orders")
    equal(ours["captured"] - ours["refunded"], ours["paid"])
    states = {state: sum(1 for row in rows if row["view"]["state"] == state) for state in ("paid", "closed", "refunded")}
    print(f"     {PAYMENTS} payments, {kills} kills, seed {SEED + kills}: {states}, captured {ours['captured']}, refunded "
          f"{ours['refunded']}, paying {paying_s:.1f} s, at rest {rest_s:.1f} s after the last payer", flush=True)


@rule
def a_weak_network_loses_no_money():
    play(kills=0)


@rule
def nor_does_kill_9_on_a_weak_network():
    play(kills=KILLS)


@rule
def the_books_still_agree_on_a_strong_network():
    equal(server.admin("PATCH", "/sandbox", {name: 0 for name in WEAK}).status, 200)
    buyer = Buyer(server)
    item = server.open_item(total=1)
    order = buyer.order(buyer.win(item)["ticket"])
    reply = server.request("POST", f"/v1/orders/{order['order']}/pay", session=buyer.session)
    true(bank_pay(reply.json()["payment"]["url"].split("id=")[1]))
    rest_wait((item,))
    equal(server.get(f"/v1/orders/{order['order']}", session=buyer.session).json()["state"], "paid")


run()
