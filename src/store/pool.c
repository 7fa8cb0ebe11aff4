/* SPDX-License-Identifier: Apache-2.0 */
/* Products with a stock of their own: items take their units from it before they are preheated, and what is
 * taken from such an item by ADJUST goes back, in the transaction of the record. So at each commit the units
 * of a product are in its stock or in one item. An item is locked before its product. */
#include "policy/stock_share.h"

#include "store/parts.h"

enum status store_product_stock(struct order_store *handle, uint32_t id, int64_t stock)
{
    return sql_do_one(store_of(handle), "UPDATE products SET stock = ?2 WHERE id = ?1",
        VALUES(U64(id), U64(stock)), STATUS_NOT_FOUND);
}

/* Within a transaction that has locked the item. */
static enum status draw_write(struct store *store, const struct item *item, uint32_t taken)
{
    enum status status =
        sql_do_one(store, "UPDATE products SET stock = stock - ?2 WHERE id = ?1 AND stock >= ?2",
            VALUES(U64(item->product), U64(taken)), STATUS_CONFLICT);
    if (status == STATUS_OK)
        status = store_item_update(&store->store, item, true);
    if (status == STATUS_OK)
        status = sql_do_one(store, "UPDATE items SET pooled = 1 WHERE id = ?1 AND pooled = 0",
            VALUES(U64(item->id)), STATUS_CONFLICT);
    return status == STATUS_CONFLICT ? store_conflict(store) : status;
}

static enum status draw_make(struct store *store, void *context)
{
    struct item *item = context;
    uint64_t stock = 0;
    enum status status = store_item_lock(store, item->id);
    if (status == STATUS_OK)
        status = store_item_get(&store->store, item->id, item);
    if (status == STATUS_OK)
        status = sql_number(
            store, "SELECT stock FROM products WHERE id = ?1", VALUES(U64(item->product)), &stock);
    if (status != STATUS_OK || item->preheated || item->pooled || (int64_t)stock < 0)
        return status;
    const uint32_t taken = stock_share(item, stock > UNITS_MAX ? UNITS_MAX : (uint32_t)stock);
    status = draw_write(store, item, taken);
    item->pooled = status == STATUS_OK;
    item->version++;
    return status;
}

enum status store_item_draw(struct order_store *handle, struct item *item)
{
    return store_transact(store_of(handle), true, draw_make, item);
}

enum status store_items_pooled(struct order_store *handle, item_id after, uint64_t from_ms,
    uint64_t to_ms, struct item *items, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT " ITEM_COLUMNS " FROM items WHERE id > ?1 AND pooled = 1 AND sale IN"
        " (SELECT id FROM sales WHERE end_ms > ?2 AND end_ms <= ?3) ORDER BY id LIMIT ?4",
        VALUES(U64(after), U64(from_ms), U64(to_ms), U64(max)), &store_item_columns,
        PAGE(items, max, count));
}

enum status store_pool_return(struct store_batch *batch, item_id item, int64_t units)
{
    return store_batch_do(batch,
        "UPDATE products SET stock = stock + ?2 WHERE stock >= 0"
        " AND id = (SELECT product FROM items WHERE id = ?1 AND pooled = 1)",
        VALUES(U64(item), U64(units)));
}
