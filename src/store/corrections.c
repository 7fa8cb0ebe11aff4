/* SPDX-License-Identifier: Apache-2.0 */
/* Products and items as an administrator corrects them, and the list of eligible users. What the log
 * decides is not touched here: stock of items that are preheated, gates, limits that count. */
#include "store/parts.h"

enum status store_product_update(struct order_store *handle, const struct product *product)
{
    return sql_do_one(store_of(handle),
        "UPDATE products SET name = ?1, description = ?2, images = ?3, currency = ?4,"
        " list_price = ?5, texts = ?6 WHERE id = ?7",
        VALUES(TEXT(product->name), TEXT(product->description), TEXT(product->images),
            TEXT(product->currency), U64(product->list_price), TEXT(product->texts), U64(product->id)),
        STATUS_NOT_FOUND);
}

enum status store_item_update(struct order_store *handle, const struct item *item, bool stock)
{
    const enum status status = sql_do_one(store_of(handle),
        "UPDATE items SET flash_price = ?2, limit_per_user = ?3, pay_window_ms = ?4,"
        " deduct_on_payment = ?5, channel_return_ms = ?7, terms_lsn = CASE WHEN terms_lsn > ?6 "
        "THEN terms_lsn ELSE ?6 END "
        "WHERE id = ?1",
        VALUES(U64(item->id), U64(item->flash_price), U64(item->limit_per_user), U64(item->pay_window_ms),
            U64(item->deduct_on_payment), U64(item->terms_lsn), U64(item->channel_return_ms)),
        STATUS_NOT_FOUND);
    if (status != STATUS_OK || !stock)
        return status;
    return sql_do_one(store_of(handle),
        "UPDATE items SET total = ?2, locked = ?3, safety = ?4, channel_0 = ?5, channel_1 = ?6,"
        " channel_2 = ?7, channel_3 = ?8, channel_4 = ?9, channel_5 = ?10, channel_6 = ?11,"
        " channel_7 = ?12, version = version + 1 WHERE id = ?1 AND preheated = 0",
        VALUES(U64(item->id), U64(item->total), U64(item->locked), U64(item->safety),
            CHANNELS(item->channel_units)),
        STATUS_CONFLICT);
}

enum status store_item_offer(struct order_store *handle, item_id id, const struct sold_out_offer *offer)
{
    return sql_do_one(store_of(handle),
        "UPDATE items SET when_sold_out = ?2, substitutes = ?3, presale_item = ?4, presale_cap = "
        "?5,"
        " deposit_item = ?6, balance_ms = ?7, deposit_kept = ?8 WHERE id = ?1",
        VALUES(U64(id), U64(offer->kind), TEXT(offer->substitutes), U64(offer->presale_item),
            U64(offer->presale_cap), U64(offer->deposit_item), U64(offer->balance_ms),
            U64(offer->deposit_kept)),
        STATUS_NOT_FOUND);
}

enum status store_item_remove(struct order_store *handle, item_id id)
{
    return sql_do_one(store_of(handle),
        "DELETE FROM items WHERE id = ?1 AND preheated = 0"
        " AND NOT EXISTS(SELECT 1 FROM orders WHERE item = ?1)",
        VALUES(U64(id)), STATUS_CONFLICT);
}

enum status store_eligible_users(struct order_store *handle, sale_id sale, const user_id *after,
    user_id *users, uint32_t max, uint32_t *count)
{
    *count = 0;
    if (after != NULL && *after == INT64_MAX)
        return STATUS_OK; /* no id comes after that one */
    return sql_rows(store_of(handle),
        "SELECT user_id FROM eligible_users WHERE sale = ?1 AND user_id >= ?2"
        " ORDER BY user_id LIMIT ?3",
        VALUES(U64(sale), U64(after == NULL ? (uint64_t)INT64_MIN : *after + 1), U64(max)),
        &sql_number_column, PAGE(users, max, count));
}
