# SPDX-License-Identifier: Apache-2.0
"""No sale opens unpreheated: by timer, and by itself shortly before the start."""
import time

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server().start()


@rule
def a_sale_is_preheated_at_the_time_it_asks_for():
    at = server.now_ms() + 1500
    sale = server.sale(start_in_ms=3600000, preheat_at_ms=at)
    item = server.item(sale, total=8, locked=2)

    def preheated():
        counts = server.counts(item)
        true(counts is None or server.now_ms() >= at, "earlier")
        return counts
    eventually(preheated, "preheated by the timer")
    equal(server.counts(item)["free"], 6)
    equal(server.admin_ok("GET", f"/sales/{sale}")["published"], False, "preheated is not published")
    eventually(lambda: f"preheated item {item} of sale {sale} on schedule" in server.log())
    equal(server.admin_ok("POST", f"/items/{item}/preheat")["result"], "unchanged")


@rule
def an_item_added_to_a_published_sale_that_opens_soon_is_preheated_by_itself():
    sale = server.sale(start_in_ms=30000)
    first = server.item(sale)
    server.publish(sale)
    late = server.item(sale, total=3)
    eventually(lambda: server.counts(late), "preheated by itself")
    equal((server.counts(first)["free"], server.counts(late)["free"]), (10, 3))
    eventually(lambda: server.get(f"/v1/items/{late}").status == 200, "and shown")


@rule
def an_item_added_while_the_sale_runs_is_preheated_and_sells():
    sale = server.sale()
    server.item(sale)
    server.publish(sale)
    late = server.item(sale, total=1)
    eventually(lambda: server.counts(late), "preheated by itself")
    Buyer(server).win(late)
    problem(Buyer(server).buy(late), 409, "sold-out")


@rule
def a_sale_that_opens_later_is_left_alone():
    sale = server.sale(start_in_ms=3600000)
    server.item(sale)
    server.publish(sale)
    item = server.item(sale)
    time.sleep(0.6)
    equal(server.counts(item), None)


@rule
def what_was_due_while_the_server_was_down_is_done_at_the_start():
    sale = server.sale(start_in_ms=3600000, preheat_at_ms=server.now_ms() + 300)
    item = server.item(sale)
    server.kill()
    time.sleep(0.4)
    server.start()
    eventually(lambda: server.counts(item), "preheated after the start")
    equal(server.counts(item)["free"], 10)


@rule
def an_opened_sale_sells_at_the_moment_of_its_start():
    sale = server.sale(start_in_ms=2500)
    item = server.item(sale)
    server.publish(sale)
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    start = server.get(f"/v1/items/{item}").json()["start_ms"]
    early = 0
    while True:
        before = server.now_ms()
        reply = buyer.buy(item, give=give)
        after = server.now_ms()
        if reply.status == 202:
            true(after >= start, "not before the start")
            break
        problem(reply, 403, "not-started", start_ms=start)
        true(before < start, "not refused after the start")
        early += 1
    true(early > 0)


@rule
def an_invited_list_can_be_loaded_before_anything_is_preheated():
    sale = server.sale(start_in_ms=60000, eligible_only=True)
    equal(server.admin_ok("POST", f"/sales/{sale}/users", {"users": ["a", "b"]})["loaded"], 2)
    item = server.item(sale)
    server.publish(sale)
    equal(server.counts(item)["free"], 10)


run()
