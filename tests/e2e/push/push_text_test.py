# SPDX-License-Identifier: Apache-2.0
"""What push tells, and in which order, in the real program: the life of an order, the same words as polling, who comes back,
watched items, a crowd, kill -9.

PUSH_CLIENTS=N: so many sockets in the crowd (1000)."""
import os
import threading
import time

from kit.harness import Buyer, Server, equal, eventually, rule, run, true
from kit.push_client import PING, PONG, Push, frame
from kit.push_crowd import crowd

PRICE = 99900
CLIENTS = int(os.environ.get("PUSH_CLIENTS", "1000"))
server = Server(settings={"orders.grace_ms": 500}).start()


def pay(order, reference):
    body = {"amount": PRICE, "currency": "CNY", "reference": reference}
    equal(server.admin("POST", f"/orders/{order}/paid", body, "operator").status, 200)


def refund(order):
    equal(server.admin("POST", f"/orders/{order}/refund", {"to": "stock"}).status, 200)


def cancel(buyer, order):
    equal(server.request("POST", f"/v1/orders/{order}/cancel", session=buyer.session).status, 200)


def is_event(name):
    return lambda message: message["type"] == "order" and message["event"] == name


@rule
def the_life_of_an_order_is_told_as_it_happens():
    item = server.open_item(total=5)
    buyer = Buyer(server)
    with Push(server, buyer.session) as push:
        state = push.message()
        equal((state["type"], state["orders"], state["items"]), ("state", [], []))
        true(abs(state["now_ms"] - server.now_ms()) < 60000, "now_ms")
        ticket = buyer.win(item)["ticket"]
        created = push.until(is_event("created"))
        equal((created["version"], created["order"]["ticket"]), (1, ticket))
        equal(created["order"], buyer.order(ticket), "push and polling")
        pay(created["order"]["order"], "push-1")
        paid = push.until(is_event("paid"))
        equal((paid["version"], paid["order"]), (2, buyer.order(ticket)))
        refund(created["order"]["order"])
        refunded = push.until(is_event("refunded"))
        equal((refunded["version"], refunded["order"]), (3, buyer.order(ticket)))


@rule
def an_order_that_is_cancelled_or_expires_is_told_closed():
    item = server.open_item(total=5)
    quick = server.open_item(total=5, pay_window_ms=1000)
    buyer = Buyer(server)
    with Push(server, buyer.session) as push:
        buyer.win(item)
        cancel(buyer, push.until(is_event("created"))["order"]["order"])
        closed = push.until(is_event("closed"))
        equal(closed["order"]["reason"], "cancelled")
        buyer.win(quick)
        expired = push.until(lambda message: is_event("closed")(message) and message["order"]["item"] == quick)
        equal(expired["order"]["reason"], "expired")


@rule
def versions_never_go_back_and_the_last_word_is_what_polling_says():
    item = server.open_item(total=200, limit_per_user=0)
    buyer = Buyer(server)
    seen = {}

    def note(order):
        true(order["version"] >= seen.get(order["ticket"], {"version": 0})["version"], f"back to {order}")
        seen[order["ticket"]] = order

    with Push(server, buyer.session) as push:
        def act():
            for number in range(40):
                order = buyer.order(buyer.win(item, key=f"many-{number}")["ticket"])["order"]
                if number % 2:
                    pay(order, f"many-{number}")
                else:
                    cancel(buyer, order)

        worker = threading.Thread(target=act)
        worker.start()

        def settled():
            return len(seen) == 40 and all(order["state"] != "pending" for order in seen.values())

        while not settled():
            message = push.message()
            for order in message["orders"] if message["type"] == "state" else [message["order"]]:
                note(order)
        worker.join()
    equal(seen, {order["ticket"]: order for order in buyer.get("/v1/orders").json()["orders"]})


