/* SPDX-License-Identifier: Apache-2.0 */
/* The final report of a sale (contract/report.h). */
#include "contract/report.h"

#include "store/sqlite/parts.h"

#define OF_SALE " FROM orders o JOIN items ON items.id = o.item WHERE items.sale = ?1"
#define PAYMENTS_OF_SALE \
    " FROM orders o JOIN items ON items.id = o.item" \
    " JOIN payments p ON p.paid_ticket = o.ticket AND p.use IN (1, 3) WHERE items.sale = ?1"

const char sqlite_report_tables[] =
    "CREATE TABLE sale_counts("
    "  sale INTEGER NOT NULL REFERENCES sales(id), layer TEXT NOT NULL, count INTEGER NOT NULL,"
    "  PRIMARY KEY(sale, layer)"
    ") STRICT, WITHOUT ROWID;";

static const struct sqlite_sql count_add = { SQL_REPORT_ADD,
    "INSERT INTO sale_counts(sale, layer, count) VALUES(?1, ?2, ?3) ON CONFLICT(sale, layer)"
    " DO UPDATE SET count = CASE WHEN layer IN ('sold-out', 'opened') THEN count"
    " ELSE count + ?3 END" };
static const struct sqlite_sql count_list = { SQL_REPORT_COUNTS,
    "SELECT layer, count FROM sale_counts WHERE sale = ?1 ORDER BY layer LIMIT ?2" };
static const struct sqlite_sql winners = { SQL_REPORT_WINNERS,
    "SELECT count(DISTINCT o.user)" OF_SALE " AND o.reason <> 3" };
static const struct sqlite_sql states = { SQL_REPORT_STATES,
    "SELECT o.state, o.reason, count(*), sum(o.quantity)" OF_SALE " GROUP BY o.state, o.reason" };
#define PAID SUM_HALVES("CASE o.state WHEN 2 THEN o.amount END")
#define REFUNDED SUM_HALVES("CASE o.state WHEN 4 THEN o.amount END")
static const struct sqlite_sql money = { SQL_REPORT_MONEY,
    "SELECT products.currency," PAID "," REFUNDED
    "FROM items JOIN products ON products.id = items.product JOIN orders o ON o.item = items.id"
    " WHERE items.sale = ?1 AND o.state IN (2, 4) GROUP BY products.currency LIMIT ?2" };
static const struct sqlite_sql paid_count = { SQL_REPORT_PAID, "SELECT count(*)" PAYMENTS_OF_SALE };
static const struct sqlite_sql paid_at = { SQL_REPORT_PAID_AT,
    "SELECT max(0, p.captured_ms - o.created_ms) AS took" PAYMENTS_OF_SALE
    " ORDER BY took LIMIT 1 OFFSET ?2" };

static enum status sqlite_counts_add(
    struct order_store *handle, sale_id sale, const struct sale_count *counts, uint32_t count)
{
    struct sqlite_store *store = sqlite_of(handle);
    sqlite3_stmt *add;
    enum status status = sqlite_prepare(store, &count_add, &add);
    if (status == STATUS_OK)
        status = sqlite_begin(store);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        bind_u64(add, 1, sale);
        bind_text(add, 2, counts[i].layer);
        bind_u64(add, 3, counts[i].count);
        status = sqlite_run(add);
    }
    if (status == STATUS_OK)
        status = sqlite_commit(store);
    if (status != STATUS_OK)
        sqlite_rollback(store);
    return status;
}

static enum status sqlite_counts(struct order_store *handle, sale_id sale,
    struct sale_count *counts, uint32_t max, uint32_t *count)
{
    sqlite3_stmt *list;
    *count = 0;
    enum status status = sqlite_prepare(sqlite_of(handle), &count_list, &list);
    if (status != STATUS_OK)
        return status;
    bind_u64(list, 1, sale);
    bind_u64(list, 2, max);
    while (*count < max && (status = sqlite_next(list)) == STATUS_OK) {
        struct sale_count *row = &counts[(*count)++];
        column_text(list, 0, row->layer, sizeof row->layer);
        row->count = column_u64(list, 1);
    }
    (void)sqlite3_reset(list);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status number_read(struct sqlite_store *store, const struct sqlite_sql *sql,
    sale_id sale, uint64_t offset, uint64_t *number)
{
    sqlite3_stmt *get;
    enum status status = sqlite_prepare(store, sql, &get);
    if (status != STATUS_OK)
        return status;
    bind_u64(get, 1, sale);
    if (sql == &paid_at)
        bind_u64(get, 2, offset);
    status = sqlite_next(get);
    if (status == STATUS_OK)
        *number = column_u64(get, 0);
    (void)sqlite3_reset(get);
    return status;
}

static enum status states_read(struct sqlite_store *store, sale_id sale, struct sale_figures *figures)
{
    sqlite3_stmt *list;
    enum status status = sqlite_prepare(store, &states, &list);
    if (status != STATUS_OK)
        return status;
    bind_u64(list, 1, sale);
    while ((status = sqlite_next(list)) == STATUS_OK) {
        const uint32_t state = column_u32(list, 0), reason = column_u32(list, 1);
        if (state >= ORDER_STATES || reason >= ORDER_REASONS)
            continue;
        figures->orders[state] += column_u64(list, 2);
        figures->units[state] += column_u64(list, 3);
        if (state == ORDER_CLOSED)
            figures->closed[reason] += column_u64(list, 2);
    }
    (void)sqlite3_reset(list);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status money_read(struct sqlite_store *store, sale_id sale, struct sale_figures *figures)
{
    sqlite3_stmt *list;
    enum status status = sqlite_prepare(store, &money, &list);
    if (status != STATUS_OK)
        return status;
    bind_u64(list, 1, sale);
    bind_u64(list, 2, CURRENCIES_MAX);
    while (figures->currencies < CURRENCIES_MAX && (status = sqlite_next(list)) == STATUS_OK) {
        struct sale_money *row = &figures->money[figures->currencies++];
        column_text(list, 0, row->currency, sizeof row->currency);
        row->paid = column_sum(list, 1);
        row->refunded = column_sum(list, 3);
    }
    (void)sqlite3_reset(list);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status sqlite_figures(struct order_store *handle, sale_id sale, struct sale_figures *figures)
{
    struct sqlite_store *store = sqlite_of(handle);
    *figures = (struct sale_figures){ 0 };
    enum status status = number_read(store, &winners, sale, 0, &figures->winners);
    if (status == STATUS_OK)
        status = states_read(store, sale, figures);
    if (status == STATUS_OK)
        status = money_read(store, sale, figures);
    if (status == STATUS_OK)
        status = number_read(store, &paid_count, sale, 0, &figures->payments);
    if (status != STATUS_OK || figures->payments == 0)
        return status;
    const uint64_t last = figures->payments - 1;
    status = number_read(store, &paid_at, sale, last / 2, &figures->median_ms);
    if (status == STATUS_OK)
        status = number_read(store, &paid_at, sale, last * 95 / 100, &figures->p95_ms);
    return status;
}

const struct report_store_ops sqlite_report_ops = {
    .counts_add = sqlite_counts_add,
    .counts = sqlite_counts,
    .figures = sqlite_figures,
};
