/* SPDX-License-Identifier: Apache-2.0 */
/* The repairs of reconciliation, each in one transaction. A repair computes what is right from the
 * rows as they are then, so it can't make worse what has changed since it was found. */
#include "contract/reconcile.h"

#include "contract/payment.h"
#include "contract/ticket_number.h"
#include "store/lots.h"
#include "store/parts.h"

static_assert(SETTLE_SOLD == 0 && SETTLE_RETURN == 1 && SETTLE_WRITE_OFF == 2
        && PAYMENT_CLOSING == 3 && REFUND_WANTED == 1,
    "said in numbers in the statements");

#define COUNTED \
    "(o.state < 3 OR (o.state = 4 AND EXISTS(SELECT 1 FROM stock_events e" \
    " WHERE e.ticket = o.ticket AND e.step = 2)))"
#define COUNTER_UNITS \
    "(SELECT coalesce(sum(o.quantity), 0) FROM " ORDERS_BY_LOT( \
        "orders o", "o") " AND o.user_id = ?2 AND (items.id = ?1 OR items.sale = ?1 - " \
                         "4294967296) AND " COUNTED ")"
#define CHANNEL_UNITS(channel, parameter) \
    ", channel_" channel " = " parameter " + (SELECT coalesce(sum(quantity), 0) FROM orders o" \
    " WHERE o.item = ?1 AND o.channel = " channel " AND o.state < 3)"

static const char event_put[] = "INSERT INTO stock_events(ticket, step, destination)"
                                " SELECT ticket, ?2, channel FROM orders WHERE ticket = ?1"
                                " ON CONFLICT(ticket, step) DO UPDATE SET confirmed_lsn = NULL";
static const char event_confirm[] =
    "UPDATE stock_events SET confirmed_lsn = (SELECT seq FROM parts WHERE part = ?3)"
    " WHERE ticket = ?1 AND step = ?2 AND confirmed_lsn IS NULL";
static const char slot_set[] =
    "UPDATE orders SET slot = CASE (SELECT limit_per_user FROM items WHERE items.id = item)"
    " WHEN 1 THEN 0 ELSE ticket END WHERE ticket = ?1 AND state < 3";
/* On SQLite the key of orders is by lot (store/lots.h): it does not refuse a live order in another one. */
#define LIVE_IN_ANY_LOT ORDERS_BY_LOT("orders", "orders") " AND orders.slot = 0"
static const char slot_taken[] =
    "SELECT 1 FROM orders mine CROSS JOIN " LIVE_IN_ANY_LOT
    " AND mine.ticket = ?1 AND items.id = mine.item AND items.limit_per_user = 1"
    " AND orders.user_id = mine.user_id AND orders.ticket <> mine.ticket";
static const char sold_set[] =
    "UPDATE items SET sold = sold_before + (SELECT coalesce(sum(quantity), 0) FROM orders"
    " WHERE item = ?1 AND state < 3), version = version + 1 WHERE id = ?1";
static const char counter_set[] =
    "INSERT INTO user_counters(scope, user_id, used) VALUES(?1, ?2, " COUNTER_UNITS ")"
    " ON CONFLICT(scope, user_id) DO UPDATE SET used = excluded.used";
static const char counter_drop[] =
    "DELETE FROM user_counters WHERE scope = ?1 AND user_id = ?2 AND used = 0";
static const char uses_drop[] =
    "DELETE FROM limit_uses WHERE ticket IN (SELECT ticket FROM " ORDERS_BY_LOT(
        "orders", "orders") " AND items.id = ?1 AND user_id = ?2 AND state > 2)";
static const char uses_put[] =
    "INSERT INTO limit_uses(scope, holder, ticket, units, most, at_ms, until_ms)"
    " SELECT CASE period_group WHEN 0 THEN product ELSE 4294967296 + period_group END, user_id,"
    " orders.ticket, quantity, period_limit, created_ms, created_ms + period_days * 86400000"
    " FROM " ORDERS_BY_LOT(
        "orders", "orders") " AND items.id = ?1 AND user_id = ?2 AND state < 3 AND period_limit > 0"
                            " ON CONFLICT(scope, holder, ticket) DO NOTHING";
static const char units_set[] =
    "UPDATE items SET total = ?2 + locked - written_off + sold_before, safety = ?3,"
    " version = version + 1" CHANNEL_UNITS("0", "?4") CHANNEL_UNITS("1", "?5") CHANNEL_UNITS("2", "?6")
        CHANNEL_UNITS("3", "?7") CHANNEL_UNITS("4", "?8") CHANNEL_UNITS("5", "?9")
            CHANNEL_UNITS("6", "?10") CHANNEL_UNITS("7", "?11") " WHERE id = ?1";
static const char sale_set[] =
    "UPDATE sales SET start_ms = ?2, end_ms = ?3, gate = ?4,"
    " gate_before = CASE ?4 WHEN 2 THEN gate_before ELSE ?4 END WHERE id = ?1";
static const char payment_close[] =
    "UPDATE payments SET state = 3, next_ms = ?2, closing_ms = ?2 WHERE id = ?1 AND state < 3";
