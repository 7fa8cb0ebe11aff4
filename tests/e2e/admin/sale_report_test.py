#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is counted for the report of a sale: only while it is open, and a killed server loses seconds at most."""
import time

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"reconcile.interval_ms": 0}).start()


def report(sale):
    return server.admin_ok("GET", f"/sales/{sale}/report", role="viewer")


@rule
def what_comes_before_the_start_is_not_the_sales_own():
    sale = server.sale(start_in_ms=3000)
    item = server.item(sale, total=1)
    server.publish(sale)
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    problem(buyer.buy(item, give=give), 403, "not-started")
    eventually(lambda: buyer.buy(item, give=give).status == 202, "it does not start")
    server.admin_ok("POST", f"/sales/{sale}/end")
    eventually(lambda: report(sale)["gate"] == "ended")
    told = report(sale)["funnel"]
    equal(told["purchase.won"], 1)
    problem(buyer.buy(item, give=give), 409, "already-bought")
    time.sleep(0.3)
    equal(report(sale)["funnel"], told, "counted after the end")


@rule
def a_killed_server_keeps_what_was_written():
    sale = server.sale()
    item = server.item(sale, total=3)
    server.publish(sale)
    Buyer(server).win(item)
    equal(report(sale)["funnel"]["purchase.won"], 1)
    server.restart(kill=True)
    Buyer(server).win(item)
    equal(report(sale)["funnel"]["purchase.won"], 2)
    server.admin_ok("POST", f"/sales/{sale}/end")


@rule
def sales_that_run_at_the_same_time_are_counted_apart():
    sales = [server.sale() for _ in range(2)]
    items = [server.item(sale, total=5) for sale in sales]
    for sale in sales:
        server.publish(sale)
    for _ in range(3):
        Buyer(server).win(items[0])
    buyer = Buyer(server)
    buyer.win(items[1])
    problem(buyer.buy(items[1]), 409, "already-bought")
    first, second = (report(sale)["funnel"] for sale in sales)
    equal((first["purchase.won"], first["door.go"], first.get("purchase.already-bought", 0)), (3, 3, 0))
    equal((second["purchase.won"], second["door.go"], second["purchase.already-bought"]), (1, 2, 1))
    equal([report(sale)["overlap_s"] for sale in sales], [0, 0])


@rule
def a_sale_that_is_opened_early_is_measured_from_its_opening():
    sale = server.sale(start_in_ms=3600000)
    item = server.item(sale, total=1)
    server.publish(sale)
    before = server.now_ms()
    server.admin_ok("POST", f"/sales/{sale}/open")
    Buyer(server).win(item)
    told = eventually(lambda: (seen := report(sale))["sold_out_ms"] and seen)
    true(before - 5000 <= told["opened_ms"] <= told["sold_out_ms"] < told["start_ms"], told)
    equal(told["sold_out_after_ms"], told["sold_out_ms"] - told["opened_ms"])
    equal(told["funnel"]["purchase.won"], 1)
    server.restart()
    equal(report(sale)["opened_ms"], told["opened_ms"])


run()
