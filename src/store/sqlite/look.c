/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for reconciliation (contract/reconcile.h). Two connections: the writer's own shows what is
 * committed; a second one, which only reads, holds one moment for as long as the sums take, because
 * a read transaction of a WAL keeps its view while the writer goes on. Statements are kept for each
 * of them. */
#include "contract/reconcile.h"

#include "store/sqlite/parts.h"

#include <stdlib.h>

enum look_statement {
    LOOK_BEGIN,
    LOOK_END,
    LOOK_FIRST_READ,
    LOOK_ORDERS,
    LOOK_ORDER,
    LOOK_DEAD,
    LOOK_USERS,
    LOOK_USER,
    LOOK_ITEMS,
    LOOK_COUNTERS,
    LOOK_MONEY,
    LOOK_MONEY_LAST,
    LOOK_MONEY_SUMS,
    LOOK_STATEMENTS,
};
struct sqlite_look {
    sqlite3 *reader;
    bool inside; /* a moment is held */
    sqlite3_stmt *statements[LOOKS][LOOK_STATEMENTS];
};

static_assert(ORDER_PENDING == 1 && ORDER_PAID == 2 && ORDER_CLOSED == 3 && ORDER_REFUNDED == 4
        && SETTLE_WRITE_OFF == 2 && COMMAND_RESERVE == 7 && DEAD_OPEN == 1 && DEAD_DISMISSED == 4
        && CHANNELS_MAX == 8,
    "said in numbers in the statements");

#define EVENT_IS(step, confirmed) \
    "EXISTS(SELECT 1 FROM stock_events e WHERE e.ticket = o.ticket AND e.step = " step \
    " AND e.confirmed_lsn IS " confirmed " NULL)"
#define EVENT_BITS(confirmed) \
    EVENT_IS("0", confirmed) " + 2 * " EVENT_IS("1", confirmed) " + 4 * " EVENT_IS("2", confirmed)
#define ORDER_OWN \
    "SELECT o.ticket, o.user, o.item, o.quantity, o.channel, o.state, o.reason, o.unit_price," \
    " o.amount, o.created_ms, o.pay_by_ms, o.version, o.slot IS NOT NULL, coalesce(o.slot, 0)," \
    " items.limit_per_user, "
#define ORDER_MONEY \
    ", (SELECT count(*) FROM payments p WHERE p.paid_ticket = o.ticket AND p.use IN (1, 3))," \
    " EXISTS(SELECT 1 FROM payments p JOIN refunds r ON r.payment = p.id" \
    "  WHERE p.paid_ticket = o.ticket AND p.use IN (1, 3))" \
    " FROM orders o LEFT JOIN items ON items.id = o.item"
#define ORDER_ROW ORDER_OWN EVENT_BITS("") ", " EVENT_BITS("NOT") ORDER_MONEY
#define COUNTED \
    "(o.state < 3 OR (o.state = 4 AND EXISTS(SELECT 1 FROM stock_events e" \
    " WHERE e.ticket = o.ticket AND e.step = 2)))"
#define CHANNEL_LIVE(channel) \
    "sum(CASE WHEN o.state < 3 AND o.channel = " channel " THEN o.quantity END)"
#define CHANNELS_LIVE \
    CHANNEL_LIVE("0") \
    ", " CHANNEL_LIVE("1") ", " CHANNEL_LIVE("2") ", " CHANNEL_LIVE("3") ", " CHANNEL_LIVE( \
        "4") ", " CHANNEL_LIVE("5") ", " CHANNEL_LIVE("6") ", " CHANNEL_LIVE("7")
