#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paying through Stripe: the real program, real HTTP, and a stand-in for Stripe that signs with Stripe's own package
(tests/providers/stripe). The stand-in and the fixed vectors of the unit test are held against that package, too."""
import atexit
import hashlib
import hmac
import json
import os
import random
import subprocess
import sys
import time

from kit.harness import (REPOSITORY, Buyer, Connection, Server, among, equal, eventually, problem, request_bytes, rule, run,
                     true)

FOLDER = os.path.join(REPOSITORY, "tests", "providers", "stripe")
KEY, WEBHOOK_SECRET = "sk_test_e2e_7d1f", "whsec_e2e_0c4b9a"

brought = subprocess.run([os.path.join(REPOSITORY, "tools", "npm-packages"), FOLDER], capture_output=True, text=True)
if brought.returncode != 0:
    print(brought.stdout.strip() or "skipped: the packages of the stand-in can't be had")
    sys.exit(77)


class Standin:
    def __init__(self):
        environment = {**os.environ, "STRIPE_KEY": KEY, "STRIPE_WEBHOOK_SECRET": WEBHOOK_SECRET}
        self.process = subprocess.Popen(["node", os.path.join(FOLDER, "standin.mjs")], stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, env=environment, text=True)
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rpartition(":")[2])

    def ask(self, method, path, body=None):
        with Connection(self.port, 20) as connection:
            return connection.request(method, "/standin" + path, body, {})

    def state(self):
        return self.ask("GET", "/state").json()

    def sessions(self, reference):
        return [one for one in self.state()["sessions"] if one["client_reference_id"] == reference]

    def end(self):
        self.process.terminate()
        self.process.wait()


standin = Standin()
atexit.register(standin.end)
server = Server(settings={"payment.providers": "stripe", "payment.query_ms": 300, "payment.extend_ms": 60000,
                          "payment.close_wait_ms": 5000, "orders.grace_ms": 0, "stripe.base": standin.url})
for name, text in (("secret_key_file", KEY), ("webhook_secret_file", WEBHOOK_SECRET)):
    path = os.path.join(server.folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text + "\n")
    server.write_config(**{"stripe__" + name: path})
server.start()
CALLBACK = f"http://127.0.0.1:{server.port}/v1/payments/stripe/callback"


def bought(item):
    buyer = Buyer(server)
    return buyer, buyer.order(buyer.win(item)["ticket"])


def order_do(buyer, order, act):
    return server.request("POST", f"/v1/orders/{order['order']}/{act}", session=buyer.session)


def started(buyer, order):
    """Starts to pay: the id of the Checkout Session."""
    reply = order_do(buyer, order, "pay")
    equal((reply.status, reply.json()["payment"]["state"]), (200, "open"), str(reply))
    return reply.json()["payment"]["url"].rpartition("/")[2]


def becomes(buyer, order, state):
    def check():
        now = buyer.get(f"/v1/orders/{order['order']}").json()
        return now["state"] == state and now
    return eventually(check, f"not {state}")


def at_rest():
    def check():
        now = server.admin_ok("GET", "/payments/totals")
        return now["wanted"] == 0 and now["late"] == 0 and now["captured"] - now["refunded"] == now["paid"] and now
    return eventually(check, "money does not add up")


@rule
def the_stand_in_is_what_stripes_own_package_says():
    done = subprocess.run(["npm", "test", "--silent"], cwd=FOLDER, capture_output=True, text=True, check=False)
    equal(done.returncode, 0, done.stdout[-2000:])


@rule
def a_payment_is_started_paid_and_called_back_twice():
    buyer, order = bought(server.open_item())
    session = started(buyer, order)
    paid = standin.ask("POST", f"/pay/{session}", {"callback": CALLBACK, "times": 2}).json()
    equal(paid["statuses"], [200, 200])
    equal((paid["session"]["amount_total"], paid["session"]["currency"]), (order["amount"], order["currency"].lower()))
    equal(becomes(buyer, order, "paid")["version"], order["version"] + 1)
    problem(order_do(buyer, order, "pay"), 409, "already-paid")
    at_rest()


@rule
def a_lost_callback_is_found_by_the_query():
    buyer, order = bought(server.open_item())
    standin.ask("POST", f"/pay/{started(buyer, order)}")
    becomes(buyer, order, "paid")


@rule
def a_lost_answer_makes_no_second_session():
    buyer, order = bought(server.open_item())
    before = len(standin.state()["sessions"])
    standin.ask("POST", "/fail", {"count": 2})
    session = eventually(lambda: (order_do(buyer, order, "pay").json().get("payment") or {}).get("url"), "never opened")
    equal(len(standin.state()["sessions"]), before + 1)
    standin.ask("POST", f"/pay/{session.rpartition('/')[2]}", {"callback": CALLBACK})
    becomes(buyer, order, "paid")


@rule
def a_cancelled_order_is_closed_at_stripe_first():
    buyer, order = bought(server.open_item())
    session = started(buyer, order)
    among(order_do(buyer, order, "cancel").status, (200, 202))
    becomes(buyer, order, "closed")
    equal([one["status"] for one in standin.state()["sessions"] if one["id"] == session], ["expired"])
    equal(standin.ask("POST", f"/pay/{session}").status, 400)


@rule
def who_pays_while_it_is_being_cancelled_has_paid():
    buyer, order = bought(server.open_item())
    session = started(buyer, order)
    standin.ask("POST", f"/pay/{session}")
    order_do(buyer, order, "cancel")
    becomes(buyer, order, "paid")


@rule
def a_refund_is_made_once_though_its_answer_is_lost():
    buyer, order = bought(server.open_item())
    standin.ask("POST", f"/pay/{started(buyer, order)}", {"callback": CALLBACK})
    becomes(buyer, order, "paid")
    before = len(standin.state()["refunds"])
    standin.ask("POST", "/fail", {"count": 1})
    server.admin_ok("POST", f"/orders/{order['order']}/refund", {"to": "stock"})
    becomes(buyer, order, "refunded")
    at_rest()
    refunds = standin.state()["refunds"][before:]
    equal([one["amount"] for one in refunds], [order["amount"]])


@rule
def another_amount_pays_nothing_and_goes_back():
    buyer, order = bought(server.open_item())
    session = started(buyer, order)
    standin.ask("POST", f"/pay/{session}", {"amount": 1, "callback": CALLBACK})
    eventually(lambda: any(one["amount"] == 1 for one in standin.state()["refunds"]), "the money did not go back")
    equal(buyer.get(f"/v1/orders/{order['order']}").json()["state"], "pending")
    at_rest()


def signed_callback(body, at_s, secret=WEBHOOK_SECRET):
    mac = hmac.new(secret.encode(), f"{at_s}.".encode() + body, hashlib.sha256).hexdigest()
    return {"Stripe-Signature": f"t={at_s},v1={mac}", "Content-Type": "application/json"}


@rule
def a_thousand_forged_and_stale_callbacks_change_nothing():
    buyer, order = bought(server.open_item())
    session = started(buyer, order)
    object_ = {**next(one for one in standin.state()["sessions"] if one["id"] == session),
               "status": "complete", "payment_status": "paid", "payment_intent": "pi_forged"}
    event = {"id": "evt_1", "object": "event", "type": "checkout.session.completed", "data": {"object": object_}}
    body, now_s, chance = json.dumps(event).encode(), int(time.time()), random.Random(5)
    with server.connect() as connection:
        for number in range(1000):
            sent, headers = bytearray(body), signed_callback(body, now_s)
            if number % 4 == 0:
                sent[chance.randrange(len(sent))] ^= 1 << chance.randrange(8)
            elif number % 4 == 1:
                headers = signed_callback(body, now_s, "whsec_another")
            elif number % 4 == 2:
                headers = signed_callback(body, now_s + chance.choice((-1, 1)) * (400 + chance.randrange(100000)))
            else:
                headers.pop("Stripe-Signature")
            connection.send(request_bytes("POST", "/v1/payments/stripe/callback", bytes(sent), headers))
            equal(connection.read_reply().status, 400)
    equal(buyer.get(f"/v1/orders/{order['order']}").json()["state"], "pending")
    order_do(buyer, order, "cancel")
    becomes(buyer, order, "closed")
    at_rest()


@rule
def keys_are_in_no_log_and_no_setting_that_is_shown():
    shown = subprocess.run([server.binary, "config", "--config", server.config], capture_output=True, text=True, check=False)
    for text in (server.log(), shown.stdout, shown.stderr):
        true(KEY not in text and WEBHOOK_SECRET not in text, "shown")


run()
