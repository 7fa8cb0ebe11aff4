# SPDX-License-Identifier: Apache-2.0
"""The database is unavailable for a while: purchases go on, orders follow, nothing is lost; too far behind, wins stop."""
import os
import sqlite3
import time

from kit.harness import Buyer, Server, equal, eventually, problem, request_bytes, rule, run, true

server = Server(settings={"orders.lag_max": 1000}).start()


class Locked:
    """Somebody else holds the database: no write gets through."""

    def __enter__(self):
        self.database = sqlite3.connect(os.path.join(server.data, "stampede.db"), timeout=10, isolation_level=None)
        self.database.execute("begin exclusive")
        return self

    def __exit__(self, *_):
        self.database.execute("rollback")
        self.database.close()


def shop(buyer, item, give, numbers):
    told, refusal = {}, None
    with server.connect() as connection:
        for number in numbers:
            connection.send(buyer.purchase_request(item, key=str(number), give=give))
            reply = connection.read_reply()
            if reply.status == 202:
                told[number] = reply.json()["ticket"]
            else:
                refusal = reply
                break
    return told, refusal


@rule
def while_the_database_is_locked_purchases_win_and_orders_follow_after():
    item, buyer = server.open_item(total=1000, limit_per_user=0), Buyer(server)
    give = buyer.get_pass(item)
    with Locked():
        began = time.monotonic()
        told, refusal = shop(buyer, item, give, range(100))
        equal((len(told), refusal), (100, None))
        true(time.monotonic() - began < 5, "a locked database must not slow down wins")
        equal(buyer.mine(item)["quantity"], 100)
        eventually(lambda: server.get("/readyz").status == 503, "it says so")
        true(b"database is unavailable" in server.get("/readyz").body)
        eventually(lambda: server.metrics()["stampede_order_lag"] >= 100, "the lag is shown")
        eventually(lambda: server.metrics()["stampede_ready"] == 0, "not ready in the metrics")
        more, refusal = shop(buyer, item, give, range(100, 120))
        equal((len(more), refusal), (20, None), "also when it is known to be away")
        time.sleep(max(0, 2 - (time.monotonic() - began)))
    told.update(more)
    eventually(lambda: server.item_orders(item) == (120, 120), "all orders")
    for number in (0, 60, 119):
        view = buyer.order(told[number])
        equal((view["ticket"], view["state"]), (told[number], "pending"))
    eventually(lambda: server.get("/readyz").status == 200, "ready again")
    equal(server.admin_ok("GET", "/dead-letters"), {"dead_letters": []})


@rule
def a_long_poll_hears_of_its_order_when_the_database_is_back():
    item, buyer = server.open_item(), Buyer(server)
    with Locked():
        ticket = buyer.win(item)["ticket"]
        connection = server.connect()
        connection.send(request_bytes("GET", f"/v1/tickets/{ticket}?wait=20",
                                      headers={"Authorization": f"Bearer {buyer.session}"}))
        time.sleep(0.7)
    began = time.monotonic()
    reply = connection.read_reply()
    equal(reply.json()["state"], "pending", reply)
    true(time.monotonic() - began < 10)
    connection.close()


@rule
def an_order_that_is_being_written_is_shown_to_its_owner_only():
    item, buyer, other = server.open_item(), Buyer(server), Buyer(server)
    with Locked():
        won = buyer.win(item)
        wanted = {"ticket": won["ticket"], "order": won["order"], "state": "creating", "item": item, "quantity": 1}
        for path in (f"/v1/tickets/{won['ticket']}", f"/v1/orders/{won['order']}", f"/v1/tickets/{won['ticket']}?wait=1"):
            equal(buyer.get(path).json(), wanted)
            problem(other.get(path), 404, "unknown-order")
    equal(buyer.order(won["ticket"])["state"], "pending")


@rule
def admin_requests_are_told_that_the_database_is_away():
    sale = server.sale()
    with Locked():
        reply = server.admin("POST", "/products", {"name": "P", "list_price": 1})
        problem(reply, 503, "unavailable")
        true("retry-after" in reply.headers)
        problem(server.admin("PATCH", f"/sales/{sale}", {"title": "New"}), 503, "unavailable")
    eventually(lambda: server.get("/readyz").status == 200)
    equal(server.admin("POST", "/products", {"name": "P", "list_price": 1}).status, 201)
    equal(server.admin_ok("GET", f"/sales/{sale}")["title"], "Sale", "what was refused did not happen")


@rule
def orders_that_lag_too_far_behind_stop_the_wins_until_they_catch_up():
    item, buyer = server.open_item(total=5000, limit_per_user=0), Buyer(server)
    give = buyer.get_pass(item)
    with Locked():
        told, refusal = shop(buyer, item, give, range(3000))
        true(refusal is not None, "wins never stopped")
        problem(refusal, 503, "unavailable")
        true(900 <= len(told) <= 1000, len(told))  # what made the sale is in the log, too
        true(b"orders lag behind" in server.get("/readyz").body or b"database is unavailable" in server.get("/readyz").body)
        equal(buyer.win(item, key="5", give=give)["ticket"], told[5], "a retry still learns its win")
    eventually(lambda: server.item_orders(item)[0] == len(told), "all orders")
    eventually(lambda: server.get("/readyz").status == 200)
    buyer.win(item, key="again", give=buyer.get_pass(item))


@rule
def a_stop_while_the_database_is_locked_loses_nothing():
    item, buyer = server.open_item(total=100, limit_per_user=0), Buyer(server)
    with Locked():
        told, _ = shop(buyer, item, buyer.get_pass(item), range(30))
        equal(len(told), 30)
        server.stop()
    server.start()
    eventually(lambda: server.item_orders(item) == (30, 30), "orders are written after the restart")
    equal(buyer.order(told[29])["state"], "pending")


run()
