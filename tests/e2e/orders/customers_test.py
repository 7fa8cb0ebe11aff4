# SPDX-License-Identifier: Apache-2.0
"""From an order back to the shop's own customer: the name of the shop's token is kept sealed and shown to the shop, with where the
order goes, in the admin API and in webhooks; an offer to somebody who waited is an event of its own."""
import os
import time

from kit.databases import hex_of
from kit.harness import Buyer, Server, equal, eventually, jwt, rule, run, temp_folder, true
from kit.webhook_receiver import Receiver, settings_for

SECRET = "s" * 32
keys = temp_folder()
with open(os.path.join(keys, "shop.secret"), "w") as file:
    file.write(SECRET)
receiver = Receiver()
server = settings_for(Server(settings={"session.jwt_keys": keys}), receiver.url).start()
NAME = 'customer "42" \u5f20\u4e09 <x>'
DETAILS = {"name": "Ada", "phone": "+86 138 0000 0000", "address": "1 Example Street", "note": "ring"}


def customer(subject):
    return Buyer(server, jwt({"sub": subject, "exp": int(time.time()) + 600}, SECRET, kid="shop"))


def shown(order, role="operator"):
    reply = server.admin("GET", f"/orders/{order}", role=role)
    equal(reply.status, 200, reply)
    return reply.json()


def told(order, kind):
    return eventually(lambda: receiver.of(order, kind), f"{order} {kind} was not told", 40)[0]


@rule
def an_order_shows_the_shops_own_name_and_where_it_goes():
    buyer, item = customer(NAME), server.open_item()
    order = buyer.order(buyer.win(item)["ticket"])
    eventually(lambda: shown(order["order"])["customer"] == NAME, f"the shop can't find its customer: {shown(order['order'])}")
    equal(shown(order["order"])["details"], None)
    equal(server.request("PUT", f"/v1/orders/{order['order']}/details", DETAILS, session=buyer.session).status, 200)
    equal(shown(order["order"])["details"], DETAILS)
    true("details" not in shown(order["order"], "viewer"), "a viewer sees where an order goes")
    rows = server.admin_ok("GET", f"/orders?item={item}")["orders"]
    equal([row["customer"] for row in rows], [NAME])
    body = {"amount": order["amount"], "currency": order["currency"], "reference": "bank 1"}
    server.admin_ok("POST", f"/orders/{order['order']}/paid", body)
    paid = told(order["order"], "order.paid")
    equal((paid.data["customer"], paid.data["details"]), (NAME, DETAILS))
    view = server.get(f"/v1/orders/{order['order']}", session=buyer.session).json()
    true("customer" not in view and "details" not in view, f"the public view tells too much: {view}")


@rule
def a_guest_has_no_name():
    buyer = Buyer(server)
    order = buyer.order(buyer.win(server.open_item())["ticket"])
    equal(shown(order["order"])["customer"], None)
    equal(told(order["order"], "order.created").data["customer"], None)


@rule
def names_are_sealed_in_the_database_and_survive_a_restart():
    buyer, item = customer("somebody@shop.example"), server.open_item()
    order = buyer.order(buyer.win(item)["ticket"])
    eventually(lambda: shown(order["order"])["customer"] == "somebody@shop.example")
    server.restart(kill=True)
    equal(shown(order["order"])["customer"], "somebody@shop.example")
    rows = [bytes.fromhex(str(row[0])) for row in server.sql(f"SELECT {hex_of(server, 'sealed')} FROM customers")]
    true(len(rows) >= 2 and not any(b"shop.example" in row for row in rows), "a name can be read in the file")
    for name in os.listdir(server.data):
        path = os.path.join(server.data, name)
        if name.startswith("stampede.db") and os.path.isfile(path):
            with open(path, "rb") as file:
                true(b"somebody@shop" not in file.read(), f"a name can be read in {name}")


@rule
def an_offer_from_the_waitlist_is_an_event_of_its_own():
    item = server.open_item(total=1)
    first, second = customer("first"), customer("second")
    order = first.order(first.win(item)["ticket"])
    equal(second.wait(item).status, 201)
    equal(server.request("POST", f"/v1/orders/{order['order']}/cancel", session=first.session).status, 200)
    offered = eventually(lambda: [message for message in receiver.messages if message.type == "order.offered"
                                  and message.data["item"] == item], "no offer was told", 40)[0]
    equal((offered.data["customer"], offered.data["state"]), ("second", "pending"))
    true(not receiver.of(offered.data["order"], "order.created"), "the offer was told twice")
    rows = server.admin_ok("GET", "/webhooks", role="viewer")["webhooks"]
    equal([row["type"] for row in rows if row["order"] == offered.data["order"]], ["order.offered"])


run()
