# SPDX-License-Identifier: Apache-2.0
"""Orders as the worker reads them: complete, while being written, for many at once, after restarts."""
import threading

from kit.harness import Buyer, Server, equal, eventually, rule, run, true

server = Server().start()
NAMES = ["ticket", "order", "state", "reason", "item", "quantity", "unit_price", "amount", "currency", "minor_units", "created_ms",
         "pay_by_ms", "version"]


@rule
def an_order_view_has_all_its_members_in_order():
    product = server.product(currency="USD")
    sale = server.sale()
    item = server.item(sale, product, flash_price=10 ** 12, limit_per_user=10, total=100)
    server.publish(sale)
    buyer = Buyer(server)
    view = buyer.order(buyer.win(item, quantity=10, key="k")["ticket"])
    equal(list(view), NAMES)
    equal((view["amount"], view["currency"], view["quantity"]), (10 ** 13, "USD", 10))


@rule
def an_order_that_is_being_written_says_creating_or_is_there():
    item, buyer = server.open_item(total=50, limit_per_user=0), Buyer(server)
    give = buyer.get_pass(item)
    for number in range(20):
        won = buyer.win(item, key=str(number), give=give)
        view = buyer.get(f"/v1/tickets/{won['ticket']}").json()
        if view["state"] == "creating":
            equal(view, {"ticket": won["ticket"], "order": won["order"], "state": "creating", "item": item, "quantity": 1})
        else:
            equal(list(view), NAMES)


@rule
def many_long_polls_at_once_all_hear_of_their_order():
    item = server.open_item(total=100)
    buyers = [Buyer(server) for _ in range(40)]
    connections = [server.connect() for _ in buyers]
    from kit.harness import request_bytes
    tickets = [buyer.win(item)["ticket"] for buyer in buyers]
    for buyer, connection, ticket in zip(buyers, connections, tickets):
        connection.send(request_bytes("GET", f"/v1/tickets/{ticket}?wait=10",
                                      headers={"Authorization": f"Bearer {buyer.session}"}))
    for connection, ticket in zip(connections, tickets):
        view = connection.read_reply().json()
        equal((view["ticket"], view["state"]), (ticket, "pending"))
        connection.close()


@rule
def long_polls_that_hang_up_leave_nothing_behind():
    item, buyer = server.open_item(), Buyer(server)
    view = buyer.order(buyer.win(item)["ticket"])
    from kit.harness import request_bytes
    for _ in range(300):
        with server.connect() as connection:
            connection.send(request_bytes("GET", f"/v1/tickets/{view['ticket']}?wait=30&version=1",
                                          headers={"Authorization": f"Bearer {buyer.session}"}))
    # While the worker still looks at what hung up, "too popular" is an honest answer.
    eventually(lambda: buyer.get(f"/v1/tickets/{view['ticket']}").json() == view, "the order can't be seen any more")


@rule
def every_win_becomes_exactly_one_order_row():
    item = server.open_item(total=60)
    tickets, lock = [], threading.Lock()

    def crowd():
        for _ in range(10):
            reply = Buyer(server).buy(item)
            if reply.status == 202:
                with lock:
                    tickets.append(reply.json()["ticket"])
    threads = [threading.Thread(target=crowd) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal((len(tickets), len(set(tickets))), (60, 60))
    eventually(lambda: server.item_orders(item) == (60, 60), "all orders")
    server.restart(kill=True)
    equal(server.item_orders(item), (60, 60))
    listed = [row["view"]["ticket"] for row in server.admin_ok("GET", f"/orders?item={item}")["orders"]]
    equal(sorted(listed), sorted(tickets))
    equal(server.counts(item)["held"], 60)


@rule
def the_database_says_the_same_as_the_inventory_at_rest():
    item = server.open_item(total=9, limit_per_user=0)
    Buyer(server).win(item, quantity=4, key="a")
    answer = eventually(lambda: [row for row in [server.admin_ok("GET", f"/items/{item}/counts")] if row["orders"] == 1])[0]
    equal((answer["total"], answer["units_ordered"], answer["counts"]["held"], answer["counts"]["free"]), (9, 4, 4, 5))
    true(answer["preheated"])


run()
