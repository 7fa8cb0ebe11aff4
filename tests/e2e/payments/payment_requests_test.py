# SPDX-License-Identifier: Apache-2.0
"""What users do about the money of their orders: pay, ask, say where it goes, give back, intents. Over real HTTP and real signatures."""
import threading
import time

from kit.harness import Buyer, equal, eventually, problem, rule, run, true
from kit.paying import WHERE, at_bank, at_rest, becomes, bought, intent_ask, intent_of, intent_pay, money, order_do, payment_id, server, settles, view


@rule
def a_payment_is_started_paid_and_called_back():
    item = server.open_item(total=2)
    buyer, order = bought(item)
    equal(server.get("/v1/payments", session=buyer.session).json()["providers"], ["sandbox"])
    reply = order_do(buyer, order, "pay", {"provider": "sandbox"})
    equal((reply.status, reply.json()["payment"]["state"]), (200, "open"))
    equal(order_do(buyer, order, "pay").json()["payment"], reply.json()["payment"], "the same payment again")
    page = server.get(f"/sandbox/v1/pay/{payment_id(reply)}").json()
    equal((page["amount"], page["currency"], page["state"]), (order["amount"], order["currency"], "open"))
    equal(server.request("POST", f"/sandbox/v1/pay/{payment_id(reply)}", {"how": "pay"}).json()["state"], "captured")
    becomes(buyer, order, "paid")
    settles(item, held=0, sold=1)
    problem(order_do(buyer, order, "pay"), 409, "already-paid")
    problem(order_do(buyer, order, "cancel"), 409, "already-paid")
    at_rest()



@rule
def a_user_who_says_i_have_paid_is_believed_by_the_provider_only():
    item = server.open_item(total=2)
    buyer, order = bought(item)
    equal(order_do(buyer, order, "pay").status, 200)
    equal(order_do(buyer, order, "query").status, 202)
    time.sleep(0.6)
    equal(view(buyer, order)["state"], "pending")
    buyer, order = bought(item)
    at_bank(buyer, order, "lost")
    equal(order_do(buyer, order, "query").status, 202)
    becomes(buyer, order, "paid")



@rule
def starting_to_pay_extends_the_hold_once():
    item = server.open_item(total=1, pay_window_ms=5000)
    buyer, order = bought(item)
    first = order_do(buyer, order, "pay").json()
    true(first["pay_by_ms"] >= order["pay_by_ms"] + 50000, "not extended")
    equal(order_do(buyer, order, "pay").json()["pay_by_ms"], first["pay_by_ms"])



@rule
def a_cancelled_order_closes_its_payment_at_the_provider_first():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    reply = order_do(buyer, order, "pay")
    gone = order_do(buyer, order, "cancel")
    equal((gone.status, gone.json()["state"]), (202, "pending"))
    becomes(buyer, order, "closed", reason="cancelled")
    problem(server.request("POST", f"/sandbox/v1/pay/{payment_id(reply)}", {"how": "pay"}), 409, "conflict")
    settles(item, free=1, held=0)
    problem(order_do(buyer, order, "pay"), 409, "order-closed")



@rule
def a_payer_who_waits_is_told_that_the_order_is_given_up():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    equal(server.admin("PATCH", "/sandbox", {"unreached": 100}).status, 200)
    answers = []
    payer = threading.Thread(target=lambda: answers.append(order_do(buyer, order, "pay")))
    payer.start()
    try:
        eventually(lambda: view(buyer, order).get("payment", {}).get("state") == "starting")
        equal(order_do(buyer, order, "cancel").status, 202)
        payer.join()
    finally:
        equal(server.admin("PATCH", "/sandbox", {"unreached": 0}).status, 200)
    problem(answers[0], 409, "order-closed")
    becomes(buyer, order, "closed", reason="cancelled")



@rule
def a_refund_goes_back_once_and_the_unit_with_it():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    problem(order_do(buyer, order, "refund"), 409, "not-paid")
    at_bank(buyer, order)
    becomes(buyer, order, "paid")
    equal(order_do(buyer, order, "refund").json()["state"], "refunded")
    equal(order_do(buyer, order, "refund").status, 200)
    eventually(lambda: view(buyer, order)["refund"]["state"] == "done")
    settles(item, free=1, sold=0)
    at_rest()



@rule
def an_order_tells_when_it_was_paid_and_when_its_money_went_back():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    equal("paid_ms" in view(buyer, order), False)
    at_bank(buyer, order)
    becomes(buyer, order, "paid")
    paid = view(buyer, order)
    true(paid["created_ms"] <= paid["paid_ms"] <= paid["pay_by_ms"], paid)
    order_do(buyer, order, "refund")
    eventually(lambda: view(buyer, order)["refund"]["state"] == "done")
    seen = view(buyer, order)
    equal(seen["paid_ms"], paid["paid_ms"])
    true(seen["paid_ms"] <= seen["refund"]["created_ms"] <= seen["refund"]["done_ms"], seen)


@rule
def after_its_time_only_the_shop_refunds():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    at_bank(buyer, order)
    becomes(buyer, order, "paid")
    patient_ms = server.settings["orders.user_refund_ms"]
    server.write_config(orders__user_refund_ms=1)
    server.restart()
    problem(order_do(buyer, order, "refund"), 409, "refund-not-allowed")
    equal(view(buyer, order)["state"], "paid")
    equal(server.admin("POST", f"/orders/{order['order']}/refund", {"to": "stock"}).status, 200)
    becomes(buyer, order, "refunded")
    at_rest()
    server.write_config(orders__user_refund_ms=patient_ms)
    server.restart()


