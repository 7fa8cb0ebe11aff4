/* SPDX-License-Identifier: Apache-2.0 */
/* Products, sales and items as the merchant describes them. What the log decides (gate, stock,
 * preheated, the limit that counts) is written by apply.c only. */
#include "store/limit_uses.h"
#include "store/parts.h"

enum { NUMBER_TRIES_MAX = 64 }; /* so many others may insert at the same time */

#define PRODUCT_COLUMNS "id, name, description, images, currency, list_price, stock, texts"
#define SALE_COLUMNS \
    "id, title, start_ms, end_ms, limit_per_user, eligible_only, published, gate, preheat_at_ms," \
    " one_open_order, details_required, human_check, waiting_room, pass_once, drop_percent, " \
    "pace_per_s, beacon_name, beacon_value, beacon_state, beacon_until_ms, terms_lsn," \
    " cooldown_s, return_draw_ms, archived, start_draw_ms, room_message, texts, shards, " \
    "timetable, day_ms"

static const char products_list[] =
    "SELECT " PRODUCT_COLUMNS " FROM products WHERE id > ?1 ORDER BY id LIMIT ?2";
static const char sale_insert[] =
    "INSERT INTO sales(id, gate, gate_before, logged_limit, beacon_value, beacon_state,"
    " beacon_until_ms, title, start_ms, end_ms, limit_per_user, eligible_only, published,"
    " preheat_at_ms, one_open_order, details_required, human_check, waiting_room, pass_once,"
    " drop_percent, pace_per_s, beacon_name, terms_lsn, archived, cooldown_s, return_draw_ms,"
    " start_draw_ms, room_message, texts, shards, timetable, day_ms) VALUES(?1, 0, 0, 0, '', 0, 0, "
    "?2, ?3, ?4, ?5,"
    " ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,"
    " ?25, ?26)"
    " ON CONFLICT(id) DO NOTHING";
static const char sale_update[] =
    "UPDATE sales SET title = ?2, start_ms = ?3, end_ms = ?4, limit_per_user = ?5,"
    " eligible_only = ?6, published = ?7, preheat_at_ms = ?8, one_open_order = ?9,"
    " details_required = ?10, human_check = ?11, waiting_room = ?12, pass_once = ?13,"
    " drop_percent = ?14, pace_per_s = ?15, beacon_name = ?16, terms_lsn = CASE WHEN terms_lsn > "
    "?17 THEN terms_lsn ELSE ?17 END,"
    " archived = ?18, cooldown_s = ?19, return_draw_ms = ?20, start_draw_ms = ?21,"
    " room_message = ?22, texts = ?23, shards = ?24, timetable = ?25, day_ms = ?26 WHERE id = ?1";
static const char sales_list[] =
    "SELECT " SALE_COLUMNS " FROM sales WHERE id > ?1 ORDER BY id LIMIT ?2";
static const char sales_due_list[] =
    "SELECT " SALE_COLUMNS " FROM sales WHERE gate <> 3 AND (end_ms, id) > (?1, ?2)"
    " AND (start_ms <= ?3 OR gate = 1 OR (preheat_at_ms > 0 AND preheat_at_ms <= ?3))"
    " ORDER BY end_ms, id LIMIT ?4";
static const char sales_tally_sql[] = "SELECT (SELECT coalesce(max(id), 0) FROM sales), count(*),"
                                      " coalesce(max(CASE WHEN start_ms <= ?1 OR gate = 1 THEN 1 "
                                      "ELSE 0 END), 0) FROM sales WHERE gate <> 3 AND end_ms > ?1";
static_assert(GATE_OPENED == 1 && GATE_ENDED == 3, "as in the statements and the index");
static const char items_all[] =
    "SELECT " ITEM_COLUMNS " FROM items WHERE id > ?1 ORDER BY id LIMIT ?2";
static const char items_of_sale[] =
    "SELECT " ITEM_COLUMNS " FROM items WHERE sale = ?3 AND id > ?1 ORDER BY id LIMIT ?2";

