/* SPDX-License-Identifier: Apache-2.0 */
/* Products, sales and items as the merchant describes them. What the log decides (gate, stock,
 * preheated, the limit that counts) is written by apply.c only. */
#include "store/sqlite/parts.h"

#define PRODUCT_COLUMNS "id, name, description, images, currency, list_price"
#define SALE_COLUMNS \
    "id, title, start_ms, end_ms, limit_per_user, eligible_only, published, gate, preheat_at_ms," \
    " one_open_order, details_required, human_check, waiting_room, pass_once, drop_percent, " \
    "pace_per_s, beacon_name, beacon_value, beacon_state, beacon_until_ms, terms_lsn," \
    " cooldown_s, return_draw_ms, archived, start_draw_ms"
#define ITEM_COLUMNS \
    "id, sale, product, flash_price, limit_per_user, pay_window_ms, total, locked, sold, safety, " \
    "version, preheated," \
    " channel_0, channel_1, channel_2, channel_3, channel_4, channel_5, channel_6, channel_7," \
    " deduct_on_payment, (SELECT currency FROM products WHERE products.id = items.product)"

/* Above every number that was ever given, also by a database that a backup has replaced. */
enum { NEXT_ID_FLOOR = 30 };
#define NEXT_ID(table) "(SELECT max(ifnull(max(id), 0), ?30) + 1 FROM " table ")"

static const char products_list[] =
    "SELECT " PRODUCT_COLUMNS " FROM products WHERE id > ?1 ORDER BY id LIMIT ?2";
static const char sale_insert[] =
    "INSERT INTO sales(id, title, start_ms, end_ms, limit_per_user, eligible_only, published, "
    "preheat_at_ms, gate,"
    " gate_before, logged_limit, one_open_order, details_required, human_check, waiting_room,"
    " pass_once, drop_percent, pace_per_s, beacon_name, beacon_value, beacon_state, "
    "beacon_until_ms, cooldown_s, return_draw_ms, start_draw_ms)"
    " VALUES(" NEXT_ID("sales") ", ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, 0, ?8, ?9, ?10, ?11, ?12, "
                                "?13, ?14, ?15, '', 0, 0,"
                                " ?20, ?21, ?23)";
static const char sale_update[] =
    "UPDATE sales SET title = ?1, start_ms = ?2, end_ms = ?3, limit_per_user = ?4,"
    " eligible_only = ?5, published = ?6, preheat_at_ms = ?7, one_open_order = ?8,"
    " details_required = ?9, human_check = ?10, waiting_room = ?11, pass_once = ?12,"
    " drop_percent = ?13, pace_per_s = ?14, beacon_name = ?15, terms_lsn = max(terms_lsn, ?17),"
    " cooldown_s = ?20, return_draw_ms = ?21, start_draw_ms = ?23, archived = ?18 WHERE id ="
    " ?16";
static const char sales_list[] =
    "SELECT " SALE_COLUMNS " FROM sales WHERE id > ?1 ORDER BY id LIMIT ?2";
static const char item_insert[] =
    "INSERT INTO items(id, sale, product, flash_price, limit_per_user, pay_window_ms, total,"
    " locked, sold, sold_before, written_off, safety, channel_0, channel_1, channel_2,"
    " channel_3, channel_4, channel_5, channel_6, channel_7,"
    " version, preheated, deduct_on_payment) VALUES(" NEXT_ID(
        "items") ", ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, 0, ?9, "
                 "?10, ?11, ?12, ?13, "
                 "?14, ?15, ?16,"
                 " ?17, 1, 0, ?18)";
static const char items_all[] =
    "SELECT " ITEM_COLUMNS " FROM items WHERE id > ?1 ORDER BY id LIMIT ?2";
static const char items_of_sale[] =
    "SELECT " ITEM_COLUMNS " FROM items WHERE sale = ?3 AND id > ?1 ORDER BY id LIMIT ?2";

static enum status catalog_insert(
    struct sqlite_store *store, sqlite3_stmt *insert, enum sqlite_counted table, uint32_t *id)
{
    bind_u64(insert, NEXT_ID_FLOOR, store->floors[table]);
    enum status status = sqlite_run(insert);
    (void)sqlite3_clear_bindings(insert); /* texts belong to the caller */
    if (status == STATUS_OK)
        *id = (uint32_t)sqlite3_last_insert_rowid(store->database);
    return status;
}

/* One row with exactly this id: the list from the id before it. *found: the id of that row. */
static enum status row_get(struct order_store *handle, uint32_t id, const char *list,
    sqlite_take take, void *row, const uint32_t *found)
{
    if (id == 0)
        return STATUS_NOT_FOUND;
    const enum status status =
        sqlite_one(sqlite_of(handle), list, VALUES(U64(id - 1), U64(1)), take, row);
    return status == STATUS_OK && *found != id ? STATUS_NOT_FOUND : status;
}

