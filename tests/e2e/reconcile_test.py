#!/usr/bin/env python3
"""Reconciliation finds what is wrong, by its code, mends what is beyond doubt, and finds nothing where nothing is wrong.

Each inconsistency is planted in the database of a stopped server; then: found exactly so, repaired or left to a person,
nothing found again, and `stampede verify` holds. RUNS=N: so many reconciliations beside a crowd (20)."""
import json
import os
import random
import sqlite3
import subprocess
import threading

from harness import Buyer, Server, among, equal, eventually, problem, rule, run, true

RUNS = int(os.environ.get("RUNS", "20"))
PRICE = 99900
server = Server(settings={"orders.grace_ms": 0}).start()


def database(*statements):
    """Runs statements on the database of the stopped server; leaves no log beside it."""
    connection = sqlite3.connect(os.path.join(server.data, "stampede.db"))
    try:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        answers = [connection.execute(*statement if isinstance(statement, tuple) else (statement,)).fetchall()
                   for statement in statements]
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    return answers[-1]


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


@rule
def a_healthy_shop_has_no_findings():
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
    code, report = reconcile()
    equal((code, report["state"], codes(report)), (0, "done", []), json.dumps(report))
    equal((report["orders"], report["items"], report["skipped"], report["left"]), (10, 2, 0, 0))
    true(report["users"] >= 10 and report["counters"] > 0, report)
    code, out, _ = cli()
    true(code == 0 and "nothing found" in out and len(max(out.splitlines(), key=len)) <= 100, out)
    equal(server.admin_ok("GET", "/reconcile", role="viewer")["state"], "done")


def planted(code, *statements, repairs=True, undo=()):
    """Plants, finds exactly that code, repairs it or sees that a person is needed (and undoes it), finds nothing."""
    server.stop()
    database(*statements)
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
        database(*undo)
        server.start()
    settled()
    exit_code, report = reconcile()
    equal((exit_code, codes(report)), (0, []), json.dumps(report["findings"], indent=1))
    equal(server.metrics()['stampede_alarm{name="reconcile"}'], 0)
    server.stop()
    server.verify()
    server.start()


@rule
def a_ticket_without_an_order_is_found():
    number = Shop.numbers["pending"]
    planted("ticket-without-order", "CREATE TABLE kept AS SELECT * FROM orders WHERE ticket = %d" % number,
            "DELETE FROM orders WHERE ticket = %d" % number, repairs=False,
            undo=("INSERT INTO orders SELECT * FROM kept", "DROP TABLE kept"))


@rule
def the_last_ticket_without_an_order_is_found_too():
    number = Shop.numbers["written off of many"]
    planted("ticket-without-order", "CREATE TABLE kept AS SELECT * FROM orders WHERE ticket = %d" % number,
            "DELETE FROM orders WHERE ticket = %d" % number, repairs=False,
            undo=("INSERT INTO orders SELECT * FROM kept", "DROP TABLE kept"))


@rule
def an_order_that_no_ticket_made_is_found():
    planted("order-without-ticket",
            "INSERT INTO orders(ticket, item, user, slot, quantity, channel, state, reason, unit_price, amount, created_ms,"
            " pay_by_ms, version) SELECT 5000, item, 77, slot, quantity, channel, state, reason, unit_price, amount,"
            " created_ms, pay_by_ms, version FROM orders WHERE ticket = %d" % Shop.numbers["pending"], repairs=False,
            undo=("DELETE FROM orders WHERE ticket = 5000",))


@rule
def an_order_of_another_user_is_found():
    number = Shop.numbers["pending of many"]
    planted("ticket-differs", "UPDATE orders SET user = user + 1 WHERE ticket = %d" % number, repairs=False,
            undo=("UPDATE orders SET user = user - 1 WHERE ticket = %d" % number,))


@rule
def an_order_of_another_quantity_is_found():
    number = Shop.numbers["pending of many"]
    planted("ticket-differs", "UPDATE orders SET quantity = 2, amount = 2 * unit_price WHERE ticket = %d" % number,
            repairs=False, undo=("UPDATE orders SET quantity = 1, amount = unit_price WHERE ticket = %d" % number,))


@rule
def an_order_at_another_price_is_found():
    number = Shop.numbers["pending"]
    planted("price-differs", "UPDATE orders SET unit_price = 1, amount = 1 WHERE ticket = %d" % number, repairs=False,
            undo=("UPDATE orders SET unit_price = %d, amount = %d WHERE ticket = %d" % (PRICE, PRICE, number),))


@rule
def a_ticket_that_is_further_than_its_order_is_found():
    number = Shop.numbers["paid of many"]
    planted("state-differs", "UPDATE orders SET state = 1 WHERE ticket = %d" % number, repairs=False,
            undo=("UPDATE orders SET state = 2 WHERE ticket = %d" % number,))


