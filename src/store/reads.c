/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at orders and stock events. Every answer is one statement, so it is one
 * moment. */
#include "contract/waitlist.h"
#include "store/lots.h"
#include "store/parts.h"

/* Newest first: by time, then by ticket, since each partition counts its own tickets. Tickets stay below
 * 2^63, so their order is the order of the signed numbers. TIME is the column, or a sum that no index is
 * taken for: a database that may choose would walk down the times of everybody to find a user's orders. */
#define SELECT_IN_SALE \
    "SELECT CASE WHEN ?4 = 0 OR item IN (SELECT id FROM items WHERE sale = ?4) THEN 1 ELSE 0 " \
    "END, " ORDER_COLUMNS
#define FROM_THERE(TIME) \
    TIME " >= ?3 AND " TIME " <= ?1 AND (created_ms < ?1 OR ticket < ?2)" \
         " ORDER BY " TIME " DESC, ticket DESC LIMIT ?5"
static const char orders_all[] = SELECT_IN_SALE " FROM orders WHERE " FROM_THERE("created_ms");
static const char orders_by_ticket[] =
    SELECT_IN_SALE " FROM orders WHERE ticket < ?2 AND created_ms + 0 BETWEEN ?3 AND ?1"
                   " ORDER BY ticket DESC LIMIT ?5";
/* The key starts with the item: one probe per item that the user may have bought, and per lot of it that may
 * have the user, finds the orders without an index of their own, which would cost every insert a page
 * elsewhere (buyers.c). LOTS says which lots may. */
#define ORDERS_OF_USER(ITEMS, LOTS) \
    SELECT_IN_SALE " FROM " ITEMS ORDERS_BY_LOT( \
        "orders", "orders") " AND orders.user_id = ?6" LOTS " AND " FROM_THERE("created_ms + 0")
#define IN_ANY_ITEM \
    "(SELECT item AS id FROM buyer_items WHERE user_id = ?6" \
    " UNION SELECT id FROM items WHERE buyers_listed = 0) AS bought CROSS JOIN "
#define FILTERED " AND lot_may_have(items.id, lot_numbers.lot, ?6)"
/* By whether the database keeps orders by lot. */
static const char *const orders_of_both[2] = { ORDERS_OF_USER("", " AND items.id = ?7"),
    ORDERS_OF_USER("", " AND items.id = ?7" FILTERED) };
static const char *const orders_of_user[2] = { ORDERS_OF_USER(IN_ANY_ITEM, " AND items.id = bought.id"),
    ORDERS_OF_USER(IN_ANY_ITEM, " AND items.id = bought.id" FILTERED) };

static_assert(REASON_REJECTED == 3 && ORDER_PENDING == 1 && ORDER_PAID == 2,
    "said in numbers in the statements");
static_assert(SETTLE_RETURN == 1 && ORDER_CLOSED == 3 && REASON_EXPIRED == 1 && REASON_CANCELLED == 2,
    "these, too");

const struct sql_columns store_order_columns = COLUMNS(order, FIELD(order, ticket),
    FIELD(order, user), FIELD(order, item), FIELD(order, quantity), FIELD(order, channel),
    FIELD(order, state), FIELD(order, reason), FIELD(order, unit_price), FIELD(order, amount),
    FIELD(order, created_ms), FIELD(order, pay_by_ms), FIELD(order, version), FIELD(order, ending),
    FIELD(order, extended), FIELD(order, limited));

enum status store_order_by_ticket(struct order_store *handle, ticket_number ticket, struct order *order)
{
    return sql_one(store_of(handle), "SELECT " ORDER_COLUMNS " FROM orders WHERE ticket = ?1",
        VALUES(U64(ticket)), &store_order_columns, order);
}

static bool order_is_asked(const struct order_filter *filter, const struct order *order)
{
    return (filter->item == 0 || order->item == filter->item)
        && (filter->state == ORDER_NONE || order->state == filter->state);
}

/* Rows may be left out that the statement finds. */
static bool is_filtered(const struct order_filter *filter)
{
    return (filter->item != 0 && filter->user == 0) || filter->sale != 0 || filter->state != ORDER_NONE;
}

struct listed {
    bool in_sale;
    struct order order;
};
static const struct sql_columns listed_columns =
    COLUMNS(listed, FIELD(listed, in_sale), PART(listed, order, &store_order_columns));

