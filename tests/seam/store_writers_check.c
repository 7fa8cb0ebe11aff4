/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/store_writers.h"

#include "contract/limit_uses.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>

struct rule {
    const char *name, *sql; /* how many rows break it */
};
#define PAYERS "(SELECT count(*) FROM payments WHERE paid_ticket = o.ticket AND used_for IN (1, 3))"
#define HALF(what) "(SELECT coalesce(sum(" what "), 0) FROM "
static const struct rule rules[] = {
    { "an item has sold what its live orders hold",
        "SELECT count(*) FROM items WHERE sold - sold_before <> (SELECT coalesce(sum(quantity), 0)"
        " FROM orders WHERE orders.item = items.id AND orders.state < 3)" },
    { "what was written off is locked",
        "SELECT count(*) FROM items WHERE written_off <> (SELECT coalesce(sum(o.quantity), 0) FROM "
        "orders o"
        " JOIN stock_events e ON e.ticket = o.ticket AND e.step = 2 WHERE o.item = items.id)"
        " OR locked <> written_off OR total <> 60" },
    { "a counter counts what its user holds",
        "SELECT count(*) FROM user_counters c WHERE used <> (SELECT coalesce(sum(o.quantity), 0)"
        " FROM orders o JOIN items i ON i.id = o.item WHERE o.user_id = c.user_id"
        " AND (i.id = c.scope OR i.sale = c.scope - 4294967296) AND (o.state < 3 OR (o.state = 4"
        " AND EXISTS(SELECT 1 FROM stock_events e WHERE e.ticket = o.ticket AND e.step = 2))))" },
    { "an order that is paid or refunded has one payer, others have none",
        "SELECT count(*) FROM orders o WHERE (state IN (2, 4) AND " PAYERS " <> 1)"
        " OR (state IN (1, 3) AND " PAYERS " <> 0)" },
    { "nobody can pay an order that is not pending",
        "SELECT count(*) FROM orders o JOIN payments p ON p.ticket = o.ticket"
        " WHERE o.state <> 1 AND p.state < 3" },
    { "the money of a refunded order goes back, that of a paid one does not",
        "SELECT count(*) FROM orders o JOIN payments p ON p.paid_ticket = o.ticket AND p.used_for "
        "IN (1, 3)"
        " LEFT JOIN refunds r ON r.payment = p.id WHERE (o.state = 4) <> (r.id IS NOT NULL)" },
    { "captured money is what paid orders cost, what waits, and what goes back",
        "SELECT " HALF("captured") "payments) - " HALF("amount") "orders WHERE state = 2) - " HALF(
            "amount") "refunds) - " HALF("captured") "payments WHERE used_for = 2)" },
    { "an order that is over has its event, once",
        "SELECT count(*) FROM orders o WHERE (SELECT count(*) FROM stock_events e WHERE"
        " e.ticket = o.ticket AND e.step > 0) <> CASE WHEN o.state > 2 THEN 1 ELSE 0 END" },
    { "a line is as long as its places say",
        "SELECT count(*) FROM waitlist_lines l WHERE waiting <> (SELECT count(*) FROM waitlist w"
        " WHERE w.item = l.item AND w.state = 1)" },
    { "there is no dead letter", "SELECT count(*) FROM dead_letters" },
    { "an order is rejected only for its payer",
        "SELECT count(*) FROM orders WHERE state = 3 AND reason = 3 AND limited <> 2" },
    { "a payer has no more than the limit",
        "SELECT count(*) FROM (SELECT p.payer FROM orders o JOIN items i ON i.id = o.item"
        " JOIN payments p ON p.paid_ticket = o.ticket AND p.used_for IN (1, 3) WHERE o.state = 2"
        " AND i.payer_limit > 0 AND p.payer <> 0 GROUP BY p.payer HAVING sum(o.quantity) > 6) AS "
        "beyond" },
};

static int64_t broken(struct sql_connection *connection, const char *sql)
{
    const struct driver *driver = connection->driver;
    struct sql_row *row;
    int64_t count = -1;
    if (driver->query(connection, sql, (struct sql_values){ NULL, 0 }, &row) != STATUS_OK)
        return -1;
    if (driver->next(row) == STATUS_OK)
        count = driver->number(row, 0);
    driver->finish(row);
    return count;
}

uint32_t store_writers_check(struct order_store *store)
{
    struct sql_connection *connection = store_connection(store);
    uint32_t failed = 0;
    item_id wrong = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const int64_t count = broken(connection, rules[i].sql);
        if (count != 0)
            fprintf(stderr, "BROKEN: %s: %" PRId64 " %s\n", rules[i].name, count,
                count < 0 ? connection->driver->message(connection) : "");
        failed += count != 0;
    }
    if (store->ops->sums_check(store, &wrong) != STATUS_OK || wrong != 0) {
        fprintf(stderr, "BROKEN: the sums of orders are what the orders come to: item %u\n", wrong);
        failed++;
    }
    ticket_number counted = 0;
    if (store->ops->limits->check(store, 1, &counted) != STATUS_OK || counted != 0) {
        fprintf(stderr, "BROKEN: uses of limits are what the orders say: ticket %" PRIu64 "\n", counted);
        failed++;
    }
    return failed;
}