@rule
def an_intent_takes_no_unit_and_paying_it_takes_one():
    item = server.open_item(total=1, deduct_on_payment=True)
    buyer = Buyer(server)
    problem(buyer.buy(item), 409, "pay-first")
    reply = intent_ask(buyer, item)
    equal((reply.status, reply.json()["item"], reply.json()["quantity"]), (201, item, 1))
    settles(item, free=1, held=0)
    paying = intent_pay(buyer, reply.json()["intent"])
    equal((paying.status, paying.json()["state"], paying.json()["payment"]["state"]), (200, "pending", "open"))
    settles(item, free=0, held=1)
    equal(server.request("POST", f"/sandbox/v1/pay/{payment_id(paying)}", {"how": "pay"}).status, 200)
    becomes(buyer, paying.json(), "paid")
    settles(item, free=0, sold=1)
    problem(intent_pay(buyer, reply.json()["intent"]), 409, "already-paid")
    at_rest()



@rule
def one_intent_is_one_order_however_often_it_is_paid():
    item = server.open_item(total=5, limit_per_user=5, deduct_on_payment=True)
    buyer = Buyer(server)
    intent = intent_of(buyer, item, key="one")
    first, second = intent_pay(buyer, intent), intent_pay(buyer, intent)
    equal((first.status, first.json()["order"], first.json()["payment"]),
          (200, second.json()["order"], second.json()["payment"]))
    again = intent_pay(buyer, intent_of(buyer, item, key="one"))  # the same key: the same wish
    equal(again.json()["order"], first.json()["order"])
    settles(item, free=4, held=1)
    other = intent_pay(buyer, intent_of(buyer, item, key="two"))
    true(other.json()["order"] != first.json()["order"], "another intent is another purchase")



@rule
def the_last_unit_goes_to_one_payer_and_nobody_else_is_charged():
    item = server.open_item(total=1, deduct_on_payment=True)
    buyers = [Buyer(server) for _ in range(20)]
    intents = [intent_of(buyer, item) for buyer in buyers]
    before, replies = money(), [None] * len(buyers)

    def one(at):
        replies[at] = intent_pay(buyers[at], intents[at])

    threads = [threading.Thread(target=one, args=(at,)) for at in range(len(buyers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [at for at, reply in enumerate(replies) if reply.status == 200]
    equal(len(winners), 1, str(replies))
    for reply in replies:
        if reply.status != 200:
            problem(reply, 409, "sold-out")
            true("not charged" in reply.json()["detail"], str(reply))
    winner = winners[0]
    server.request("POST", f"/sandbox/v1/pay/{payment_id(replies[winner])}", {"how": "pay"})
    order = becomes(buyers[winner], replies[winner].json(), "paid")
    after = at_rest()
    equal(after["captured"] - before["captured"], order["amount"])
    settles(item, free=0, sold=1)
    for at, buyer in enumerate(buyers):
        if at != winner:
            equal(server.get("/v1/orders", session=buyer.session).json()["orders"], [])



@rule
def intents_of_others_forged_and_malformed_are_refused():
    item = server.open_item(total=1, deduct_on_payment=True)
    buyer, other = Buyer(server), Buyer(server)
    intent = intent_of(buyer, item)
    problem(intent_pay(other, intent), 403, "intent-invalid")
    for at in range(0, len(intent), 5):
        bent = intent[:at] + ("A" if intent[at] != "A" else "B") + intent[at + 1:]
        problem(intent_pay(buyer, bent), 403, "intent-invalid")
    problem(intent_pay(buyer, intent[:-1]), 422, "bad-value")
    problem(intent_pay(buyer, intent, provider="nobody"), 422, "bad-value")
    problem(intent_pay(buyer, intent, details={**WHERE, "name": ""}), 422, "bad-value")
    problem(intent_pay(buyer, intent, details=7), 422, "bad-value")
    problem(intent_pay(buyer, intent, planet="earth"), 422, "bad-value")
    settles(item, free=1, held=0)
    problem(intent_ask(buyer, server.open_item(total=1)), 409, "conflict")



@rule
def an_intent_of_a_sale_that_wants_details_brings_them_along():
    item = server.open_item(total=2, deduct_on_payment=True, sale_fields={"details_required": True})
    buyer = Buyer(server)
    paying = intent_pay(buyer, intent_of(buyer, item), details=WHERE)
    equal(paying.status, 200, str(paying))
    equal(order_do(buyer, paying.json(), "details", method="GET").json(), {**WHERE, "note": ""})
    other = Buyer(server)
    intent = intent_of(other, item)
    problem(intent_pay(other, intent), 409, "details-required")
    equal(intent_pay(other, intent, details=WHERE).status, 200)


@rule
def a_large_body_is_not_parsed_for_whoever_has_no_intent():
    buyer = Buyer(server)
    rubbish = b'{"intent":"%s","details":[[[[%s' % (b"A" * 59, b"[" * 7000)  # not even JSON
    for body in (rubbish, b'{"x":"' + b"y" * 7000):
        reply = server.request("POST", "/v1/intents/pay", body, {"Content-Type": "application/json"}, session=buyer.session)
        problem(reply, 403, "intent-invalid")
    problem(server.request("POST", "/v1/intents/pay", {"provider": "sandbox"}, session=buyer.session), 422, "bad-value")
    problem(server.request("POST", "/v1/intents/pay", b"{", {"Content-Type": "application/json"}, session=buyer.session), 400, "bad-body")
    problem(server.request("POST", "/sandbox/v1/pay/sb_" + "0" * 24, rubbish), 404, "not-found")


run()