static enum status money_give_back(struct store *store, uint64_t id, uint64_t now_ms)
{
    struct payment payment;
    const enum status status = store_payment_get(&store->store, id, &payment);
    if (status != STATUS_OK)
        return status;
    return store_refund_want(store, &payment, payment.currency, REFUND_OF_LATE, now_ms);
}

/* A counter that counts nothing was nobody's. */
static enum status sums_repair(struct store *store, item_id item)
{
    const enum status status =
        sql_do(store, "DELETE FROM order_sums WHERE item = ?1", VALUES(U64(item)));
    return status != STATUS_OK ? status
                               : sql_do(store,
                                   "INSERT INTO order_sums " SUMS_OF_ORDERS
                                   " WHERE item = ?1 GROUP BY item, state, reason",
                                   VALUES(U64(item)));
}

static enum status counter_repair(struct store *store, const struct finding *finding)
{
    const struct sql_values counter = VALUES(U64(finding->scope), U64(finding->user));
    const enum status status = sql_do(store, counter_set, counter);
    return status == STATUS_OK ? sql_do(store, counter_drop, counter) : status;
}

static enum status uses_repair(struct store *store, const struct finding *finding)
{
    const struct sql_values of_user = VALUES(U64(finding->item), U64(finding->user));
    const enum status status = sql_do(store, uses_drop, of_user);
    return status == STATUS_OK ? sql_do(store, uses_put, of_user) : status;
}

/* STATUS_CONFLICT: another live order of the user has the slot, so a person must decide. */
static enum status slot_repair(struct store *store, ticket_number ticket)
{
    bool taken;
    const enum status status = sql_found(store, slot_taken, VALUES(U64(ticket)), &taken);
    if (status != STATUS_OK || taken)
        return status == STATUS_OK ? STATUS_CONFLICT : status;
    return sql_do_one(store, slot_set, VALUES(U64(ticket)), STATUS_CONFLICT);
}

/* STATUS_CONFLICT: the row is not there any more. */
static enum status repair_make(struct store *store, const struct finding *finding, uint64_t now_ms)
{
    const struct item_counts *counts = &finding->counts;
    const struct sql_values event = VALUES(U64(finding->ticket), U64(finding->step));
    switch (finding->code) {
    case FINDING_EVENT_MISSING:
    case FINDING_EVENT_EARLY:
        return sql_do_one(store, event_put, event, STATUS_CONFLICT);
    case FINDING_EVENT_STALE:
        return sql_do_one(store, event_confirm,
            VALUES(U64(finding->ticket), U64(finding->step), U64(ticket_part(finding->ticket))),
            STATUS_CONFLICT);
    case FINDING_SLOT:
        return slot_repair(store, finding->ticket);
    case FINDING_SOLD:
        return sql_do_one(store, sold_set, VALUES(U64(finding->item)), STATUS_CONFLICT);
    case FINDING_COUNTER:
        return counter_repair(store, finding);
    case FINDING_SUMS:
        return sums_repair(store, finding->item);
    case FINDING_LIMIT_USE:
        return uses_repair(store, finding);
    case FINDING_UNITS:
        return sql_do_one(store, units_set,
            VALUES(U64(finding->item), U64(counts->given), U64(counts->safety),
                CHANNELS(counts->channel_free)),
            STATUS_CONFLICT);
    case FINDING_SALE:
        return sql_do_one(store, sale_set,
            VALUES(U64(finding->sale), U64(finding->start_ms), U64(finding->end_ms), U64(finding->gate)),
            STATUS_CONFLICT);
    case FINDING_PAYMENT_LIVE:
        return sql_do_one(
            store, payment_close, VALUES(U64(finding->payment), U64(now_ms)), STATUS_CONFLICT);
    case FINDING_REFUND_MISSING:
        return store_refund_order(store, finding->ticket, now_ms);
    case FINDING_MONEY_UNUSED:
        return money_give_back(store, finding->payment, now_ms);
    default:
        return STATUS_BAD_INPUT;
    }
}

static enum status repair_lock(struct store *store, const struct finding *finding)
{
    ticket_number ticket = finding->ticket;
    enum status status = store_parts_lock(store);
    if (status == STATUS_OK && ticket != 0)
        status = store_orders_lock(store, &ticket, 1);
    else if (status == STATUS_OK && finding->item != 0)
        status = store_item_lock(store, finding->item);
    if (status == STATUS_OK && finding->code == FINDING_COUNTER)
        status = store_counter_lock(store, finding->scope, finding->user);
    return status;
}

static enum status repair_once(struct store *store, const struct finding *finding, uint64_t now_ms)
{
    enum status status = store_begin(store);
    if (status == STATUS_OK)
        status = repair_lock(store, finding);
    if (status == STATUS_OK)
        status = repair_make(store, finding, now_ms);
    return store_end(store, status);
}

enum status store_repair(struct order_store *handle, const struct finding *finding, uint64_t now_ms)
{
    struct store_tries tries = { 0 };
    enum status status;
    STORE_TRIES (store_of(handle), &tries, &status)
        status = repair_once(store_of(handle), finding, now_ms);
    return status;
}