@rule
def a_payment_whose_stock_event_was_lost_is_brought_to_the_inventory():
    number = Shop.numbers["pending"]
    planted("stock-event-missing", "UPDATE orders SET state = 2, version = version + 1 WHERE ticket = %d" % number,
            "INSERT INTO payments(ticket, paid_ticket, provider, reference, provider_id, url, amount, currency, captured,"
            " state, use, tries, created_ms, captured_ms, next_ms, pay_by_ms, closing_ms)"
            " VALUES(%d, %d, 'shop', 'planted', '', '', %d, 'CNY', %d, 4, 1, 0, 1, 1, 0, 0, 0)"
            % (number, number, PRICE, PRICE))
    equal(server.counts(Shop.one)["sold"], 2)


@rule
def an_event_that_was_confirmed_and_never_taken_is_opened_again():
    buyer = Buyer(server)
    order = buyer.order(buyer.win(Shop.one)["ticket"])["order"]
    number = order_number(order)
    settled()
    planted("stock-event-confirmed-early",
            "UPDATE orders SET state = 3, reason = 2, slot = NULL, version = version + 1 WHERE ticket = %d" % number,
            "UPDATE items SET sold = sold - 1, version = version + 1 WHERE id = %d" % Shop.one,
            "UPDATE user_counters SET used = used - 1 WHERE user = (SELECT user FROM orders WHERE ticket = %d)" % number,
            "INSERT INTO stock_events(ticket, step, destination, confirmed_lsn) VALUES(%d, 1, 0, 1)" % number)
    equal(server.counts(Shop.one)["held"], 0)


@rule
def an_event_that_stays_open_though_it_was_taken_is_closed():
    number = Shop.numbers["paid"]
    planted("stock-event-left-open", "UPDATE stock_events SET confirmed_lsn = NULL WHERE ticket = %d" % number)


@rule
def a_wrong_slot_is_set_right():
    planted("slot-wrong", "UPDATE orders SET slot = 99 WHERE ticket = %d" % Shop.numbers["paid"])


@rule
def units_sold_that_no_order_has_are_set_right():
    version = database("SELECT version FROM items WHERE id = %d" % Shop.one)[0][0]
    planted("sold-differs", "UPDATE items SET sold = sold + 3 WHERE id = %d" % Shop.one)
    equal(database("SELECT version FROM items WHERE id = %d" % Shop.one)[0][0], version + 1)


@rule
def user_counters_that_count_wrong_are_missing_or_orphaned_are_set_right():
    user = "(SELECT user FROM orders WHERE ticket = %d)" % Shop.numbers["paid of many"]
    planted("user-counter-differs", "UPDATE user_counters SET used = used + 1 WHERE scope = %d AND user = %s"
            % (Shop.many, user))
    planted("user-counter-differs", "DELETE FROM user_counters WHERE scope = %d AND user = %s" % (Shop.many, user))
    planted("user-counter-differs", "DELETE FROM user_counters WHERE scope = %d AND user = %s"
            % ((1 << 32) + Shop.sale, user))
    planted("user-counter-differs", "INSERT INTO user_counters VALUES(%d, 4711, 2)" % Shop.many)


@rule
def units_that_the_inventory_was_not_given_are_set_right():
    planted("units-differ", "UPDATE items SET total = total + 5 WHERE id = %d" % Shop.one)
    planted("units-differ", "UPDATE items SET safety = safety + 1 WHERE id = %d" % Shop.one)
    planted("units-differ", "UPDATE items SET channel_0 = channel_0 - 1 WHERE id = %d" % Shop.many)


@rule
def a_sale_with_another_schedule_or_gate_is_set_right():
    planted("sale-differs", "UPDATE sales SET end_ms = end_ms + 1000 WHERE id = %d" % Shop.sale)
    planted("sale-differs", "UPDATE sales SET gate = 3, gate_before = 3 WHERE id = %d" % Shop.sale)


@rule
def a_paid_order_without_money_is_found():
    number = Shop.numbers["paid"]
    planted("paid-without-payment", "CREATE TABLE kept AS SELECT * FROM payments WHERE paid_ticket = %d" % number,
            "DELETE FROM payments WHERE paid_ticket = %d" % number, repairs=False,
            undo=("INSERT INTO payments SELECT * FROM kept", "DROP TABLE kept"))


@rule
def a_payment_of_an_order_that_is_not_paid_is_found():
    number = Shop.numbers["closed"]
    planted("payment-without-paid-order",
            "INSERT INTO payments(ticket, paid_ticket, provider, reference, provider_id, url, amount, currency, captured,"
            " state, use, tries, created_ms, captured_ms, next_ms, pay_by_ms, closing_ms)"
            " VALUES(%d, %d, 'shop', 'wrong', '', '', %d, 'CNY', %d, 4, 1, 0, 1, 1, 0, 0, 0)"
            % (number, number, PRICE, PRICE), repairs=False, undo=("DELETE FROM payments WHERE reference = 'wrong'",))