enum status store_last_id(struct store *store, enum store_counted counted, uint64_t *last)
{
    static const char *const texts[] = {
        [STORE_PRODUCTS] = "SELECT coalesce(max(id), 0) FROM products",
        [STORE_SALES] = "SELECT coalesce(max(id), 0) FROM sales",
        [STORE_ITEMS] = "SELECT coalesce(max(id), 0) FROM items",
    };
    return sql_number(store, texts[counted], NO_VALUES, last);
}

/* Above every number that was ever given, also by a database that a backup has replaced. Another connection
 * may take it first: then the insert does nothing, and there is a next one. */
enum status store_next_id(struct store *store, enum store_counted counted, uint64_t *id)
{
    uint64_t last = 0;
    const enum status status = store_last_id(store, counted, &last);
    *id = (last > store->floors[counted] ? last : store->floors[counted]) + 1;
    return status;
}

/* STATUS_CONFLICT: the number is taken. */
typedef enum status numbered_write(struct store *, uint64_t id, const void *row);

/* *id: the number that the row was given; else as it was. */
static enum status numbered_insert(struct store *store, enum store_counted counted,
    numbered_write *write, const void *row, uint32_t *id)
{
    enum status status = STATUS_CONFLICT;
    uint64_t next = 0;
    for (uint32_t tries = 0; tries < NUMBER_TRIES_MAX && status == STATUS_CONFLICT; tries++) {
        status = store_next_id(store, counted, &next);
        if (status == STATUS_OK)
            status = write(store, next, row);
    }
    if (status == STATUS_OK)
        *id = (uint32_t)next;
    return status == STATUS_CONFLICT ? STATUS_AWAY : status;
}

/* One row with exactly this id: the list from the id before it. *found: the id of that row. */
static enum status row_get(struct order_store *handle, uint32_t id, const char *list,
    const struct sql_columns *columns, void *row, const uint32_t *found)
{
    if (id == 0)
        return STATUS_NOT_FOUND;
    const enum status status =
        sql_one(store_of(handle), list, VALUES(U64(id - 1), U64(1)), columns, row);
    return status == STATUS_OK && *found != id ? STATUS_NOT_FOUND : status;
}

static const struct sql_columns product_columns = COLUMNS(product, FIELD(product, id),
    FIELD(product, name), FIELD(product, description), FIELD(product, images), FIELD(product, currency),
    FIELD(product, list_price), FIELD(product, stock), FIELD(product, texts));

static enum status product_write(struct store *store, uint64_t id, const void *row)
{
    const struct product *product = row;
    return sql_do_one(store,
        "INSERT INTO products(id, name, description, images, currency, list_price, texts)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(id) DO NOTHING",
        VALUES(U64(id), TEXT(product->name), TEXT(product->description), TEXT(product->images),
            TEXT(product->currency), U64(product->list_price), TEXT(product->texts)),
        STATUS_CONFLICT);
}

enum status store_product_insert(struct order_store *handle, struct product *product)
{
    product->stock = STOCK_NONE; /* see product_stock */
    return numbered_insert(store_of(handle), STORE_PRODUCTS, product_write, product, &product->id);
}

enum status store_products(struct order_store *handle, uint32_t after, struct product *products,
    uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), products_list, VALUES(U64(after), U64(max)), &product_columns,
        PAGE(products, max, count));
}

enum status store_product_get(struct order_store *handle, uint32_t id, struct product *product)
{
    return row_get(handle, id, products_list, &product_columns, product, &product->id);
}

static enum status sale_write(
    struct store *store, const char *sql, uint64_t id, const struct sale *sale, enum status none)
{
    return sql_do_one(store, sql,
        VALUES(U64(id), TEXT(sale->title), U64(sale->start_ms), U64(sale->end_ms),
            U64(sale->limit_per_user), U64(sale->eligible_only), U64(sale->published),
            U64(sale->preheat_at_ms), U64(sale->one_open_order), U64(sale->details_required),
            U64(sale->human_check), U64(sale->waiting_room), U64(sale->pass_once),
            U64(sale->drop_percent), U64(sale->pace_per_s), TEXT(sale->beacon_name),
            U64(sale->terms_lsn), U64(sale->archived), U64(sale->cooldown_s),
            U64(sale->return_draw_ms), U64(sale->start_draw_ms), TEXT(sale->room_message),
            TEXT(sale->texts), U64(sale->shards), U64(sale->timetable), U64(sale->day_ms)),
        none);
}

