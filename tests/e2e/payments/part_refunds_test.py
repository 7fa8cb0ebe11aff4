# SPDX-License-Identifier: Apache-2.0
"""Some of the money of a paid order goes back: once for a key, never more than there is, through the provider; and everything adds up."""
from kit.harness import equal, eventually, problem, rule, run, true
from kit.paying import at_bank, at_rest, becomes, bought, command, money, order_do, server, view


def paid(item):
    buyer, order = bought(item)
    at_bank(buyer, order)
    return buyer, becomes(buyer, order, "paid")


def part(order, amount, key, **more):
    return server.admin("POST", f"/orders/{order['order']}/refund-part", {"amount": amount, "currency": order["currency"], "key": key, **more})


def parts_of(order):
    return [row for row in server.admin_ok("GET", "/refunds")["refunds"] if row["order"] == order["order"] and row["why"] == "part"]


def sandbox():
    return server.admin_ok("GET", "/sandbox")


@rule
def a_part_goes_back_once_and_the_order_stays_paid():
    buyer, order = paid(server.open_item(total=2, flash_price=10000))
    before = sandbox()["refunded"]
    reply = part(order, 3000, "a", reason="scratched")
    equal((reply.status, reply.json()["state"], reply.json()["partly_refunded"], reply.json()["version"]), (200, "paid", 3000, order["version"] + 1))
    again = part(order, 3000, "a")
    equal((again.status, again.json()["version"]), (200, order["version"] + 1))
    problem(part(order, 3001, "a"), 422, "key-reused")
    eventually(lambda: [row["state"] for row in parts_of(order)] == ["done"], "not given back")
    equal((parts_of(order)[0]["amount"], parts_of(order)[0]["reason"]), (3000, "scratched"))
    equal(sandbox()["refunded"], before + 3000)
    equal(view(buyer, order)["partly_refunded"], 3000)
    at_rest()


@rule
def never_more_than_is_left():
    buyer, order = paid(server.open_item(total=1, flash_price=1000))
    equal(part(order, 400, "1").status, 200)
    equal(part(order, 400, "2").status, 200)
    problem(part(order, 200, "3"), 409, "amount-mismatch")
    problem(part(order, 201, "3"), 409, "amount-mismatch")
    problem(part(order, 0, "3"), 409, "amount-mismatch")
    equal(part(order, 199, "3").status, 200)
    equal(view(buyer, order)["partly_refunded"], 999)
    eventually(lambda: all(row["state"] == "done" for row in parts_of(order)), "not given back")
    equal(order_do(buyer, order, "refund").status, 200)
    becomes(buyer, order, "refunded")
    at_rest()
    whole = [row for row in server.admin_ok("GET", "/refunds")["refunds"] if row["order"] == order["order"] and row["why"] == "order"]
    equal([row["amount"] for row in whole], [1])


@rule
def what_is_wrong_changes_nothing():
    item = server.open_item(total=3, flash_price=1000)
    buyer, order = bought(item)
    problem(part(order, 100, "k"), 409, "not-paid")
    buyer, order = paid(item)
    problem(server.admin("POST", f"/orders/{order['order']}/refund-part", {"amount": 1, "currency": "USD", "key": "k"}), 409, "amount-mismatch")
    for wrong in ({"amount": 1, "currency": "CNY"}, {"amount": -1, "currency": "CNY", "key": "k"}, {"amount": 1, "currency": "CNY", "key": ""},
                  {"amount": 1, "currency": "CNY", "key": "k" * 65}):
        problem(server.admin("POST", f"/orders/{order['order']}/refund-part", wrong), 422, "bad-value")
    problem(server.admin("POST", f"/orders/{order['order']}/refund-part", {"amount": 1, "currency": "CNY", "key": "k"}, role="operator"), 403, "admin-role")
    problem(server.admin("POST", "/orders/00000000000000ff/refund-part", {"amount": 1, "currency": "CNY", "key": "k"}), 404, "unknown-order")
    equal(parts_of(order), [])
    at_rest()


@rule
def a_bank_that_loses_requests_and_answers_gives_back_once():
    buyer, order = paid(server.open_item(total=1, flash_price=10000))
    before = sandbox()["refunded"]
    server.admin_ok("PATCH", "/sandbox", {"unreached": 15, "unanswered": 15})
    for at in range(8):
        equal(part(order, 100 + at, f"k{at}").status, 200)
    eventually(lambda: len(parts_of(order)) == 8 and all(row["state"] == "done" for row in parts_of(order)), "not all are given back", patience_s=120)
    server.admin_ok("PATCH", "/sandbox", {"unreached": 0, "unanswered": 0})
    equal(sandbox()["refunded"] - before, sum(100 + at for at in range(8)))
    at_rest()


@rule
def a_kill_in_between_gives_back_once():
    buyer, order = paid(server.open_item(total=1, flash_price=10000))
    before = sandbox()["refunded"]
    server.admin_ok("PATCH", "/sandbox", {"unreached": 100})
    equal(part(order, 700, "k").status, 200)
    server.kill()
    server.start()
    eventually(lambda: [row["state"] for row in parts_of(order)] == ["done"], "not given back")
    equal(part(order, 700, "k").status, 200)
    equal(sandbox()["refunded"] - before, 700)
    at_rest()


@rule
def the_command_line_and_reconciliation_know_parts():
    buyer, order = paid(server.open_item(total=1, flash_price=5000))
    true("partly_refunded: 1250" in command("order", "refund-part", order["order"], "--amount", "12.50", "--currency", "CNY", "--refund-key", "cli"))
    at_rest()
    equal(server.admin("POST", "/reconcile", {"repair": False, "recent": False}).status, 202)
    eventually(lambda: server.admin_ok("GET", "/reconcile")["state"] != "running", "reconciliation does not end")
    equal(server.admin_ok("GET", "/reconcile")["findings"], [])
    equal(money()["captured"] - money()["refunded"], money()["paid"])


run()
