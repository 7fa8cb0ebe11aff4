# SPDX-License-Identifier: Apache-2.0
"""Purchases, retries and order views, as a customer sees them: also across restarts."""
import threading
import time

from kit.harness import Buyer, Server, among, equal, eventually, problem, request_bytes, rule, run, true

server = Server().start()


def order_view_is_whole(view, won):
    for name in ("ticket", "order", "item", "quantity", "unit_price", "pay_by_ms"):
        equal(view[name], won[name], name)
    equal(view["amount"], won["unit_price"] * won["quantity"])
    equal((view["state"], view["reason"], view["currency"], view["version"]), ("pending", None, "CNY", 1))
    true(view["created_ms"] < view["pay_by_ms"])


@rule
def a_win_says_what_was_won_and_where_the_order_will_be():
    item, buyer = server.open_item(total=5, flash_price=12300, pay_window_ms=60000), Buyer(server)
    now = server.now_ms()
    reply = buyer.buy(item)
    equal(reply.status, 202)
    won = reply.json()
    equal((won["outcome"], won["item"], won["quantity"], won["unit_price"]), ("won", item, 1, 12300))
    true(len(won["ticket"]) == 16 and len(won["order"]) == 16 and won["ticket"] != won["order"])
    true(now + 60000 <= won["pay_by_ms"] <= server.now_ms() + 60000, "pay_by_ms is now + the pay window")
    equal(reply.headers["location"], f"/v1/tickets/{won['ticket']}")
    counts = server.counts(item)
    equal((counts["free"], counts["held"]), (4, 1))


@rule
def the_order_appears_by_polling_and_by_long_polling_under_both_its_ids():
    item, buyer = server.open_item(), Buyer(server)
    won = buyer.win(item)
    order_view_is_whole(buyer.order(won["ticket"]), won)
    by_poll = eventually(lambda: [view for view in [buyer.get(f"/v1/tickets/{won['ticket']}").json()]
                                  if view["state"] == "pending"])[0]
    by_order = buyer.get(f"/v1/orders/{won['order']}").json()
    equal(by_poll, by_order)
    order_view_is_whole(by_order, won)
    equal(buyer.get(f"/v1/orders/{won['order']}?wait=1").json(), by_order)


@rule
def a_long_poll_for_a_version_waits_until_its_time_is_over():
    item, buyer = server.open_item(), Buyer(server)
    won = buyer.win(item)
    view = buyer.order(won["ticket"])
    began = time.monotonic()
    again = buyer.get(f"/v1/tickets/{won['ticket']}?wait=1&version={view['version']}")
    true(0.9 < time.monotonic() - began < 5, "it waited about a second")
    equal(again.json(), view)
    began = time.monotonic()
    equal(buyer.get(f"/v1/tickets/{won['ticket']}?wait=20&version=0").json(), view)
    true(time.monotonic() - began < 5, "another version is told at once")


@rule
def news_reach_all_who_wait_though_they_are_more_than_the_jobs():
    item, buyer = server.open_item(), Buyer(server)
    order = buyer.order(buyer.win(item)["ticket"])
    path = f"/v1/orders/{order['order']}"
    ask = request_bytes("GET", f"{path}?wait=30&version={order['version']}", headers={"Authorization": f"Bearer {buyer.session}"})
    waiting = [server.connect() for _ in range(500)]
    for at, connection in enumerate(waiting):
        connection.send(ask)
        if at % 50 == 49:  # at the worker one by one: too many at once are told to come back
            time.sleep(0.05)
    began = time.monotonic()
    equal(server.request("POST", f"{path}/cancel", session=buyer.session).status, 200)
    states = [connection.read_reply().json().get("state") for connection in waiting]
    true(states.count("closed") > 400, f"{states.count('closed')} of 500 heard of it")
    true(time.monotonic() - began < 15, "some waited until their time was over")
    for connection in waiting:
        connection.close()


@rule
def waits_and_versions_that_are_no_numbers_are_refused():
    item, buyer = server.open_item(), Buyer(server)
    won = buyer.win(item)
    for query in ("wait=31", "wait=-1", "wait=x", "wait=1.5", "version=x", "wait=99999999999999999999"):
        problem(buyer.get(f"/v1/tickets/{won['ticket']}?{query}"), 400, "bad-query")


