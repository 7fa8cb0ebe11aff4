# SPDX-License-Identifier: Apache-2.0
"""Purchases past a limit over a period: refused before they take a unit, and only they. Whoever repeats a win hears the win."""
from kit.harness import Buyer, equal, eventually, problem, rule, run, true
from kit.paying import killed_and_started, order_do, server, settles

LIMIT = {"period_limit": 2, "period_days": 30}


def limited(product=None, **fields):
    return server.open_item(**{"product": product or server.product(), "limit_per_user": 0, **LIMIT, **fields})


def buys(buyer, item, key, **wish):
    """The order, when it is written."""
    return buyer.order(buyer.win(item, key=key, **wish)["ticket"])


def refused(buyer, item, key, **wish):
    return problem(buyer.buy(item, key=key, **wish), 409, "limit-reached", limit="period")


def questions():
    values = server.metrics()
    return {name: values[f'stampede_limit_questions_total{{answer="{name}"}}'] for name in ("within", "over", "away", "full")}


@rule
def a_purchase_past_the_limit_takes_no_unit_and_makes_no_order():
    product = server.product()
    first, second = limited(product), limited(product)
    buyer = Buyer(server)
    buys(buyer, first, "a", quantity=2)
    told = refused(buyer, second, "b")
    true("ticket" not in told, "there is no ticket to show")
    equal(server.counts(second)["free"], 10)
    equal(len(buyer.get("/v1/orders").json()["orders"]), 1)
    chinese = buyer.buy(second, key="c", headers={"Accept-Language": "zh-CN"})
    true("限购" in problem(chinese, 409, "limit-reached", limit="period")["detail"], str(chinese))


@rule
def a_larger_quantity_is_refused_where_a_smaller_one_is_within_the_limit():
    product = server.product()
    first, second = limited(product), limited(product)
    buyer = Buyer(server)
    buys(buyer, first, "a")
    refused(buyer, second, "b", quantity=2)
    equal(buys(buyer, second, "c", quantity=1)["state"], "pending")


@rule
def whoever_repeats_a_win_hears_it_though_it_reached_the_limit():
    item = limited()
    buyer = Buyer(server)
    won = buyer.win(item, key="a", quantity=2)
    buyer.order(won["ticket"])
    equal(buyer.win(item, key="a", quantity=2), won)
    refused(buyer, item, "b")
    equal(buyer.win(item, key="a", quantity=2), won)
    one = limited(limit_per_user=1, period_limit=1)
    won = buyer.win(one)
    buyer.order(won["ticket"])
    problem(buyer.buy(one), 409, "already-bought", ticket=won["ticket"])
    server.restart(kill=True)
    equal(buyer.win(item, key="a", quantity=2)["ticket"], buyer.mine(item)["ticket"])


@rule
def a_closed_order_frees_the_limit_at_once():
    product = server.product()
    first, second = limited(product), limited(product)
    buyer = Buyer(server)
    for turn in range(5):
        order = buys(buyer, first, f"a{turn}", quantity=2)
        refused(buyer, second, "b")
        equal(order_do(buyer, order, "cancel").status, 200)
    equal(buys(buyer, second, "c", quantity=2)["state"], "pending")


@rule
def who_has_bought_nothing_of_the_group_is_not_asked_about():
    product = server.product()
    first, second, other = limited(product, total=40), limited(product, total=40), limited()
    before = questions()
    for _ in range(20):
        buys(Buyer(server), first, "a")
    equal(questions(), before)
    buyer = Buyer(server)
    buys(buyer, first, "a")
    buys(buyer, other, "b")
    equal(questions(), before, "another group")
    buys(buyer, second, "c")
    refused(buyer, second, "d")
    equal(questions(), {**before, "within": before["within"] + 1, "over": before["over"] + 1})


@rule
def after_a_restart_the_database_tells_who_has_units():
    product = server.product()
    first, second = limited(product), limited(product)
    buyer = Buyer(server)
    order = buys(buyer, first, "a", quantity=2)
    killed_and_started()
    refused(buyer, second, "b")
    equal(order_do(buyer, order, "cancel").status, 200)
    equal(buys(buyer, second, "c")["state"], "pending")


@rule
def an_item_that_gets_its_limit_later_counts_what_its_group_sold():
    product = server.product()
    first = limited(product, period_group=77)
    buyer = Buyer(server)
    buys(buyer, first, "a", quantity=2)
    later = limited(product, period_limit=0, period_days=0)
    equal(buys(Buyer(server), limited(product, period_group=78), "a")["state"], "pending")
    server.admin_ok("PATCH", f"/items/{later}", {**LIMIT, "period_group": 77})
    refused(buyer, later, "b")


@rule
def pipelined_purchases_are_answered_in_their_order():
    product = server.product()
    first, second, free = limited(product), limited(product), server.open_item(limit_per_user=0)
    buyer, other = Buyer(server), Buyer(server)
    buys(buyer, first, "a", quantity=2)
    asked = [other.purchase_request(free, key="1"), buyer.purchase_request(second, key="2"), other.purchase_request(second, key="3")]
    with server.connect() as connection:
        connection.send(b"".join(asked))
        replies = [connection.read_reply() for _ in asked]
    equal([reply.status for reply in replies], [202, 409, 202])
    equal([reply.json().get("item") for reply in replies], [free, None, second])


@rule
def purchases_at_one_moment_leave_one_order_within_the_limit():
    product = server.product()
    items = [limited(product, period_limit=1) for _ in range(3)]
    buyer = Buyer(server)
    with server.connect() as connection:
        connection.send(b"".join(buyer.purchase_request(item, key="a") for item in items))
        replies = [connection.read_reply() for _ in items]
    orders = [buyer.order(reply.json()["ticket"]) for reply in replies if reply.status == 202]
    equal(sorted(order["state"] for order in orders)[-1:], ["pending"])
    equal(len([order for order in orders if order["state"] == "pending"]), 1)
    true(all(order["limit"] == "period" for order in orders if order["state"] == "closed"), str(orders))
    held = [server.counts(item) for item in items]
    eventually(lambda: sum(server.counts(item)["held"] for item in items) == 1, f"counts: {held}")


@rule
def units_that_are_taken_on_payment_are_refused_when_payment_starts():
    product = server.product()
    first, second = limited(product), limited(product, deduct_on_payment=True)
    buyer = Buyer(server)

    def intent(key):
        give = {"Stampede-Pass": buyer.get_pass(second), "Idempotency-Key": key}
        reply = server.request("POST", f"/v1/items/{second}/intent", {}, give, buyer.session)
        equal(reply.status, 201, str(reply))
        return {"intent": reply.json()["intent"]}

    def pays(body):
        return server.request("POST", "/v1/intents/pay", body, session=buyer.session)
    buys(buyer, first, "a")
    kept, late = intent("b"), intent("c")
    paid = pays(kept)
    true(paid.status in (200, 202), str(paid))
    problem(pays(late), 409, "limit-reached", limit="period")
    equal(pays(kept).json()["order"], paid.json()["order"], "the intent is another purchase")
    settles(second, free=9, held=1)


run()
