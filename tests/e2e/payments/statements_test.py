#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A provider's statement against our books: what is captured there and not here is asked about at once, money without an
order raises an alarm, and what no statement has is listed."""
from kit.harness import equal, eventually, problem, rule, run, true
from kit.paying import at_bank, at_rest, becomes, bought, order_do, payment_id, server

server.stop()
server.write_config(payment__query_ms=600000)  # nobody asks by himself
server.start()


def row(reference, amount, kind="captured", currency="CNY"):
    return {"reference": reference, "kind": kind, "amount": amount, "currency": currency}


def compare(*rows, **more):
    reply = server.admin("POST", "/statements", {"provider": "sandbox", "rows": list(rows), **more}, role="operator")
    equal(reply.status, 200, str(reply))
    return reply.json()


def paid():
    buyer, order = bought(server.open_item(total=1))
    at_bank(buyer, order)
    return becomes(buyer, order, "paid")


def alarm():
    return next(row for row in server.admin_ok("GET", "/alarms")["alarms"] if row["name"] == "statement")


def missing(of):
    return [one["reference"] for one in server.admin_ok("GET", f"/statements/missing?provider=sandbox&of={of}")["missing"]]



def audit():
    rows, after = [], 0
    while True:
        page = server.admin_ok("GET", f"/audit?after={after}")
        rows += next(value for value in page.values() if isinstance(value, list))
        if "next" not in page:
            return rows
        after = page["next"]


@rule
def what_agrees_is_counted_and_not_missing_any_more():
    order = paid()
    reference = f"{order['order']}-1"
    true(reference in missing("payments"), "not listed before any statement has it")
    answer = compare(row(reference, order["amount"]))
    equal((answer["agree"], answer["differences"], answer["asked"]), (1, [], 0))
    true(reference not in missing("payments"), "still listed")
    entry = [one for one in audit() if one["action"] == "statement.import"][-1]
    true("sandbox: 1 rows, 1 agree, 0 differ" in entry["detail"], str(entry))


@rule
def another_amount_and_a_refund_of_nobody_are_differences():
    order = paid()
    reference = f"{order['order']}-1"
    answer = compare(row(reference, order["amount"] + 1), row(reference, order["amount"], "refunded"),
                     row(reference, order["amount"], currency="USD"))
    equal([one["difference"] for one in answer["differences"]], ["other-amount", "unknown-refund", "other-amount"])
    equal(answer["differences"][0]["order"], order["order"])
    equal(answer["differences"][0]["captured"], order["amount"])


@rule
def money_without_an_order_raises_an_alarm_until_a_statement_without_it():
    equal(alarm()["up"], False)
    answer = compare(row("0123456789abcdef-1", 700), row("laundry 7", 1))
    equal([(one["difference"], one["amount"]) for one in answer["differences"]], [("unknown-payment", 700)])
    equal(answer["of_others"], 1)
    equal((alarm()["up"], "payments that the database does not know" in alarm()["detail"]), (True, True))
    compare(first=True)
    equal(alarm()["up"], False)


@rule
def what_is_captured_there_and_not_here_is_asked_about():
    buyer, order = bought(server.open_item(total=1))
    equal(at_bank(buyer, order, "lost").status, 200)
    answer = compare(row(f"{order['order']}-1", order["amount"]))
    equal((answer["asked"], [one["difference"] for one in answer["differences"]]), (1, ["not-captured-here"]))
    becomes(buyer, order, "paid")
    equal(compare(row(f"{order['order']}-1", order["amount"]))["agree"], 1)
    at_rest()


@rule
def also_if_its_provider_has_said_that_it_is_closed():
    buyer, order = bought(server.open_item(total=1))
    reply = order_do(buyer, order, "pay")
    equal(server.request("POST", f"/sandbox/v1/pay/{payment_id(reply)}", {"how": "decline"}).status, 200)
    def payment():
        return server.admin_ok("GET", f"/orders/{order['order']}/payments")["payments"][0]
    eventually(lambda: payment()["state"] == "closed", "not declined")
    answer = compare(row(f"{order['order']}-1", order["amount"]))
    equal((answer["asked"], answer["differences"][0]["state"]), (1, "closed"))
    eventually(lambda: payment()["state"] == "closed", "the answer did not settle it")  # the bank says closed again


@rule
def what_is_not_understood_changes_nothing():
    order = paid()
    good = row(f"{order['order']}-1", order["amount"])
    for wrong in ([{**good, "planet": "earth"}], [good, {**good, "kind": "stolen"}], [good, 7], [{"reference": "x"}], [good] * 101, "rows"):
        problem(server.admin("POST", "/statements", {"provider": "sandbox", "rows": wrong}), 422, "bad-value")
    problem(server.admin("POST", "/statements", {"provider": "paypal", "rows": [good]}), 422, "bad-value")
    problem(server.admin("POST", "/statements", {"provider": "sandbox", "rows": [good]}, role="viewer"), 403, "admin-role")
    problem(server.admin("GET", "/statements/missing"), 400, "bad-query")
    problem(server.admin("GET", "/statements/missing?provider=sandbox&of=moons"), 400, "bad-query")
    true(f"{order['order']}-1" in missing("payments"), "a refused statement has marked a payment")


run()
