# SPDX-License-Identifier: Apache-2.0
"""Where an order goes: checked, kept, and seen by its owner and the shop only."""
from kit.harness import Buyer, equal, problem, rule, run, true
from kit.paying import WHERE, at_bank, becomes, bought, order_do, server


@rule
def details_are_checked_and_seen_by_their_owner_only():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    good = {"name": "王小明", "phone": "+86 138 0000 0000", "address": "北京市海淀区 1 号", "note": "after six"}
    problem(order_do(buyer, order, "details", method="GET"), 404, "not-found")
    problem(order_do(buyer, order, "details", {**good, "name": ""}, "PUT"), 422, "bad-value")
    problem(order_do(buyer, order, "details", {**good, "phone": "1\u0007234"}, "PUT"), 422, "bad-value")
    for phone in ("abcdef", "12", "---", "1+234", "123 ext 4", "<b>123"):
        true("phone" in problem(order_do(buyer, order, "details", {**good, "phone": phone}, "PUT"), 422, "bad-value")["detail"], phone)
    problem(order_do(buyer, order, "details", {**good, "address": "x" * 501}, "PUT"), 422, "bad-value")
    problem(order_do(buyer, order, "details", {**good, "planet": "earth"}, "PUT"), 422, "bad-value")
    problem(order_do(Buyer(server), order, "details", good, "PUT"), 404, "unknown-order")
    equal(order_do(buyer, order, "details", good, "PUT").status, 200)
    equal(order_do(buyer, order, "details", method="GET").json(), good)
    problem(order_do(Buyer(server), order, "details", method="GET"), 404, "unknown-order")
    at_bank(buyer, order)
    becomes(buyer, order, "paid")
    problem(order_do(buyer, order, "details", good, "PUT"), 409, "already-paid")
    true("王小明" not in server.log(), "an address is in the log")


@rule
def a_sale_that_wants_details_takes_no_payment_before():
    item = server.open_item(total=1, sale_fields={"details_required": True})
    buyer, order = bought(item)
    problem(order_do(buyer, order, "pay"), 409, "details-required")
    equal(server.admin_ok("GET", f"/orders/{order['order']}/payments")["payments"], [])
    equal(order_do(buyer, order, "details", WHERE, "PUT").status, 200)
    at_bank(buyer, order)
    becomes(buyer, order, "paid")
    equal(server.admin_ok("GET", f"/orders/{order['order']}/details"), {**WHERE, "note": ""})
    problem(server.admin("GET", f"/orders/{order['order']}/details", role="viewer"), 403, "admin-role")


run()
