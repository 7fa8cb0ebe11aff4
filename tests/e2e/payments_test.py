"""Paying through the sandbox, over real HTTP and real signatures: desk_money, desk_payments, desk_outside, desk_sandbox,
sandbox, sandbox_bank and the cashier in the real program."""
import hashlib
import hmac
import json
import os
import subprocess
import threading
import time

from harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"payment.providers": "sandbox", "payment.query_ms": 300, "payment.extend_ms": 60000,
                          "payment.close_wait_ms": 2000, "orders.user_refund_ms": 60000, "orders.grace_ms": 0})
server.start()


def bought(item, buyer=None):
    buyer = buyer or Buyer(server)
    reply = buyer.buy(item)
    equal(reply.status, 202, str(reply))
    return buyer, eventually(lambda: written(buyer, reply.json()["ticket"]))


def written(buyer, ticket):
    order = server.get(f"/v1/tickets/{ticket}", session=buyer.session).json()
    return order if order["state"] != "creating" else None


def order_do(buyer, order, act, body=None, method="POST"):
    return server.request(method, f"/v1/orders/{order['order']}/{act}", body, session=buyer.session)


def view(buyer, order):
    return server.get(f"/v1/orders/{order['order']}", session=buyer.session).json()


def payment_id(reply):
    return reply.json()["payment"]["url"].split("id=")[1]


def at_bank(buyer, order, how="pay"):
    """Starts to pay and does what a payer does at the sandbox's page."""
    reply = order_do(buyer, order, "pay")
    equal(reply.status, 200, str(reply))
    return server.request("POST", f"/sandbox/v1/pay/{payment_id(reply)}", {"how": how})


def becomes(buyer, order, state, **members):
    def check():
        now = view(buyer, order)
        return now["state"] == state and all(now.get(name) == value for name, value in members.items()) and now
    return eventually(check, f"not {state}: {view(buyer, order)}")


def settles(item, **wanted):
    eventually(lambda: all(server.counts(item)[name] == value for name, value in wanted.items()),
               f"counts are {server.counts(item)}, wanted {wanted}")


def money():
    return server.admin("GET", "/payments/totals").json()


def at_rest():
    """Captured − refunded = Σ price of paid orders, from our books and from the bank's."""
    def check():
        now = money()
        return now["wanted"] == 0 and now["late"] == 0 and now["captured"] - now["refunded"] == now["paid"] and now
    return eventually(check, f"money does not add up: {money()}")


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
def a_lost_callback_is_found_by_the_query():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    equal(at_bank(buyer, order, "lost").status, 200)
    becomes(buyer, order, "paid")


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
def details_are_checked_and_seen_by_their_owner_only():
    item = server.open_item(total=1)
    buyer, order = bought(item)
    good = {"name": "王小明", "phone": "+86 138 0000 0000", "address": "北京市海淀区 1 号", "note": "after six"}
    problem(order_do(buyer, order, "details", method="GET"), 404, "not-found")
    problem(order_do(buyer, order, "details", {**good, "name": ""}, "PUT"), 422, "bad-value")
    problem(order_do(buyer, order, "details", {**good, "phone": "1\u0007234"}, "PUT"), 422, "bad-value")
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


def closed_without_the_banks_word(item):
    """An order that is closed while its payment can still be paid: the bank could not be reached."""
    buyer, order = bought(item)
    reply = order_do(buyer, order, "pay")
    equal(server.admin("PATCH", "/sandbox", {"unreached": 100}).status, 200)
    equal(order_do(buyer, order, "cancel").status, 202)
    becomes(buyer, order, "closed", reason="cancelled")
    equal(server.admin("PATCH", "/sandbox", {"unreached": 0}).status, 200)
    return buyer, order, payment_id(reply)


@rule
def late_money_gets_a_new_order_if_there_is_a_unit():
    item = server.open_item(total=1, limit_per_user=1)
    buyer, order, payment = closed_without_the_banks_word(item)
    settles(item, free=1)
    equal(server.request("POST", f"/sandbox/v1/pay/{payment}", {"how": "pay"}).status, 200)
    fresh = eventually(lambda: [o for o in server.get("/v1/orders", session=buyer.session).json()["orders"]
                                if o["state"] == "paid"], "no new order")
    true(fresh[0]["order"] != order["order"], "the closed order was opened again")
    equal(view(buyer, order)["state"], "closed")
    settles(item, free=0, sold=1)
    at_rest()


@rule
def late_money_goes_back_if_there_is_none():
    item = server.open_item(total=1, limit_per_user=1)
    buyer, order, payment = closed_without_the_banks_word(item)
    bought(item)  # somebody else has it now
    equal(server.request("POST", f"/sandbox/v1/pay/{payment}", {"how": "pay"}).status, 200)
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


