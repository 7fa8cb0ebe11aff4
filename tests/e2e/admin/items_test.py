# SPDX-License-Identifier: Apache-2.0
"""Items as an administrator puts them on sale: what can only be an error is refused, what is odd is said."""
from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server().start()


def create(sale, product, **fields):
    return server.admin("POST", "/items", {"sale": sale, "product": product, "flash_price": 1, "total": 1, **fields})


@rule
def prices_are_taken_as_text_in_the_currency():
    made = server.admin_ok("POST", "/products", {"name": "P", "list_price": "99.5", "currency": "CNY"})
    equal(made["list_price"], 9950)
    item = create(server.sale(), made["id"], flash_price="49.90").json()
    equal((item["flash_price"], item["currency"]), (4990, "CNY"))
    yen = server.product(currency="JPY")
    equal(create(server.sale(), yen, flash_price="49").json()["flash_price"], 49)
    for price in ("49.90", "", "-1", "1e3", "49,90", "1000000000001", " 1"):
        problem(create(server.sale(), yen, flash_price=price), 422, "bad-value")
    for price in ("49.901", 4.5, None, True, "99999999999999999.00"):
        problem(create(server.sale(), made["id"], flash_price=price), 422, "bad-value")


@rule
def nothing_is_added_to_a_sale_that_is_over():
    product = server.product()
    short = server.sale(start_in_ms=-1000, lasts_ms=1001 + 400)
    eventually(lambda: create(short, product).status == 409, "the sale does not end")
    problem(create(short, product), 409, "conflict")
    ended = server.sale()
    server.item(ended, product)
    server.publish(ended)
    server.admin_ok("POST", f"/sales/{ended}/end")
    eventually(lambda: create(ended, product).status == 409, "the sale does not end")
    equal(len(server.admin_ok("GET", f"/items?sale={ended}")["items"]), 1)


@rule
def what_is_odd_is_warned_about():
    product = server.product(list_price=100)
    sale = server.sale()
    plain = create(sale, product, flash_price=100)
    equal((plain.status, "warnings" in plain.json()), (201, False))
    for fields, word in (({"flash_price": 101}, "list_price"), ({"total": 0}, "total"), ({"flash_price": 0}, "given away"),
                         ({}, "same product")):
        reply = create(sale, product, **fields)
        equal(reply.status, 201)
        true(any(word in warning for warning in reply.json()["warnings"]), f"{fields}: {reply.json()}")


@rule
def an_unknown_product_or_sale_is_refused():
    problem(create(server.sale(), 99999), 422, "bad-value")
    problem(create(9999, server.product()), 404, "unknown-sale")



def change(item, **fields):
    return server.admin("PATCH", f"/items/{item}", fields)


def shown(item):
    return server.admin_ok("GET", f"/items/{item}")


@rule
def an_item_can_be_corrected_before_it_is_preheated():
    item = server.item(server.sale(start_in_ms=600000))
    before = shown(item)
    after = change(item, flash_price="12.50", limit_per_user=3, pay_window_ms=60000, total=20, safety=5).json()
    equal(after, {**before, "flash_price": 1250, "limit_per_user": 3, "pay_window_ms": 60000, "total": 20, "safety": 5,
                  "channels": {"web": 15}, "version": after["version"]})
    equal({**shown(item), "version": 0}, {**after, "version": 0})
    for fields in ({"total": 1, "safety": 2}, {"flash_price": "1"}, {"sale": 2}, {"limit_per_user": -1}, {"channels": {"moon": 1}}):
        problem(change(item, **fields), 422, "bad-value")
    problem(change(99999, total=1), 404, "unknown-item")


@rule
def price_and_limit_change_until_the_first_win_and_the_log_knows():
    sale = server.sale()
    item = server.item(sale, flash_price=1000, limit_per_user=1)
    server.publish(sale)
    answer = change(item, flash_price=2000, limit_per_user=2)
    equal((answer.status, answer.json()["flash_price"], answer.json()["limit_per_user"]), (200, 2000, 2))
    equal((shown(item)["flash_price"], shown(item)["limit_per_user"]), (2000, 2))
    eventually(lambda: server.get(f"/v1/items/{item}").json()["flash_price"] == 2000, "the page has the old price")
    problem(change(item, total=50), 409, "conflict")
    server.restart(kill=True)
    equal((shown(item)["flash_price"], shown(item)["limit_per_user"]), (2000, 2))
    buyer = Buyer(server)
    order = buyer.order(buyer.win(item, quantity=2, key="k")["ticket"])
    equal((order["unit_price"], order["amount"]), (2000, 4000))
    problem(change(item, flash_price=1), 409, "conflict")
    problem(change(item, limit_per_user=5), 409, "conflict")
    equal(change(item, pay_window_ms=123000).json()["pay_window_ms"], 123000)
    server.admin_ok("POST", f"/orders/{order['order']}/cancel")
    eventually(lambda: server.counts(item)["held"] == 0)
    problem(change(item, flash_price=1), 409, "conflict")  # the unit is back, but somebody had bought it
    actions = {row["action"] for row in server.admin_ok("GET", "/audit")["audit"]}
    true({"item.change", "item.terms"} <= actions, actions)


@rule
def an_item_is_removed_only_before_it_is_preheated():
    sale = server.sale(start_in_ms=600000)
    kept, wrong = server.item(sale), server.item(sale)
    equal(server.admin("DELETE", f"/items/{wrong}").json(), {"item": wrong, "removed": True})
    problem(server.admin("DELETE", f"/items/{wrong}"), 404, "unknown-item")
    equal([row["id"] for row in server.admin_ok("GET", f"/items?sale={sale}")["items"]], [kept])
    server.publish(sale)
    problem(server.admin("DELETE", f"/items/{kept}"), 409, "conflict")
    problem(server.admin("DELETE", f"/items/{kept}", role="operator"), 403, "admin-role")


run()
