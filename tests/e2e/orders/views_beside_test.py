# SPDX-License-Identifier: Apache-2.0
"""Order views are read beside the worker: a commit that does not end keeps nobody from seeing an order."""
import time

from kit.disks import SlowServer
from kit.harness import Buyer, NO_LIMITS, equal, eventually, request_bytes, rule, run, true
from kit.push_client import Push

PRICE = 999
LOOKS = 100
server = SlowServer(settings={**NO_LIMITS, "server.threads": 2}).start()


def order_of(buyer, item):
    win = buyer.win(item)
    eventually(lambda: buyer.order(win["ticket"])["state"] == "pending")
    return win["order"]


def pay_bytes(order):
    body = {"amount": PRICE, "currency": "CNY", "reference": f"beside-{order}"}
    return request_bytes("POST", f"/admin/v1/orders/{order}/paid", body, {"Authorization": f"Bearer {server.keys['admin']}"})


@rule
def while_a_commit_does_not_end_orders_are_shown_as_they_were():
    item = server.open_item(total=10, flash_price=PRICE, limit_per_user=1)
    buyer, other = Buyer(server), Buyer(server)
    order, others = order_of(buyer, item), order_of(other, item)
    before = server.metrics()["stampede_order_views_total"]
    line = server.connect()
    with server.database_held():
        line.send(pay_bytes(order))
        time.sleep(0.3)  # the worker is in the commit
        for _ in range(LOOKS):
            equal(buyer.get(f"/v1/orders/{order}").json()["state"], "pending")  # it was not told yet
            equal(other.get(f"/v1/orders/{others}").json()["state"], "pending")
            equal(len(other.get("/v1/orders").json()["orders"]), 1)
        equal([one["order"] for one in Push(server, other.session).message()["orders"]], [others])
        read = server.metrics()["stampede_order_views_total"] - before
    true(read >= 3 * LOOKS, f"{read} views were read")
    equal(line.read_reply().status, 200)
    equal(buyer.get(f"/v1/orders/{order}").json()["state"], "paid")


@rule
def a_view_never_contradicts_what_was_told_before():
    item = server.open_item(total=40, flash_price=PRICE, limit_per_user=1)
    for _ in range(30):
        buyer = Buyer(server)
        order = order_of(buyer, item)
        with server.connect() as line:
            line.send(pay_bytes(order))
            equal(line.read_reply().status, 200)
        equal(buyer.get(f"/v1/orders/{order}").json()["state"], "paid")


@rule
def a_long_poll_hears_of_a_payment_that_comes_with_it():
    item = server.open_item(total=60, flash_price=PRICE, limit_per_user=1)
    for _ in range(50):
        buyer = Buyer(server)
        order = order_of(buyer, item)
        version = buyer.get(f"/v1/orders/{order}").json()["version"]
        poll = request_bytes("GET", f"/v1/orders/{order}?wait=20&version={version}", None,
                             {"Authorization": f"Bearer {buyer.session}"})
        with server.connect() as looks, server.connect() as pays:
            began = time.monotonic()
            pays.send(pay_bytes(order))
            looks.send(poll)
            equal(pays.read_reply().status, 200)
            equal(looks.read_reply().json()["state"], "paid")
            true(time.monotonic() - began < 15, "the news was missed")


run()
