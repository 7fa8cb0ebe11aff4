/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at orders and stock events. Every answer is one statement, so it is one
 * moment. */
#include "contract/waitlist.h"
#include "store/sqlite/parts.h"

#define ORDER_COLUMNS \
    "ticket, user, item, quantity, channel, state, reason, unit_price, amount, created_ms, " \
    "pay_by_ms," \
    " orders.version, ending, extended"
enum { ORDER_COLUMN_COUNT = 14 };

/* Tickets count from 1 and stay far below 2^63, so their order is the order of the signed
 * numbers. */
#define IN_SALE ", ?2 = 0 OR item IN (SELECT id FROM items WHERE sale = ?2)"
static const char orders_all[] =
    "SELECT " ORDER_COLUMNS IN_SALE " FROM orders WHERE ticket < ?1 ORDER BY ticket DESC";
static const char orders_of_both[] =
    "SELECT " ORDER_COLUMNS IN_SALE " FROM orders WHERE item = ?3 AND user = ?4 AND ticket < ?1"
    " ORDER BY ticket DESC";
/* The key starts with the item: one probe per item finds a user's orders without an index of their
 * own, which would cost every insert a page somewhere else. */
static const char orders_of_user[] = "SELECT " ORDER_COLUMNS ", ?2 = 0 OR sale = ?2"
                                     " FROM items CROSS JOIN orders ON orders.item = items.id"
                                     " WHERE orders.user = ?4 AND ticket < ?1 ORDER BY ticket DESC";

static_assert(REASON_REJECTED == 3 && ORDER_PENDING == 1 && ORDER_PAID == 2,
    "said in numbers in the statements");
static_assert(SETTLE_RETURN == 1 && ORDER_CLOSED == 3 && REASON_EXPIRED == 1 && REASON_CANCELLED == 2,
    "these, too");

void sqlite_order_columns(sqlite3_stmt *row, struct order *order)
{
    *order = (struct order){
        .ticket = column_u64(row, 0),
        .user = column_u64(row, 1),
        .item = column_u32(row, 2),
        .quantity = column_u32(row, 3),
        .channel = (channel_index)sqlite3_column_int(row, 4),
        .state = (uint8_t)sqlite3_column_int(row, 5),
        .reason = (uint8_t)sqlite3_column_int(row, 6),
        .unit_price = column_u64(row, 7),
        .amount = column_u64(row, 8),
        .created_ms = column_u64(row, 9),
        .pay_by_ms = column_u64(row, 10),
        .version = column_u64(row, 11),
    };
}

static enum status order_from_row(sqlite3_stmt *row, void *out)
{
    struct order *order = out;
    sqlite_order_columns(row, order);
    order->ending = (uint8_t)sqlite3_column_int(row, 12);
    order->extended = sqlite3_column_int(row, 13) != 0;
    return STATUS_OK;
}

enum status sqlite_order_by_ticket(struct order_store *handle, ticket_number ticket, struct order *order)
{
    return sqlite_one(sqlite_of(handle), "SELECT " ORDER_COLUMNS " FROM orders WHERE ticket = ?1",
        VALUES(U64(ticket)), order_from_row, order);
}

static bool order_is_asked(const struct order_filter *filter, const struct order *order)
{
    return (filter->item == 0 || order->item == filter->item)
        && (filter->state == ORDER_NONE || order->state == filter->state)
        && order->created_ms >= filter->from_ms
        && (filter->to_ms == 0 || order->created_ms < filter->to_ms);
}

/* An index for each filter would cost every win a page. The list walks down the key and stops after
 * so many rows instead. */
enum status sqlite_orders_list(struct order_store *handle, const struct order_filter *filter,
    struct order *orders, uint32_t max, uint32_t *count, ticket_number *next)
{
    const char *sql = filter->user == 0 ? orders_all
        : filter->item != 0             ? orders_of_both
                                        : orders_of_user;
    const ticket_number before = filter->before; /* `next` may be the same place */
    struct order order = { 0 };
    sqlite3_stmt *list;
    *count = 0;
    *next = 0;
    enum status status = sqlite_prepare(sqlite_of(handle), sql, &list);
    if (status != STATUS_OK)
        return status;
    bind_u64(list, 1, before == 0 || before > INT64_MAX ? INT64_MAX : before);
    bind_u64(list, 2, filter->sale);
    if (filter->user != 0) {
        if (filter->item != 0)
            bind_u64(list, 3, filter->item);
        bind_u64(list, 4, filter->user);
    }
    for (uint32_t looked = 0;
         looked < ORDERS_LOOK_MAX && *count < max && (status = sqlite_next(list)) == STATUS_OK;
         looked++) {
        (void)order_from_row(list, &order);
        if (order_is_asked(filter, &order) && sqlite3_column_int(list, ORDER_COLUMN_COUNT) != 0)
            orders[(*count)++] = order;
    }
    if (status == STATUS_OK)
        *next = order.ticket; /* stopped before the end */
    (void)sqlite3_reset(list);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status event_from_row(sqlite3_stmt *row, void *out)
{
    struct stock_event *event = out;
    *event = (struct stock_event){
        .id = column_u64(row, 0),
        .settle = {
            .ticket = column_u64(row, 1),
            .step = (uint8_t)sqlite3_column_int(row, 2),
            .to = (channel_index)sqlite3_column_int(row, 3),
            .let_go = sqlite3_column_int(row, 4) != 0,
        },
    };
    return STATUS_OK;
}

enum status sqlite_stock_events(
    struct order_store *handle, struct stock_event *events, uint32_t max, uint32_t *count)
{
    struct sqlite_store *store = sqlite_of(handle);
    enum status status = sqlite_rows(store,
        "SELECT id, ticket, step, destination, step = 1 AND EXISTS(SELECT 1 FROM orders  WHERE"
        " orders.ticket = stock_events.ticket AND orders.state = 3 AND orders.reason IN (1, 2))"
        " FROM stock_events WHERE confirmed_lsn IS NULL ORDER BY id LIMIT ?1",
        VALUES(U64(max)), event_from_row, PAGE(events, max, count));
    for (uint32_t i = 0; i < *count && status == STATUS_OK; i++) {
        struct command_settle *settle = &events[i].settle;
        if (settle->step == SETTLE_RETURN && settle->to == WAITLIST_CHANNEL)
            status = sqlite_waitlist_named(store, settle);
    }
    return status;
}

static enum status totals_from_row(sqlite3_stmt *row, void *out)
{
    uint64_t *totals = out;
    totals[0] = column_u64(row, 0);
    totals[1] = column_u64(row, 1);
    return STATUS_OK;
}

enum status sqlite_order_totals(struct order_store *handle, item_id item, uint64_t *orders, uint64_t *units)
{
    uint64_t totals[2] = { *orders, *units };
    const enum status status = sqlite_one(sqlite_of(handle),
        "SELECT count(*), coalesce(sum(quantity), 0) FROM orders WHERE item = ?1 AND reason <> 3",
        VALUES(U64(item)), totals_from_row, totals);
    *orders = totals[0];
    *units = totals[1];
    return status;
}

enum status sqlite_live_units(struct order_store *handle, item_id item, uint64_t *units)
{
    return sqlite_number(sqlite_of(handle),
        "SELECT coalesce(sum(quantity), 0) FROM orders WHERE item = ?1 AND state IN (1, 2)",
        VALUES(U64(item)), units);
}
