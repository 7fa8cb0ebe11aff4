# SPDX-License-Identifier: Apache-2.0
"""Limits over a period in the real program: units of a user over all sales of a product, and units of one payer.

A purchase past the limit is refused before it takes a unit; an order past it is closed and told why, and money that came for it goes
back once. More about purchases: purchase/period_limit_test.py."""
from kit.harness import Buyer, equal, eventually, problem, rule, run, true
from kit.paying import at_rest, becomes, killed_and_started, order_do, payment_id, server, settles, view

DAY_MS = 24 * 3600 * 1000


def limited(product=None, **fields):
    """An item of a sale of its own, and its product."""
    product = product or server.product()
    return server.open_item(product=product, limit_per_user=0, **fields), product


def buys(buyer, item, key):
    reply = buyer.buy(item, key=key)
    equal(reply.status, 202, str(reply))
    return buyer.order(reply.json()["ticket"])


def refused(buyer, item, key):
    problem(buyer.buy(item, key=key), 409, "limit-reached", limit="period")


def pays(buyer, order, payer=None, how="pay"):
    reply = order_do(buyer, order, "pay")
    equal(reply.status, 200, str(reply))
    body = {"how": how, **({"payer": payer} if payer else {})}
    equal(server.request("POST", f"/sandbox/v1/pay/{payment_id(reply)}", body).status, 200)


def refunds(order):
    return [row for row in server.admin_ok("GET", "/refunds")["refunds"] if row["order"] == order["order"]]


@rule
def the_third_unit_of_a_product_is_refused_in_another_sale():
    first, product = limited(period_limit=2, period_days=30)
    second, _ = limited(product, period_limit=2, period_days=30)
    buyer = Buyer(server)
    equal(buys(buyer, first, "a")["state"], "pending")
    kept = buys(buyer, second, "b")
    equal(kept["state"], "pending")
    refused(buyer, second, "c")
    refused(buyer, second, "c")
    settles(second, free=9, held=1)
    refused(buyer, first, "d")
    settles(first, free=9, held=1)
    equal(buys(Buyer(server), second, "e")["state"], "pending", "another user")
    equal(order_do(buyer, kept, "cancel").status, 200)
    becomes(buyer, kept, "closed", reason="cancelled")
    equal(buys(buyer, first, "f")["state"], "pending", "what was cancelled counts no more")


@rule
def a_refunded_order_counts_no_more_and_a_paid_one_does_over_a_restart():
    item, _ = limited(period_limit=1, period_days=30)
    buyer = Buyer(server)
    order = buys(buyer, item, "a")
    pays(buyer, order)
    becomes(buyer, order, "paid")
    killed_and_started()
    refused(buyer, item, "b")
    server.admin_ok("POST", f"/orders/{order['order']}/refund", {"to": "stock"})
    becomes(buyer, order, "refunded")
    equal(buys(buyer, item, "c")["state"], "pending")
    at_rest()


@rule
def a_unit_counts_until_its_period_is_over():
    item, _ = limited(period_limit=1, period_days=30)
    buyer = Buyer(server)
    old = buys(buyer, item, "a")
    refused(buyer, item, "b")
    server.stop()
    server.sql(f"UPDATE limit_uses SET at_ms = at_ms - {30 * DAY_MS}, until_ms = until_ms - {30 * DAY_MS}"
               f" WHERE ticket IN (SELECT ticket FROM orders WHERE item = {item})")
    server.start()
    equal(buys(buyer, item, "c")["state"], "pending")
    equal(order_do(buyer, old, "cancel").status, 200)  # else verify misses its use, which was made old here
    becomes(buyer, old, "closed", reason="cancelled")


@rule
def a_card_that_has_bought_enough_gets_its_money_back_once():
    item, _ = limited(total=5, payer_limit=1, period_days=30)
    (one, first), (two, second) = bought_by(item), bought_by(item)
    pays(one, first, "card-1")
    becomes(one, first, "paid")
    pays(two, second, "card-1", how="twice")
    over = becomes(two, second, "closed", reason="rejected", limit="payer")
    eventually(lambda: view(two, second).get("refund", {}).get("state") == "done", f"no refund: {view(two, second)}")
    rows = refunds(second)
    equal([(row["why"], row["amount"]) for row in rows], [("payer-limit", over["amount"])])
    settles(item, sold=1, held=0, free=4)
    three, third = bought_by(item)
    pays(three, third, "card-2")
    becomes(three, third, "paid")
    four, fourth = bought_by(item)
    pays(four, fourth)  # the bank does not know who pays
    becomes(four, fourth, "paid")
    at_rest()
    books = server.admin_ok("GET", "/sandbox")
    equal(books["captured"] - books["refunded"], server.admin_ok("GET", "/payments/totals")["paid"])


def bought_by(item):
    buyer = Buyer(server)
    return buyer, buys(buyer, item, "a")


@rule
def limits_are_checked_shown_and_stay_once_there_are_orders():
    product = server.product()
    sale = server.sale()
    body = {"sale": sale, "product": product, "flash_price": 100, "total": 5}
    for wrong in ({"period_limit": 1}, {"payer_limit": 1}, {"period_days": 1}, {"period_group": 1},
                  {"period_limit": 1, "period_days": 367}, {"period_limit": -1, "period_days": 1}):
        problem(server.admin("POST", "/items", {**body, **wrong}), 422, "bad-value")
    wanted = {"period_limit": 2, "payer_limit": 1, "period_days": 30, "period_group": 7}
    item = server.admin_ok("POST", "/items", {**body, **wanted})
    equal({name: item[name] for name in wanted}, wanted)
    equal(server.admin_ok("PATCH", f"/items/{item['id']}", {"period_limit": 3})["period_limit"], 3)
    server.publish(sale)
    shown = server.get(f"/v1/items/{item['id']}").json()
    equal((shown["period_limit"], shown["period_days"]), (3, 30))
    true("payer_limit" not in shown, "the limit per payer is nobody's business")
    buyer = Buyer(server)
    buys(buyer, item["id"], "a")
    problem(server.admin("PATCH", f"/items/{item['id']}", {"period_limit": 4}), 409, "conflict")
    equal(server.admin_ok("PATCH", f"/items/{item['id']}", {"period_limit": 3})["period_limit"], 3)


@rule
def nobody_kept_the_name_of_a_payer():
    server.stop()
    for rows in (server.sql("SELECT payer FROM payments WHERE payer <> 0"), server.sql("SELECT holder FROM limit_uses")):
        true(rows and all(isinstance(row[0], int) for row in rows), "a payer is kept as it was told")
    server.verify()
    server.start()


run()