def signed(secret, method, path, body, at=None, flip=None):
    at = int(time.time()) if at is None else at
    text = f"{at}.{method}.{path}.{hashlib.sha256(body).hexdigest()}".encode()
    mac = hmac.new(hashlib.sha256(secret).digest(), text, hashlib.sha256).hexdigest()
    return {"Sandbox-Signature": f"t={at},v1={mac}", "Content-Type": "application/json"}


@rule
def forged_stale_foreign_and_wrong_callbacks_change_nothing():
    secret = open(os.path.join(server.data, "sandbox.secret"), "rb").read().strip()
    path = "/v1/payments/sandbox/callback"
    item = server.open_item(total=2)
    buyer, order = bought(item)
    reply = order_do(buyer, order, "pay")
    equal(reply.status, 200)
    reference = server.admin("GET", f"/orders/{order['order']}/payments").json()["payments"][0]["reference"]
    message = {"state": "captured", "id": payment_id(reply), "reference": reference,
               "currency": order["currency"], "amount": order["amount"]}

    def post(change, headers=None, at=None):
        body = json.dumps({**message, **change}).encode()
        return server.request("POST", path, body, headers or signed(secret, "POST", path, body, at)).status

    now = int(time.time())
    equal(post({}, at=now - 301), 400, "stale")
    equal(post({}, at=now + 301), 400, "from the future")
    equal(post({"amount": order["amount"] - 1}), 400, "too little")
    equal(post({"amount": order["amount"] + 1}), 400, "too much")
    equal(post({"currency": "USD"}), 400, "another currency")
    equal(post({"reference": "0123456789abcdef-1"}), 400, "an order of nobody")
    equal(post({}, headers=signed(b"another secret of the same length", "POST", path, b"{}")), 400, "forged")
    good = json.dumps(message).encode()
    headers = signed(secret, "POST", path, good)
    for at in range(0, len(good), 3):
        bent = bytearray(good)
        bent[at] ^= 1
        equal(server.request("POST", path, bytes(bent), headers).status, 400, f"bit of byte {at}")
    for at in range(len(headers["Sandbox-Signature"])):
        bent = bytearray(headers["Sandbox-Signature"].encode())
        bent[at] ^= 1
        status = server.request("POST", path, good, {**headers, "Sandbox-Signature": bent.decode("latin-1")}).status
        equal(status, 400, f"signature byte {at}")
    equal(view(buyer, order)["state"], "pending")
    equal(server.request("POST", "/v1/payments/nobody/callback", good, headers).status, 404)
    equal(server.request("POST", path, good, headers).status, 204)
    equal(server.request("POST", path, good, headers).status, 204, "the same again")
    becomes(buyer, order, "paid")


# ---- details before payment ---------------------------------------------------------------------------

WHERE = {"name": "Ada", "phone": "12345", "address": "1 Example Street"}


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


# ---- deduct on payment ---------------------------------------------------------------------------------

def intent_ask(buyer, item, key=None, body=None):
    fields = {"Stampede-Pass": buyer.get_pass(item), **({"Idempotency-Key": key} if key else {})}
    return server.request("POST", f"/v1/items/{item}/intent", body, fields, session=buyer.session)


def intent_of(buyer, item, **more):
    reply = intent_ask(buyer, item, **more)
    equal(reply.status, 201, str(reply))
    return reply.json()["intent"]


def intent_pay(buyer, intent, **more):
    return server.request("POST", "/v1/intents/pay", {"intent": intent, **more}, session=buyer.session)


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
def refunds_and_payments_are_listed_for_the_shop_only():
    reply = server.admin("GET", "/refunds?open=1", role="viewer")
    equal((reply.status, reply.json()["refunds"]), (200, []))
    problem(server.admin("GET", "/refunds?open=2"), 400, "bad-query")
    problem(server.admin("GET", "/orders/0123456789abcdef/payments"), 404, "unknown-order")
    problem(server.admin("PATCH", "/sandbox", {"lost": 101}), 422, "bad-value")
    problem(server.admin("PATCH", "/sandbox", {"lost": 1}, role="operator"), 403, "admin-role")


def command(*words):
    environment = {**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"], "STAMPEDE_URL": f"http://127.0.0.1:{server.port}"}
    done = subprocess.run([server.binary, "admin", *words], env=environment, capture_output=True, text=True, timeout=20)
    equal(done.returncode, 0, done.stderr)
    return done.stdout


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


@rule
def a_restart_goes_on_where_it_was():
    item = server.open_item(total=2)
    buyer, order = bought(item)
    equal(at_bank(buyer, order, "lost").status, 200)
    server.restart(kill=True)
    becomes(buyer, order, "paid")


@rule
def the_server_stops_cleanly_and_its_data_verifies():
    at_rest()
    server.stop()
    server.verify()


run()
