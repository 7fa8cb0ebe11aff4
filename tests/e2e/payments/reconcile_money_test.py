#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Payments and refunds: what is planted is found by its code; money that nobody uses goes back."""
from kit.harness import equal, rule, run
from kit.reconcile_shop import PRICE, Shop, database, open_shop, payment_row, planted

open_shop()

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
            " state, used_for, tries, created_ms, captured_ms, next_ms, pay_by_ms, closing_ms)"
            " VALUES(%d, %d, 'shop', 'wrong', '', '', %d, 'CNY', %d, 4, 1, 0, 1, 1, 0, 0, 0)"
            % (number, number, PRICE, PRICE), repairs=False, undo=("DELETE FROM payments WHERE reference = 'wrong'",))


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
    equal(database("SELECT count(*) FROM payments WHERE reference = 'alive' AND state IN (3, 5)"), [(1,)])


@rule
def money_that_does_not_add_up_is_found():
    change = "UPDATE payments SET captured = captured %s WHERE paid_ticket = " + str(Shop.numbers["paid"])
    planted("money-differs", change % "+ 5", repairs=False, undo=(change % "- 5",))


@rule
def a_refund_that_the_provider_refuses_is_told():
    change = "UPDATE refunds SET state = %d, next_ms = 99999999999999 WHERE ticket = " + str(Shop.numbers["refunded"])
    planted("refund-stuck", change % 3, repairs=False, undo=(change % 2,))


run()
