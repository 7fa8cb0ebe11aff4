/* SPDX-License-Identifier: Apache-2.0 */
/* The final report of a sale (contract/report.h). */
#include "contract/report.h"

#include "store/parts.h"

#define OF_SALE " FROM orders o JOIN items ON items.id = o.item WHERE items.sale = ?1"
#define PAYMENTS_OF_SALE \
    " FROM orders o JOIN items ON items.id = o.item" \
    " JOIN payments p ON p.paid_ticket = o.ticket AND p.used_for IN (1, 3) WHERE items.sale = ?1"

const char store_report_tables[] =
    "CREATE TABLE sale_counts("
    "  sale INTEGER NOT NULL REFERENCES sales(id), layer TEXT{40} NOT NULL, tally INTEGER NOT NULL,"
    "  PRIMARY KEY(sale, layer)"
    ") STRICT, WITHOUT ROWID;";

#define AMOUNT(state) \
    " coalesce(sum(CASE s.state WHEN " state " THEN s.amount_high END), 0)," \
    " coalesce(sum(CASE s.state WHEN " state " THEN s.amount_low END), 0) "
static const char paid_at[] =
    "SELECT CASE WHEN p.captured_ms > o.created_ms THEN p.captured_ms - o.created_ms ELSE 0 END AS "
    "took" PAYMENTS_OF_SALE " ORDER BY took LIMIT 1 OFFSET ?2";

static enum status count_write(struct store *store, const void *rows, uint32_t index, uint64_t sale)
{
    const struct sale_count *count = (const struct sale_count *)rows + index;
    return sql_do(store,
        "INSERT INTO sale_counts(sale, layer, tally) VALUES(?1, ?2, ?3) ON CONFLICT(sale, layer) DO"
        " UPDATE SET tally = CASE WHEN sale_counts.layer IN ('sold-out', 'opened')"
        " THEN sale_counts.tally ELSE sale_counts.tally + excluded.tally END",
        VALUES(U64(sale), TEXT(count->layer), U64(count->count)));
}

static enum status store_counts_add(
    struct order_store *handle, sale_id sale, const struct sale_count *counts, uint32_t count)
{
    return store_rows_write(store_of(handle), count_write, counts, count, sale);
}

static const struct sql_columns count_columns =
    COLUMNS(sale_count, FIELD(sale_count, layer), FIELD(sale_count, count));

static enum status store_counts(struct order_store *handle, sale_id sale, struct sale_count *counts,
    uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT layer, tally FROM sale_counts WHERE sale = ?1 ORDER BY layer LIMIT ?2",
        VALUES(U64(sale), U64(max)), &count_columns, PAGE(counts, max, count));
}

struct state_row {
    uint32_t state, reason;
    uint64_t orders, units;
};

static const struct sql_columns state_columns = COLUMNS(state_row, FIELD(state_row, state),
    FIELD(state_row, reason), FIELD(state_row, orders), FIELD(state_row, units));

static enum status states_read(struct store *store, sale_id sale, struct sale_figures *figures)
{
    struct state_row rows[ORDER_STATES * ORDER_REASONS];
    uint32_t count;
    const enum status status = sql_rows(store,
        "SELECT s.state, s.reason, sum(s.orders), sum(s.units) FROM items"
        " JOIN order_sums s ON s.item = items.id WHERE items.sale = ?1 GROUP BY s.state, s.reason",
        VALUES(U64(sale)), &state_columns, PAGE(rows, ORDER_STATES * ORDER_REASONS, &count));
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        if (rows[i].state >= ORDER_STATES || rows[i].reason >= ORDER_REASONS)
            continue;
        figures->orders[rows[i].state] += rows[i].orders;
        figures->units[rows[i].state] += rows[i].units;
        if (rows[i].state == ORDER_CLOSED)
            figures->closed[rows[i].reason] += rows[i].orders;
    }
    return status;
}

/* Without rejected orders, which are rare, the index tells all that is asked. */
static enum status winners_read(struct store *store, sale_id sale, struct sale_figures *figures)
{
    return sql_number(store,
        figures->closed[REASON_REJECTED] == 0
            ? "SELECT count(*) FROM (SELECT DISTINCT o.user_id" OF_SALE ") AS buyers"
            : "SELECT count(DISTINCT o.user_id)" OF_SALE " AND o.reason <> 3",
        VALUES(U64(sale)), &figures->winners);
}

static const struct sql_columns money_columns =
    COLUMNS(sale_money, FIELD(sale_money, currency), SUM(sale_money, paid), SUM(sale_money, refunded));

static enum status money_read(struct store *store, sale_id sale, struct sale_figures *figures)
{
    return sql_rows(store,
        "SELECT products.currency," AMOUNT("2") "," AMOUNT(
            "4") "FROM items JOIN products ON products.id = items.product"
                 " JOIN order_sums s ON s.item = items.id AND s.state IN (2, 4) AND s.orders > 0"
                 " WHERE items.sale = ?1 GROUP BY products.currency LIMIT ?2",
        VALUES(U64(sale), U64(CURRENCIES_MAX)), &money_columns,
        PAGE(figures->money, CURRENCIES_MAX, &figures->currencies));
}

static enum status store_figures(struct order_store *handle, sale_id sale, struct sale_figures *figures)
{
    struct store *store = store_of(handle);
    *figures = (struct sale_figures){ 0 };
    enum status status = states_read(store, sale, figures);
    if (status == STATUS_OK)
        status = winners_read(store, sale, figures);
    if (status == STATUS_OK)
        status = money_read(store, sale, figures);
    if (status == STATUS_OK)
        status = sql_number(
            store, "SELECT count(*)" PAYMENTS_OF_SALE, VALUES(U64(sale)), &figures->payments);
    if (status != STATUS_OK || figures->payments == 0)
        return status;
    const uint64_t last = figures->payments - 1;
    status = sql_number(store, paid_at, VALUES(U64(sale), U64(last / 2)), &figures->median_ms);
    if (status == STATUS_OK)
        status = sql_number(store, paid_at, VALUES(U64(sale), U64(last * 95 / 100)), &figures->p95_ms);
    return status;
}

const struct report_store_ops store_report_ops = {
    .counts_add = store_counts_add,
    .counts = store_counts,
    .figures = store_figures,
};