#define USER_ROW \
    "SELECT o.item, o.user, sum(CASE WHEN o.state < 3 THEN o.quantity END)," \
    " sum(CASE WHEN " COUNTED " THEN o.quantity END)," \
    " sum(CASE WHEN o.state > 2 AND EXISTS(SELECT 1 FROM stock_events e WHERE e.ticket = o.ticket" \
    "  AND e.step = 1 AND e.confirmed_lsn IS NULL) THEN o.quantity END)," \
    " (SELECT coalesce(sum(d.quantity), 0) FROM dead_letters d WHERE d.type = 7" \
    "  AND d.state IN (1, 4) AND d.item = o.item AND d.user = o.user)," \
    " EXISTS(SELECT 1 FROM user_counters c WHERE c.scope = o.item AND c.user = o.user)," \
    " EXISTS(SELECT 1 FROM user_counters c WHERE c.scope = 4294967296 +" \
    "  (SELECT sale FROM items WHERE items.id = o.item) AND c.user = o.user)," \
    " " CHANNELS_LIVE " FROM orders o"

#define CAPTURED SUM_HALVES("p.captured")
#define ACCOUNTED \
    SUM_HALVES("CASE WHEN r.id IS NOT NULL THEN r.amount WHEN p.use = 2 THEN p.captured" \
               " WHEN p.use IN (1, 3) AND o.state = 2 THEN o.amount END")

static const char *const look_sql[] = {
    [LOOK_BEGIN] = "BEGIN",
    [LOOK_END] = "ROLLBACK",
    /* A moment begins with its first read. */
    [LOOK_FIRST_READ] = "SELECT position FROM queue_position",
    [LOOK_ORDERS] = ORDER_ROW " WHERE o.ticket > ?1 ORDER BY o.ticket LIMIT ?2",
    [LOOK_ORDER] = ORDER_ROW " WHERE o.ticket = ?1",
    [LOOK_DEAD] = "SELECT 1 FROM dead_letters WHERE ticket = ?1 AND state IN (1, 4)",
    [LOOK_USERS] = USER_ROW " WHERE o.item = ?1 AND o.user >= ?2"
                            " GROUP BY o.item, o.user ORDER BY o.item, o.user LIMIT ?3",
    [LOOK_USER] = USER_ROW " WHERE o.item = ?1 AND o.user = ?2 GROUP BY o.item, o.user",
    [LOOK_ITEMS] =
        "SELECT items.id, sale, product, flash_price, items.limit_per_user, pay_window_ms,"
        " total, locked, sold, safety, version, preheated, sold_before, written_off,"
        " (SELECT logged_limit FROM sales WHERE sales.id = items.sale),"
        " (SELECT coalesce(sum(quantity), 0) FROM dead_letters d WHERE d.item = items.id"
        "  AND d.type = 7 AND d.state IN (1, 4)),"
        " (SELECT count(*) FROM dead_letters d WHERE d.type <> 7 AND d.state = 1),"
        " channel_0, channel_1, channel_2, channel_3, channel_4, channel_5, channel_6,"
        " channel_7 FROM items WHERE items.id > ?1 ORDER BY items.id LIMIT ?2",
    [LOOK_COUNTERS] =
        "SELECT c.scope, c.user, c.used, CASE WHEN c.scope < 4294967296"
        " THEN (SELECT coalesce(sum(o.quantity), 0) FROM orders o WHERE o.item = c.scope"
        "  AND o.user = c.user AND " COUNTED ")"
        " ELSE (SELECT coalesce(sum(o.quantity), 0) FROM items CROSS JOIN orders o"
        "  ON o.item = items.id WHERE items.sale = c.scope - 4294967296 AND o.user = c.user"
        "  AND " COUNTED ") END"
        " FROM user_counters c WHERE (c.scope, c.user) > (?1, ?2)"
        " ORDER BY c.scope, c.user LIMIT ?3",
    /* A row is shown under the first rule that it breaks. */
    [LOOK_MONEY] = "SELECT * FROM (SELECT CASE"
                   "  WHEN p.use IN (1, 3) AND o.state IS NOT 2 AND o.state IS NOT 4 THEN ?4"
                   "  WHEN p.state = 4 AND p.use IN (0, 4) AND r.id IS NULL THEN ?5"
                   "  WHEN p.state < 4 AND o.state > 2 AND p.state <> 3 THEN ?6"
                   "  WHEN r.state = 3 THEN ?7"
                   "  WHEN p.state = 5 AND p.next_ms > 0 THEN ?8 END AS code, p.id, p.ticket,"
                   "  CASE p.state WHEN 4 THEN p.captured ELSE p.amount END"
                   " FROM payments p LEFT JOIN orders o ON o.ticket ="
                   "  CASE WHEN p.use IN (1, 3) THEN p.paid_ticket ELSE p.ticket END"
                   " LEFT JOIN refunds r ON r.payment = p.id WHERE p.id > ?1 AND p.id <= ?2)"
                   " WHERE code IS NOT NULL LIMIT ?3",
    [LOOK_MONEY_LAST] = "SELECT coalesce(max(id), 0) FROM payments",
    /* What is given back, waits for a unit, or has paid an order that is paid. */
    [LOOK_MONEY_SUMS] =
        "SELECT" CAPTURED "," ACCOUNTED "FROM payments p LEFT JOIN refunds r ON r.payment = p.id"
        " LEFT JOIN orders o ON o.ticket = p.paid_ticket WHERE p.id > ?1 AND p.id <= ?2",
};
static_assert(sizeof look_sql / sizeof *look_sql == LOOK_STATEMENTS, "a text for each");

