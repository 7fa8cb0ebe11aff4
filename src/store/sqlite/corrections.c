/* SPDX-License-Identifier: Apache-2.0 */
/* Products and items as an administrator corrects them, and the list of eligible users. What the log
 * decides is not touched here: stock of items that are preheated, gates, limits that count. */
#include "store/sqlite/parts.h"

static const struct sqlite_sql product_update = { SQL_PRODUCT_UPDATE,
    "UPDATE products SET name = ?1, description = ?2, images = ?3, currency = ?4, list_price = ?5"
    " WHERE id = ?6" };
static const struct sqlite_sql item_terms = { SQL_ITEM_TERMS,
    "UPDATE items SET flash_price = ?2, limit_per_user = ?3, pay_window_ms = ?4,"
    " deduct_on_payment = ?5, terms_lsn = max(terms_lsn, ?6) WHERE id = ?1" };
static const struct sqlite_sql item_stock = { SQL_ITEM_STOCK,
    "UPDATE items SET total = ?2, locked = ?3, safety = ?4, channel_0 = ?5, channel_1 = ?6,"
    " channel_2 = ?7, channel_3 = ?8, channel_4 = ?9, channel_5 = ?10, channel_6 = ?11,"
    " channel_7 = ?12, version = version + 1 WHERE id = ?1 AND preheated = 0" };
static const struct sqlite_sql item_remove = { SQL_ITEM_REMOVE,
    "DELETE FROM items WHERE id = ?1 AND preheated = 0"
    " AND NOT EXISTS(SELECT 1 FROM orders WHERE item = ?1)" };
static const struct sqlite_sql eligible_list = { SQL_ELIGIBLE_LIST,
    "SELECT user FROM eligible_users WHERE sale = ?1 AND user >= ?2 ORDER BY user LIMIT ?3" };

static enum status one_row(struct sqlite_store *store, enum status status, enum status none)
{
    if (status != STATUS_OK)
        return status;
    return sqlite_changed_rows(store) == 1 ? STATUS_OK : none;
}

enum status sqlite_product_update(struct order_store *handle, const struct product *product)
{
    sqlite3_stmt *update;
    enum status status = sqlite_prepare(sqlite_of(handle), &product_update, &update);
    if (status != STATUS_OK)
        return status;
    bind_text(update, 1, product->name);
    bind_text(update, 2, product->description);
    bind_text(update, 3, product->images);
    bind_text(update, 4, product->currency);
    bind_u64(update, 5, product->list_price);
    bind_u64(update, 6, product->id);
    status = sqlite_run(update);
    (void)sqlite3_clear_bindings(update); /* texts belong to the caller */
    return one_row(sqlite_of(handle), status, STATUS_NOT_FOUND);
}

enum status sqlite_item_update(struct order_store *handle, const struct item *item, bool stock)
{
    sqlite3_stmt *terms, *units;
    enum status status = sqlite_prepare(sqlite_of(handle), &item_terms, &terms);
    if (status == STATUS_OK)
        status = sqlite_prepare(sqlite_of(handle), &item_stock, &units);
    if (status != STATUS_OK)
        return status;
    bind_u64(terms, 1, item->id);
    bind_u64(terms, 2, item->flash_price);
    bind_u64(terms, 3, item->limit_per_user);
    bind_u64(terms, 4, item->pay_window_ms);
    bind_u64(terms, 5, item->deduct_on_payment);
    bind_u64(terms, 6, item->terms_lsn);
    status = one_row(sqlite_of(handle), sqlite_run(terms), STATUS_NOT_FOUND);
    if (status != STATUS_OK || !stock)
        return status;
    bind_u64(units, 1, item->id);
    bind_u64(units, 2, item->total);
    bind_u64(units, 3, item->locked);
    bind_u64(units, 4, item->safety);
    for (int i = 0; i < CHANNELS_MAX; i++)
        bind_u64(units, 5 + i, item->channel_units[i]);
    return one_row(sqlite_of(handle), sqlite_run(units), STATUS_CONFLICT);
}

enum status sqlite_item_remove(struct order_store *handle, item_id id)
{
    sqlite3_stmt *remove;
    const enum status status = sqlite_prepare(sqlite_of(handle), &item_remove, &remove);
    if (status != STATUS_OK)
        return status;
    bind_u64(remove, 1, id);
    return one_row(sqlite_of(handle), sqlite_run(remove), STATUS_CONFLICT);
}

enum status sqlite_eligible_users(struct order_store *handle, sale_id sale, const user_id *after,
    user_id *users, uint32_t max, uint32_t *count)
{
    sqlite3_stmt *list;
    *count = 0;
    if (after != NULL && *after == INT64_MAX)
        return STATUS_OK; /* nobody comes behind that one */
    enum status status = sqlite_prepare(sqlite_of(handle), &eligible_list, &list);
    if (status != STATUS_OK)
        return status;
    bind_u64(list, 1, sale);
    bind_u64(list, 2, after == NULL ? (uint64_t)INT64_MIN : *after + 1);
    bind_u64(list, 3, max);
    while (*count < max && (status = sqlite_next(list)) == STATUS_OK)
        users[(*count)++] = column_u64(list, 0);
    (void)sqlite3_reset(list);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}
