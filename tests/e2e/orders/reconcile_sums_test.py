#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums of the database and counts of the inventory: what is planted is found by its code, and mended. Money has a file of its own."""
from kit.harness import equal, rule, run
from kit.reconcile_shop import Shop, database, open_shop, planted, server

open_shop()

@rule
def units_sold_that_no_order_has_are_set_right():
    version = database("SELECT version FROM items WHERE id = %d" % Shop.one)[0][0]
    planted("sold-differs", "UPDATE items SET sold = sold + 3 WHERE id = %d" % Shop.one)
    equal(database("SELECT version FROM items WHERE id = %d" % Shop.one)[0][0], version + 1)


@rule
def sums_that_are_not_those_of_the_orders_are_made_again():
    planted("sums-differ", "UPDATE order_sums SET orders = orders + 1 WHERE item = %d" % Shop.many)
    planted("limit-use-differs", "INSERT INTO limit_uses SELECT 1, user_id, ticket, quantity, 1, created_ms, created_ms + 86400000"
            " FROM orders WHERE ticket = %d" % Shop.numbers["closed"])
    planted("sums-differ", "DELETE FROM order_sums WHERE item = %d" % Shop.one)


@rule
def user_counters_that_count_wrong_are_missing_or_orphaned_are_set_right():
    user = "(SELECT user_id FROM orders WHERE ticket = %d)" % Shop.numbers["paid of many"]
    planted("user-counter-differs", "UPDATE user_counters SET used = used + 1 WHERE scope = %d AND user_id = %s"
            % (Shop.many, user))
    planted("user-counter-differs", "DELETE FROM user_counters WHERE scope = %d AND user_id = %s" % (Shop.many, user))
    planted("user-counter-differs", "DELETE FROM user_counters WHERE scope = %d AND user_id = %s"
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


run()
