#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The final report of a sale, with numbers that are known; it survives a restart."""
import os
import subprocess

from kit.harness import Buyer, Server, equal, problem, rule, run, true

PRICE = 99900
server = Server(settings={"orders.grace_ms": 0, "reconcile.interval_ms": 0}).start()


def report(sale):
    return server.admin_ok("GET", f"/sales/{sale}/report", role="viewer")


def pay(order, reference):
    body = {"amount": PRICE, "currency": "CNY", "reference": reference}
    equal(server.admin("POST", f"/orders/{order}/paid", body, "operator").status, 200)


@rule
def a_sale_with_known_numbers_is_told_exactly():
    sale = server.sale()
    item = server.item(sale, total=4)
    server.publish(sale)
    before = server.now_ms()
    report(sale)  # the counters are read for it: what came before the sale is not its own
    buyers = [Buyer(server) for _ in range(4)]
    orders = [buyer.order(buyer.win(item)["ticket"])["order"] for buyer in buyers]
    for _ in range(5):
        problem(Buyer(server).buy(item), 409, "sold-out")
    problem(buyers[0].buy(item), 409, "already-bought")
    problem(server.request("POST", f"/v1/items/{item}/buy", {"quantity": 1}, session=buyers[0].session), 403, "pass-required")
    for order in orders[:3]:
        pay(order, f"pay-{order}")
    report(sale)  # the counters are read while it is sold out
    server.admin_ok("POST", f"/orders/{orders[2]}/refund", {"to": "stock"})
    server.admin_ok("POST", f"/orders/{orders[3]}/cancel")
    told = report(sale)
    equal({name: told[name] for name in told if name.startswith(("orders_", "units_"))},
          {"orders_pending": 0, "orders_paid": 2, "orders_refunded": 1, "orders_expired": 0, "orders_cancelled": 1,
           "orders_rejected": 0, "units_pending": 0, "units_paid": 2, "units_closed": 1, "units_refunded": 1})
    equal((told["winners"], told["payments"]), (4, 3))
    equal(told["money"], [{"currency": "CNY", "revenue": 2 * PRICE, "refunded": PRICE}])
    funnel = told["funnel"]
    equal((funnel["purchase.won"], funnel["purchase.already-bought"], funnel["door.pass-required"]), (4, 1, 1))
    # Who had bought is refused at the door, too, and the inventory is asked for the old answer only.
    equal(funnel.get("door.sold-out", 0) + funnel.get("purchase.sold-out", 0), 5 + 1, str(funnel))
    equal(funnel["door.go"], funnel["purchase.won"])
    true(before <= told["sold_out_ms"] <= server.now_ms(), told)
    equal(told["sold_out_after_ms"], told["sold_out_ms"] - told["start_ms"])
    true(0 <= told["payment_median_ms"] <= told["payment_p95_ms"] < 20000, told)
    equal(told["overlap_s"], 0)
    server.restart()
    again = report(sale)
    equal(again, told, "after a restart")
    server.admin_ok("POST", f"/sales/{sale}/end")


@rule
def the_command_line_shows_it_in_eighty_columns():
    done = subprocess.run([server.binary, "admin", "--url", f"http://127.0.0.1:{server.port}", "report", "1"],
                          capture_output=True, text=True, timeout=30,
                          env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["viewer"]})
    equal(done.returncode, 0, done.stderr)
    true("funnel.purchase.won: 4" in done.stdout and "1998.00" in done.stdout, done.stdout)
    true(max(map(len, done.stdout.splitlines())) <= 80, done.stdout)
    problem(server.admin("GET", "/sales/999/report"), 404, "unknown-sale")


run()