@rule
def who_comes_back_gets_the_present_state_and_not_a_replay():
    item = server.open_item(total=5)
    buyer, other = Buyer(server), Buyer(server)
    with Push(server, buyer.session) as push:
        push.message()
        ticket = buyer.win(item)["ticket"]
        order = push.until(is_event("created"))["order"]["order"]
    pay(order, "back-1")
    with Push(server, buyer.session) as push, Push(server, other.session) as strange:
        state = push.message()
        equal((state["type"], state["orders"]), ("state", buyer.get("/v1/orders").json()["orders"]))
        equal([(one["ticket"], one["version"]) for one in state["orders"]], [(ticket, 2)])
        equal(strange.message()["orders"], [])
        refund(order)
        equal(push.until(is_event("refunded"))["version"], 3)
        other.win(item)
        true(is_event("created")(strange.message()), "a stranger hears of their own orders only")


@rule
def all_sockets_of_a_user_hear_it_and_a_ninth_ends_the_oldest():
    single = Server(settings={"server.threads": 1}).start()
    item = single.open_item(total=5)
    buyer = Buyer(single)
    sockets = []
    for _ in range(9):
        sockets.append(Push(single, buyer.session))
        equal(sockets[-1].message()["type"], "state")
    equal(sockets[0].closed()[0], 1008)
    buyer.win(item)
    for push in sockets[1:]:
        push.until(is_event("created"))
        push.socket.close()
    sockets[0].socket.close()
    eventually(lambda: single.metrics()["stampede_push_sockets"] == 0, "sockets stay counted")
    single.stop()


@rule
def items_that_are_watched_say_when_they_are_gone_and_when_they_are_back():
    item, other = server.open_item(total=1), server.open_item(total=1)
    buyer = Buyer(server)
    with Push(server, Buyer(server).session, path=f"/v1/push?watch={item}") as watcher, \
            Push(server, Buyer(server).session) as late:
        state = watcher.message()
        equal([(one["item"], one["state"]) for one in state["items"]], [(item, "available")])
        equal(late.message()["items"], [])
        order = buyer.order(buyer.win(item)["ticket"])
        gone = watcher.message()
        equal((gone["type"], gone["item"], gone["state"]), ("item", item, "sold-out"))
        late.watch(other, item, 999999)
        equal([(one["item"], one["state"]) for one in late.message()["items"]],
              [(other, "available"), (item, "sold-out")])
        cancel(buyer, order["order"])
        for push in (watcher, late):
            back = push.message()
            equal((back["item"], back["state"]), (item, "available"))
        time.sleep(0.3)  # some looks at the board
        watcher.send(frame(PING, b"quiet"))
        equal(watcher.answered(), (PONG, b"quiet"), "a change is told once")
        true(back["version"] > gone["version"] > state["items"][0]["version"], "versions grow")
        late.watch()
        equal(late.message(), {"type": "items", "items": []})
        sale = server.sale_of(item)
        server.admin_ok("POST", f"/sales/{sale}/pause")
        equal(watcher.message()["state"], "paused")
        server.admin_ok("POST", f"/sales/{sale}/resume")
        equal(watcher.message()["state"], "available")
        server.admin_ok("POST", f"/sales/{sale}/end")
        equal(watcher.message()["state"], "ended")


@rule
def everybody_in_a_crowd_is_told_of_their_own_order():
    busy = Server(settings={"server.connections_max": 2 * CLIENTS + 100}).start()
    figures = crowd(busy, CLIENTS)
    print("     " + ", ".join(f"{name} {value:.0f}" for name, value in figures.items()))
    equal(busy.metrics()['stampede_push_cut_total{reason="slow"}'], 0)
    busy.stop()
    busy.verify()


@rule
def a_kill_loses_nothing_that_a_new_connection_would_not_tell():
    item = server.open_item(total=5)
    buyer = Buyer(server)
    push = Push(server, buyer.session)
    push.message()
    ticket = buyer.win(item)["ticket"]
    push.until(is_event("created"))
    server.restart(kill=True)
    with Push(server, buyer.session) as again:
        equal([order["ticket"] for order in again.message()["orders"]], [ticket])


run()
