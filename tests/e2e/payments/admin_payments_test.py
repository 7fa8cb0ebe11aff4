# SPDX-License-Identifier: Apache-2.0
"""The money as the shop sees it: lists, sums, details, the sandbox's switches, and the command line. Over real HTTP and real signatures."""
from kit.harness import equal, problem, rule, run, true
from kit.paying import WHERE, at_bank, at_rest, becomes, bought, command, order_do, server


@rule
def refunds_and_payments_are_listed_for_the_shop_only():
    reply = server.admin("GET", "/refunds?open=1", role="viewer")
    equal((reply.status, reply.json()["refunds"]), (200, []))
    problem(server.admin("GET", "/refunds?open=2"), 400, "bad-query")
    problem(server.admin("GET", "/orders/0123456789abcdef/payments"), 404, "unknown-order")
    problem(server.admin("PATCH", "/sandbox", {"lost": 101}), 422, "bad-value")
    problem(server.admin("PATCH", "/sandbox", {"lost": 1}, role="operator"), 403, "admin-role")



@rule
def the_command_line_shows_money():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    equal(order_do(buyer, order, "details", WHERE, "PUT").status, 200)
    at_bank(buyer, order)
    becomes(buyer, order, "paid")
    true("captured" in command("payment", "list", order["order"]))
    true(WHERE["address"] in command("order", "details", order["order"]))
    equal(order_do(buyer, order, "refund").status, 200)
    at_rest()
    true(order["order"] in command("refund", "list"))
    true(order["order"] not in command("refund", "list", "--open"))
    true("captured:" in command("payment", "totals"))
    true("lost: 7" in command("sandbox", "set", "--lost", "7"))
    true("lost: 0" in command("sandbox", "set", "--lost", "0"))
    true("delay_ms: 0" in command("sandbox", "show"))


run()