static enum status look_open(struct sqlite_store *store)
{
    if (store->look == NULL)
        store->look = calloc(1, sizeof *store->look);
    if (store->look == NULL)
        return STATUS_AWAY;
    if (store->look->reader != NULL)
        return STATUS_OK;
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const int result = sqlite3_open_v2(store->path, &store->look->reader, flags, store->vfs);
    if (result == SQLITE_OK)
        return STATUS_OK;
    (void)sqlite3_close(store->look->reader);
    store->look->reader = NULL;
    return sqlite_status(result);
}

static enum status look_prepare(struct sqlite_store *store, enum look_at at,
    enum look_statement which, sqlite3_stmt **statement)
{
    *statement = NULL;
    const enum status status = look_open(store);
    if (status != STATUS_OK)
        return status;
    invariant(at == LOOK_NOW || store->look->inside || which <= LOOK_FIRST_READ);
    sqlite3_stmt **kept = &store->look->statements[at][which];
    if (*kept == NULL) {
        const int result = sqlite3_prepare_v3(at == LOOK_NOW ? store->database : store->look->reader,
            look_sql[which], -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);
        if (result != SQLITE_OK)
            return sqlite_status(result);
    }
    *statement = *kept;
    return STATUS_OK;
}

void sqlite_look_close(struct sqlite_store *store)
{
    if (store->look == NULL)
        return;
    for (uint32_t at = 0; at < LOOKS; at++) {
        for (uint32_t i = 0; i < LOOK_STATEMENTS; i++)
            (void)sqlite3_finalize(store->look->statements[at][i]);
    }
    const int result = sqlite3_close(store->look->reader);
    invariant(result == SQLITE_OK);
    free(store->look);
    store->look = NULL;
}

static void look_moment_end(struct order_store *handle)
{
    struct sqlite_store *store = sqlite_of(handle);
    sqlite3_stmt *end;
    if (store->look == NULL || !store->look->inside)
        return;
    if (look_prepare(store, LOOK_MOMENT, LOOK_END, &end) == STATUS_OK)
        (void)!sqlite_run(end); /* nothing was written: it only lets go */
    store->look->inside = false;
}

static enum status look_moment_begin(struct order_store *handle)
{
    struct sqlite_store *store = sqlite_of(handle);
    sqlite3_stmt *begin, *read;
    look_moment_end(handle);
    enum status status = look_prepare(store, LOOK_MOMENT, LOOK_BEGIN, &begin);
    if (status == STATUS_OK)
        status = sqlite_run(begin);
    if (status != STATUS_OK)
        return status;
    store->look->inside = true;
    status = look_prepare(store, LOOK_MOMENT, LOOK_FIRST_READ, &read);
    if (status == STATUS_OK) {
        status = sqlite_next(read);
        (void)sqlite3_reset(read);
    }
    if (status != STATUS_OK)
        look_moment_end(handle);
    return status;
}

