# SPDX-License-Identifier: Apache-2.0
"""Money that is lost sight of, doubled, late or short, and a server that is killed meanwhile. Over real HTTP and real signatures."""
from kit.harness import Buyer, equal, eventually, rule, run, true
from kit.paying import at_bank, at_rest, becomes, bought, closed_without_the_banks_word, order_do, payment_id, pays_late, server, settles, view


@rule
def a_lost_callback_is_found_by_the_query():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    equal(at_bank(buyer, order, "lost").status, 200)
    becomes(buyer, order, "paid")



@rule
def a_doubled_callback_pays_once_and_a_wrong_amount_pays_nothing():
    item = server.open_item(total=2)
    buyer, order = bought(item)
    at_bank(buyer, order, "twice")
    version = becomes(buyer, order, "paid")["version"]
    buyer2, order2 = bought(item)
    at_bank(buyer2, order2, "wrong-amount")
    becomes(buyer2, order2, "paid")  # by the query that the wrong callback has brought forward
    true("another amount" in server.log(), "nobody was told of the wrong amount")
    equal(view(buyer, order)["version"], version)
    at_rest()



@rule
def late_money_gets_a_new_order_if_there_is_a_unit():
    item = server.open_item(total=1, limit_per_user=1)
    buyer, order, payment = closed_without_the_banks_word(item)
    settles(item, free=1)
    pays_late(payment)
    fresh = eventually(lambda: [o for o in server.get("/v1/orders", session=buyer.session).json()["orders"]
                                if o["state"] == "paid"], "no new order")
    true(fresh[0]["order"] != order["order"], "the closed order was opened again")
    closed = view(buyer, order)
    equal((closed["state"], closed["continued_as"]), ("closed", fresh[0]["order"]))
    paid = server.admin("GET", f"/orders/{order['order']}/payments").json()["payments"][0]
    equal((paid["use"], paid["paid_order"]), ("relinked", fresh[0]["order"]))
    settles(item, free=0, sold=1)
    at_rest()


@rule
def late_money_stands_behind_those_who_wait():
    item = server.open_item(total=1, limit_per_user=1)
    buyer, order, payment = closed_without_the_banks_word(item)
    settles(item, free=1)
    bought(item)
    waiter = Buyer(server)
    equal(waiter.wait(item, {"quantity": 1}).status, 201)
    server.admin("POST", f"/items/{item}/adjust", {"channel": "web", "delta": 1})
    pays_late(payment)
    eventually(lambda: server.get(f"/v1/items/{item}/waitlist", session=waiter.session).json()["state"] == "offered",
               "the waiter was passed over")
    eventually(lambda: view(buyer, order).get("refund", {}).get("state") == "done", "late money kept, or got the unit")
    at_rest()


@rule
def late_money_goes_back_if_there_is_none():
    item = server.open_item(total=1, limit_per_user=1)
    buyer, order, payment = closed_without_the_banks_word(item)
    settles(item, free=1)
    bought(item)  # somebody else has it now
    pays_late(payment)
    eventually(lambda: view(buyer, order).get("refund", {}).get("state") == "done", "not refunded")
    equal(view(buyer, order)["state"], "closed")
    equal([r["why"] for r in server.admin("GET", "/refunds").json()["refunds"]][-1], "late")
    at_rest()



@rule
def money_that_is_short_goes_back():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    server.admin("PATCH", "/sandbox", {"short_paid": 100})
    equal(at_bank(buyer, order, "lost").status, 200)
    server.admin("PATCH", "/sandbox", {"short_paid": 0})
    eventually(lambda: server.admin("GET", "/refunds").json()["refunds"][-1]["why"] == "amount", "not noticed")
    equal(view(buyer, order)["state"], "pending")
    at_rest()
    equal(at_bank(buyer, order).status, 200)
    becomes(buyer, order, "paid")



@rule
def an_item_that_costs_nothing_is_paid_and_given_back():
    item = server.open_item(total=1, flash_price=0)
    buyer, order = bought(item)
    reply = order_do(buyer, order, "pay")
    equal(server.get(f"/sandbox/v1/pay/{payment_id(reply)}").json()["amount"], 0)
    equal(server.request("POST", f"/sandbox/v1/pay/{payment_id(reply)}", {"how": "pay"}).status, 200)
    becomes(buyer, order, "paid")
    equal(order_do(buyer, order, "refund").status, 200)
    done = eventually(lambda: view(buyer, order).get("refund", {}).get("state") == "done" and view(buyer, order)["refund"],
                      "a refund of nothing never ends")
    equal(done["amount"], 0)
    true(done["created_ms"] <= done["done_ms"], done)
    equal(server.admin_ok("GET", "/refunds?open=1")["refunds"], [])
    settles(item, free=1)


@rule
def a_restart_goes_on_where_it_was():
    item = server.open_item(total=2)
    buyer, order = bought(item)
    equal(at_bank(buyer, order, "lost").status, 200)
    server.restart(kill=True)
    becomes(buyer, order, "paid")



@rule
def a_provider_that_was_taken_away_holds_up_nobody_and_goes_on_when_it_is_back():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    equal(at_bank(buyer, order, "lost").status, 200)
    server.stop()
    server.write_config(payment__providers="")
    server.start()
    eventually(lambda: "not in payment.providers" in server.log(), "nobody was told")
    equal(view(buyer, order)["state"], "pending")
    server.stop()
    server.write_config(payment__providers="sandbox")
    server.start()
    becomes(buyer, order, "paid")


run()