static const struct sql_columns sale_columns = COLUMNS(sale, FIELD(sale, id), FIELD(sale, title),
    FIELD(sale, start_ms), FIELD(sale, end_ms), FIELD(sale, limit_per_user),
    FIELD(sale, eligible_only), FIELD(sale, published), FIELD(sale, gate),
    FIELD(sale, preheat_at_ms), FIELD(sale, one_open_order), FIELD(sale, details_required),
    FIELD(sale, human_check), FIELD(sale, waiting_room), FIELD(sale, pass_once),
    FIELD(sale, drop_percent), FIELD(sale, pace_per_s), FIELD(sale, beacon_name),
    FIELD(sale, beacon_value), FIELD(sale, beacon_state), FIELD(sale, beacon_until_ms),
    FIELD(sale, terms_lsn), FIELD(sale, cooldown_s), FIELD(sale, return_draw_ms),
    FIELD(sale, archived), FIELD(sale, start_draw_ms), FIELD(sale, room_message),
    FIELD(sale, texts), FIELD(sale, shards), FIELD(sale, timetable), FIELD(sale, day_ms));

static enum status sale_write_new(struct store *store, uint64_t id, const void *row)
{
    return sale_write(store, sale_insert, id, row, STATUS_CONFLICT);
}

enum status store_sale_insert(struct order_store *handle, struct sale *sale)
{
    sale->shards += sale->shards == 0;
    const enum status status =
        numbered_insert(store_of(handle), STORE_SALES, sale_write_new, sale, &sale->id);
    if (status == STATUS_OK)
        sale->gate = GATE_SCHEDULED;
    return status;
}

static enum status sale_update_try(struct store *store, const struct sale *sale)
{
    enum status status = store_begin(store);
    if (status == STATUS_OK)
        status = store_shards_take(store, sale->id, sale->shards);
    if (status == STATUS_OK)
        status = sale_write(store, sale_update, sale->id, sale, STATUS_NOT_FOUND);
    return store_end(store, status);
}

enum status store_sale_update(struct order_store *handle, const struct sale *sale)
{
    struct store_tries tries = { 0 };
    enum status status;
    STORE_TRIES (store_of(handle), &tries, &status)
        status = sale_update_try(store_of(handle), sale);
    return status;
}

enum status store_sale_beacon(struct order_store *handle, const struct sale *sale)
{
    return sql_do_one(store_of(handle),
        "UPDATE sales SET beacon_value = ?1, beacon_state = ?2, beacon_until_ms = ?3"
        " WHERE id = ?4 AND beacon_state = 0 AND beacon_name <> ''",
        VALUES(TEXT(sale->beacon_value), U64(sale->beacon_state), U64(sale->beacon_until_ms),
            U64(sale->id)),
        STATUS_CONFLICT);
}

enum status store_sales(
    struct order_store *handle, sale_id after, struct sale *sales, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), sales_list, VALUES(U64(after), U64(max)), &sale_columns,
        PAGE(sales, max, count));
}

enum status store_sales_due(struct order_store *handle, struct sales_cursor *after,
    uint64_t start_ms, struct sale *sales, uint32_t max, uint32_t *count)
{
    const enum status status = sql_rows(store_of(handle), sales_due_list,
        VALUES(U64(after->end_ms), U64(after->id), U64(start_ms), U64(max)), &sale_columns,
        PAGE(sales, max, count));
    if (status == STATUS_OK && *count > 0)
        *after = (struct sales_cursor){ sales[*count - 1].end_ms, sales[*count - 1].id };
    return status;
}

enum status store_sales_tally(struct order_store *handle, uint64_t now_ms, struct sales_tally *tally)
{
    uint64_t numbers[3] = { 0 };
    const enum status status =
        sql_numbers(store_of(handle), sales_tally_sql, VALUES(U64(now_ms)), numbers, 3);
    *tally = (struct sales_tally){ .ids = numbers[0], .live = numbers[1], .open = numbers[2] != 0 };
    return status;
}

enum status store_sale_get(struct order_store *handle, sale_id id, struct sale *sale)
{
    return row_get(handle, id, sales_list, &sale_columns, sale, &sale->id);
}

