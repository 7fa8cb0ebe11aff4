/* SPDX-License-Identifier: Apache-2.0 */
/* Figures and reports of channels, and units that left the safety stock (contract/channels.h). Figures are
 * one row for each channel; the rest is never changed or deleted. */
#include "contract/channels.h"

#include "store/parts.h"

const char store_channel_tables[] =
    "CREATE TABLE channel_figures("
    "  channel TEXT{16} NOT NULL, units INTEGER NOT NULL, orders INTEGER NOT NULL,"
    "  visits INTEGER NOT NULL, order_value INTEGER NOT NULL, time_ms INTEGER NOT NULL,"
    "  told_by TEXT NOT NULL,"
    "  PRIMARY KEY(channel)"
    ") STRICT;"
    "CREATE TABLE channel_reports("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  item INTEGER NOT NULL REFERENCES items(id), channel TEXT{16} NOT NULL,"
    "  reference TEXT{64} NOT NULL, reported INTEGER NOT NULL CHECK(reported > 0),"
    "  taken INTEGER NOT NULL CHECK(taken >= 0), missing INTEGER NOT NULL CHECK(missing >= 0),"
    "  time_ms INTEGER NOT NULL,"
    "  CHECK(taken + missing = reported),"
    "  UNIQUE(item, channel, reference)"
    ") STRICT;"
    "CREATE TABLE safety_uses("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  item INTEGER NOT NULL REFERENCES items(id),"
    "  reason INTEGER NOT NULL CHECK(reason BETWEEN 1 AND 4),"
    "  units INTEGER NOT NULL CHECK(units > 0), note TEXT NOT NULL, used_by TEXT NOT NULL,"
    "  time_ms INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX safety_uses_by_item ON safety_uses(item);";
static_assert(SAFETY_EXCHANGE == 1 && SAFETY_DAMAGE == 2 && SAFETY_LOSS == 3 && SAFETY_OTHER == 4
        && SAFETY_REASONS == 5,
    "numbers in the database never change their meaning");
static_assert(CHANNEL_NAME_MAX == 16 && REPORT_REFERENCE_MAX == 64, "as long as the columns");

static const struct sql_columns sales_columns = COLUMNS(sales_figures, FIELD(sales_figures, units),
    FIELD(sales_figures, orders), FIELD(sales_figures, visits), FIELD(sales_figures, value));
static const struct sql_columns figures_columns = COLUMNS(channel_figures,
    FIELD(channel_figures, channel), PART(channel_figures, figures, &sales_columns),
    FIELD(channel_figures, time_ms), FIELD(channel_figures, by));

static enum status figures_put(struct order_store *handle, const struct channel_figures *told)
{
    const struct sales_figures *figures = &told->figures;
    return sql_do(store_of(handle),
        "INSERT INTO channel_figures(channel, units, orders, visits, order_value, time_ms, told_by)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(channel) DO UPDATE SET"
        " units = excluded.units, orders = excluded.orders, visits = excluded.visits,"
        " order_value = excluded.order_value, time_ms = excluded.time_ms,"
        " told_by = excluded.told_by",
        VALUES(TEXT(told->channel), U64(figures->units), U64(figures->orders), U64(figures->visits),
            U64(figures->value), U64(told->time_ms), TEXT(told->by)));
}

static enum status figures_list(
    struct order_store *handle, struct channel_figures *rows, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT channel, units, orders, visits, order_value, time_ms, told_by FROM channel_figures"
        " ORDER BY channel LIMIT ?1",
        VALUES(U64(max)), &figures_columns, PAGE(rows, max, count));
}

struct channel_sales {
    uint32_t channel;
    uint64_t orders, units, value;
};
static const struct sql_columns channel_sales_columns =
    COLUMNS(channel_sales, FIELD(channel_sales, channel), FIELD(channel_sales, orders),
        FIELD(channel_sales, units), SUM(channel_sales, value));

static enum status sales_read(struct order_store *handle, uint64_t from_ms, const char *currency,
    struct sales_figures sales[CHANNELS_MAX])
{
    struct channel_sales rows[CHANNELS_MAX];
    uint32_t count = 0;
    const enum status status = sql_rows(store_of(handle),
        "SELECT o.channel, count(*), sum(o.quantity), sum(o.amount >> 32), sum(o.amount & "
        "4294967295)"
        " FROM orders o JOIN items ON items.id = o.item JOIN products ON products.id = "
        "items.product"
        " WHERE o.created_ms >= ?1 AND o.state = 2 AND products.currency = ?2"
        " GROUP BY o.channel ORDER BY o.channel LIMIT ?3",
        VALUES(U64(from_ms), TEXT(currency), U64(CHANNELS_MAX)), &channel_sales_columns,
        PAGE(rows, CHANNELS_MAX, &count));
    memset(sales, 0, CHANNELS_MAX * sizeof *sales);
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++)
        if (rows[i].channel < CHANNELS_MAX)
            sales[rows[i].channel] = (struct sales_figures){
                .units = rows[i].units, .orders = rows[i].orders, .value = rows[i].value
            };
    return status;
}
static_assert(ORDER_PAID == 2, "as in the statement");