static enum status look_rows(struct order_store *handle, enum look_at at, enum look_statement which,
    struct sqlite_values values, sqlite_take take, struct sqlite_page page)
{
    sqlite3_stmt *list;
    *page.count = 0;
    const enum status status = look_prepare(sqlite_of(handle), at, which, &list);
    return status == STATUS_OK ? sqlite_rows_of(list, values, take, page) : status;
}

static enum status look_one(struct order_store *handle, enum look_at at, enum look_statement which,
    struct sqlite_values values, sqlite_take take, void *out)
{
    sqlite3_stmt *get;
    const enum status status = look_prepare(sqlite_of(handle), at, which, &get);
    return status == STATUS_OK ? sqlite_one_of(get, values, take, out) : status;
}

static enum status order_take(sqlite3_stmt *row, void *out)
{
    struct look_order *look = out;
    *look = (struct look_order){
        .has_slot = sqlite3_column_int(row, 12) != 0,
        .slot = column_u64(row, 13),
        .limit_per_user = column_u32(row, 14),
        .open = (uint8_t)sqlite3_column_int(row, 15),
        .confirmed = (uint8_t)sqlite3_column_int(row, 16),
        .payments_paid = (uint8_t)sqlite3_column_int(row, 17),
        .refund_there = sqlite3_column_int(row, 18) != 0,
    };
    sqlite_order_columns(row, &look->order);
    return STATUS_OK;
}

static enum status look_orders(struct order_store *handle, ticket_number after,
    struct look_order *rows, uint32_t max, uint32_t *count)
{
    return look_rows(handle, LOOK_NOW, LOOK_ORDERS, VALUES(U64(after), U64(max)), order_take,
        PAGE(rows, max, count));
}

static enum status look_order(struct order_store *handle, ticket_number ticket, struct look_order *row)
{
    return look_one(handle, LOOK_NOW, LOOK_ORDER, VALUES(U64(ticket)), order_take, row);
}

static enum status there_take(sqlite3_stmt *row, void *out)
{
    (void)row;
    *(bool *)out = true;
    return STATUS_OK;
}

