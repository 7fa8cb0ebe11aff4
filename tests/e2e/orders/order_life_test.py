# SPDX-License-Identifier: Apache-2.0
"""The life of an order in the real program: paid, cancelled, expired, refunded; who comes second; kill -9 in between.

ORDERS=N: so many orders in the race of payment and expiry (300); KILLS=N: so many kills (4)."""
import os
import random
import threading
import time

from kit.harness import Buyer, Closed, Server, among, equal, eventually, problem, rule, run, true

ORDERS = int(os.environ.get("ORDERS", "300"))
KILLS = int(os.environ.get("KILLS", "4"))
PRICE = 99900
GRACE_S = 5  # several processes need a moment until they answer
server = Server(settings={"orders.grace_ms": GRACE_S * 1000}).start()


def pay(order, reference, amount=PRICE, currency="CNY", role="operator", shop=None):
    body = {"amount": amount, "currency": currency, "reference": reference}
    return (shop or server).admin("POST", f"/orders/{order}/paid", body, role)


def cancel(buyer, order):
    return server.request("POST", f"/v1/orders/{order}/cancel", session=buyer.session)


def bought(item):
    buyer = Buyer(server)
    return buyer, buyer.order(buyer.win(item)["ticket"])


def view(buyer, order):
    return buyer.get(f"/v1/orders/{order['order']}").json()


def all_states(item):
    """{order: state} as the administrator sees them."""
    states, before = {}, ""
    while True:
        page = server.admin_ok("GET", f"/orders?item={item}&limit=100{before}")
        states.update({row["view"]["order"]: row["view"]["state"] for row in page["orders"]})
        if "next" not in page:
            return states
        before = f"&before={page['next']}"


def settles(item, **wanted):
    """The inventory ends with these counts."""
    eventually(lambda: all(server.counts(item)[name] == value for name, value in wanted.items()),
               f"item {item}: wanted {wanted}, last {server.counts(item)}")


@rule
def a_payment_is_checked_to_the_last_digit_and_made_once():
    item = server.open_item(total=3)
    buyer, order = bought(item)
    for amount, currency in ((PRICE - 1, "CNY"), (PRICE + 1, "CNY"), (0, "CNY"), (PRICE, "USD"), (PRICE, "cny")):
        problem(pay(order["order"], "r-1", amount, currency), 409, "amount-mismatch")
    equal(view(buyer, order), order, "changed by a refusal")
    paid = pay(order["order"], "r-1")
    equal((paid.status, paid.json()["state"], paid.json()["version"]), (200, "paid", 2))
    equal(pay(order["order"], "r-1").json(), paid.json())
    problem(pay(order["order"], "r-2"), 409, "already-paid", state="paid")
    problem(pay(order["order"], "r-1", PRICE - 1), 409, "amount-mismatch")
    equal(view(buyer, order), paid.json())
    _, second = bought(item)
    problem(pay(second["order"], "r-1"), 409, "reference-used")
    settles(item, sold=1, held=1)
    problem(cancel(buyer, order["order"]), 409, "already-paid")
    problem(server.admin("POST", f"/orders/{order['order']}/cancel", role="operator"), 409, "already-paid")
    entries = [entry for entry in server.admin_ok("GET", "/audit")["audit"]
               if entry["action"] == "order.paid" and order["order"] in entry["detail"]]
    equal(len(entries), 1, "audit entries")


@rule
def a_cancelled_order_gives_its_unit_to_the_next_buyer_at_once():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    problem(Buyer(server).buy(item), 409, "sold-out")
    closed = cancel(buyer, order["order"])
    equal((closed.status, closed.json()["state"], closed.json()["reason"], closed.json()["version"]),
          (200, "closed", "cancelled", 2))
    equal(cancel(buyer, order["order"]).json(), closed.json())
    other = Buyer(server)
    eventually(lambda: other.buy(item).status in (202, 409) and other.mine(item)["bought"], "not back")
    problem(pay(order["order"], "late-1"), 409, "order-closed", state="closed", reason="cancelled")
    settles(item, held=1, free=0)
    second = other.order(other.mine(item)["ticket"])
    among(server.admin("POST", f"/orders/{second['order']}/cancel", role="operator").status, (200,))
    settles(item, held=0, free=1)
    equal(buyer.buy(item).status, 202, "the first buyer's mark is free again")


@rule
def an_order_that_nobody_pays_closes_on_time_and_never_before():
    item = server.open_item(total=1, pay_window_ms=1000)
    buyer, order = bought(item)
    equal(order["pay_by_ms"] - order["created_ms"], 1000)
    reply = buyer.get(f"/v1/orders/{order['order']}?wait=10&version=1", timeout_s=20).json()
    now = server.now_ms()
    equal((reply["state"], reply["reason"], reply["version"]), ("closed", "expired", 2))
    true(order["pay_by_ms"] <= now < order["pay_by_ms"] + 3000, f"closed {now - order['pay_by_ms']} ms after its time")
    problem(pay(order["order"], "late-2"), 409, "order-closed", state="closed", reason="expired")
    problem(cancel(buyer, order["order"]), 409, "order-closed")
    settles(item, held=0, free=1)
    equal(buyer.buy(item).status, 202)


