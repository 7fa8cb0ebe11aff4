# SPDX-License-Identifier: Apache-2.0
"""A real server under load while its database is killed, hangs and cuts connections (bar 3 of check-cluster).

Buyers buy, pay, cancel and get refunds all the while, each step repeated until it is answered. In the end everything that was
told is in the database, once: orders, states, money; and nothing that nobody asked for.
"""
import collections
import random
import threading
import time

from kit import databases, harness
from kit.harness import Buyer, Closed, Failure, eventually
from kit.servers import KINDS, Away

BUYERS = 12
UNITS = 200000
HANG_S = 1.5
SETTLE_S = 120
AGAIN_S = 0.05
STEP_S = 180  # a step that is not answered by then is lost
ACTS = ("leave",) * 4 + ("cancel", "pay", "pay", "refund")
STATES = {"pending": "1", "paid": "2", "closed": "3", "refunded": "4"}


class Told(dict):
    """user → what was told of their only order."""

    def __init__(self):
        super().__init__()
        self.lock, self.findings = threading.Lock(), []
        self.answers = collections.Counter()

    def find(self, what):
        with self.lock:
            self.findings.append(what)


class Customer(threading.Thread):
    def __init__(self, server, item, told, ending, seed):
        super().__init__(daemon=True)
        self.server, self.item, self.told, self.ending = server, item, told, ending
        self.dice = random.Random(seed)

    def run(self):
        while not self.ending.is_set():
            try:
                self.buy()
            except Failure as failure:
                self.told.find(str(failure))
                return

    def until_answered(self, ask, wanted, what):
        """Repeats a request until it is answered; what is not for now (429, 5xx, no answer) is no answer."""
        end = time.monotonic() + STEP_S
        reply = None
        while time.monotonic() < end:
            try:
                reply = ask()
                self.told.answers[reply.status] += 1
                if reply.status in wanted:
                    return reply
                if reply.status < 500 and reply.status not in (202, 408, 409, 429):
                    break
                if reply.status == 409 and b"in-progress" not in reply.body:
                    break
            except (OSError, Closed):
                self.told.answers["none"] += 1
            time.sleep(AGAIN_S)
        raise Failure(f"{what}: {reply}")

    def buy(self):
        buyer = Buyer(self.server)
        key = f"storm-{self.dice.getrandbits(64):x}"
        won = self.until_answered(lambda: buyer.buy(self.item, key=key), (202,), "purchase").json()
        with self.told.lock:
            self.told[buyer.user] = order = {"ticket": won["ticket"], "state": "pending", "amount": 0}
        act = self.dice.choice(ACTS)
        if act == "leave":  # which needs no database
            time.sleep(AGAIN_S)
            return
        view = self.until_written(buyer, won["ticket"])
        order["amount"] = view["amount"]
        path = f"/orders/{won['order']}"
        if act == "cancel":
            self.until_answered(lambda: self.server.request("POST", f"/v1{path}/cancel", session=buyer.session), (200,), act)
            order["state"] = "closed"
        if act in ("pay", "refund"):
            money = {"reference": f"r-{won['ticket']}", "amount": view["amount"], "currency": view["currency"]}
            self.until_answered(lambda: self.server.admin("POST", f"{path}/paid", money), (200,), act)
            order["state"] = "paid"
        if act == "refund":
            self.until_answered(lambda: self.server.admin("POST", f"{path}/refund", {"to": "stock"}), (200,), act)
            order["state"] = "refunded"

    def until_written(self, buyer, ticket):
        end = time.monotonic() + STEP_S
        while time.monotonic() < end:
            view = self.until_answered(lambda: buyer.get(f"/v1/tickets/{ticket}?wait=2"), (200,), "view").json()
            if view["state"] != "creating":
                return view
        raise Failure(f"the order of ticket {ticket} was not written within {STEP_S} s")


