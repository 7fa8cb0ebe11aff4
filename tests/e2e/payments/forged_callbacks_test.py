# SPDX-License-Identifier: Apache-2.0
"""Callbacks that are forged, replayed to another order, stale, or tell of another amount, currency or order: none counts.

FORGED=2000 (a long run: 10000), over kept connections, against the sandbox provider of the real program."""
import hashlib
import hmac
import json
import os
import random
import time

from kit.harness import Buyer, Server, equal, eventually, rule, run, true

FORGED = int(os.environ.get("FORGED", "2000"))
SEED = int(os.environ.get("SEED", "7"))
PATH = "/v1/payments/sandbox/callback"
HEADER = "Sandbox-Signature"
CONNECTION_CALLS = 50  # then a new one, so that first requests are tried too

server = Server(settings={"payment.providers": "sandbox", "payment.query_ms": 600000, "orders.grace_ms": 0})
server.start()
with open(os.path.join(server.data, "sandbox.secret"), "rb") as file:
    SECRET = hashlib.sha256(file.read().strip()).digest()


def signed(body, at=None, key=SECRET, path=PATH, method="POST"):
    at = int(time.time()) if at is None else at
    text = f"{at}.{method}.{path}.{hashlib.sha256(body).hexdigest()}".encode()
    return f"t={at},v1={hmac.new(key, text, hashlib.sha256).hexdigest()}"


class Target:
    """An order that waits for its payment, and the callback that would pay it."""

    def __init__(self, item):
        self.buyer = Buyer(server)
        self.order = self.buyer.order(self.buyer.win(item)["ticket"])
        reply = server.request("POST", f"/v1/orders/{self.order['order']}/pay", session=self.buyer.session)
        equal(reply.status, 200, str(reply))
        payment = server.admin_ok("GET", f"/orders/{self.order['order']}/payments")["payments"][0]
        self.message = {"state": "captured", "id": payment["provider_id"], "reference": payment["reference"],
                        "currency": self.order["currency"], "amount": self.order["amount"]}

    def body(self, **change):
        return json.dumps({**self.message, **change}).encode()

    def state(self):
        return server.get(f"/v1/orders/{self.order['order']}", session=self.buyer.session).json()["state"]


def bent(dice, data):
    at, changed = dice.randrange(len(data)), bytearray(data)
    changed[at] ^= 1 << dice.randrange(7)
    return bytes(changed)


def forge(dice, target, other):
    """One that must not count: (kind, body, header value)."""
    good = target.body()
    kind = dice.choice(["unsigned", "bent body", "bent signature", "another secret", "random", "stale", "future", "replayed",
                        "another path", "another method", "amount", "currency", "foreign", "no message", "cut"])
    if kind == "unsigned":
        return kind, good, None
    if kind == "bent body":
        return kind, bent(dice, good), signed(good)
    if kind == "bent signature":
        while True:  # a header must stay a header
            value = bent(dice, signed(good).encode())
            if all(33 <= byte < 127 for byte in value):
                return kind, good, value.decode()
    if kind == "another secret":
        return kind, good, signed(good, key=dice.randbytes(32))
    if kind == "random":
        return kind, good, f"t={int(time.time())},v1={dice.randbytes(32).hex()}"
    if kind in ("stale", "future"):
        apart = dice.randrange(305, 100000)
        return kind, good, signed(good, int(time.time()) + (apart if kind == "future" else -apart))
    if kind == "replayed":  # the signature of one order's callback over another order's
        return kind, target.body(), signed(other.body())
    if kind == "another path":
        return kind, good, signed(good, path="/v1/payments/alipay/callback")
    if kind == "another method":
        return kind, good, signed(good, method="GET")
    changes = {"amount": {"amount": target.message["amount"] + dice.choice([-1, 1, 1000, -target.message["amount"]])},
               "currency": {"currency": dice.choice(["USD", "EUR", "cny", ""])},
               "foreign": {"reference": f"{dice.getrandbits(64):016x}-1"}}
    if kind in changes:
        body = target.body(**changes[kind])
        return kind, body, signed(body)
    body = dice.choice([b"", b"[]", b"null", b"{", good + b"x", b'{"amount":1,"amount":2}']) if kind == "no message" \
        else good[:dice.randrange(len(good))]
    return kind, body, signed(body)


def send(connection, body, value):
    fields = {"Content-Type": "application/json"}
    if value is not None:
        fields[HEADER] = value
    return connection.request("POST", PATH, body, fields)


item = server.open_item(total=20)
targets = [Target(item) for _ in range(3)]


@rule
def no_forged_callback_counts():
    dice, kinds = random.Random(SEED), {}
    connection = server.connect()
    began = time.monotonic()
    for number in range(FORGED):
        if number % CONNECTION_CALLS == 0:
            connection.close()
            connection = server.connect()
        target, other = dice.sample(targets, 2)
        kind, body, value = forge(dice, target, other)
        reply = send(connection, body, value)
        equal(reply.status, 400, f"{kind}: {body!r} {value}")
        kinds[kind] = kinds.get(kind, 0) + 1
    connection.close()
    for target in targets:
        equal(target.state(), "pending")
    totals = server.admin_ok("GET", "/payments/totals")
    equal((totals["captured"], totals["paid"]), (0, 0))
    equal(server.metrics()["stampede_payment_callbacks_refused_total"], FORGED)
    print(f"     {FORGED} refused, 0 accepted in {time.monotonic() - began:.1f} s: {kinds}", flush=True)


@rule
def a_good_one_is_still_taken_and_only_once():
    for target in targets:
        body = target.body()
        with server.connect() as connection:
            for _ in range(2):
                equal(send(connection, body, signed(body)).status, 204)
        eventually(lambda target=target: target.state() == "paid")
    totals = server.admin_ok("GET", "/payments/totals")
    equal(totals["paid"], sum(target.message["amount"] for target in targets))


@rule
def the_log_is_not_filled_by_them():
    true(server.log().count("was refused") <= 20 * 60, "one line for each")


run()
