/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for reconciliation (contract/reconcile.h). Two connections: the writer's own shows what is
 * committed; a second one, which only reads, holds one moment for as long as the sums take and
 * keeps its view while the writer goes on. */
#include "contract/reconcile.h"

#include "store/lots.h"
#include "store/parts.h"

#include <stdlib.h>

/* Users of a lot in a range beyond its share, because the lowest bound of all lots holds. */
enum { LOT_SHARE_MORE = 4 };

struct store_look {
    struct sql_connection *reader; /* NULL: not opened yet */
    bool inside;                   /* a moment is held */
};

static_assert(ORDER_PENDING == 1 && ORDER_PAID == 2 && ORDER_CLOSED == 3 && ORDER_REFUNDED == 4
        && SETTLE_WRITE_OFF == 2 && COMMAND_RESERVE == 7 && DEAD_OPEN == 1 && DEAD_DISMISSED == 4,
    "said in numbers in the statements");

#define EVENT_IS(step, confirmed) \
    "CASE WHEN EXISTS(SELECT 1 FROM stock_events e WHERE e.ticket = orders.ticket AND e.step " \
    "= " step " AND e.confirmed_lsn IS " confirmed " NULL) THEN 1 ELSE 0 END"
#define EVENT_BITS(confirmed) \
    EVENT_IS("0", confirmed) " + 2 * " EVENT_IS("1", confirmed) " + 4 * " EVENT_IS("2", confirmed)
#define ORDER_PAYMENTS \
    ", (SELECT count(*) FROM payments p WHERE p.paid_ticket = orders.ticket AND p.used_for IN " \
    "(1, 3))," \
    " CASE WHEN EXISTS(SELECT 1 FROM payments p JOIN refunds r ON r.payment = p.id" \
    "  WHERE p.paid_ticket = orders.ticket AND p.used_for IN (1, 3)) THEN 1 ELSE 0 END"
#define OF_ITEMS " LEFT JOIN items ON items.id = orders.item"
#define ORDER_OWN \
    "SELECT " ORDER_COLUMNS \
    ", CASE WHEN slot IS NULL THEN 0 ELSE 1 END, coalesce(slot, 0), items.limit_per_user, "
#define ORDER_PARTS ORDER_OWN EVENT_BITS("") ", " EVENT_BITS("NOT") ORDER_PAYMENTS
#define ORDER_ROW ORDER_PARTS " FROM orders" OF_ITEMS
#define COUNTED \
    "(o.state < 3 OR (o.state = 4 AND EXISTS(SELECT 1 FROM stock_events e" \
    " WHERE e.ticket = o.ticket AND e.step = 2)))"
#define CHANNEL_LIVE(channel) \
    "sum(CASE WHEN o.state < 3 AND o.channel = " channel " THEN o.quantity END)"
#define CHANNELS_LIVE \
    CHANNEL_LIVE("0") \
    ", " CHANNEL_LIVE("1") ", " CHANNEL_LIVE("2") ", " CHANNEL_LIVE("3") ", " CHANNEL_LIVE( \
        "4") ", " CHANNEL_LIVE("5") ", " CHANNEL_LIVE("6") ", " CHANNEL_LIVE("7")
