/* SPDX-License-Identifier: Apache-2.0 */
/* The repairs of reconciliation, each in one transaction. A repair computes what is right from the
 * rows as they are then, so it can't make worse what has changed since it was found. */
#include "contract/reconcile.h"

#include "contract/payment.h"
#include "store/sqlite/parts.h"

static_assert(SETTLE_SOLD == 0 && SETTLE_RETURN == 1 && SETTLE_WRITE_OFF == 2
        && PAYMENT_CLOSING == 3 && REFUND_WANTED == 1,
    "said in numbers in the statements");

#define COUNTED \
    "(o.state < 3 OR (o.state = 4 AND EXISTS(SELECT 1 FROM stock_events e" \
    " WHERE e.ticket = o.ticket AND e.step = 2)))"
#define COUNTER_UNITS \
    "(SELECT coalesce(sum(o.quantity), 0) FROM items CROSS JOIN orders o ON o.item = items.id" \
    " WHERE o.user = ?2 AND (items.id = ?1 OR items.sale = ?1 - 4294967296) AND " COUNTED ")"
#define CHANNEL_UNITS(channel, parameter) \
    ", channel_" channel " = " parameter " + (SELECT coalesce(sum(quantity), 0) FROM orders o" \
    " WHERE o.item = ?1 AND o.channel = " channel " AND o.state < 3)"

static const char event_put[] = "INSERT INTO stock_events(ticket, step, destination)"
                                " SELECT ticket, ?2, channel FROM orders WHERE ticket = ?1"
                                " ON CONFLICT(ticket, step) DO UPDATE SET confirmed_lsn = NULL";
static const char event_confirm[] =
    "UPDATE stock_events SET confirmed_lsn = (SELECT position FROM queue_position)"
    " WHERE ticket = ?1 AND step = ?2 AND confirmed_lsn IS NULL";
static const char slot_set[] =
    "UPDATE orders SET slot = CASE (SELECT limit_per_user FROM items WHERE items.id = item)"
    " WHEN 1 THEN 0 ELSE ticket END WHERE ticket = ?1 AND state < 3";
static const char sold_set[] =
    "UPDATE items SET sold = sold_before + (SELECT coalesce(sum(quantity), 0) FROM orders"
    " WHERE item = ?1 AND state < 3), version = version + 1 WHERE id = ?1";
static const char counter_set[] =
    "INSERT INTO user_counters(scope, user, used) VALUES(?1, ?2, " COUNTER_UNITS ")"
    " ON CONFLICT(scope, user) DO UPDATE SET used = excluded.used";
static const char counter_drop[] =
    "DELETE FROM user_counters WHERE scope = ?1 AND user = ?2 AND used = 0";
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
struct repair {
    const char *sql;
    uint64_t values[11];
    int count;
};

static struct repair repair_units(const struct finding *finding)
{
    const struct item_counts *counts = &finding->counts;
    struct repair repair = { units_set, { finding->item, counts->given, counts->safety }, 11 };
    for (int i = 0; i < CHANNELS_MAX; i++)
        repair.values[3 + i] = counts->channel_free[i];
    return repair;
}

static struct repair repair_of(const struct finding *finding, uint64_t now_ms)
{
    switch ((enum finding_code)finding->code) {
    case FINDING_EVENT_MISSING:
    case FINDING_EVENT_EARLY:
        return (struct repair){ event_put, { finding->ticket, finding->step }, 2 };
    case FINDING_EVENT_STALE:
        return (struct repair){ event_confirm, { finding->ticket, finding->step }, 2 };
    case FINDING_SLOT:
        return (struct repair){ slot_set, { finding->ticket }, 1 };
    case FINDING_SOLD:
        return (struct repair){ sold_set, { finding->item }, 1 };
    case FINDING_COUNTER:
        return (struct repair){ counter_set, { finding->scope, finding->user }, 2 };
    case FINDING_UNITS:
        return repair_units(finding);
    case FINDING_SALE:
        return (struct repair){ sale_set,
            { finding->sale, finding->start_ms, finding->end_ms, finding->gate }, 4 };
    case FINDING_PAYMENT_LIVE:
        return (struct repair){ payment_close, { finding->payment, now_ms }, 2 };
    case FINDING_NONE:
    case FINDING_TICKET_WITHOUT_ORDER:
    case FINDING_ORDER_WITHOUT_TICKET:
    case FINDING_STATE_DIFFERS:
    case FINDING_TICKET_DIFFERS:
    case FINDING_PRICE:
    case FINDING_MARK:
    case FINDING_COUNTS:
    case FINDING_PAID_WITHOUT_PAYMENT:
    case FINDING_PAYMENT_WITHOUT_ORDER:
    case FINDING_MONEY_UNUSED: /* refunds: not by a statement */
    case FINDING_REFUND_MISSING:
    case FINDING_MONEY_TOTAL:
    case FINDING_REFUND_STUCK:
    case FINDING_UNANSWERED:
    case FINDING_REFUNDED_WITHOUT_PAYMENT:
    case FINDINGS:
        break;
    }
    return (struct repair){ 0 };
}

/* Money that nobody uses goes back; a refunded order gives back what paid it. */
static enum status refund_repair(struct sqlite_store *store, const struct finding *finding, uint64_t now_ms)
{
    struct payment payment;
    if (finding->code == FINDING_REFUND_MISSING)
        return sqlite_refund_order(store, finding->ticket, now_ms);
    const enum status status = sqlite_payment_get(&store->store, finding->payment, &payment);
    if (status != STATUS_OK)
        return status;
    return sqlite_refund_want(store, &payment, payment.currency, REFUND_OF_LATE, now_ms);
}

static enum status repair_run(struct sqlite_store *store, const struct repair *repair)
{
    sqlite3_stmt *statement;
    const enum status status = sqlite_prepare(store, repair->sql, &statement);
    if (status != STATUS_OK)
        return status;
    for (int i = 0; i < repair->count; i++)
        bind_u64(statement, i + 1, repair->values[i]);
    return sqlite_run(statement);
}

enum status sqlite_repair(struct order_store *handle, const struct finding *finding, uint64_t now_ms)
{
    struct sqlite_store *store = sqlite_of(handle);
    struct repair repair = repair_of(finding, now_ms);
    const bool refund = finding->code == FINDING_MONEY_UNUSED || finding->code == FINDING_REFUND_MISSING;
    if (repair.sql == NULL && !refund)
        return STATUS_BAD_INPUT;
    enum status status = sqlite_begin(store);
    if (status == STATUS_OK)
        status = refund ? refund_repair(store, finding, now_ms) : repair_run(store, &repair);
    if (status == STATUS_OK && !refund && sqlite_changed_rows(store) == 0)
        status = STATUS_CONFLICT;
    if (status == STATUS_OK && finding->code == FINDING_COUNTER) {
        repair.sql = counter_drop; /* a counter that counts nothing was nobody's */
        status = repair_run(store, &repair);
    }
    return sqlite_end(store, status);
}
