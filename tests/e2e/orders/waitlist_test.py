# SPDX-License-Identifier: Apache-2.0
"""The waitlist in the real program: the line is served in order, by the return itself; nobody comes between; kill -9.

KILLS=N: so many kills (3)."""
import os
import random
import threading
import time

from kit.harness import Buyer, Closed, Server, equal, eventually, problem, rule, run, true

KILLS = int(os.environ.get("KILLS", "3"))
WINDOW_MS = 600000  # on a busy machine offers must not lapse while something else is tried
SHORT_MS = 4000
PRICE = 99900
server = Server(settings={"waitlist.window_ms": WINDOW_MS, "waitlist.max_per_item": 40, "orders.grace_ms": 100}).start()


class Waiter(Buyer):
    def join(self, item, quantity=None, status=201):
        body = None if quantity is None else {"quantity": quantity}
        reply = self.wait(item, body)
        equal(reply.status, status, reply)
        return reply.json()

    def place(self, item):
        return self.get(f"/v1/items/{item}/waitlist").json()

    def leave(self, item):
        return server.request("DELETE", f"/v1/items/{item}/waitlist", session=self.session)

    def offered(self, item):
        """The order that was offered."""
        place = eventually(lambda: (lambda now: now if now["state"] == "offered" else None)(self.place(item)),
                           "nothing was offered")
        return self.order(place["ticket"])


def sold_out(total, **fields):
    """An item, and the buyers who hold its units with their orders."""
    item = server.open_item(total=total, **fields)
    holders = [Buyer(server) for _ in range(total)]
    orders = [holder.order(holder.win(item, key="k")["ticket"]) for holder in holders]
    return item, list(zip(holders, orders))


def cancel(buyer, order):
    reply = server.request("POST", f"/v1/orders/{order['order']}/cancel", session=buyer.session)
    equal(reply.status, 200, reply)


def pay(order):
    reply = server.admin("POST", f"/orders/{order['order']}/paid",
                         {"amount": order["amount"], "currency": "CNY", "reference": f"w-{order['order']}"}, "operator")
    equal((reply.status, reply.json()["state"]), (200, "paid"))


@rule
def three_waiters_are_served_in_the_order_in_which_they_came():
    item, held = sold_out(3)
    waiters = [Waiter(server) for _ in range(3)]
    for number, waiter in enumerate(waiters):
        place = waiter.join(item)
        equal((place["state"], place["position"], place["quantity"], place["item"]), ("waiting", number + 1, 1, item))
        true("ticket" not in place)
        equal(waiter.join(item, quantity=5, status=200), place, "joining twice")
        equal(waiter.place(item), place)
    for number, (holder, order) in enumerate(held):
        cancel(holder, order)
        offer = waiters[number].offered(item)
        equal((offer["state"], offer["amount"], offer["pay_by_ms"] - offer["created_ms"]), ("pending", PRICE, WINDOW_MS))
        for later, waiter in enumerate(waiters[number + 1:]):
            equal((waiter.place(item)["state"], waiter.place(item)["position"]), ("waiting", later + 1))
        pay(offer)
        equal((waiters[number].place(item)["state"], waiters[number].place(item)["position"]), ("bought", None))
    equal(server.counts(item)["free"], 0)


@rule
def who_may_not_wait_is_told_why_and_nothing_changes():
    item = server.open_item(total=2)
    waiter, owner = Waiter(server), Waiter(server)
    problem(waiter.wait(item, {"quantity": 2}), 409, "not-sold-out")
    ticket = owner.win(item)["ticket"]
    problem(waiter.wait(item, {"quantity": 1}), 409, "not-sold-out")
    problem(waiter.wait(item, {"quantity": 2}), 409, "limit-reached")
    Buyer(server).win(item)
    problem(owner.wait(item, None), 409, "already-bought", ticket=ticket)
    problem(waiter.wait(item, {"quantity": 2}), 409, "limit-reached")
    for body in ({"quantity": 0}, {"quantity": 1001}, {"quantity": 1, "channel": "web"}, {"amount": 1}):
        problem(waiter.wait(item, body), 422, "bad-value")
    problem(waiter.wait(item, [1]), 400, "bad-body")
    problem(server.request("POST", f"/v1/items/{item}/waitlist"), 401, "session-required")
    problem(server.request("PATCH", f"/v1/items/{item}/waitlist", session=waiter.session), 405, "method-not-allowed")
    problem(waiter.get(f"/v1/items/{item}/waitlist"), 404, "not-waiting")
    problem(waiter.leave(item), 404, "not-waiting")
    equal(server.admin_ok("GET", f"/items/{item}/waitlist"), {"waitlist": []})
    problem(server.admin("GET", "/items/60000/waitlist"), 404, "unknown-item")
    for _ in range(40):
        Waiter(server).join(item)
    problem(waiter.wait(item, None), 409, "waitlist-full")