class Storm:
    def __init__(self, kind, kills, seed):
        self.database = KINDS[kind]()
        self.kills, self.dice, self.cuts, self.hangs = kills, random.Random(seed), 0, 0
        self.told, self.ending, self.calm = Told(), threading.Event(), threading.Event()

    def run(self):
        """(line, findings)"""
        try:
            self.database.make()
            return self.play()
        finally:
            self.ending.set()
            self.calm.set()
            self.database.end()

    def play(self):
        self.server = server = harness.Server(settings={
            "store.kind": self.database.kind, "store.url": self.database.url, "orders.grace_ms": 0,
            "data.tickets_max": UNITS, "orders.lag_max": 100000000, "server.log_level": "warn"})
        done = databases.migrate(server)
        harness.true(done.returncode == 0, done.stderr)
        server.start()
        self.item = server.open_item(total=UNITS)
        customers = [Customer(server, self.item, self.told, self.ending, self.dice.random()) for _ in range(BUYERS)]
        cutter = threading.Thread(target=self.cut, daemon=True)
        for thread in (*customers, cutter):
            thread.start()
        self.torment()
        self.calm.set()
        cutter.join()
        self.ending.set()
        for customer in customers:
            customer.join(STEP_S)
        return self.judge()

    def torment(self):
        for number in range(self.kills):
            time.sleep(self.dice.uniform(0.2, 2.0))
            if number % 5 == 3:
                self.database.hang(HANG_S)
                self.hangs += 1
            self.database.kill()
            time.sleep(self.dice.choice((0, 0.1, 0.5)))
            self.database.start()
        time.sleep(1)

    def cut(self):
        while not self.calm.wait(self.dice.uniform(0.05, 0.4)):
            try:
                self.cuts += int(self.database.cut())
            except (Away, ValueError):
                pass

    def rows(self, sql):
        return [line.split("\t") for line in self.database.ask(sql).splitlines()]

    def judge(self):
        server, told, findings = self.server, self.told, self.told.findings
        try:
            eventually(self.is_settled, "", SETTLE_S, every_s=0.2)
        except Failure:
            raise Failure(f"the orders do not settle: {self.seen}; {server.log()[-600:]}") from None
        letters = server.admin_ok("GET", "/dead-letters")["dead_letters"]
        if letters:
            findings.append(f"{len(letters)} dead letters: {letters[0]}")
        self.judge_orders()
        self.judge_money()
        self.reconcile()
        server.stop(60)
        server.verify()
        if "invariant" in server.log():
            findings.append(server.log()[-500:])
        states = collections.Counter(order["state"] for order in told.values())
        away = sum(count for status, count in told.answers.items() if status == "none" or status >= 500)
        line = (f"{self.database.kind}: {self.kills} kills, {self.hangs} hangs, {self.cuts} connections cut, {len(told)} orders told"
                f" ({', '.join(f'{states[state]} {state}' for state in STATES)}), {away} answers 'not now', "
                f"{len(findings)} findings")
        return line, findings

    def is_settled(self):
        reply = self.server.admin("GET", f"/items/{self.item}/counts")
        self.seen = reply.body
        if reply.status != 200:
            return False
        counts = self.server.counts(self.item)
        taken = self.taken()
        open_events = self.rows("SELECT count(*) FROM stock_events WHERE confirmed_lsn IS NULL")[0][0]
        self.seen = counts, taken, open_events
        return counts["held"] + counts["sold"] == taken and open_events == "0"

    def taken(self):
        """Units of the item that are held or sold, as the database has them."""
        return int(self.rows(f"SELECT locked + sold FROM items WHERE id = {self.item}")[0][0])

    def judge_orders(self):
        kept = collections.defaultdict(list)
        for user, state in self.rows("SELECT user_id, state FROM orders"):
            kept[f"{int(user) & (1 << 64) - 1:016x}"].append(state)
        by_state = collections.Counter(state for states in kept.values() for state in states)
        for user, order in self.told.items():
            states = kept.pop(user, [])
            if states != [STATES[order["state"]]]:
                self.told.find(f"user {user}: told {order}, kept {states}")
        if kept:
            self.told.find(f"{len(kept)} orders of users that were told of none: {list(kept)[:3]}")
        if self.taken() != by_state["1"] + by_state["2"]:
            self.told.find(f"stock: {self.taken()} units taken, orders by state {dict(by_state)}")

    def judge_money(self):
        """Each payment once; captured − refunded = Σ of the paid orders."""
        payments = self.rows("SELECT reference, count(*), sum(captured) FROM payments GROUP BY reference")
        wanted = {f"r-{order['ticket']}": str(order["amount"]) for order in self.told.values()
                  if order["state"] in ("paid", "refunded")}
        for reference, count, captured in payments:
            if count != "1" or wanted.pop(reference, None) != captured:
                self.told.find(f"payment {reference}: {count} times, captured {captured}")
        if wanted:
            self.told.find(f"{len(wanted)} payments are lost: {list(wanted)[:3]}")
        totals = self.server.admin_ok("GET", "/payments/totals")
        if totals["captured"] - totals["refunded"] != totals["paid"]:
            self.told.find(f"money: {totals}")

    def reconcile(self):
        eventually(lambda: self.server.admin("POST", "/reconcile", {}).status == 202, "reconciliation does not begin", SETTLE_S)
        eventually(lambda: self.server.admin_ok("GET", "/reconcile")["state"] != "running", "no end of reconciliation", SETTLE_S)
        report = self.server.admin_ok("GET", "/reconcile")
        if (report["state"], report["found"], report["trouble"]) != ("done", 0, ""):
            self.told.find(f"reconciliation: {report}")


def storm(kind, kills, seed):
    """(figure, whether nothing is wrong)"""
    line, findings = Storm(kind, kills, seed).run()
    return " | ".join([f"{line}, seed {seed}", *findings[:5]])[:1200], not findings
