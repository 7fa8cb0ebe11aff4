# SPDX-License-Identifier: Apache-2.0
"""What the tests of payments share: a server with the sandbox, and what payers do."""
import os
import subprocess

from kit.harness import Buyer, Server, equal, eventually
from kit.paying_signs import signed  # noqa: F401 (for the tests that import it from here)

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


def killed_and_started():
    """Until it has read who has units that count against limits over a period."""
    server.kill()
    pairs = server.sql("SELECT count(*) FROM (SELECT DISTINCT scope, holder FROM limit_uses WHERE scope < 8589934592) AS pairs")
    server.start()
    eventually(lambda: server.metrics()["stampede_limit_holders"] >= int(pairs[0][0]), "the users of limits are not read")


def money():
    return server.admin("GET", "/payments/totals").json()


def at_rest():
    """Captured − refunded = Σ price of paid orders, from our books and from the bank's."""
    def check():
        now = money()
        return now["wanted"] == 0 and now["late"] == 0 and now["captured"] - now["refunded"] == now["paid"] and now
    return eventually(check, f"money does not add up: {money()}")


def closed_without_the_banks_word(item):
    """An order that is closed while its payment can still be paid: the bank can't be reached, until pays_late."""
    buyer, order = bought(item)
    reply = order_do(buyer, order, "pay")
    equal(server.admin("PATCH", "/sandbox", {"unreached": 100}).status, 200)
    equal(order_do(buyer, order, "cancel").status, 202)
    becomes(buyer, order, "closed", reason="cancelled")
    return buyer, order, payment_id(reply)


def pays_late(payment):
    """And is told of by a callback, since the bank can't be asked."""
    equal(server.request("POST", f"/sandbox/v1/pay/{payment}", {"how": "pay"}).status, 200)
    equal(server.admin("PATCH", "/sandbox", {"unreached": 0}).status, 200)


WHERE = {"name": "Ada", "phone": "12345", "address": "1 Example Street"}


def intent_ask(buyer, item, key=None, body=None):
    fields = {"Stampede-Pass": buyer.get_pass(item), **({"Idempotency-Key": key} if key else {})}
    return server.request("POST", f"/v1/items/{item}/intent", body, fields, session=buyer.session)


def intent_of(buyer, item, **more):
    reply = intent_ask(buyer, item, **more)
    equal(reply.status, 201, str(reply))
    return reply.json()["intent"]


def intent_pay(buyer, intent, **more):
    return server.request("POST", "/v1/intents/pay", {"intent": intent, **more}, session=buyer.session)


def command(*words):
    environment = {**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"], "STAMPEDE_URL": f"http://127.0.0.1:{server.port}"}
    done = subprocess.run([server.binary, "admin", *words], env=environment, capture_output=True, text=True, timeout=20)
    equal(done.returncode, 0, done.stderr)
    return done.stdout