#define USED "EXISTS(SELECT 1 FROM limit_uses u WHERE u.ticket = o.ticket)"
#define USER_ROW \
    "SELECT o.item, o.user_id, sum(CASE WHEN o.state < 3 THEN o.quantity END)," \
    " sum(CASE WHEN " COUNTED " THEN o.quantity END)," \
    " sum(CASE WHEN o.state > 2 AND EXISTS(SELECT 1 FROM stock_events e WHERE e.ticket = o.ticket" \
    "  AND e.step = 1 AND e.confirmed_lsn IS NULL) THEN o.quantity END)," \
    " (SELECT coalesce(sum(d.quantity), 0) FROM dead_letters d WHERE d.record_type = 7" \
    "  AND d.state IN (1, 4) AND d.item = o.item AND d.user_id = o.user_id)," \
    " CASE WHEN EXISTS(SELECT 1 FROM user_counters c WHERE c.scope = o.item" \
    "  AND c.user_id = o.user_id) THEN 1 ELSE 0 END," \
    " CASE WHEN EXISTS(SELECT 1 FROM user_counters c WHERE c.scope = 4294967296 +" \
    "  (SELECT sale FROM items WHERE items.id = o.item) AND c.user_id = o.user_id) THEN 1 ELSE 0 " \
    "END," \
    " " CHANNELS_LIVE \
    ", 0, count(CASE o.state WHEN 1 THEN 1 END), count(CASE o.state WHEN 2 THEN 1 END)," \
    " count(CASE o.state WHEN 3 THEN 1 END), count(CASE o.state WHEN 4 THEN 1 END)," \
    " coalesce(max(CASE WHEN o.state < 3 AND NOT " USED " THEN o.created_ms END), 0)," \
    " count(CASE WHEN o.state > 2 AND " USED " THEN 1 END) FROM "

#define CAPTURED SUM_HALVES("p.captured")
#define ACCOUNTED \
    SUM_HALVES("CASE WHEN r.id IS NOT NULL THEN r.amount WHEN p.used_for = 2 THEN p.captured" \
               " WHEN p.used_for IN (1, 3) AND o.state = 2 THEN o.amount END")

static enum status look_open(struct store *store)
{
    if (store->look == NULL)
        store->look = calloc(1, sizeof *store->look);
    if (store->look == NULL)
        return STATUS_AWAY;
    if (store->look->reader != NULL)
        return STATUS_OK;
    return store->connection->driver->reader_open(store->connection, &store->look->reader);
}

static enum status look_query(struct store *store, enum look_at at, const char *sql,
    struct sql_values values, struct sql_row **row)
{
    if (at == LOOK_NOW)
        return sql_query(store, sql, values, row);
    invariant(store->look != NULL && store->look->inside);
    struct sql_connection *reader = store->look->reader;
    return reader->driver->query(reader, sql, values, row);
}

static enum status look_rows(struct order_store *handle, enum look_at at, const char *sql,
    struct sql_values values, const struct sql_columns *columns, struct sql_page page)
{
    struct sql_row *row;
    *page.count = 0;
    const enum status status = look_query(store_of(handle), at, sql, values, &row);
    return status == STATUS_OK ? sql_rows_of(row, columns, page) : status;
}

/* Of the moment. */
static enum status look_one(struct order_store *handle, const char *sql, struct sql_values values,
    const struct sql_columns *columns, void *out)
{
    struct sql_row *row;
    const enum status status = look_query(store_of(handle), LOOK_MOMENT, sql, values, &row);
    return status == STATUS_OK ? sql_one_of(row, columns, out) : status;
}

void store_look_close(struct store *store)
{
    if (store->look == NULL)
        return;
    if (store->look->reader != NULL)
        store->look->reader->driver->close(store->look->reader);
    free(store->look);
    store->look = NULL;
}

static void look_moment_end(struct order_store *handle)
{
    struct store_look *look = store_of(handle)->look;
    if (look == NULL || !look->inside)
        return;
    look->reader->driver->rollback(look->reader); /* it only lets go */
    look->inside = false;
}

/* A moment begins with its first read. */
static enum status look_moment_begin(struct order_store *handle)
{
    struct store *store = store_of(handle);
    uint64_t data_id;
    look_moment_end(handle);
    enum status status = look_open(store);
    if (status == STATUS_OK)
        status = store->look->reader->driver->begin_view(store->look->reader);
    if (status != STATUS_OK)
        return status;
    store->look->inside = true;
    status = look_one(
        handle, "SELECT data_id FROM store_identity", NO_VALUES, &sql_number_column, &data_id);
    if (status != STATUS_OK)
        look_moment_end(handle);
    return status;
}

