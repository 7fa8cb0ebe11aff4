# SPDX-License-Identifier: Apache-2.0
"""Products as an administrator makes and corrects them."""
import os
import sqlite3

from kit.harness import Server, equal, eventually, problem, rule, run, true

server = Server().start()


def change(product, **fields):
    return server.admin("PATCH", f"/products/{product}", fields)


@rule
def what_is_named_is_changed_and_the_rest_stays():
    product = server.product()
    before = server.admin_ok("GET", f"/products/{product}")
    after = change(product, name="Phone 2", list_price="88.80").json()
    equal(after, {**before, "name": "Phone 2", "list_price": 8880})
    equal(server.admin_ok("GET", f"/products/{product}"), after)
    equal(change(product, description="", images=[]).json(), {**after, "description": "", "images": []})
    equal(change(product, currency="JPY", list_price="500").json()["list_price"], 500)


@rule
def a_wrong_change_is_refused_and_changes_nothing():
    product = server.product()
    before = server.admin_ok("GET", f"/products/{product}")
    for fields in ({"name": ""}, {"currency": "XX1"}, {"list_price": -1}, {"list_price": "1"}, {"id": 7}, {"images": ["x"]}):
        problem(change(product, **fields), 422, "bad-value")
    problem(server.admin("PATCH", f"/products/{product}", b""), 400, "bad-body")
    problem(change(99999, name="x"), 404, "not-found")
    problem(server.admin("GET", "/products/99999"), 404, "not-found")
    problem(server.admin("PATCH", f"/products/{product}", {"name": "x"}, role="operator"), 403, "admin-role")
    equal(server.admin_ok("GET", f"/products/{product}"), before)


@rule
def the_public_sees_the_change_after_publishing():
    sale, product = server.sale(), server.product()
    item = server.item(sale, product)
    server.publish(sale)
    change(product, name="Corrected", list_price=700000)
    shown = eventually(lambda: (view := server.get(f"/v1/items/{item}").json())["product"]["name"] == "Corrected" and view)
    equal(shown["list_price"], 700000)
    details = [row["detail"] for row in server.admin_ok("GET", "/audit")["audit"] if row["action"] == "product.change"]
    true(any("Corrected" in detail for detail in details), details)


@rule
def the_currency_stays_once_a_price_in_it_counts():
    sale, product = server.sale(), server.product()
    item = server.item(sale, product)
    equal(change(product, currency="USD").status, 200)
    server.publish(sale)
    problem(change(product, currency="EUR"), 409, "conflict")
    equal(change(product, name="Still").json()["currency"], "USD")
    equal(server.get(f"/v1/items/{item}").json()["currency"], "USD")


@rule
def what_is_no_currency_can_be_corrected_even_then():
    sale, product = server.sale(), server.product()
    server.item(sale, product)
    server.publish(sale)
    server.stop()
    with sqlite3.connect(os.path.join(server.data, "stampede.db")) as database:
        database.execute("UPDATE products SET currency = 'XX1' WHERE id = ?", (product,))
    server.start()
    equal(change(product, currency="CNY").json()["currency"], "CNY")


run()
