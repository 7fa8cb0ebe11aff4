# SPDX-License-Identifier: Apache-2.0
"""Paying through Alipay and WeChat Pay with the real program: started, paid, called back, queried, closed and refunded
over HTTP against the stand-ins of tests/providers. What is forged is tried one by one in providers_test.py."""
from kit.harness import Buyer, Connection, Server, among, equal, eventually, rule, run, true
from kit.providers import Standin, packages

NAMES = ("alipay", "wechat")
standins = {}
server = None


def for_each(test):
    """One rule for each provider."""
    for name in NAMES:
        def one(name=name):
            start()
            test(name, standins[name])
        one.__name__ = f"{test.__name__}_{name}"
        rule(one)
    return test


def start():
    global server
    packages()
    if server is None:
        settings = {"payment.providers": ",".join(NAMES), "payment.query_ms": 300, "payment.extend_ms": 60000,
                    "payment.close_wait_ms": 5000, "orders.grace_ms": 0}
        for name in NAMES:
            standins[name] = Standin(name)
            settings.update({f"{name}.{key}": value for key, value in standins[name].settings.items()})
        server = Server(settings=settings)
        server.start()


def order_do(buyer, order, act, body=None):
    return server.request("POST", f"/v1/orders/{order['order']}/{act}", body, session=buyer.session)


def started(name):
    """A buyer, an order and the reference of a payment that waits for its payer."""
    buyer = Buyer(server)
    order = buyer.order(buyer.win(server.open_item())["ticket"])
    reply = order_do(buyer, order, "pay", {"provider": name})
    equal((reply.status, reply.json()["payment"]["state"]), (200, "open"), str(reply.body))
    url = reply.json()["payment"]["url"]
    return buyer, order, url.rpartition("=" if name == "wechat" else "/")[2]


def becomes(buyer, order, state):
    def check():
        now = buyer.get(f"/v1/orders/{order['order']}").json()
        return now["state"] == state and now
    return eventually(check, f"not {state}")


def at_rest():
    def check():
        now = server.admin_ok("GET", "/payments/totals")
        return now["wanted"] == 0 and now["late"] == 0 and now["captured"] - now["refunded"] == now["paid"]
    eventually(check, "money does not add up")


def call_back(name, callback):
    """Posts it as the provider does; the status."""
    with Connection(server.port, 20) as connection:
        return connection.request("POST", f"/v1/payments/{name}/callback", callback["body"].encode(), callback["headers"]).status


@for_each
def a_callback_pays_the_order_and_says_so_in_the_providers_own_words(name, standin):
    buyer, order, reference = started(name)
    made = standin.test("pay", reference=reference, send=1)
    equal(made["receipt"], {"status": 200, "body": "success" if name == "alipay" else ""})
    equal(becomes(buyer, order, "paid")["version"], order["version"] + 1)
    equal(call_back(name, made["callback"]), 200, "the same again is taken")
    equal(buyer.get(f"/v1/orders/{order['order']}").json()["version"], order["version"] + 1)
    at_rest()


@for_each
def a_lost_callback_is_found_by_the_query(name, standin):
    buyer, order, reference = started(name)
    standin.test("pay", reference=reference)
    becomes(buyer, order, "paid")
    at_rest()


@for_each
def forged_stale_and_foreign_callbacks_pay_nothing(name, standin):
    buyer, order, reference = started(name)
    stranger = "app_id" if name == "alipay" else "mchid"
    made = standin.test("callback", reference=reference, **({"status": "TRADE_SUCCESS"} if name == "alipay" else {}))["callback"]
    body = made["body"]
    changed = body.replace("999", "001", 1) if name == "alipay" else body.replace('"transaction"', '"transactiom"', 1)
    wrong = [{**made, "body": changed}, {**made, "body": body[:-1]}, {**made, "body": ""}]
    wrong += [standin.test("callback", reference=reference, status="TRADE_SUCCESS", **query)["callback"]
              for query in ({"shift_s": -100000}, {"shift_s": 1000}, {stranger: "1"})]
    for callback in wrong:
        equal(call_back(name, callback), 400 if name == "alipay" else 401, callback["body"][:80])
    equal(buyer.get(f"/v1/orders/{order['order']}").json()["state"], "pending")
    standin.test("pay", reference=reference, send=1)
    becomes(buyer, order, "paid")


@for_each
def a_cancelled_order_is_closed_at_the_provider(name, standin):
    buyer, order, reference = started(name)
    if name == "alipay":
        standin.test("scan", reference=reference)
    among(order_do(buyer, order, "cancel").status, (200, 202))
    becomes(buyer, order, "closed")
    among(standin.test("state", reference=reference)["state"], ("TRADE_CLOSED", "CLOSED"))
    true("refused" in standin.test("pay", reference=reference), "nobody can pay it any more")


@for_each
def who_pays_while_it_is_being_cancelled_has_paid(name, standin):
    buyer, order, reference = started(name)
    standin.test("pay", reference=reference)
    order_do(buyer, order, "cancel")
    becomes(buyer, order, "paid")
    at_rest()


@for_each
def a_refund_is_made_once_though_an_answer_is_lost(name, standin):
    buyer, order, reference = started(name)
    standin.test("pay", reference=reference, send=1)
    becomes(buyer, order, "paid")
    standin.test("trouble", status=502)
    server.admin_ok("POST", f"/orders/{order['order']}/refund", {"to": "stock"})
    becomes(buyer, order, "refunded")
    at_rest()
    equal(standin.test("state", reference=reference)["refunds"], [order["amount"]])


@for_each
def another_amount_pays_nothing_and_goes_back(name, standin):
    buyer, order, reference = started(name)
    standin.test("pay", reference=reference, amount=1, send=1)
    eventually(lambda: standin.test("state", reference=reference)["refunds"] == [1], "the money did not go back")
    equal(buyer.get(f"/v1/orders/{order['order']}").json()["state"], "pending")
    at_rest()


run()
