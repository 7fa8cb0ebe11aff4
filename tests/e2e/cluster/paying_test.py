# SPDX-License-Identifier: Apache-2.0
"""Payments of a shop on several machines: begun at a gateway, handled by the leader, whose sandbox is the bank."""
import os
import secrets

from kit import databases
from kit.harness import Buyer, equal, eventually, rule, run, temp_folder, true

databases.beside("postgres", "redis")

from kit.cluster import Cluster, at  # noqa: E402


def sandbox_secret():
    path = os.path.join(temp_folder(), "sandbox.secret")
    with open(path, "w", encoding="utf-8") as file:
        file.write(secrets.token_hex(32) + "\n")
    os.chmod(path, 0o600)
    return path


shop = Cluster(gateways=0, workers=1, settings={"payment.providers": "sandbox", "sandbox.secret_file": sandbox_secret(), "orders.grace_ms": 0,
                                                "inventory.tell_ms": 5000, "inventory.timeout_ms": 5000})
bank = shop.worker
shop.settings["sandbox.base"] = f"http://127.0.0.1:{bank.port}"
shop.workers.append(shop.member("worker"))
shop.gateways += [shop.member("gateway"), shop.member("gateway")]


def pay_begun(buyer, order):
    reply = buyer.server.request("POST", f"/v1/orders/{order}/pay", {"provider": "sandbox"}, session=buyer.session, timeout_s=60)
    true(reply.status in (200, 202), reply.body)
    shown = []

    def is_open():
        shown[:] = [buyer.get(f"/v1/orders/{order}").json()]
        return "url" in shown[0].get("payment", {})
    eventually(is_open, f"the payment does not open: {shown}", patience_s=60)
    return shown[0]["payment"]["url"]


@rule
def all_processes_start():
    shop.start()


@rule
def an_order_of_any_gateway_is_paid_at_the_bank():
    item = shop.worker.open_item(total=10)
    shop.everywhere(item)
    for gateway in shop.gateways * 2:
        buyer = Buyer(gateway)
        ticket = buyer.win(item)["ticket"]
        order = buyer.order(ticket)["order"]
        url = pay_begun(buyer, order)
        done = bank.request("POST", "/sandbox/v1/pay/" + url.split("id=")[1], {"how": "pay"})
        equal(done.status, 200, done.body)
        for other in shop.gateways:
            eventually(lambda o=other, b=buyer, t=ticket: at(o, b).order(t)["state"] == "paid", "it is not paid everywhere", patience_s=60)


@rule
def what_an_operator_refunds_at_a_gateway_is_refunded():
    gateway = shop.gateways[0]
    buyer = Buyer(gateway)
    item = shop.worker.open_item(total=10)
    shop.everywhere(item)
    ticket = buyer.win(item)["ticket"]
    order = buyer.order(ticket)["order"]
    url = pay_begun(buyer, order)
    equal(bank.request("POST", "/sandbox/v1/pay/" + url.split("id=")[1], {"how": "pay"}).status, 200)
    eventually(lambda: buyer.order(ticket)["state"] == "paid", "it is not paid", patience_s=60)
    equal(gateway.admin("POST", f"/orders/{order}/refund", {"to": "stock"}).status, 200)
    eventually(lambda: buyer.get(f"/v1/orders/{order}").json().get("refund", {}).get("state") == "done", "it is not refunded", patience_s=60)
    eventually(lambda: shop.worker.counts(item)["free"] == 10, "the unit does not come back", patience_s=60)


@rule
def an_order_that_is_due_before_all_others_expires_in_time():
    late, soon = shop.worker.open_item(total=3), shop.worker.open_item(total=3, pay_window_ms=1000)
    shop.everywhere(late, soon)
    first, second = Buyer(shop.gateways[0]), Buyer(shop.gateways[1])
    first.win(late)
    ticket = second.win(soon)["ticket"]
    eventually(lambda: second.order(ticket)["reason"] == "expired", "it does not expire", patience_s=60)
    eventually(lambda: shop.worker.counts(soon)["free"] == 3, "its unit does not come back", patience_s=60)


@rule
def all_processes_stop():
    shop.stop()


run()