def payment_row(number, reference, state, use, captured, paid=0):
    return ("INSERT INTO payments(ticket, paid_ticket, provider, reference, provider_id, url, amount, currency, captured,"
            " state, use, tries, created_ms, captured_ms, next_ms, pay_by_ms, closing_ms)"
            " VALUES(%d, %d, 'shop', '%s', '', '', %d, 'CNY', %d, %d, %d, 0, 1, 1, 99999999999999, 99999999999999, 0)"
            % (number, paid, reference, PRICE, captured, state, use))


@rule
def money_that_nobody_uses_goes_back():
    planted("money-without-use", payment_row(Shop.numbers["closed"], "unused", 4, 4, PRICE))
    equal(database("SELECT r.amount FROM refunds r JOIN payments p ON p.id = r.payment WHERE p.reference = 'unused'"),
          [(PRICE,)])


@rule
def a_refunded_order_without_a_refund_gets_one():
    planted("refund-missing", "DELETE FROM refunds WHERE payment IN (SELECT id FROM payments WHERE paid_ticket = %d)"
            % Shop.numbers["refunded"])


@rule
def a_payment_that_outlives_its_order_is_closed():
    planted("payment-outlives-order", payment_row(Shop.numbers["closed of many"], "alive", 2, 0, 0))
    equal(database("SELECT state IN (3, 5) FROM payments WHERE reference = 'alive'"), [(1,)])


@rule
def money_that_does_not_add_up_is_found():
    change = "UPDATE payments SET captured = captured %s WHERE paid_ticket = " + str(Shop.numbers["paid"])
    planted("money-differs", change % "+ 5", repairs=False, undo=(change % "- 5",))


@rule
def a_refund_that_the_provider_refuses_is_told():
    change = "UPDATE refunds SET state = %d, next_ms = 99999999999999 WHERE ticket = " + str(Shop.numbers["refunded"])
    planted("refund-stuck", change % 3, repairs=False, undo=(change % 2,))


@rule
def roles_bad_bodies_and_missing_servers():
    problem(server.admin("POST", "/reconcile", {}, "viewer"), 403, "admin-role")
    problem(server.admin("POST", "/reconcile", {"repair": True}, "operator"), 403, "admin-role")
    problem(server.admin("POST", "/reconcile", {"repair": 1}, "admin"), 422, "bad-value")
    problem(server.admin("POST", "/reconcile", {"mend": True}, "admin"), 422, "bad-value")
    among(server.admin("POST", "/reconcile", {}, "operator").status, (202,))
    equal(cli("--repair", key="operator")[0], 2)
    equal(cli("--nonsense")[0], 2)
    done = subprocess.run([server.binary, "reconcile", "--url", "http://127.0.0.1:1"], capture_output=True, timeout=30,
                          env={**os.environ, "STAMPEDE_ADMIN_KEY": "x"})
    equal(done.returncode, 2)


@rule
def it_runs_by_itself_while_a_sale_is_open():
    server.write_config(reconcile__interval_ms=200)
    server.restart()
    eventually(lambda: server.admin_ok("GET", "/reconcile")["run"] >= 3, "no run by itself")
    server.write_config(reconcile__interval_ms=0)
    server.restart()


@rule
def nothing_is_found_beside_a_crowd_that_buys_pays_and_cancels():
    sale = server.sale(limit_per_user=6)
    items = [server.item(sale, total=3000, limit_per_user=limit, pay_window_ms=2000) for limit in (1, 3, 0)]
    server.publish(sale)
    stop = threading.Event()
    done, wrong = [0] * 4, []

    def crowd(index):
        try:
            while not stop.is_set():
                buyer = Buyer(server)
                for item in items:
                    if buyer.buy(item, key=f"{index}-{done[index]}-{item}").status != 202:
                        continue
                    order = buyer.order(buyer.mine(item)["ticket"])["order"]
                    chance = random.random()
                    if chance < 0.5:
                        pay(order, f"crowd-{order}")
                    elif chance < 0.8:
                        server.request("POST", f"/v1/orders/{order}/cancel", session=buyer.session)
                    if chance < 0.1:
                        server.admin("POST", f"/orders/{order}/refund", {"to": random.choice(("stock", "write-off"))})
                    done[index] += 1
        except Exception as trouble:  # tell it in the rule
            wrong.append(trouble)
    threads = [threading.Thread(target=crowd, args=(index,)) for index in range(len(done))]
    for thread in threads:
        thread.start()
    skipped = 0
    for _ in range(RUNS):
        code, report = reconcile()
        skipped += report["skipped"]
        if (code, codes(report)) != (0, []):
            stop.set()
        equal((code, codes(report)), (0, []), json.dumps(report["findings"], indent=1))
    stop.set()
    for thread in threads:
        thread.join()
    equal(wrong, [])
    print(f"     {sum(done)} orders, {RUNS} runs, {skipped} comparisons skipped")

    def rests():
        code, report = reconcile()
        equal((code, codes(report)), (0, []), json.dumps(report["findings"], indent=1))
        return report["skipped"] == 0
    eventually(rests, "it never rests")


run()