static enum status look_dead(struct order_store *handle, ticket_number ticket, bool *there)
{
    *there = false;
    const enum status status =
        look_one(handle, LOOK_NOW, LOOK_DEAD, VALUES(U64(ticket)), there_take, there);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status user_take(sqlite3_stmt *row, void *out)
{
    struct look_user *look = out;
    *look = (struct look_user){ .item = column_u32(row, 0),
        .user = column_u64(row, 1),
        .live = column_u64(row, 2),
        .counted = column_u64(row, 3),
        .on_way = column_u64(row, 4),
        .dead = column_u64(row, 5),
        .item_counter = sqlite3_column_int(row, 6) != 0,
        .sale_counter = sqlite3_column_int(row, 7) != 0 };
    for (int i = 0; i < CHANNELS_MAX; i++)
        look->channel_live[i] = column_u64(row, 8 + i);
    return STATUS_OK;
}

static enum status look_users(struct order_store *handle, item_id item, bool first, user_id after,
    struct look_user *rows, uint32_t max, uint32_t *count)
{
    *count = 0;
    if (!first && (int64_t)after == INT64_MAX)
        return STATUS_OK;
    return look_rows(handle, LOOK_MOMENT, LOOK_USERS,
        VALUES(U64(item), U64(first ? INT64_MIN : (int64_t)after + 1), U64(max)), user_take,
        PAGE(rows, max, count));
}

static enum status look_user(struct order_store *handle, item_id item, user_id user, struct look_user *row)
{
    *row = (struct look_user){ .item = item, .user = user };
    const enum status status =
        look_one(handle, LOOK_NOW, LOOK_USER, VALUES(U64(item), U64(user)), user_take, row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status item_take(sqlite3_stmt *row, void *out)
{
    struct look_item *look = out;
    *look = (struct look_item){
        .sold_before = column_u32(row, 12),
        .written_off = column_u32(row, 13),
        .sale_limit = column_u32(row, 14),
        .dead_units = column_u32(row, 15),
        .dead_other = column_u32(row, 16),
    };
    sqlite_item_columns(row, &look->item);
    for (int i = 0; i < CHANNELS_MAX; i++)
        look->item.channel_units[i] = column_u32(row, 17 + i);
    return STATUS_OK;
}

static enum status look_items(struct order_store *handle, enum look_at at, item_id after,
    struct look_item *rows, uint32_t max, uint32_t *count)
{
    return look_rows(
        handle, at, LOOK_ITEMS, VALUES(U64(after), U64(max)), item_take, PAGE(rows, max, count));
}

static enum status counter_take(sqlite3_stmt *row, void *out)
{
    struct look_counter *counter = out;
    *counter = (struct look_counter){ .scope = column_u64(row, 0),
        .user = column_u64(row, 1),
        .used = column_u64(row, 2),
        .counted = column_u64(row, 3) };
    return STATUS_OK;
}

static enum status look_counters(struct order_store *handle, bool first,
    const struct look_counter *after, struct look_counter *rows, uint32_t max, uint32_t *count)
{
    return look_rows(handle, LOOK_MOMENT, LOOK_COUNTERS,
        VALUES(U64(first ? -1 : (int64_t)after->scope), U64(first ? 0 : after->user), U64(max)),
        counter_take, PAGE(rows, max, count));
}

static enum status money_take(sqlite3_stmt *row, void *out)
{
    struct look_money *money = out;
    *money = (struct look_money){ .code = (uint8_t)sqlite3_column_int(row, 0),
        .payment = column_u64(row, 1),
        .ticket = column_u64(row, 2),
        .amount = column_u64(row, 3) };
    return STATUS_OK;
}

static enum status look_money(struct order_store *handle, uint64_t after, uint64_t to,
    struct look_money *rows, uint32_t max, uint32_t *count)
{
    return look_rows(handle, LOOK_MOMENT, LOOK_MONEY,
        VALUES(U64(after), U64(to), U64(max), U64(FINDING_PAYMENT_WITHOUT_ORDER),
            U64(FINDING_MONEY_UNUSED), U64(FINDING_PAYMENT_LIVE), U64(FINDING_REFUND_STUCK),
            U64(FINDING_UNANSWERED)),
        money_take, PAGE(rows, max, count));
}

static enum status last_take(sqlite3_stmt *row, void *out)
{
    *(uint64_t *)out = column_u64(row, 0);
    return STATUS_OK;
}

static enum status look_money_last(struct order_store *handle, uint64_t *last)
{
    return look_one(handle, LOOK_MOMENT, LOOK_MONEY_LAST, NO_VALUES, last_take, last);
}

static enum status sums_take(sqlite3_stmt *row, void *out)
{
    uint64_t *sums = out;
    sums[0] = column_sum(row, 0);
    sums[1] = column_sum(row, 2);
    return STATUS_OK;
}

static enum status look_money_sums(struct order_store *handle, uint64_t after, uint64_t to,
    uint64_t *captured, uint64_t *accounted)
{
    uint64_t sums[2] = { 0 };
    const enum status status =
        look_one(handle, LOOK_MOMENT, LOOK_MONEY_SUMS, VALUES(U64(after), U64(to)), sums_take, sums);
    *captured += sums[0];
    *accounted += sums[1];
    return status;
}

const struct reconcile_store_ops sqlite_reconcile_ops = {
    .moment_begin = look_moment_begin,
    .moment_end = look_moment_end,
    .orders = look_orders,
    .order = look_order,
    .dead = look_dead,
    .users = look_users,
    .user = look_user,
    .items = look_items,
    .counters = look_counters,
    .money = look_money,
    .money_last = look_money_last,
    .money_sums = look_money_sums,
    .repair = sqlite_repair,
};
