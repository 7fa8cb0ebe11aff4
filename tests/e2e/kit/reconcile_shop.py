# SPDX-License-Identifier: Apache-2.0
"""What the tests of reconciliation share: a shop with orders in every state, and inconsistencies planted in the database of
a stopped server: found exactly so, repaired or left to a person, nothing found again, and `stampede verify` holds."""
import json
import os
import subprocess

from kit.harness import Buyer, Server, equal, eventually, true

PRICE = 99900
server = Server(settings={"orders.grace_ms": 0}).start()


def database(*statements):
    """Runs statements on the database of the stopped server."""
    return server.sql(*statements)


def cli(*words, key="admin"):
    done = subprocess.run([server.binary, "reconcile", "--url", f"http://127.0.0.1:{server.port}", *words],
                          capture_output=True, text=True, timeout=120,
                          env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys[key]})
    return done.returncode, done.stdout, done.stderr


def reconcile(repair=False):
    """(exit code, report)"""
    code, out, errors = cli("--json", *(["--repair"] if repair else []))
    true(out, f"exit {code}: {errors}")
    return code, json.loads(out)


def codes(report):
    return sorted(finding["code"] for finding in report["findings"])


def pay(order, reference):
    body = {"amount": PRICE, "currency": "CNY", "reference": reference}
    return server.admin("POST", f"/orders/{order}/paid", body, "operator")


def settled():
    eventually(lambda: server.metrics()["stampede_stock_events_open"] == 0
               and server.metrics()["stampede_order_lag"] == 0, "the events stay open")


class Shop:
    """One sale with a limit, one item with one unit a user, one with three; orders in every state."""
    one = many = sale = 0
    numbers = {}


def order_number(order):
    rows = server.admin_ok("GET", "/orders?limit=100")["orders"]
    return next(row["number"] for row in rows if row["view"]["order"] == order)


def open_shop():
    """Sells in every state; nothing is found yet."""
    Shop.sale = server.sale(limit_per_user=4)
    Shop.one = server.item(Shop.sale, total=50, safety=2)
    Shop.many = server.item(Shop.sale, total=50, limit_per_user=3)
    server.publish(Shop.sale)
    for item, words in ((Shop.one, ""), (Shop.many, " of many")):
        for state in ("pending", "paid", "closed", "refunded", "written off"):
            buyer = Buyer(server)
            won = buyer.win(item, key=f"{state}-{item}".replace(" ", "-"))
            order = buyer.order(won["ticket"])["order"]
            if state in ("paid", "refunded", "written off"):
                equal(pay(order, f"{state} {item}").status, 200)
            if state == "closed":
                server.admin_ok("POST", f"/orders/{order}/cancel")
            if state in ("refunded", "written off"):
                server.admin_ok("POST", f"/orders/{order}/refund", {"to": "stock" if state == "refunded" else "write-off"})
            Shop.numbers[state + words] = order_number(order)
    settled()


# Whoever changes an order by hand changes what is kept of the orders, too: each plant is one mistake.
SUMS_MADE = ("DELETE FROM order_sums", "INSERT INTO order_sums SELECT item, state, reason, count(*), sum(quantity),"
             " sum(amount >> 32), sum(amount & 4294967295) FROM orders GROUP BY item, state, reason")


def planted(code, *statements, repairs=True, undo=()):
    """Plants, finds exactly that code, repairs it or sees that a person is needed (and undoes it), finds nothing."""
    server.stop()
    database(*statements, *(() if code == "sums-differ" else SUMS_MADE))
    server.start()
    exit_code, report = reconcile()
    equal((exit_code, codes(report)), (1, [code]), json.dumps(report["findings"], indent=1))
    equal(report["findings"][0]["repairable"], repairs, code)
    equal(server.metrics()['stampede_alarm{name="reconcile"}'], 1)
    equal(server.metrics()["stampede_reconcile_findings"], 1)
    exit_code, report = reconcile(repair=True)
    equal((exit_code, codes(report)), (0 if repairs else 1, [code]), json.dumps(report))
    equal(report["findings"][0]["repaired"], repairs)
    if repairs:
        entries, after = [], 0
        while True:
            page = server.admin_ok("GET", f"/audit?after={after}")
            entries += page["audit"]
            if "next" not in page:
                break
            after = page["next"]
        last = [entry for entry in entries if entry["action"] == "reconcile.repair"][-1]
        true(last["detail"].startswith(code) and last["actor"] == "admin", last)
    else:
        server.stop()
        database(*undo, *SUMS_MADE)
        server.start()
    settled()
    exit_code, report = reconcile()
    equal((exit_code, codes(report)), (0, []), json.dumps(report["findings"], indent=1))
    equal(server.metrics()['stampede_alarm{name="reconcile"}'], 0)
    server.stop()
    server.verify()
    server.start()


def payment_row(number, reference, state, used_for, captured, paid=0):
    return ("INSERT INTO payments(ticket, paid_ticket, provider, reference, provider_id, url, amount, currency, captured,"
            " state, used_for, tries, created_ms, captured_ms, next_ms, pay_by_ms, closing_ms)"
            " VALUES(%d, %d, 'shop', '%s', '', '', %d, 'CNY', %d, %d, %d, 0, 1, 1, 99999999999999, 99999999999999, 0)"
            % (number, paid, reference, PRICE, captured, state, used_for))