static enum status product_from_row(sqlite3_stmt *row, void *out)
{
    struct product *product = out;
    product->id = column_u32(row, 0);
    column_text(row, 1, product->name, sizeof product->name);
    column_text(row, 2, product->description, sizeof product->description);
    column_text(row, 3, product->images, sizeof product->images);
    column_text(row, 4, product->currency, sizeof product->currency);
    product->list_price = column_u64(row, 5);
    return STATUS_OK;
}

enum status sqlite_product_insert(struct order_store *handle, struct product *product)
{
    sqlite3_stmt *insert;
    enum status status = sqlite_prepare(sqlite_of(handle),
        "INSERT INTO products(id, name, description, images, currency, list_price)"
        " VALUES(" NEXT_ID("products") ", ?1, ?2, ?3, ?4, ?5)",
        &insert);
    if (status != STATUS_OK)
        return status;
    bind_text(insert, 1, product->name);
    bind_text(insert, 2, product->description);
    bind_text(insert, 3, product->images);
    bind_text(insert, 4, product->currency);
    bind_u64(insert, 5, product->list_price);
    return catalog_insert(sqlite_of(handle), insert, SQLITE_PRODUCTS, &product->id);
}

enum status sqlite_products(struct order_store *handle, uint32_t after, struct product *products,
    uint32_t max, uint32_t *count)
{
    return sqlite_rows(sqlite_of(handle), products_list, VALUES(U64(after), U64(max)),
        product_from_row, PAGE(products, max, count));
}

enum status sqlite_product_get(struct order_store *handle, uint32_t id, struct product *product)
{
    return row_get(handle, id, products_list, product_from_row, product, &product->id);
}

static void sale_bind(sqlite3_stmt *statement, const struct sale *sale)
{
    bind_text(statement, 1, sale->title);
    bind_u64(statement, 2, sale->start_ms);
    bind_u64(statement, 3, sale->end_ms);
    bind_u64(statement, 4, sale->limit_per_user);
    bind_u64(statement, 5, sale->eligible_only);
    bind_u64(statement, 6, sale->published);
    bind_u64(statement, 7, sale->preheat_at_ms);
    bind_u64(statement, 8, sale->one_open_order);
    bind_u64(statement, 9, sale->details_required);
    bind_u64(statement, 10, sale->human_check);
    bind_u64(statement, 11, sale->waiting_room);
    bind_u64(statement, 12, sale->pass_once);
    bind_u64(statement, 13, sale->drop_percent);
    bind_u64(statement, 14, sale->pace_per_s);
    bind_text(statement, 15, sale->beacon_name);
    bind_u64(statement, 20, sale->cooldown_s);
    bind_u64(statement, 21, sale->return_draw_ms);
    bind_u64(statement, 23, sale->start_draw_ms);
}

static enum status sale_from_row(sqlite3_stmt *row, void *out)
{
    struct sale *sale = out;
    *sale = (struct sale){
        .id = column_u32(row, 0),
        .start_ms = column_u64(row, 2),
        .end_ms = column_u64(row, 3),
        .limit_per_user = column_u32(row, 4),
        .eligible_only = sqlite3_column_int(row, 5) != 0,
        .published = sqlite3_column_int(row, 6) != 0,
        .gate = (uint8_t)sqlite3_column_int(row, 7),
        .preheat_at_ms = column_u64(row, 8),
        .one_open_order = sqlite3_column_int(row, 9) != 0,
        .details_required = sqlite3_column_int(row, 10) != 0,
        .human_check = (uint8_t)sqlite3_column_int(row, 11),
        .waiting_room = sqlite3_column_int(row, 12) != 0,
        .pass_once = sqlite3_column_int(row, 13) != 0,
        .drop_percent = column_u32(row, 14),
        .pace_per_s = column_u32(row, 15),
        .beacon_state = (uint8_t)sqlite3_column_int(row, 18),
        .beacon_until_ms = column_u64(row, 19),
        .terms_lsn = column_u64(row, 20),
        .cooldown_s = column_u32(row, 21),
        .return_draw_ms = column_u32(row, 22),
        .start_draw_ms = column_u32(row, 24),
        .archived = sqlite3_column_int(row, 23) != 0,
    };
    column_text(row, 1, sale->title, sizeof sale->title);
    column_text(row, 16, sale->beacon_name, sizeof sale->beacon_name);
    column_text(row, 17, sale->beacon_value, sizeof sale->beacon_value);
    return STATUS_OK;
}

enum status sqlite_sale_insert(struct order_store *handle, struct sale *sale)
{
    sqlite3_stmt *insert;
    enum status status = sqlite_prepare(sqlite_of(handle), sale_insert, &insert);
    if (status != STATUS_OK)
        return status;
    sale_bind(insert, sale);
    status = catalog_insert(sqlite_of(handle), insert, SQLITE_SALES, &sale->id);
    if (status == STATUS_OK)
        sale->gate = GATE_SCHEDULED;
    return status;
}