@rule
def orders_are_seen_only_by_their_owner():
    item, buyer, other = server.open_item(), Buyer(server), Buyer(server)
    won = buyer.win(item)
    buyer.order(won["ticket"])
    for path in (f"/v1/tickets/{won['ticket']}", f"/v1/orders/{won['order']}", f"/v1/tickets/{won['order']}",
                 "/v1/tickets/0123456789abcdef", "/v1/orders/0000000000000000", "/v1/tickets/ffffffffffffffff",
                 "/v1/tickets/1", "/v1/orders/xyz", f"/v1/tickets/{won['ticket'].upper()}x"):
        problem(other.get(path), 404, "unknown-order")
        problem(other.get(path + "?wait=20"), 404, "unknown-order")
    problem(buyer.get(f"/v1/tickets/{won['order']}"), 404, "unknown-order")
    problem(server.get(f"/v1/tickets/{won['ticket']}"), 401, "session-required")
    problem(server.get("/v1/orders"), 401, "session-required")
    equal(other.get("/v1/orders").json(), {"orders": []})


@rule
def own_orders_are_listed_newest_first():
    buyer = Buyer(server)
    items = [server.open_item() for _ in range(3)]
    tickets = [buyer.win(item)["ticket"] for item in items]
    for ticket in tickets:
        buyer.order(ticket)
    orders = buyer.get("/v1/orders").json()["orders"]
    equal([order["ticket"] for order in orders], tickets[::-1])
    equal(orders[0], buyer.get(f"/v1/tickets/{tickets[2]}").json())


@rule
def have_i_bought_this_is_answered_at_once_and_for_oneself():
    item, buyer, other = server.open_item(limit_per_user=5), Buyer(server), Buyer(server)
    equal(buyer.mine(item), {"item": item, "bought": False, "quantity": 0})
    won = buyer.win(item, quantity=2, key="a")
    equal(buyer.mine(item), {"item": item, "bought": True, "quantity": 2, "ticket": won["ticket"]})
    equal(other.mine(item), {"item": item, "bought": False, "quantity": 0})
    problem(buyer.get("/v1/items/9999/mine"), 404, "unknown-item")
    problem(server.get(f"/v1/items/{item}/mine"), 401, "session-required")


@rule
def the_same_key_again_is_the_same_win():
    item, buyer = server.open_item(total=3, limit_per_user=2), Buyer(server)
    won = buyer.win(item, key="first")
    for key in ("first", '"first"'):
        equal(buyer.win(item, key=key), won, "quoted or bare, the same key")
    equal(server.counts(item)["held"], 1)
    problem(buyer.buy(item, key="first", quantity=2), 422, "key-reused")
    equal(server.counts(item)["held"], 1)
    other = Buyer(server)
    true(other.win(item, key="first")["ticket"] != won["ticket"], "keys belong to their users")


@rule
def a_key_is_not_used_up_by_a_refusal():
    item, buyer = server.open_item(total=1, limit_per_user=2), Buyer(server)
    problem(buyer.buy(item, key="k", quantity=2), 409, "sold-out", free=1)
    server.admin_ok("POST", f"/items/{item}/adjust", {"delta": 1})
    equal(buyer.win(item, key="k", quantity=2)["quantity"], 2)


@rule
def a_retry_learns_its_win_after_the_last_unit_is_gone():
    item, winner, loser = server.open_item(total=1), Buyer(server), Buyer(server)
    won = winner.win(item, key="mine")
    problem(loser.buy(item, key="mine"), 409, "sold-out", free=0)
    equal(winner.win(item, key="mine"), won)
    problem(winner.buy(item), 409, "already-bought", ticket=won["ticket"])
    problem(winner.buy(item, key="another"), 409, "already-bought", ticket=won["ticket"])


@rule
def a_retry_learns_its_win_after_the_sale_has_ended():
    item, winner, loser = server.open_item(total=5), Buyer(server), Buyer(server)
    won = winner.win(item, key="mine")
    server.admin_ok("POST", f"/sales/{server.sale_of(item)}/end")
    problem(loser.buy(item, key="mine"), 410, "ended")
    equal(winner.win(item, key="mine"), won)
    problem(winner.buy(item), 409, "already-bought", ticket=won["ticket"])


