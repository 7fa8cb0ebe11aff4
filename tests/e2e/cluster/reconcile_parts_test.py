#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reconciliation of a shop with several partitions and epochs, on Redis and PostgreSQL."""
from kit.verify_rules import beside

beside("postgres")
from kit.harness import Buyer, equal, rule, run, true  # noqa: E402
from kit.reconcile_shop import SUMS_MADE, cli, codes, reconcile, server, settled  # noqa: E402
import json  # noqa: E402

Shop = {}


def buy(item, count):
    for _ in range(count):
        buyer = Buyer(server)
        buyer.order(buyer.win(item)["ticket"])
    settled()


def found(code, number, *statements, undo):
    """Planted beside a stopped server, found with its number, and undone."""
    server.stop()
    server.sql(*statements, *SUMS_MADE)
    server.start()
    exit_code, report = reconcile()
    equal((exit_code, codes(report)), (1, [code]), json.dumps(report["findings"], indent=1))
    true(str(number) in report["findings"][0]["text"], report["findings"])
    server.stop()
    server.sql(*undo, *SUMS_MADE)
    server.start()
    settled()
    exit_code, report = reconcile()
    equal((exit_code, codes(report)), (0, []), json.dumps(report["findings"], indent=1))


@rule
def a_whole_shop_of_three_partitions_has_no_findings():
    Shop["items"] = [server.open_item(total=50) for _ in range(3)]
    for item in Shop["items"]:
        buy(item, 2)
    server.restart()  # another epoch
    for item in Shop["items"]:
        buy(item, 2)
    exit_code, report = reconcile()
    equal((exit_code, codes(report), report["orders"], report["items"]), (0, [], 12, 3), json.dumps(report))
    equal(report["skipped"], 0)
    true(len(server.sql("SELECT DISTINCT ticket / 268435456 FROM orders")) == 6, "three partitions with two epochs each")


@rule
def a_ticket_without_an_order_is_found_in_each_partition_and_epoch():
    for item in Shop["items"]:
        tickets = [row[0] for row in server.sql(f"SELECT ticket FROM orders WHERE item = {item} ORDER BY ticket")]
        for ticket in (tickets[0], tickets[1], tickets[-1]):
            found("ticket-without-order", ticket, f"CREATE TABLE kept AS SELECT * FROM orders WHERE ticket = {ticket}",
                  f"DELETE FROM orders WHERE ticket = {ticket}", undo=("INSERT INTO orders SELECT * FROM kept", "DROP TABLE kept"))


@rule
def an_order_of_another_epoch_or_partition_is_found():
    columns = "item, user_id, slot, quantity, channel, state, reason, unit_price, amount, created_ms, pay_by_ms, version"
    ticket = server.sql("SELECT max(ticket) FROM orders")[0][0]
    for other in (ticket - (1 << 28), ticket + (1 << 28), ticket + (1 << 40), ticket + 1):
        found("order-without-ticket", other, f"INSERT INTO orders(ticket, {columns}) SELECT {other}, "
              f"{columns.replace('user_id', '77')} FROM orders WHERE ticket = {ticket}",
              undo=(f"DELETE FROM orders WHERE ticket = {other}",))


@rule
def counts_that_differ_are_found_in_each_partition():
    for item in Shop["items"]:
        server.stop()
        server.sql(f"UPDATE items SET sold = sold + 1 WHERE id = {item}")
        server.start()
        exit_code, report = reconcile(repair=True)
        equal((exit_code, codes(report), report["left"]), (0, ["sold-differs"], 0), json.dumps(report["findings"], indent=1))


@rule
def a_recent_run_looks_at_what_is_new_in_a_lower_partition():
    def recent():
        code, out, errors = cli("--json", "--recent")
        true(out, errors)
        return code, json.loads(out)
    equal(recent()[0], 0)  # finds nothing: from here on
    buy(Shop["items"][0], 3)
    code, report = recent()
    equal((code, report["recent"], report["orders"]), (0, True, 3), json.dumps(report))
    code, report = recent()
    equal((code, report["recent"], report["orders"]), (0, True, 0), json.dumps(report))


run()
