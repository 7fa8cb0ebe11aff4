# SPDX-License-Identifier: Apache-2.0
"""Letting units go: who cancels or does not pay waits before he can take the item again, and returned units are drawn for."""
import time

from kit.given_back import bought_and_cancelled, cancel, server
from kit.harness import Buyer, Server, among, equal, eventually, problem, rule, run, true


@rule
def who_cancels_waits_and_waits_longer_the_next_time():
    item = server.open_item(total=5, sale_fields={"cooldown_s": 4})
    buyer, _ = bought_and_cancelled(item)
    answer = buyer.buy(item, headers={"Accept-Language": "zh-CN"})
    problem(answer, 409, "cooling-down")
    body = answer.json()
    true("again_ms" in body["detail"] and "您" in body["detail"], body)
    true(0 < body["again_ms"] - server.now_ms() <= 5000, body)
    among(answer.headers["retry-after"], ("1", "2", "3", "4", "5"))
    equal(buyer.mine(item)["again_ms"], body["again_ms"])
    equal(Buyer(server).buy(item).status, 202, "others do not wait")
    time.sleep(max(0, body["again_ms"] - server.now_ms()) / 1000)
    won = buyer.win(item)
    cancelled_ms = server.now_ms()
    cancel(buyer, won)
    eventually(lambda: server.counts(item)["held"] == 1, "the unit does not come back")
    again = buyer.buy(item)
    problem(again, 409, "cooling-down")
    true(again.json()["again_ms"] - cancelled_ms >= 8000, f"not twice as long: {again.json()}")


@rule
def a_cool_down_survives_a_restart():
    item = server.open_item(total=5, sale_fields={"cooldown_s": 60})
    buyer, _ = bought_and_cancelled(item)
    server.kill()
    server.start()
    problem(buyer.buy(item), 409, "cooling-down")
    server.admin_ok("PATCH", f"/sales/{server.sale_of(item)}", {"cooldown_s": 0})
    eventually(lambda: buyer.buy(item).status == 202, "the shop takes it back, and it stays")


@rule
def an_order_that_expires_counts_and_a_refund_does_not():
    item = server.open_item(total=2, pay_window_ms=1000, sale_fields={"cooldown_s": 60})
    late, paid = Buyer(server), Buyer(server)
    order = paid.order(paid.win(item)["ticket"])
    server.admin_ok("POST", f"/orders/{order['order']}/paid", {"amount": order["amount"], "currency": "CNY", "reference": "r"})
    late.win(item)
    eventually(lambda: server.counts(item)["held"] == 0 and server.counts(item)["free"] == 1, "it does not expire")
    problem(late.buy(item), 409, "cooling-down")
    server.admin_ok("POST", f"/orders/{order['order']}/refund", {"to": "stock"})
    eventually(lambda: server.counts(item)["free"] == 2, "the unit does not come back")
    equal(paid.buy(item).status, 202)


@rule
def who_cools_down_gets_no_place_in_line():
    item = server.open_item(total=1, sale_fields={"cooldown_s": 60})
    buyer, _ = bought_and_cancelled(item)
    other = Buyer(server)
    other.win(item)
    eventually(lambda: server.counts(item)["free"] == 0, "not sold out")
    answer = buyer.wait(item)
    problem(answer, 409, "cooling-down")
    true(answer.json()["again_ms"] > server.now_ms() and int(answer.headers["retry-after"]) > 50, answer.json())
    equal(Buyer(server).wait(item).status, 201)