@rule
def a_quantity_that_does_not_fit_is_passed_over_and_served_later():
    item, held = sold_out(3, limit_per_user=5)
    large, small = Waiter(server), Waiter(server)
    equal(large.join(item, 2)["position"], 1)
    equal(small.join(item, 1)["position"], 2)
    cancel(*held[0])
    small.offered(item)
    equal((large.place(item)["state"], large.place(item)["position"]), ("waiting", 1))
    cancel(*held[1])
    eventually(lambda: server.counts(item)["free"] == 1)
    time.sleep(0.3)
    equal(large.place(item)["state"], "waiting")
    cancel(*held[2])
    equal(large.offered(item)["quantity"], 2)
    equal(server.counts(item)["free"], 0)


@rule
def who_leaves_is_not_served_and_may_join_again_at_the_end():
    item, held = sold_out(2)
    first, second = Waiter(server), Waiter(server)
    first.join(item)
    second.join(item)
    equal((first.leave(item).status, first.leave(item).json()["state"]), (200, "left"))
    equal(second.place(item)["position"], 1)
    equal(first.join(item)["position"], 2)
    cancel(*held[0])
    offer = second.offered(item)
    problem(second.leave(item), 409, "conflict")
    cancel(second, offer)
    equal(second.place(item)["state"], "left")
    first.offered(item)


@rule
def an_offer_that_is_not_paid_goes_on_to_the_next():
    server.write_config(waitlist__window_ms=SHORT_MS)
    server.restart()
    item, held = sold_out(1)
    waiters = [Waiter(server) for _ in range(3)]
    for waiter in waiters:
        waiter.join(item)
    cancel(*held[0])
    offers = [waiter.offered(item) for waiter in waiters]
    true(offers[0]["pay_by_ms"] <= offers[1]["created_ms"] and offers[1]["pay_by_ms"] <= offers[2]["created_ms"], offers)
    equal([waiter.place(item)["state"] for waiter in waiters], ["expired", "expired", "offered"])
    pay(offers[2])
    equal(waiters[0].join(item)["position"], 1, "who let it go may come back")
    server.write_config(waitlist__window_ms=WINDOW_MS)
    server.restart()


@rule
def restocked_units_go_to_the_line_in_order():
    item, _ = sold_out(1)
    waiters = [Waiter(server) for _ in range(4)]
    for waiter in waiters:
        waiter.join(item)
    server.admin_ok("POST", f"/items/{item}/adjust", {"delta": 2})
    waiters[0].offered(item)
    waiters[1].offered(item)
    equal([waiter.place(item)["position"] for waiter in waiters], [None, None, 1, 2])
    server.admin_ok("POST", f"/items/{item}/adjust", {"delta": 3})
    waiters[2].offered(item)
    waiters[3].offered(item)
    eventually(lambda: server.counts(item)["free"] == 1)
    equal(Buyer(server).buy(item).status, 202, "what nobody waits for is for sale")


@rule
def a_refund_to_stock_serves_the_line_and_one_to_the_safety_stock_does_not():
    item, held = sold_out(2)
    waiter = Waiter(server)
    waiter.join(item)
    for _, order in held:
        pay(order)
    server.admin_ok("POST", f"/orders/{held[0][1]['order']}/refund", {"to": "safety"})
    eventually(lambda: server.counts(item)["safety"] == 1)
    equal(waiter.place(item)["state"], "waiting")
    server.admin_ok("POST", f"/orders/{held[1][1]['order']}/refund", {"to": "stock"})
    pay(waiter.offered(item))


@rule
def a_waiter_who_is_over_the_limit_is_passed_over_until_he_is_not():
    sale = server.sale(limit_per_user=1)
    item, other = server.item(sale, total=1), server.item(sale, total=1)
    server.publish(sale)
    holder, first, second = Buyer(server), Waiter(server), Waiter(server)
    order = holder.order(holder.win(item)["ticket"])
    first.join(item)
    second.join(item)
    bought = first.order(first.win(other)["ticket"])  # the sale's limit is one
    cancel(holder, order)
    offer = second.offered(item)
    equal((first.place(item)["state"], first.place(item)["position"]), ("waiting", 1))
    cancel(first, bought)
    eventually(lambda: server.counts(other)["free"] == 1)
    cancel(second, offer)
    first.offered(item)