static const struct sql_columns order_columns = COLUMNS(look_order,
    PART(look_order, order, &store_order_columns), FIELD(look_order, has_slot),
    FIELD(look_order, slot), FIELD(look_order, limit_per_user), FIELD(look_order, open),
    FIELD(look_order, confirmed), FIELD(look_order, payments_paid), FIELD(look_order, refund_there));

static enum status look_orders(struct order_store *handle, ticket_number after,
    struct look_order *rows, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), ORDER_ROW " WHERE ticket > ?1 ORDER BY ticket LIMIT ?2",
        VALUES(U64(after), U64(max)), &order_columns, PAGE(rows, max, count));
}

static enum status look_order(struct order_store *handle, ticket_number ticket, struct look_order *row)
{
    return sql_one(
        store_of(handle), ORDER_ROW " WHERE ticket = ?1", VALUES(U64(ticket)), &order_columns, row);
}

static const struct sql_columns moved_columns =
    COLUMNS(look_moved, PART(look_moved, row, &order_columns), FIELD(look_moved, event));

#define MOVED_ROW \
    ORDER_PARTS ", moved.id FROM stock_events moved JOIN orders" \
                " ON orders.ticket = +moved.ticket" OF_ITEMS /* +: events first, then their orders */

static enum status look_moved(struct order_store *handle, uint64_t after, struct look_moved *rows,
    uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), MOVED_ROW " WHERE moved.id > ?1 ORDER BY moved.id LIMIT ?2",
        VALUES(U64(after), U64(max)), &moved_columns, PAGE(rows, max, count));
}

static enum status look_moved_last(struct order_store *handle, uint64_t *event)
{
    return sql_number(store_of(handle),
        "SELECT coalesce((SELECT min(id) FROM stock_events WHERE confirmed_lsn IS NULL) - 1,"
        " (SELECT max(id) FROM stock_events), 0)",
        NO_VALUES, event);
}

static const struct sql_columns user_columns = COLUMNS(look_user, FIELD(look_user, item),
    FIELD(look_user, user), FIELD(look_user, live), FIELD(look_user, counted),
    FIELD(look_user, on_way), FIELD(look_user, dead), FIELD(look_user, item_counter),
    FIELD(look_user, sale_counter), FIELD(look_user, channel_live), FIELD(look_user, state_orders),
    FIELD(look_user, unused_ms), FIELD(look_user, stale_uses));

