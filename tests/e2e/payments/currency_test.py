# SPDX-License-Identifier: Apache-2.0
"""Currencies: a price is in an active code of ISO 4217 or it is refused; what an old database holds breaks no answer."""

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"payment.providers": "sandbox"}).start()
BAD = 'X"\\'  # three bytes that once were accepted


@rule
def only_active_codes_of_iso_4217_are_currencies():
    for currency in ("XX1", "cny", "XTS", "XAU", "ANG", "ZZZ", "a\"b", "\u20ac"):
        problem(server.admin("POST", "/products", {"name": "P", "list_price": 1, "currency": currency}), 422, "bad-value")
    for currency, digits in (("CNY", 2), ("JPY", 0), ("KWD", 3), ("AFN", 2)):
        made = server.admin_ok("POST", "/products", {"name": "P", "list_price": 1, "currency": currency})
        equal((made["currency"], made["minor_units"]), (currency, digits))


@rule
def who_shows_a_price_hears_how_many_digits_it_has():
    sale = server.sale()
    product = server.admin_ok("POST", "/products", {"name": "P", "list_price": 9, "currency": "JPY"})["id"]
    item = server.item(sale, product)
    server.publish(sale)
    shown = eventually(lambda: (reply := server.get(f"/v1/items/{item}")).status == 200 and reply.json())
    equal((shown["currency"], shown["minor_units"]), ("JPY", 0))
    rows = server.admin_ok("GET", f"/items?sale={sale}")["items"]
    equal([(row["currency"], row["minor_units"]) for row in rows], [("JPY", 0)])
    buyer = Buyer(server)
    equal(buyer.buy(item).status, 202)
    order = eventually(lambda: (rows := server.admin_ok("GET", f"/orders?item={item}")["orders"]) and rows[0]["view"])
    equal((order["currency"], order["minor_units"]), ("JPY", 0))


@rule
def an_unknown_currency_of_an_old_database_breaks_no_answer():
    item = server.open_item()
    buyer = Buyer(server)
    equal(buyer.buy(item).status, 202)
    eventually(lambda: server.admin_ok("GET", f"/orders?item={item}")["orders"])
    server.stop()
    server.sql(("UPDATE products SET currency = ? WHERE id = (SELECT product FROM items WHERE id = ?)", (BAD, item)))
    server.start()
    shown = eventually(lambda: (reply := server.get(f"/v1/items/{item}")).status == 200 and reply.json())
    equal((shown["currency"], "minor_units" in shown), (BAD, False))
    order = server.admin_ok("GET", f"/orders?item={item}")["orders"][0]["view"]
    equal(order["currency"], BAD)
    true(any(row["currency"] == BAD for row in server.admin_ok("GET", "/products")["products"]))
    reply = server.request("POST", f"/v1/orders/{order['order']}/pay", session=buyer.session)
    payments = server.admin_ok("GET", f"/orders/{order['order']}/payments")["payments"]
    equal([row["currency"] for row in payments], [BAD] * len(payments), f"after {reply.status}")



@rule
def an_item_in_an_unknown_currency_can_be_preheated_and_read_again():
    sale, product = server.sale(start_in_ms=600000), server.product()
    item = server.item(sale, product)
    server.stop()
    server.sql(("UPDATE products SET currency = ? WHERE id = ?", (BAD, product)))
    server.start()
    server.publish(sale)
    server.restart(kill=True)  # the log has it, and can be read
    equal(server.counts(item)["given"], 10)


run()