/* Where a list begins: behind the order of this time and ticket. */
struct list_place {
    uint64_t ms;
    ticket_number ticket;
};

static enum status place_find(
    struct order_store *handle, const struct order_filter *filter, struct list_place *place)
{
    *place = (struct list_place){ INT64_MAX, INT64_MAX };
    if (filter->by_ticket && filter->before != 0) {
        place->ticket = filter->before;
    } else if (filter->before != 0) {
        struct order before;
        const enum status status = store_order_by_ticket(handle, filter->before, &before);
        if (status != STATUS_OK)
            return status;
        *place = (struct list_place){ before.created_ms, before.ticket };
    }
    if (filter->to_ms != 0 && place->ms >= filter->to_ms)
        *place = (struct list_place){ filter->to_ms - 1, filter->by_ticket ? place->ticket : INT64_MAX };
    return STATUS_OK;
}

/* An index for each filter would cost every win a page. The list walks down the times and stops after
 * so many rows instead. */
enum status store_orders_list(struct order_store *handle, const struct order_filter *filter,
    struct order *orders, uint32_t max, uint32_t *count, ticket_number *next)
{
    const bool by_lot = store_of(handle)->connection->driver->keys_by_lot;
    const char *sql = filter->user != 0 ? (filter->item != 0 ? orders_of_both : orders_of_user)[by_lot]
        : filter->by_ticket             ? orders_by_ticket
                                        : orders_all;
    struct listed listed = { 0 };
    struct list_place place;
    struct sql_row *list;
    enum status status = place_find(handle, filter, &place);
    *count = 0;
    *next = 0; /* may be filter->before, which is not looked at any more */
    if (status != STATUS_OK)
        return status;
    struct sql_values values =
        VALUES(U64(place.ms), U64(place.ticket), U64(filter->from_ms), U64(filter->sale),
            U64(is_filtered(filter) ? ORDERS_LOOK_MAX : max), U64(filter->user), U64(filter->item));
    values.count = filter->user == 0 ? 5 : filter->item != 0 ? 7 : 6;
    status = sql_query(store_of(handle), sql, values, &list);
    if (status != STATUS_OK)
        return status;
    for (uint32_t looked = 0;
         looked < ORDERS_LOOK_MAX && *count < max && (status = sql_next(list)) == STATUS_OK; looked++) {
        (void)!sql_columns_take(&listed_columns, list, &listed);
        if (listed.in_sale && order_is_asked(filter, &listed.order))
            orders[(*count)++] = listed.order;
    }
    if (status == STATUS_OK)
        *next = listed.order.ticket; /* stopped before the end */
    sql_finish(list);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static const struct sql_columns event_columns = COLUMNS(stock_event, FIELD(stock_event, id),
    FIELD(stock_event, settle.ticket), FIELD(stock_event, settle.step),
    FIELD(stock_event, settle.to), FIELD(stock_event, settle.let_go));

enum status store_stock_events(struct order_store *handle, uint64_t after,
    struct stock_event *events, uint32_t max, uint32_t *count)
{
    struct store *store = store_of(handle);
    const enum status status = sql_rows(store,
        "SELECT id, ticket, step, destination, step = 1 AND EXISTS(SELECT 1 FROM orders  WHERE"
        " orders.ticket = stock_events.ticket AND orders.state = 3 AND orders.reason IN (1, 2))"
        " FROM stock_events WHERE confirmed_lsn IS NULL AND id > ?2 ORDER BY id LIMIT ?1",
        VALUES(U64(max), U64(after)), &event_columns, PAGE(events, max, count));
    return status == STATUS_OK ? store_waitlist_named(store, events, *count) : status;
}

enum status store_order_totals(struct order_store *handle, item_id item, uint64_t *orders, uint64_t *units)
{
    uint64_t totals[2] = { *orders, *units };
    const enum status status = sql_numbers(store_of(handle),
        "SELECT coalesce(sum(orders), 0), coalesce(sum(units), 0) FROM order_sums"
        " WHERE item = ?1 AND reason <> 3",
        VALUES(U64(item)), totals, 2);
    *orders = totals[0];
    *units = totals[1];
    return status;
}

enum status store_live_units(struct order_store *handle, item_id item, uint64_t *units)
{
    return sql_number(store_of(handle),
        "SELECT coalesce(sum(quantity), 0) FROM orders WHERE item = ?1 AND state IN (1, 2)",
        VALUES(U64(item)), units);
}
