#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A payment that the database has lost, of an order of a partition: on Redis and PostgreSQL."""
from kit.verify_rules import beside

beside("postgres")
from kit.harness import equal, rule, run, true  # noqa: E402
from kit.paying import becomes, bought, order_do, payment_id, server  # noqa: E402


@rule
def a_callback_of_a_payment_that_was_lost_books_it():
    buyer, order = bought(server.open_item(total=2))
    reply = order_do(buyer, order, "pay")
    equal(reply.status, 200, str(reply))
    server.stop()
    server.sql("DELETE FROM payments")
    server.start()
    equal(server.request("POST", f"/sandbox/v1/pay/{payment_id(reply)}", {"how": "pay"}).status, 200)
    becomes(buyer, order, "paid")
    true("was not in the database; it was added again" in server.log(), "the payment was not adopted")


run()