@rule
def walk_ins_never_get_a_unit_that_a_waiter_should_have():
    item, held = sold_out(24)
    waiters = [Waiter(server) for _ in range(24)]
    for waiter in waiters:
        waiter.join(item)
    stop, won, asked = threading.Event(), [], [0]

    def walk_in():
        while not stop.is_set():
            buyer = Buyer(server)
            give = buyer.get_pass(item)
            for _ in range(20):
                asked[0] += 1
                if buyer.buy(item, give=give).status == 202:
                    won.append(buyer)
    crowd = [threading.Thread(target=walk_in) for _ in range(4)]
    for thread in crowd:
        thread.start()
    for holder, order in held:
        cancel(holder, order)
    offers = [waiter.offered(item) for waiter in waiters]
    stop.set()
    for thread in crowd:
        thread.join()
    equal(len(won), 0, f"walk-ins that won, of {asked[0]}")
    created = [offer["created_ms"] for offer in offers]
    equal(created, sorted(created), "out of order")
    equal(server.counts(item)["free"], 0)
    print(f"     {asked[0]} walk-ins, none came between")


@rule
def kill_9_in_between_loses_no_place_and_no_unit():
    total = 30
    item, held = sold_out(total, pay_window_ms=600000)
    waiters = [Waiter(server) for _ in range(total)]
    for number, waiter in enumerate(waiters):
        equal(waiter.join(item)["position"], number + 1)
    for kill in range(KILLS):
        mine = held[kill * 10:kill * 10 + 10]

        def give_back():
            try:
                for holder, order in mine:
                    server.request("POST", f"/v1/orders/{order['order']}/cancel", session=holder.session)
            except (Closed, OSError):
                pass
        thread = threading.Thread(target=give_back)
        thread.start()
        time.sleep(random.uniform(0.005, 0.08))
        server.kill()
        thread.join()
        server.verify()
        server.start()
        for holder, order in mine:  # what the kill took is asked for again
            cancel(holder, order)
        for waiter in waiters[kill * 10:kill * 10 + 10]:
            pay(waiter.offered(item))
    for waiter in waiters[KILLS * 10:]:
        equal(waiter.place(item)["state"], "waiting")
    counts = server.counts(item)
    eventually(lambda: server.counts(item)["sold"] == KILLS * 10, counts)
    equal((server.counts(item)["free"], server.counts(item)["held"]), (0, total - KILLS * 10))
    server.restart()
    equal(waiters[0].place(item)["state"], "bought")


@rule
def the_line_is_listed_and_counted():
    item, held = sold_out(1)
    waiters = [Waiter(server) for _ in range(3)]
    for waiter in waiters:
        waiter.join(item)
    rows = server.admin_ok("GET", f"/items/{item}/waitlist", role="viewer")["waitlist"]
    equal(len(rows), 3)
    equal([row["quantity"] for row in rows], [1, 1, 1])
    true(rows[0]["id"] < rows[1]["id"] < rows[2]["id"] and len(rows[0]["user"]) == 16, rows)
    equal(server.admin_ok("GET", f"/items/{item}/waitlist?after={rows[1]['id']}")["waitlist"], rows[2:])
    eventually(lambda: server.metrics()["stampede_waitlist_waiting"] >= 3)
    before = server.metrics()["stampede_waitlist_offers_total"]
    cancel(*held[0])
    waiters[0].offered(item)
    eventually(lambda: server.metrics()["stampede_waitlist_offers_total"] == before + 1)


@rule
def a_place_takes_a_pass_of_this_user_for_this_item():
    item, _ = sold_out(1)
    other, _ = sold_out(1)
    waiter, stranger = Waiter(server), Waiter(server)
    good = waiter.get_pass(item)
    problem(server.request("POST", f"/v1/items/{item}/waitlist", session=waiter.session), 403, "pass-required")
    problem(waiter.wait(item, give="x" * 48), 403, "pass-invalid")
    problem(waiter.wait(item, give=waiter.get_pass(other)), 403, "pass-foreign")
    problem(stranger.wait(item, give=good), 403, "pass-foreign")
    equal(server.admin_ok("GET", f"/items/{item}/waitlist"), {"waitlist": []})
    equal((waiter.wait(item, give=good).status, waiter.wait(item, give=good).status), (201, 200))


@rule
def who_is_asked_to_show_that_he_is_human_is_asked_before_he_waits():
    item, _ = sold_out(1)
    server.admin_ok("PATCH", f"/sales/{server.get(f'/v1/items/{item}').json()['sale']}", {"human_check": "pow"})
    waiter = Waiter(server)
    eventually(lambda: waiter.ask_pass(item).status == 403)
    problem(waiter.ask_pass(item), 403, "human-check-required")


@rule
def a_shop_without_a_waitlist_says_so():
    shop = Server(settings={"waitlist.enabled": "no"}).start()
    item, buyer = shop.open_item(total=1), Buyer(shop)
    buyer.win(item)
    problem(Buyer(shop).wait(item), 404, "not-found")
    shop.stop()


run()