#define REPORT_COLUMNS "id, item, channel, reference, reported, taken, missing, time_ms"
static const struct sql_columns report_columns = COLUMNS(channel_report, FIELD(channel_report, id),
    FIELD(channel_report, item), FIELD(channel_report, channel), FIELD(channel_report, reference),
    FIELD(channel_report, reported), FIELD(channel_report, taken), FIELD(channel_report, missing),
    FIELD(channel_report, time_ms));

static enum status report_get(struct order_store *handle, struct channel_report *report)
{
    struct channel_report found;
    const enum status status = sql_one(store_of(handle),
        "SELECT " REPORT_COLUMNS " FROM channel_reports WHERE item = ?1 AND channel = ?2"
        " AND reference = ?3",
        VALUES(U64(report->item), TEXT(report->channel), TEXT(report->reference)), &report_columns,
        &found);
    if (status == STATUS_OK)
        *report = found;
    return status;
}

static enum status report_put(struct order_store *handle, struct channel_report *report)
{
    const enum status status = sql_do(store_of(handle),
        "INSERT INTO channel_reports(item, channel, reference, reported, taken, missing, time_ms)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(item, channel, reference) DO NOTHING",
        VALUES(U64(report->item), TEXT(report->channel), TEXT(report->reference),
            U64(report->reported), U64(report->taken), U64(report->missing), U64(report->time_ms)));
    return status == STATUS_OK ? report_get(handle, report) : status;
}

static enum status reports_list(struct order_store *handle, uint64_t after,
    const struct channel_report_filter *filter, struct channel_report *rows, uint32_t max,
    uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT " REPORT_COLUMNS " FROM channel_reports WHERE id > ?1 AND (?2 = 0 OR item = ?2)"
        " AND (?3 = '' OR channel = ?3) AND (?4 = 0 OR missing > 0) ORDER BY id LIMIT ?5",
        VALUES(U64(after), U64(filter->item), TEXT(filter->channel), U64(filter->missing), U64(max)),
        &report_columns, PAGE(rows, max, count));
}

static enum status report_sums(struct order_store *handle, item_id item, const char *channel,
    uint64_t *reported, uint64_t *missing)
{
    uint64_t sums[2] = { 0 };
    const enum status status = sql_numbers(store_of(handle),
        "SELECT coalesce(sum(reported), 0), coalesce(sum(missing), 0) FROM channel_reports"
        " WHERE item = ?1 AND channel = ?2",
        VALUES(U64(item), TEXT(channel)), sums, 2);
    *reported = sums[0];
    *missing = sums[1];
    return status;
}

static enum status safety_use_put(struct order_store *handle, const struct safety_use *use)
{
    return sql_do(store_of(handle),
        "INSERT INTO safety_uses(item, reason, units, note, used_by, time_ms)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
        VALUES(U64(use->item), U64(use->reason), U64(use->units), TEXT(use->note), TEXT(use->by),
            U64(use->time_ms)));
}

#define OF_FINISHED \
    " JOIN sales ON sales.id = items.sale WHERE (sales.gate = 3 OR sales.end_ms <= ?1)" \
    " AND (?2 = 0 OR items.product = ?2)"
static_assert(GATE_ENDED == 3 && ORDER_REFUNDED == 4, "as in the statements");

static enum status safety_history(
    struct order_store *handle, uint32_t product, uint64_t now_ms, struct safety_history *history)
{
    struct store *store = store_of(handle);
    const struct sql_values of = VALUES(U64(now_ms), U64(product));
    uint64_t sums[2] = { 0 }, off = 0, uses[SAFETY_REASONS - 1] = { 0 };
    enum status status = sql_numbers(store,
        "SELECT coalesce(sum(s.units), 0),"
        " coalesce(sum(CASE WHEN s.state = 4 THEN s.units ELSE 0 END), 0)"
        " FROM order_sums s JOIN items ON items.id = s.item" OF_FINISHED " AND s.state IN (2, 4)",
        of, sums, 2);
    if (status == STATUS_OK)
        status = sql_number(
            store, "SELECT coalesce(sum(items.written_off), 0) FROM items" OF_FINISHED, of, &off);
    if (status == STATUS_OK)
        status = sql_numbers(store,
            "SELECT coalesce(sum(CASE WHEN u.reason = 1 THEN u.units ELSE 0 END), 0),"
            " coalesce(sum(CASE WHEN u.reason = 2 THEN u.units ELSE 0 END), 0),"
            " coalesce(sum(CASE WHEN u.reason = 3 THEN u.units ELSE 0 END), 0),"
            " coalesce(sum(CASE WHEN u.reason = 4 THEN u.units ELSE 0 END), 0)"
            " FROM safety_uses u JOIN items ON items.id = u.item" OF_FINISHED,
            of, uses, SAFETY_REASONS - 1);
    /* Units that were written off came back, and were of no use. */
    *history = (struct safety_history){ .sold = sums[0],
        .returned = sums[1] > off ? sums[1] - off : 0,
        .exchanged = uses[SAFETY_EXCHANGE - 1],
        .damaged = off + uses[SAFETY_DAMAGE - 1],
        .lost = uses[SAFETY_LOSS - 1],
        .other = uses[SAFETY_OTHER - 1] };
    return status;
}

const struct channel_store_ops store_channel_ops = {
    .figures_put = figures_put,
    .figures = figures_list,
    .sales = sales_read,
    .report_get = report_get,
    .report_put = report_put,
    .reports = reports_list,
    .report_sums = report_sums,
    .safety_use_put = safety_use_put,
    .safety_history = safety_history,
};