/* About `max` users of all lots together are from `from` to *to: the lowest bound of any lot holds. */
static enum status users_bound(struct order_store *handle, item_id item, uint64_t lots,
    int64_t from, uint32_t max, int64_t *to)
{
    const uint64_t share = max / lots + LOT_SHARE_MORE;
    enum status status = STATUS_OK;
    *to = INT64_MAX;
    for (uint64_t lot = 0; lot < lots && (status == STATUS_OK || status == STATUS_NOT_FOUND); lot++) {
        uint64_t user;
        status = look_one(handle,
            "SELECT user_id FROM orders WHERE item = ?1 AND lot = ?2 AND user_id >= ?3"
            " ORDER BY user_id LIMIT 1 OFFSET ?4",
            VALUES(U64(item), U64(lot), U64(from), U64(share - 1)), &sql_number_column, &user);
        if (status == STATUS_OK && (int64_t)user < *to)
            *to = (int64_t)user;
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Each lot has its own order of users, so they are read a range at a time, until the page is full. */
static enum status users_of_lots(struct order_store *handle, item_id item, uint64_t lots,
    int64_t from, struct look_user *rows, uint32_t max, uint32_t *count)
{
    enum status status = STATUS_OK;
    int64_t to = from;
    for (bool more = true; more && status == STATUS_OK; from = to + more) {
        uint32_t got = 0;
        status = users_bound(handle, item, lots, from, max, &to);
        if (status == STATUS_OK)
            status = look_rows(handle, LOOK_MOMENT,
                USER_ROW ORDERS_BY_LOT(
                    "orders o", "o") " AND items.id = ?1 AND o.user_id >= ?2 AND o.user_id <= ?3"
                                     " GROUP BY o.item, o.user_id ORDER BY o.item, o.user_id"
                                     " LIMIT ?4",
                VALUES(U64(item), U64(from), U64(to), U64(max - *count)), &user_columns,
                PAGE(rows + *count, max - *count, &got));
        *count += got;
        more = *count < max && to < INT64_MAX;
    }
    return status;
}

static enum status look_users(struct order_store *handle, item_id item, bool first, user_id after,
    struct look_user *rows, uint32_t max, uint32_t *count)
{
    *count = 0;
    if (!first && (int64_t)after == INT64_MAX)
        return STATUS_OK;
    const int64_t from = first ? INT64_MIN : (int64_t)after + 1;
    uint64_t lots = 0;
    const enum status status = look_one(handle, "SELECT last_lot + 1 FROM items WHERE id = ?1",
        VALUES(U64(item)), &sql_number_column, &lots);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    if (lots > 1)
        return users_of_lots(handle, item, lots, from, rows, max, count);
    return look_rows(handle, LOOK_MOMENT,
        USER_ROW "orders o WHERE o.item = ?1 AND o.lot = 0 AND o.user_id >= ?2"
                 " GROUP BY o.item, o.user_id ORDER BY o.item, o.user_id LIMIT ?3",
        VALUES(U64(item), U64(from), U64(max)), &user_columns, PAGE(rows, max, count));
}

static enum status look_user(struct order_store *handle, item_id item, user_id user, struct look_user *row)
{
    *row = (struct look_user){ .item = item, .user = user };
    const enum status status = sql_one(store_of(handle),
        USER_ROW ORDERS_BY_LOT(
            "orders o", "o") " AND items.id = ?1 AND o.user_id = ?2 GROUP BY o.item, o.user_id",
        VALUES(U64(item), U64(user)), &user_columns, row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static const struct sql_columns item_columns =
    COLUMNS(look_item, PART(look_item, item, &store_item_columns), FIELD(look_item, sold_before),
        FIELD(look_item, written_off), FIELD(look_item, sale_limit), FIELD(look_item, dead_units),
        FIELD(look_item, dead_other), FIELD(look_item, live), FIELD(look_item, state_orders));

#define KEPT(what, states) \
    " (SELECT coalesce(sum(" what \
    "), 0) FROM order_sums s WHERE s.item = items.id AND s.state " states ")"

#define NOT_ARCHIVED "NOT EXISTS(SELECT 1 FROM archives WHERE archives.sale = items.sale)"

static enum status look_items(struct order_store *handle, enum look_at at, item_id after,
    struct look_item *rows, uint32_t max, uint32_t *count)
{
    return look_rows(handle, at,
        "SELECT " ITEM_COLUMNS ", sold_before, written_off,"
        " (SELECT logged_limit FROM sales WHERE sales.id = items.sale),"
        " (SELECT coalesce(sum(quantity), 0) FROM dead_letters d WHERE d.item = items.id"
        "  AND d.record_type = 7 AND d.state IN (1, 4)),"
        " (SELECT count(*) FROM dead_letters d WHERE d.record_type <> 7 AND d.state = 1)," KEPT(
            "units", "< 3") ", 0," KEPT("orders", "= 1") "," KEPT("orders",
            "= 2") "," KEPT("orders", "= 3") "," KEPT("orders",
            "= 4") " FROM items WHERE id > ?1 AND " NOT_ARCHIVED " ORDER BY id LIMIT ?2",
        VALUES(U64(after), U64(max)), &item_columns, PAGE(rows, max, count));
}

static const struct sql_columns counter_columns = COLUMNS(look_counter, FIELD(look_counter, scope),
    FIELD(look_counter, user), FIELD(look_counter, used), FIELD(look_counter, counted));

#define COUNTER_ROW \
    "SELECT c.scope, c.user_id, c.used, CASE WHEN c.scope < 4294967296" \
    " THEN (SELECT coalesce(sum(o.quantity), 0) FROM " ORDERS_BY_LOT( \
        "orders o", "o") "  AND items.id = c.scope AND o.user_id = c.user_id AND " COUNTED ")" \
                         " ELSE (SELECT coalesce(sum(o.quantity), 0) FROM " ORDERS_BY_LOT( \
                             "orders o", "o") "  AND items.sale = c.scope - 4294967296 AND " \
                                              "o.user_id = c.user_id AND " COUNTED ") END" \
                                              " FROM user_counters c"

static enum status look_counters_of(struct order_store *handle, item_id item, user_id user,
    struct look_counter *rows, uint32_t *count)
{
    return sql_rows(store_of(handle),
        COUNTER_ROW " WHERE c.user_id = ?2 AND c.scope IN (?1, 4294967296 +"
                    " (SELECT sale FROM items WHERE items.id = ?1))",
        VALUES(U64(item), U64(user)), &counter_columns, PAGE(rows, 2, count));
}

static enum status look_counters(struct order_store *handle, bool first,
    const struct look_counter *after, struct look_counter *rows, uint32_t max, uint32_t *count)
{
    return look_rows(handle, LOOK_MOMENT,
        COUNTER_ROW " WHERE (c.scope, c.user_id) > (?1, ?2) ORDER BY c.scope, c.user_id LIMIT ?3",
        VALUES(U64(first ? -1 : (int64_t)after->scope), U64(first ? 0 : after->user), U64(max)),
        &counter_columns, PAGE(rows, max, count));
}

static const struct sql_columns money_columns = COLUMNS(look_money, FIELD(look_money, code),
    FIELD(look_money, payment), FIELD(look_money, ticket), FIELD(look_money, amount));

/* A row is shown under the first rule that it breaks. */
static enum status look_money(struct order_store *handle, uint64_t after, uint64_t to,
    struct look_money *rows, uint32_t max, uint32_t *count)
{
    return look_rows(handle, LOOK_MOMENT,
        "SELECT * FROM (SELECT CASE"
        "  WHEN p.used_for IN (1, 3) AND (o.state IS NULL OR o.state NOT IN (2, 4)) THEN ?4"
        "  WHEN p.state = 4 AND p.used_for IN (0, 4) AND r.id IS NULL THEN ?5"
        "  WHEN p.state < 4 AND o.state > 2 AND p.state <> 3 THEN ?6"
        "  WHEN r.state = 3 OR EXISTS(SELECT 1 FROM part_refunds q WHERE q.payment = p.id"
        "   AND q.state = 3) THEN ?7"
        "  WHEN p.state = 5 AND p.next_ms > 0 THEN ?8 END AS code, p.id, p.ticket,"
        "  CASE p.state WHEN 4 THEN p.captured ELSE p.amount END"
        " FROM payments p LEFT JOIN orders o ON o.ticket ="
        "  CASE WHEN p.used_for IN (1, 3) THEN p.paid_ticket ELSE p.ticket END"
        " LEFT JOIN refunds r ON r.payment = p.id WHERE p.id > ?1 AND p.id <= ?2) AS found"
        " WHERE code IS NOT NULL LIMIT ?3",
        VALUES(U64(after), U64(to), U64(max), U64(FINDING_PAYMENT_WITHOUT_ORDER),
            U64(FINDING_MONEY_UNUSED), U64(FINDING_PAYMENT_LIVE), U64(FINDING_REFUND_STUCK),
            U64(FINDING_UNANSWERED)),
        &money_columns, PAGE(rows, max, count));
}

static enum status look_money_waits(
    struct order_store *handle, uint64_t to, struct look_money *rows, uint32_t max, uint32_t *count)
{
    return look_rows(handle, LOOK_MOMENT,
        "SELECT ?3, p.id, p.ticket, p.captured FROM refunds r JOIN payments p ON p.id = r.payment"
        " WHERE r.state <> 2 AND r.state = 3 AND p.id <= ?1"
        " UNION ALL SELECT ?3, p.id, p.ticket, p.captured FROM part_refunds r"
        "  JOIN payments p ON p.id = r.payment WHERE r.state <> 2 AND r.state = 3 AND p.id <= ?1"
        " UNION ALL SELECT ?4, id, ticket, amount FROM payments"
        " WHERE " UNANSWERED " AND id <= ?1 LIMIT ?2",
        VALUES(U64(to), U64(max), U64(FINDING_REFUND_STUCK), U64(FINDING_UNANSWERED)),
        &money_columns, PAGE(rows, max, count));
}

struct money_ends {
    uint64_t last, over;
};
static const struct sql_columns ends_columns =
    COLUMNS(money_ends, FIELD(money_ends, last), FIELD(money_ends, over));

static enum status look_money_last(struct order_store *handle, uint64_t *last, uint64_t *over)
{
    struct money_ends ends = { 0 };
    const enum status status = look_one(handle,
        "SELECT coalesce(max(id), 0), coalesce((SELECT min(id) FROM payments WHERE " UNDER_WAY
        ") - 1, max(id), 0) FROM payments",
        NO_VALUES, &ends_columns, &ends);
    *last = ends.last;
    *over = ends.over;
    return status;
}

struct sums {
    uint64_t captured, accounted;
};
static const struct sql_columns sums_columns = COLUMNS(sums, SUM(sums, captured), SUM(sums, accounted));

/* Parts that went back of money whose rest went back later. */
static enum status look_money_parts(
    struct order_store *handle, uint64_t after, uint64_t to, struct sums *sums)
{
    return look_one(handle,
        "SELECT 0, 0," SUM_HALVES("q.amount") "FROM part_refunds q WHERE q.payment > ?1"
                                              " AND q.payment <= ?2 AND EXISTS(SELECT 1 FROM "
                                              "refunds r WHERE r.payment = q.payment)",
        VALUES(U64(after), U64(to)), &sums_columns, sums);
}

/* Accounted for: what is given back, waits for a unit, or has paid an order that is paid. */
static enum status look_money_sums(struct order_store *handle, uint64_t after, uint64_t to,
    uint64_t *captured, uint64_t *accounted)
{
    struct sums sums = { 0 }, parts = { 0 };
    enum status status = look_one(handle,
        "SELECT" CAPTURED "," ACCOUNTED "FROM payments p LEFT JOIN refunds r ON r.payment = p.id"
        " LEFT JOIN orders o ON o.ticket = p.paid_ticket WHERE p.id > ?1 AND p.id <= ?2",
        VALUES(U64(after), U64(to)), &sums_columns, &sums);
    if (status == STATUS_OK)
        status = look_money_parts(handle, after, to, &parts);
    if (status == STATUS_OK) {
        *captured += sums.captured;
        *accounted += sums.accounted + parts.accounted;
    }
    return status;
}

static enum status look_dead(struct order_store *handle, ticket_number ticket, bool *there)
{
    return sql_found(store_of(handle),
        "SELECT 1 FROM dead_letters WHERE ticket = ?1 AND state IN (1, 4)", VALUES(U64(ticket)), there);
}

const struct reconcile_store_ops store_reconcile_ops = {
    .moment_begin = look_moment_begin,
    .moment_end = look_moment_end,
    .orders = look_orders,
    .order = look_order,
    .moved = look_moved,
    .moved_last = look_moved_last,
    .dead = look_dead,
    .users = look_users,
    .user = look_user,
    .items = look_items,
    .counters = look_counters,
    .counters_of = look_counters_of,
    .money = look_money,
    .money_waits = look_money_waits,
    .money_last = look_money_last,
    .money_sums = look_money_sums,
    .repair = store_repair,
};