enum status sqlite_sale_update(struct order_store *handle, const struct sale *sale)
{
    sqlite3_stmt *update;
    enum status status = sqlite_prepare(sqlite_of(handle), sale_update, &update);
    if (status != STATUS_OK)
        return status;
    sale_bind(update, sale);
    bind_u64(update, 16, sale->id);
    bind_u64(update, 17, sale->terms_lsn);
    bind_u64(update, 18, sale->archived);
    status = sqlite_run(update);
    (void)sqlite3_clear_bindings(update);
    if (status != STATUS_OK)
        return status;
    return sqlite_changed_rows(sqlite_of(handle)) == 1 ? STATUS_OK : STATUS_NOT_FOUND;
}

enum status sqlite_sale_beacon(struct order_store *handle, const struct sale *sale)
{
    return sqlite_do_one(sqlite_of(handle),
        "UPDATE sales SET beacon_value = ?1, beacon_state = ?2, beacon_until_ms = ?3"
        " WHERE id = ?4 AND beacon_state = 0 AND beacon_name <> ''",
        VALUES(TEXT(sale->beacon_value), U64(sale->beacon_state), U64(sale->beacon_until_ms),
            U64(sale->id)),
        STATUS_CONFLICT);
}

enum status sqlite_sales(
    struct order_store *handle, sale_id after, struct sale *sales, uint32_t max, uint32_t *count)
{
    return sqlite_rows(sqlite_of(handle), sales_list, VALUES(U64(after), U64(max)), sale_from_row,
        PAGE(sales, max, count));
}

enum status sqlite_sale_get(struct order_store *handle, sale_id id, struct sale *sale)
{
    return row_get(handle, id, sales_list, sale_from_row, sale, &sale->id);
}

void sqlite_item_columns(sqlite3_stmt *row, struct item *item)
{
    *item = (struct item){
        .id = column_u32(row, 0),
        .sale = column_u32(row, 1),
        .product = column_u32(row, 2),
        .flash_price = column_u64(row, 3),
        .limit_per_user = column_u32(row, 4),
        .pay_window_ms = column_u32(row, 5),
        .total = column_u32(row, 6),
        .locked = column_u32(row, 7),
        .sold = column_u32(row, 8),
        .safety = column_u32(row, 9),
        .version = column_u64(row, 10),
        .preheated = sqlite3_column_int(row, 11) != 0,
    };
}

static enum status item_from_row(sqlite3_stmt *row, void *out)
{
    struct item *item = out;
    sqlite_item_columns(row, item);
    item->deduct_on_payment = sqlite3_column_int(row, 12 + CHANNELS_MAX) != 0;
    for (int i = 0; i < CHANNELS_MAX; i++)
        item->channel_units[i] = column_u32(row, 12 + i);
    column_text(row, 13 + CHANNELS_MAX, item->currency, sizeof item->currency);
    return STATUS_OK;
}

enum status sqlite_item_insert(struct order_store *handle, struct item *item)
{
    sqlite3_stmt *insert;
    enum status status = sqlite_prepare(sqlite_of(handle), item_insert, &insert);
    if (status != STATUS_OK)
        return status;
    bind_u64(insert, 1, item->sale);
    bind_u64(insert, 2, item->product);
    bind_u64(insert, 3, item->flash_price);
    bind_u64(insert, 4, item->limit_per_user);
    bind_u64(insert, 5, item->pay_window_ms);
    bind_u64(insert, 6, item->total);
    bind_u64(insert, 7, item->locked);
    bind_u64(insert, 8, item->sold);
    bind_u64(insert, 9, item->safety);
    for (int i = 0; i < CHANNELS_MAX; i++)
        bind_u64(insert, 10 + i, item->channel_units[i]);
    bind_u64(insert, 10 + CHANNELS_MAX, item->deduct_on_payment);
    status = catalog_insert(sqlite_of(handle), insert, SQLITE_ITEMS, &item->id);
    if (status == STATUS_OK) {
        item->version = 1;
        item->preheated = false;
    }
    return status;
}

enum status sqlite_sale_insert_with_items(
    struct order_store *handle, struct sale *sale, struct item *items, uint32_t count)
{
    struct sqlite_store *store = sqlite_of(handle);
    enum status status = sqlite_begin(store);
    if (status != STATUS_OK)
        return status;
    status = sqlite_sale_insert(handle, sale);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        items[i].sale = sale->id;
        status = sqlite_item_insert(handle, &items[i]);
    }
    return sqlite_end(store, status);
}

enum status sqlite_items(struct order_store *handle, sale_id sale, item_id after,
    struct item *items, uint32_t max, uint32_t *count)
{
    return sqlite_rows(sqlite_of(handle), sale != 0 ? items_of_sale : items_all,
        sale != 0 ? VALUES(U64(after), U64(max), U64(sale)) : VALUES(U64(after), U64(max)),
        item_from_row, PAGE(items, max, count));
}

enum status sqlite_item_get(struct order_store *handle, item_id id, struct item *item)
{
    return row_get(handle, id, items_all, item_from_row, item, &item->id);
}