static const struct sql_columns offer_columns = COLUMNS(sold_out_offer, FIELD(sold_out_offer, kind),
    FIELD(sold_out_offer, substitutes), FIELD(sold_out_offer, presale_item),
    FIELD(sold_out_offer, presale_cap), FIELD(sold_out_offer, deposit_item),
    FIELD(sold_out_offer, balance_ms), FIELD(sold_out_offer, deposit_kept));
static const struct sql_columns limits_columns =
    COLUMNS(item_limits, FIELD(item_limits, period_limit), FIELD(item_limits, payer_limit),
        FIELD(item_limits, period_days), FIELD(item_limits, period_group));
const struct sql_columns store_item_columns = COLUMNS(item, FIELD(item, id), FIELD(item, sale),
    FIELD(item, product), FIELD(item, flash_price), FIELD(item, limit_per_user),
    FIELD(item, pay_window_ms), FIELD(item, total), FIELD(item, locked), FIELD(item, sold),
    FIELD(item, safety), FIELD(item, version), FIELD(item, preheated), FIELD(item, channel_units),
    FIELD(item, deduct_on_payment), FIELD(item, channel_return_ms), FIELD(item, currency),
    FIELD(item, pooled), PART(item, offer, &offer_columns), PART(item, limits, &limits_columns));

static enum status item_write(struct store *store, uint64_t id, const void *row)
{
    const struct item *item = row;
    return sql_do_one(store,
        "INSERT INTO items(id, sale, product, flash_price, limit_per_user, pay_window_ms, total,"
        " locked, sold, sold_before, written_off, safety, " CHANNEL_COLUMNS ", deduct_on_payment,"
        " channel_return_ms, version, preheated) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 0,"
        " ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, 1, 0) ON CONFLICT(id) DO NOTHING",
        VALUES(U64(id), U64(item->sale), U64(item->product), U64(item->flash_price),
            U64(item->limit_per_user), U64(item->pay_window_ms), U64(item->total),
            U64(item->locked), U64(item->sold), U64(item->safety), CHANNELS(item->channel_units),
            U64(item->deduct_on_payment), U64(item->channel_return_ms)),
        STATUS_CONFLICT);
}

enum status store_item_insert(struct order_store *handle, struct item *item)
{
    const enum status status =
        numbered_insert(store_of(handle), STORE_ITEMS, item_write, item, &item->id);
    if (status != STATUS_OK)
        return status;
    item->version = 1;
    item->preheated = false;
    enum status then = STATUS_OK;
    if (item->offer.kind != SOLD_OUT_END)
        then = store_item_offer(handle, item->id, &item->offer);
    if (then == STATUS_OK && item->limits.period_days > 0)
        then = store_item_limits(handle, item->id, &item->limits);
    return then;
}

enum status store_sale_and_items(
    struct order_store *handle, struct sale *sale, struct item *items, uint32_t count)
{
    enum status status = store_sale_insert(handle, sale);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        items[i].sale = sale->id;
        status = store_item_insert(handle, &items[i]);
    }
    return status;
}

struct sale_work {
    struct order_store *handle;
    struct sale *sale;
    struct item *items;
    uint32_t count;
};

static enum status sale_and_items(struct store *store, void *context)
{
    const struct sale_work *work = context;
    (void)store;
    return store_sale_and_items(work->handle, work->sale, work->items, work->count);
}

enum status store_sale_insert_with_items(
    struct order_store *handle, struct sale *sale, struct item *items, uint32_t count)
{
    struct sale_work work = { handle, sale, items, count };
    return store_transact(store_of(handle), false, sale_and_items, &work);
}

enum status store_items(struct order_store *handle, sale_id sale, item_id after, struct item *items,
    uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), sale != 0 ? items_of_sale : items_all,
        sale != 0 ? VALUES(U64(after), U64(max), U64(sale)) : VALUES(U64(after), U64(max)),
        &store_item_columns, PAGE(items, max, count));
}

enum status store_item_get(struct order_store *handle, item_id id, struct item *item)
{
    return row_get(handle, id, items_all, &store_item_columns, item, &item->id);
}
