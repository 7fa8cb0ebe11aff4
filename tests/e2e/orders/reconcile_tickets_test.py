#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Orders against tickets: what is planted is found by its code, and mended where what is right is beyond doubt."""
from kit.harness import Buyer, equal, rule, run, true
from kit.reconcile_shop import PRICE, Shop, cli, codes, open_shop, order_number, planted, reconcile, server, settled
import json


@rule
def a_healthy_shop_has_no_findings():
    open_shop()
    code, report = reconcile()
    equal((code, report["state"], codes(report)), (0, "done", []), json.dumps(report))
    equal((report["orders"], report["items"], report["skipped"], report["left"]), (10, 2, 0, 0))
    true(report["users"] >= 10 and report["counters"] > 0, report)
    code, out, _ = cli()
    true(code == 0 and "nothing found" in out and len(max(out.splitlines(), key=len)) <= 100, out)
    equal(server.admin_ok("GET", "/reconcile", role="viewer")["state"], "done")


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
            "INSERT INTO orders(ticket, item, user_id, slot, quantity, channel, state, reason, unit_price, amount, created_ms,"
            " pay_by_ms, version) SELECT 5000, item, 77, slot, quantity, channel, state, reason, unit_price, amount,"
            " created_ms, pay_by_ms, version FROM orders WHERE ticket = %d" % Shop.numbers["pending"], repairs=False,
            undo=("DELETE FROM orders WHERE ticket = 5000",))


@rule
def an_order_of_another_user_is_found():
    number = Shop.numbers["pending of many"]
    planted("ticket-differs", "UPDATE orders SET user_id = user_id + 1 WHERE ticket = %d" % number, repairs=False,
            undo=("UPDATE orders SET user_id = user_id - 1 WHERE ticket = %d" % number,))


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
            " state, used_for, tries, created_ms, captured_ms, next_ms, pay_by_ms, closing_ms)"
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
            "UPDATE user_counters SET used = used - 1 WHERE user_id = (SELECT user_id FROM orders WHERE ticket = %d)" % number,
            "INSERT INTO stock_events(ticket, step, destination, confirmed_lsn) VALUES(%d, 1, 0, 1)" % number)
    equal(server.counts(Shop.one)["held"], 0)


@rule
def an_event_that_stays_open_though_it_was_taken_is_closed():
    number = Shop.numbers["paid"]
    planted("stock-event-left-open", "UPDATE stock_events SET confirmed_lsn = NULL WHERE ticket = %d" % number)


@rule
def a_wrong_slot_is_set_right():
    planted("slot-wrong", "UPDATE orders SET slot = 99 WHERE ticket = %d" % Shop.numbers["paid"])


run()
