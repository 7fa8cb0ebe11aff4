# SPDX-License-Identifier: Apache-2.0
"""Whoever gives units back hears it when they can be sold again, or that they are on their way."""
import time

from kit.disks import SlowServer
from kit.harness import Buyer, equal, eventually, rule, run, true

server = SlowServer(settings={"payment.providers": "sandbox", "orders.user_refund_ms": 600000}).start()


def item_with(total):
    sale = server.sale(start_in_ms=-1000, cooldown_s=0, return_draw_ms=0)
    item = server.item(sale, total=total, limit_per_user=1)
    server.publish(sale)
    eventually(lambda: server.get(f"/v1/items/{item}").json()["accepting"], "it is not open")
    return item


def cancel(buyer, order):
    return server.request("POST", f"/v1/orders/{order}/cancel", session=buyer.session)


@rule
def a_unit_that_was_cancelled_can_be_bought_at_once():
    item = item_with(1)
    for _ in range(15):
        first, second = Buyer(server), Buyer(server)
        won = first.win(item)
        eventually(lambda: first.order(won["ticket"])["state"] == "pending")
        answer = cancel(first, won["order"])
        equal((answer.status, answer.json()["state"], "returning" in answer.json()), (200, "closed", False))
        again = second.win(item)
        eventually(lambda: second.order(again["ticket"])["state"] == "pending")
        equal(cancel(second, again["order"]).status, 200)
        mine = first.win(item)  # the one who cancelled, too
        eventually(lambda: first.order(mine["ticket"])["state"] == "pending")
        equal(cancel(first, mine["order"]).status, 200)


@rule
def on_a_slow_disk_the_answer_says_that_it_is_on_its_way():
    item, buyer = item_with(1), Buyer(server)
    won = buyer.win(item)
    eventually(lambda: buyer.order(won["ticket"])["state"] == "pending")
    with server.held():
        began = time.monotonic()
        answer = cancel(buyer, won["order"])
        equal((answer.status, answer.json()["state"], answer.json().get("returning")), (200, "closed", True))
        true(1 < time.monotonic() - began < 15, "it waits, but not for ever")
        equal(cancel(buyer, won["order"]).json().get("returning"), True, "again: the same")
    eventually(lambda: "returning" not in cancel(buyer, won["order"]).json(), "back")
    Buyer(server).win(item)


@rule
def an_administrator_is_not_kept_waiting():
    item, buyer = item_with(1), Buyer(server)
    won = buyer.win(item)
    eventually(lambda: buyer.order(won["ticket"])["state"] == "pending")
    with server.held():
        began = time.monotonic()
        answer = server.admin_ok("POST", f"/orders/{won['order']}/cancel")
        equal((answer["state"], answer.get("returning")), ("closed", True))
        true(time.monotonic() - began < 1.5)
    eventually(lambda: server.counts(item)["free"] == 1)


@rule
def the_server_stops_cleanly_and_its_data_verifies():
    server.stop()
    server.verify()


run()