@rule
def where_one_order_may_be_open_the_next_waits_for_its_payment():
    sale = server.sale(one_open_order=True)
    item, other = server.item(sale, total=9, limit_per_user=0), server.item(sale, total=1)
    server.publish(sale)
    buyer, stranger = Buyer(server), Buyer(server)
    won = buyer.win(item, key="a")
    for wish in (item, other):
        problem(buyer.buy(wish, key="b"), 409, "open-order", ticket=won["ticket"])
    equal(buyer.win(item, key="a")["ticket"], won["ticket"], "the same key is the same purchase")
    stranger.win(item, key="a")
    server.restart(kill=True)
    problem(buyer.buy(other, key="b"), 409, "open-order", ticket=won["ticket"])
    order = buyer.order(won["ticket"])
    equal(pay(order["order"], "open-1").status, 200)
    eventually(lambda: buyer.buy(other, key="b").status == 202, "paid, but still refused")
    second = buyer.order(buyer.win(other, key="b")["ticket"])
    problem(buyer.buy(item, key="c"), 409, "open-order", ticket=second["ticket"])
    equal(cancel(buyer, second["order"]).status, 200)
    eventually(lambda: buyer.buy(item, key="c").status == 202, "cancelled, but still refused")
    problem(server.admin("PATCH", f"/sales/{sale}", {"one_open_order": False}), 409, "conflict")


@rule
def payment_and_expiry_at_the_same_moment_never_both():
    item = server.open_item(total=ORDERS, limit_per_user=0, pay_window_ms=1000)
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    orders, told = [], {}

    ahead_ms = server.now_ms() - time.time() * 1000

    def payer(rows):
        moments = sorted((pay_by_ms + random.uniform(-90, 20), order) for order, pay_by_ms in rows)
        for moment_ms, order in moments:
            time.sleep(max(0, (moment_ms - ahead_ms) / 1000 - time.time()))
            reply = pay(order, f"race-{order}")
            while reply.status == 503:  # the operators' share of the jobs is taken: as a shop does, again
                time.sleep(0.2)
                reply = pay(order, f"race-{order}")
            told[order] = reply.json().get("state") if reply.status == 200 else reply.json()["type"]

    threads = []
    for first in range(0, ORDERS, 25):
        rows = []
        for number in range(first, min(first + 25, ORDERS)):
            won = buyer.win(item, key=f"race-{number}", give=give)
            rows.append((won["order"], won["pay_by_ms"]))
        orders += [order for order, _ in rows]
        threads.append(threading.Thread(target=payer, args=(rows,)))
        threads[-1].start()
        if not first % 100:
            give = buyer.get_pass(item)
    for thread in threads:
        thread.join()
    eventually(lambda: len(all_states(item)) == ORDERS and "pending" not in all_states(item).values(), "orders stay pending")
    states = all_states(item)
    paid = [order for order in orders if states[order] == "paid"]
    closed = [order for order in orders if states[order] == "closed"]
    equal(len(paid) + len(closed), ORDERS)
    for order in orders:
        equal(told[order], "paid" if states[order] == "paid" else "/problems/order-closed", f"order {order}")
    settles(item, sold=len(paid), held=0, free=len(closed))
    print(f"     {len(paid)} paid, {len(closed)} closed")


@rule
def orders_from_before_a_restart_get_a_grace_and_then_close():
    item = server.open_item(total=2, pay_window_ms=1000)
    (payer, first), (loser, second) = bought(item), bought(item)
    server.kill()
    time.sleep(1.2)
    server.start()
    equal(view(payer, first)["state"], "pending", "closed in the grace")
    equal(pay(first["order"], "in-grace").json()["state"], "paid")
    reply = loser.get(f"/v1/orders/{second['order']}?wait={2 * GRACE_S}&version=1", timeout_s=4 * GRACE_S).json()
    equal((reply["state"], reply["reason"]), ("closed", "expired"))
    settles(item, sold=1, held=0, free=1)


@rule
def kill_9_at_any_moment_leaves_every_order_in_one_state():
    item = server.open_item(total=4000, limit_per_user=0, pay_window_ms=1500)
    told = {}  # order: state that was told
    for kill in range(KILLS):
        buyer = Buyer(server)
        give = buyer.get_pass(item)
        orders = [buyer.win(item, key=f"kill-{kill}-{number}", give=give)["order"] for number in range(60)]
        eventually(lambda: buyer.get(f"/v1/orders/{orders[-1]}").json()["state"] != "creating")
        stop = threading.Event()

        def moves(mine):
            try:
                for order in mine:
                    if stop.is_set():
                        return
                    if random.random() < 0.5:
                        reply = pay(order, f"kill-{order}")
                    elif random.random() < 0.7:
                        reply = cancel(buyer, order)
                    else:
                        continue
                    if reply.status == 200:
                        told[order] = reply.json()["state"]
            except (Closed, OSError):
                pass
        threads = [threading.Thread(target=moves, args=(orders[start::3],)) for start in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(random.uniform(0.005, 0.15))
        server.kill()
        stop.set()
        for thread in threads:
            thread.join()
        server.verify()
        server.start()
    eventually(lambda: "pending" not in all_states(item).values(), "orders stay pending")
    states = all_states(item)
    for order, state in told.items():
        equal(states[order], state, f"order {order}")
    paid = sum(state == "paid" for state in states.values())
    settles(item, sold=paid, held=0, free=4000 - paid)
    print(f"     {KILLS} kills, {len(told)} moves told, {paid} paid")


run()
