# SPDX-License-Identifier: Apache-2.0
"""When a sale is over its buyers are listed in the background; their orders are shown before, meanwhile and after."""

from kit.harness import Buyer, Server, equal, eventually, rule, run, true
from kit.push_client import Push

server = Server().start()

past = server.open_item(total=50)
running = server.open_item(total=50)
buyers = [Buyer(server) for _ in range(5)]
for buyer in buyers:
    for item in (past, running):
        buyer.order(buyer.win(item)["ticket"])


def listed(item):
    return bool(server.sql(("SELECT buyers_listed FROM items WHERE id = ?", (item,)))[0][0])


def shown(buyer):
    return [order["item"] for order in server.get("/v1/orders", session=buyer.session).json()["orders"]]


def pushed(buyer):
    with Push(server, buyer.session) as push:
        return [order["item"] for order in push.message()["orders"]]


def gate(verb):
    server.admin_ok("POST", f"/sales/{server.sale_of(past)}/{verb}")


@rule
def orders_of_a_past_sale_and_of_a_running_one_are_shown():
    equal(shown(buyers[0]), [running, past])
    gate("end")
    eventually(lambda: listed(past), "its buyers are not listed")
    true(not listed(running))
    for buyer in buyers:
        equal(shown(buyer), [running, past])
        equal(pushed(buyer), [running, past])
        equal(len(server.admin_ok("GET", f"/orders?user={buyer.user}")["orders"]), 2)
    equal(shown(Buyer(server)), [])


@rule
def a_sale_that_is_reopened_shows_its_new_orders_too():
    late = Buyer(server)
    gate("reopen")
    eventually(lambda: not listed(past), "its items are not looked at again")
    late.order(late.win(past)["ticket"])
    equal(shown(late), [past])
    equal(shown(buyers[0]), [running, past])
    gate("end")
    eventually(lambda: listed(past), "its buyers are not listed again")
    equal(shown(late), [past])


@rule
def a_restart_goes_on_with_the_lists():
    server.restart(kill=True)
    for buyer in buyers:
        equal(shown(buyer), [running, past])


run()
