#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that the sandbox pays says so, in every view and message, also later, when a real provider is in use."""
from kit.harness import Buyer, Server, equal, eventually, rule, run, true
from kit.webhook_receiver import Receiver, settings_for

receiver = Receiver()
server = settings_for(Server(settings={"payment.providers": "sandbox", "payment.query_ms": 300, "orders.user_refund_ms": 600000}),
                      receiver.url).start()


def paid_order(of):
    buyer = Buyer(of)
    order = buyer.order(buyer.win(of.open_item(limit_per_user=1))["ticket"])
    address = of.request("POST", f"/v1/orders/{order['order']}/pay", session=buyer.session).json()["payment"]["url"]
    equal(of.request("POST", f"/sandbox/v1/pay/{address.split('id=')[1]}", {"how": "pay"}).status, 200)
    return buyer, eventually(lambda: paid(of, buyer, order), "not paid")


def paid(of, buyer, order):
    view = of.get(f"/v1/orders/{order['order']}", session=buyer.session).json()
    return view if view["state"] == "paid" else None


def admin_view(order):
    return next(row["view"] for row in server.admin_ok("GET", "/orders?limit=100")["orders"] if row["view"]["order"] == order)


@rule
def everything_that_it_pays_says_so_also_when_a_real_provider_is_in_use():
    buyer, order = paid_order(server)
    equal(order["test"], True)
    equal(admin_view(order["order"])["test"], True)
    equal(server.admin_ok("GET", f"/orders/{order['order']}/payments")["payments"][0]["test"], True)
    equal(server.get("/v1/payments", session=buyer.session).json()["test"], True)
    for kind in ("order.created", "order.paid"):
        message = eventually(lambda: receiver.of(order["order"], kind), f"{kind} was not told")[0]
        equal(message.data["test"], True)
    equal(server.request("POST", f"/v1/orders/{order['order']}/refund", session=buyer.session).status, 200)
    eventually(lambda: [r for r in server.admin_ok("GET", "/refunds")["refunds"] if r["state"] == "done" and r["test"]], "no refund")
    _, kept = paid_order(server)
    server.stop()
    server.write_config(payment__providers="")
    server.start()
    equal([admin_view(one["order"]).get("test") for one in (order, kept)], [True, True])
    real = Buyer(server)
    fresh = real.order(real.win(server.open_item())["ticket"])
    true("test" not in fresh and "test" not in server.get("/v1/time").json(), f"a real order is called a test: {fresh}")
    equal(server.metrics()["stampede_sandbox"], 0)


run()
