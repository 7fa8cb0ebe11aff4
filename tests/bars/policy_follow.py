#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server is killed under load and its disk is lost, again and again; its follower takes over each time, and gets a follower of its
own. Nothing that was told is lost: wins, and orders that are paid. The old server, from a copy of its folder, can't come back
and sell.

  policy_follow.py [KILLS]      alone, without the other bars; FOLLOW_KILLS says the same

Each kill prints a line: what was told, how long the takeover took, and that the old server was refused. A kill has ROUND_S, all of
them together KILLS times TYPICAL_S and a minute: whoever waits for a bar waits no longer.
"""
import os
import random
import shutil
import statistics
import sys
import threading
import time

sys.dont_write_bytecode = True
if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "e2e"))

from kit import harness  # noqa: E402
from kit.following import Followed, Follower, ready  # noqa: E402
from kit.harness import Buyer, Closed, Failure, equal, eventually, true  # noqa: E402

BUYERS = 6
LOAD_S = (0.3, 1.5)
ROUND_S, TYPICAL_S = 240, 30
SETTINGS = {"server.log_level": "info", "payment.providers": "sandbox", "payment.query_ms": 300, "orders.grace_ms": 3600000,
            "follow.away_ms": 3000, "data.tickets_max": 400000, "orders.lag_max": 10000000}


class Load(threading.Thread):
    """Buys, and pays for every fourth win. What was told, with who was told it."""

    def __init__(self, server, item):
        super().__init__(daemon=True)
        self.server, self.item, self.ends = server, item, threading.Event()
        self.won, self.paid = [], []

    def order(self, buyer, ticket):
        for _ in range(500):
            order = self.server.get(f"/v1/tickets/{ticket}", session=buyer.session).json()
            if order.get("order") and order["state"] != "creating":
                return order["order"]
            time.sleep(0.01)
        return None

    def pay(self, buyer, ticket):
        order = self.order(buyer, ticket)
        if order is None:
            return
        reply = self.server.request("POST", f"/v1/orders/{order}/pay", session=buyer.session)
        if reply.status != 200:
            return
        payment = reply.json()["payment"]["url"].split("id=")[1]
        self.server.request("POST", f"/sandbox/v1/pay/{payment}", {"how": "pay"})
        while not self.ends.is_set():
            if self.server.get(f"/v1/orders/{order}", session=buyer.session).json()["state"] == "paid":
                self.paid.append((buyer.session, order))
                return
            time.sleep(0.02)

    def run(self):
        turn = 0
        while not self.ends.is_set():
            try:
                buyer = Buyer(self.server)
                reply = buyer.buy(self.item)
                if reply.status == 202:
                    self.won.append((buyer.session, reply.json()["ticket"]))
                    turn += 1
                    if turn % 4 == 0:
                        self.pay(buyer, reply.json()["ticket"])
            except (OSError, Closed, Failure, KeyError, ValueError):
                if not self.server.alive():
                    return


def order_state(server, session, ticket):
    def written():
        order = server.get(f"/v1/tickets/{ticket}", session=session).json()
        return order if order.get("state") != "creating" else None
    return eventually(written).get("state", "missing")


class Shop:
    """The machine that sells and the one that follows; they change places."""

    def __init__(self, settings=None):
        self.settings = {**SETTINGS, **(settings or {})}
        self.server = Followed(self.settings)
        self.server.spawn()
        self.follower_start()
        self.item = self.server.open_item(total=300000, limit_per_user=1)
        self.wins = self.payments = 0
        self.seconds, self.all_won, self.all_paid = [], [], []

    def follower_start(self):
        self.follower = Follower(self.server.address, self.server.binary).start()
        ready(self.server)
        self.follower.whole()
        self.server.current()

    def load(self):
        crowd = [Load(self.server, self.item) for _ in range(BUYERS)]
        for one in crowd:
            one.start()
        eventually(lambda: any(one.won for one in crowd), "nothing was won")
        time.sleep(random.uniform(*LOAD_S))
        self.server.process.kill()
        for one in crowd:
            one.ends.set()
        self.server.process.wait()
        for one in crowd:
            one.join(harness.PATIENCE_S)
        return [told for one in crowd for told in one.won], [told for one in crowd for told in one.paid]

    def lose_and_take_over(self):
        old, kept = self.server, self.server.data + ".kept"
        won, paid = self.load()
        shutil.copytree(old.data, kept)
        shutil.rmtree(old.data)
        self.seconds.append(self.follower.took_over())
        self.server = Followed(self.settings, data=self.follower.data)
        self.server.spawn()
        self.follower_start()
        self.judge(won, paid)
        self.old_comes_back(old, kept)
        shutil.rmtree(kept)
        return f"{len(won)} wins and {len(paid)} payments told, all there; taken over in {self.seconds[-1]:.2f} s; old server refused twice"

    def judge(self, won, paid):
        """What was told this time, and some of what was told long ago."""
        self.wins += len(won)
        self.payments += len(paid)
        self.all_won += won
        self.all_paid += paid
        for session, ticket in won + random.sample(self.all_won, min(20, len(self.all_won))):
            state = order_state(self.server, session, ticket)
            true(state in ("pending", "paid", "paying"), f"told as won, now {state}: ticket {ticket}")
        for session, order in paid + random.sample(self.all_paid, min(20, len(self.all_paid))):
            equal(self.server.get(f"/v1/orders/{order}", session=session).json().get("state"), "paid", f"order {order}")

    def old_comes_back(self, old, kept):
        """It refuses, by what its peer says, and without it since it is sealed."""
        revenant = Followed({**self.settings, "follow.listen": "127.0.0.1:0", "follow.peer": self.server.address}, data=kept)
        code, said = revenant.start_refused()
        equal(code, 1, said)
        true("has taken over this shop" in said, said)
        revenant.write_config(follow__peer="")
        code, said = revenant.start_refused()
        equal(code, 1, said)
        true("sells no more" in said, said)
        for one in (old, revenant):
            if one in harness.running:
                harness.running.remove(one)

    def end(self):
        self.follower.stop()
        self.server.kill()
        self.server.verify()


def kills(count, tell=lambda line: None):
    """(line, whether the bar is kept)"""
    began, shop = time.monotonic(), Shop()
    for turn in range(count):
        since = time.monotonic()
        try:
            line = shop.lose_and_take_over()
        except Failure as failure:
            return f"kill {turn + 1}: {failure}"[:1500], False
        now = time.monotonic()
        tell(f"kill {turn + 1} of {count}: {line} ({now - since:.1f} s, {now - began:.0f} s in all)")
        if now - since > ROUND_S or now - began > count * TYPICAL_S + 60:
            return f"kill {turn + 1} of {count} took {now - since:.0f} s, all of them {now - began:.0f} s: too long", False
    shop.end()
    return (f"{count} kills with the loss of the disk: {shop.wins:,} told wins and {shop.payments:,} told payments are there, "
            f"taken over in {statistics.median(shop.seconds):.2f} s (median), {max(shop.seconds):.2f} s (most); the old server was "
            f"refused {2 * count} times, verify is green"), True


def parts(bars):
    from bars import asked
    count, _ = asked("FOLLOW_KILLS", 10)
    bars.part("6", "a follower takes over from a server that is killed and whose disk is lost: nothing told is lost, no way back",
              lambda: kills(count, lambda line: print(f"     {line}", flush=True)))


if __name__ == "__main__":
    text, good = kills(int(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("FOLLOW_KILLS") or 10),
                       lambda line: print(line, flush=True))
    print(text, "ok" if good else "FAIL")
    sys.exit(0 if good else 1)