@rule
def a_retry_learns_its_win_while_the_sale_pauses():
    item, winner, loser = server.open_item(total=5), Buyer(server), Buyer(server)
    won = winner.win(item, key="mine")
    server.admin_ok("POST", f"/sales/{server.sale_of(item)}/pause")
    problem(loser.buy(item, key="mine"), 403, "paused")
    equal(winner.win(item, key="mine"), won)


@rule
def many_purchases_of_one_user_at_once_win_once():
    item, buyer = server.open_item(total=50), Buyer(server)
    give = buyer.get_pass(item)
    replies = []
    threads = [threading.Thread(target=lambda: replies.append(buyer.buy(item, give=give))) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(len(replies), 12)
    wins = [reply for reply in replies if reply.status == 202]
    equal(len(wins), 1)
    for reply in replies:
        if reply.status != 202:
            equal(reply.status, 409)
            among(reply.json()["type"], ("/problems/already-bought", "/problems/in-progress"))
            if reply.json()["type"] == "/problems/already-bought":
                equal(reply.json()["ticket"], wins[0].json()["ticket"])
    equal(server.counts(item)["held"], 1)


@rule
def many_purchases_with_one_key_at_once_all_hear_the_one_win():
    item, buyer = server.open_item(total=50, limit_per_user=10), Buyer(server)
    give = buyer.get_pass(item)
    with server.connect() as connection:
        connection.send(buyer.purchase_request(item, key="one", give=give) * 20)
        replies = [connection.read_reply() for _ in range(20)]
    equal([reply.status for reply in replies], [202] * 20, "who asks again while it is being written waits with it")
    equal(len({reply.json()["ticket"] for reply in replies}), 1)
    equal(server.counts(item)["held"], 1)


@rule
def a_second_purchase_while_the_first_is_being_written_is_told_so_and_takes_nothing():
    item = server.open_item(total=100, limit_per_user=10)
    in_progress = wins = 0
    for _ in range(10):
        buyer = Buyer(server)
        give = buyer.get_pass(item)
        with server.connect() as connection:
            connection.send(b"".join(buyer.purchase_request(item, key=key, give=give) for key in "abcd"))
            replies = [connection.read_reply() for _ in "abcd"]
        equal(replies[0].status, 202)
        for reply in replies[1:]:
            if reply.status != 202:
                problem(reply, 409, "in-progress")
                in_progress += 1
        wins += sum(reply.status == 202 for reply in replies)
        equal(buyer.mine(item)["quantity"], sum(reply.status == 202 for reply in replies))
    true(in_progress > 0, "never in progress")
    equal(server.counts(item)["held"], wins)


def wins_survive(kill):
    """Everything that was told before the stop is the same after it."""
    item = server.open_item(total=3, limit_per_user=2)
    last = server.open_item(total=1)
    buyer, other = Buyer(server), Buyer(server)
    won, only = buyer.win(item, key="a", quantity=2), buyer.win(last, key="b")
    sale = server.sale_of(item)
    server.restart(kill=kill)
    for name, wanted in (("given", 3), ("free", 1), ("held", 2)):
        equal(server.counts(item)[name], wanted, name)
    equal(buyer.win(item, key="a", quantity=2), won)
    problem(buyer.buy(item, key="a"), 422, "key-reused")
    equal(buyer.win(last, key="b"), only)
    problem(buyer.buy(last), 409, "already-bought", ticket=only["ticket"])
    problem(other.buy(last), 409, "sold-out", free=0)
    order_view_is_whole(buyer.order(won["ticket"]), won)
    equal(buyer.mine(item)["quantity"], 2)
    equal(len(buyer.get("/v1/orders").json()["orders"]), 2)
    server.admin_ok("POST", f"/sales/{sale}/end")
    equal(buyer.win(item, key="a", quantity=2), won)
    equal((server.item_orders(item), server.item_orders(last)), ((1, 2), (1, 1)))


@rule
def a_retry_learns_its_win_after_a_clean_restart():
    wins_survive(kill=False)


@rule
def a_retry_learns_its_win_after_kill_9():
    wins_survive(kill=True)


run()