def moments_of(users, item, most_ms):
    """When each may buy; None: somebody's moment came before it was asked for, which chance and a busy machine may bring."""
    moments = {}
    for user in users:
        answer, again = user.buy(item), user.buy(item)
        if answer.status == 202 or again.status == 202:
            return None
        problem(answer, 409, "not-your-moment")
        moments[user] = answer.json()["again_ms"]
        equal(again.json()["again_ms"], moments[user], "asking more often moves the moment")
        true(0 < int(answer.headers["retry-after"]) <= most_ms // 1000, answer.json())
        true(moments[user] - server.now_ms() <= most_ms, answer.json())
    return moments


def drawn_for(make_item, most_ms, count):
    """The item, its users, and the one whose moment is the first, who has bought it."""
    for _ in range(20):
        item = make_item()
        users = [Buyer(server) for _ in range(count)]
        moments = moments_of(users, item, most_ms)
        if moments is not None:
            break
    winner = min(users, key=moments.get)
    time.sleep(max(0, moments[winner] - server.now_ms()) / 1000)
    eventually(lambda: winner.buy(item).status == 202, "the first moment does not win")
    return item, users, winner


@rule
def a_returned_unit_is_drawn_for():
    def returned():
        item = server.open_item(total=1, sale_fields={"return_draw_ms": 6000})
        first = Buyer(server)
        won = first.win(item)
        problem(Buyer(server).buy(item), 409, "sold-out")
        cancel(first, won)
        eventually(lambda: server.counts(item)["free"] == 1, "the unit does not come back")
        return item

    item, users, winner = drawn_for(returned, 6000, 4)
    for user in users:
        if user is not winner:
            problem(user.buy(item), 409, "sold-out")


@rule
def the_first_units_are_drawn_for():
    def started():
        item = server.open_item(total=1, sale_fields={"start_draw_ms": 5000, "start_in_ms": 200})
        eventually(lambda: server.now_ms() >= server.get(f"/v1/sales/{server.sale_of(item)}").json()["start_ms"], "it does not start")
        return item

    drawn_for(started, 5000, 3)


@rule
def new_sales_have_draws_and_a_cool_down():
    now = server.now_ms()
    made = server.admin_ok("POST", "/sales", {"title": "S", "start_ms": now + 60000, "end_ms": now + 90000})
    equal((made["cooldown_s"], made["return_draw_ms"], made["start_draw_ms"]), (60, 5000, 3000))
    for wrong in ({"cooldown_s": 43201}, {"return_draw_ms": 60001}, {"start_draw_ms": -1}):
        problem(server.admin("PATCH", f"/sales/{made['id']}", wrong), 422, "bad-value")
    changed = server.admin_ok("PATCH", f"/sales/{made['id']}", {"cooldown_s": 0, "return_draw_ms": 0, "start_draw_ms": 0})
    equal((changed["cooldown_s"], changed["return_draw_ms"], changed["start_draw_ms"]), (0, 0, 0))


@rule
def who_wins_without_paying_again_and_again_is_reported():
    shop = Server(settings={"watch.unpaid_wins": 3}).start()
    item = shop.open_item(total=5)
    buyer = Buyer(shop)

    def found():
        return [row for row in shop.admin_ok("GET", "/watch")["findings"] if row["rule"] == "unpaid"]

    def win_and_cancel():
        won = buyer.win(item)
        buyer.order(won["ticket"])
        equal(shop.request("POST", f"/v1/orders/{won['order']}/cancel", session=buyer.session).status, 200)
        eventually(lambda: shop.counts(item)["held"] == 0, "the unit does not come back")
        time.sleep(0.3)
        return found()
    eventually(win_and_cancel, "nobody is found")
    eventually(lambda: len(found()) == 1, "found more than once")
    true(found()[0]["user_id"] == buyer.user and "without paying" in found()[0]["reason"], found())


@rule
def an_alarm_comes_before_the_tickets_are_used_up():
    small = Server(settings={"data.tickets_max": 20}).start()
    item = small.open_item(total=20)

    def alarm():
        return next(row for row in small.admin_ok("GET", "/alarms")["alarms"] if row["name"] == "tickets-nearly-full")
    for _ in range(15):
        Buyer(small).win(item)
    equal(alarm()["up"], False)
    Buyer(small).win(item)
    eventually(lambda: alarm()["up"], "no alarm at 80 %")
    true("16 of 20" in alarm()["detail"], alarm())
    small.restart()
    eventually(lambda: alarm()["up"], "no alarm after a restart")


run()
