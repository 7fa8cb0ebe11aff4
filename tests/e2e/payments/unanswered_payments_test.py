#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A provider that was out of reach longer than payment.close_wait_ms: the order is closed without its word, and the payment
is asked about until the provider tells what became of it. Money that was paid meanwhile gets a unit or goes back, once."""
import json
import os
import subprocess

from kit.harness import equal, eventually, rule, run, true
from kit.paying import at_rest, becomes, bought, order_do, payment_id, server, settles, view


def reach(percent_lost):
    equal(server.admin("PATCH", "/sandbox", {"unreached": percent_lost}).status, 200)


def findings():
    environment = {**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"]}
    done = subprocess.run([server.binary, "reconcile", "--url", f"http://127.0.0.1:{server.port}", "--json"],
                          env=environment, capture_output=True, text=True, timeout=60)
    return [finding["code"] for finding in json.loads(done.stdout)["findings"]]


def payment_of(order):
    return server.admin_ok("GET", f"/orders/{order['order']}/payments")["payments"][0]


def paid_in_time_and_never_told(item):
    """The payer pays at once, the callback is lost, the bank is away until the order is closed."""
    reach(0)
    buyer, order = bought(item)
    reply = order_do(buyer, order, "pay")
    reach(100)
    equal(server.request("POST", f"/sandbox/v1/pay/{payment_id(reply)}", {"how": "lost"}).status, 200)
    equal(order_do(buyer, order, "cancel").status, 202)
    becomes(buyer, order, "closed", reason="cancelled")
    return buyer, order


def bank():
    books = server.admin_ok("GET", "/sandbox")
    return books["captured"] - books["refunded"]


@rule
def money_that_came_while_the_bank_was_away_is_found_and_pays_a_new_order():
    item = server.open_item(total=1, limit_per_user=1)
    buyer, order = paid_in_time_and_never_told(item)
    equal(payment_of(order)["state"], "unanswered")
    equal(view(buyer, order)["payment"], {"provider": "sandbox", "state": "unanswered"})
    settles(item, free=1)
    reach(0)
    fresh = eventually(lambda: [o for o in server.get("/v1/orders", session=buyer.session).json()["orders"]
                                if o["state"] == "paid"], "the bank keeps the money, and nobody asks")
    equal(view(buyer, order)["continued_as"], fresh[0]["order"])
    settles(item, free=0, sold=1)
    equal(at_rest()["paid"], bank())


@rule
def money_that_finds_no_unit_goes_back_even_after_a_restart():
    item = server.open_item(total=1, limit_per_user=1)
    buyer, order = paid_in_time_and_never_told(item)
    settles(item, free=1)
    bought(item)  # somebody else has it now
    server.restart(kill=True)
    reach(0)
    eventually(lambda: view(buyer, order).get("refund", {}).get("state") == "done", "not refunded")
    equal(view(buyer, order)["state"], "closed")
    equal(at_rest()["paid"], bank())


@rule
def reconciliation_lists_it_until_the_bank_has_answered():
    item = server.open_item(total=1, limit_per_user=1)
    reach(0)
    buyer, order = bought(item)
    equal(order_do(buyer, order, "pay").status, 200)
    reach(100)
    equal(order_do(buyer, order, "cancel").status, 202)
    becomes(buyer, order, "closed", reason="cancelled")
    settles(item, free=1)
    equal(findings(), ["payment-unanswered"])
    reach(0)
    eventually(lambda: payment_of(order)["state"] == "closed", "it is not closed at the bank")
    equal(findings(), [])


@rule
def a_callback_with_another_amount_for_a_closed_payment_is_asked_about_until_answered():
    item = server.open_item(total=1, limit_per_user=1)
    reach(0)
    buyer, order = bought(item)
    reply = order_do(buyer, order, "pay")
    reach(100)
    equal(order_do(buyer, order, "cancel").status, 202)
    becomes(buyer, order, "closed", reason="cancelled")
    before = server.log().count("another amount")
    equal(server.request("POST", f"/sandbox/v1/pay/{payment_id(reply)}", {"how": "wrong-amount"}).status, 200)
    eventually(lambda: server.log().count("another amount") > before, "the callback did not come")
    tries = payment_of(order)["tries"]
    eventually(lambda: payment_of(order)["tries"] > tries + 1, "it was asked about only once")
    true(payment_of(order)["state"] == "unanswered", "not listed as unanswered")
    reach(0)
    eventually(lambda: "continued_as" in view(buyer, order), "the money is not found")
    equal(at_rest()["paid"], bank())


@rule
def a_user_who_says_i_have_paid_has_it_asked_at_once():
    server.stop()
    server.write_config(payment__query_ms=600000)  # nobody asks by himself for ten minutes
    server.start()
    item = server.open_item(total=1, limit_per_user=1)
    buyer, order = paid_in_time_and_never_told(item)
    settles(item, free=1)
    reach(0)
    true("continued_as" not in view(buyer, order), "it was asked about already")

    def asked():
        equal(order_do(buyer, order, "query").status, 202)
        return "continued_as" in view(buyer, order)
    eventually(asked, "the query did nothing", every_s=0.5)
    equal(at_rest()["paid"], bank())


run()
