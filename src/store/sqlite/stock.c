/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/stock.h"

#include "store/sqlite/parts.h"

static const char stock_take[] = "UPDATE items SET sold = sold + ?3, version = version + 1"
                                 " WHERE id = ?1 AND version = ?2 AND total - locked - sold >= ?3";
static const char stock_change[] =
    "UPDATE items SET total = total + ?4, locked = locked + ?5, sold = sold + ?3,"
    " written_off = written_off + ?6, safety = safety + ?7,"
    " channel_0 = channel_0 + ?8, channel_1 = channel_1 + ?9, channel_2 = channel_2 + ?10,"
    " channel_3 = channel_3 + ?11, channel_4 = channel_4 + ?12, channel_5 = channel_5 + ?13,"
    " channel_6 = channel_6 + ?14, channel_7 = channel_7 + ?15, version = version + 1"
    " WHERE id = ?1 AND version = ?2 AND total + ?4 - locked - ?5 - sold >= ?3";

void sqlite_stock_clear(struct stock *stock)
{
    stock->count = 0;
    stock->last = NULL;
    memset(stock->slots, 0, sizeof stock->slots);
}

static enum status stock_load(struct sqlite_batch *batch, item_id item, struct stock_row *row)
{
    sqlite3_stmt *read;
    enum status status = sqlite_prepare(batch->store,
        "SELECT items.sale, items.limit_per_user, sales.logged_limit, items.flash_price,"
        " items.version, items.preheated, total, locked, sold, written_off, safety,"
        " channel_0, channel_1, channel_2, channel_3, channel_4, channel_5, channel_6, channel_7"
        " FROM items JOIN sales ON sales.id = items.sale"
        " WHERE items.id = ?1",
        &read);
    if (status != STATUS_OK)
        return status;
    bind_u64(read, 1, item);
    status = sqlite_next(read);
    if (status == STATUS_OK) {
        *row = (struct stock_row){
            .item = item,
            .sale = column_u32(read, 0),
            .limit_per_user = column_u32(read, 1),
            .sale_limit = column_u32(read, 2),
            .flash_price = column_u64(read, 3),
            .version = column_u64(read, 4),
            .preheated = sqlite3_column_int(read, 5) != 0,
            .now = {
                .total = sqlite3_column_int64(read, 6),
                .locked = sqlite3_column_int64(read, 7),
                .sold = sqlite3_column_int64(read, 8),
                .written_off = sqlite3_column_int64(read, 9),
                .safety = sqlite3_column_int64(read, 10),
            },
        };
        for (int i = 0; i < CHANNELS_MAX; i++)
            row->now.channel[i] = sqlite3_column_int64(read, 11 + i);
        row->before = row->now;
    }
    (void)sqlite3_reset(read);
    return status;
}

enum status sqlite_stock_row(struct sqlite_batch *batch, item_id item, struct stock_row **row)
{
    struct stock *stock = &batch->store->stock;
    if (stock->last != NULL && stock->last->item == item) {
        *row = stock->last;
        return STATUS_OK;
    }
    uint32_t slot = (item * 2654435761u) & (STOCK_SLOTS - 1);
    while (stock->slots[slot] != 0) {
        struct stock_row *found = &stock->rows[stock->slots[slot] - 1];
        if (found->item == item) {
            *row = stock->last = found;
            return STATUS_OK;
        }
        slot = (slot + 1) & (STOCK_SLOTS - 1);
    }
    invariant(stock->count < ORDER_BATCH_MAX); /* a record names one item at most */
    struct stock_row *fresh = &stock->rows[stock->count];
    enum status status = stock_load(batch, item, fresh);
    if (status == STATUS_NOT_FOUND)
        return sqlite_refuse(batch, REFUSAL_UNKNOWN, "item %u is not in the database", item);
    if (status != STATUS_OK)
        return status;
    stock->count++;
    stock->slots[slot] = (uint16_t)stock->count;
    *row = stock->last = fresh;
    return STATUS_OK;
}

enum status sqlite_stock_take(struct sqlite_batch *batch, struct stock_row *row, uint32_t quantity)
{
    int64_t left = row->now.total - row->now.locked - row->now.sold;
    if (left < (int64_t)quantity)
        return sqlite_refuse(batch, REFUSAL_STOCK, "item %u has %lld units left, %u wanted",
            row->item, (long long)left, quantity);
    row->now.sold += quantity;
    return STATUS_OK;
}

void sqlite_stock_allot(struct stock_row *row, channel_index channel, int64_t units)
{
    if (channel < CHANNELS_MAX)
        row->now.channel[channel] += units;
    else if (channel == CHANNEL_SAFETY)
        row->now.safety += units;
}

static enum status stock_write(struct sqlite_batch *batch, const struct stock_row *row)
{
    const struct stock_units *before = &row->before, *now = &row->now;
    struct stock_units only_sold = *before;
    only_sold.sold = now->sold;
    bool simple = memcmp(&only_sold, now, sizeof only_sold) == 0;
    sqlite3_stmt *update;
    enum status status = sqlite_prepare(batch->store, simple ? stock_take : stock_change, &update);
    if (status != STATUS_OK)
        return status;
    bind_u64(update, 1, row->item);
    bind_u64(update, 2, row->version);
    bind_i64(update, 3, now->sold - before->sold);
    if (!simple) {
        bind_i64(update, 4, now->total - before->total);
        bind_i64(update, 5, now->locked - before->locked);
        bind_i64(update, 6, now->written_off - before->written_off);
        bind_i64(update, 7, now->safety - before->safety);
        for (int i = 0; i < CHANNELS_MAX; i++)
            bind_i64(update, 8 + i, now->channel[i] - before->channel[i]);
    }
    status = sqlite_run(update);
    if (status != STATUS_OK)
        return sqlite_batch_failed(batch, status);
    if (sqlite_changed_rows(batch->store) != 1)
        return sqlite_refuse(batch, REFUSAL_STOCK,
            "item %u has less stock, or its version is no longer %llu", row->item,
            (unsigned long long)row->version);
    return STATUS_OK;
}

enum status sqlite_stock_flush(struct sqlite_batch *batch)
{
    struct stock *stock = &batch->store->stock;
    uint32_t index = batch->index;
    batch->index = UINT32_MAX; /* the sum is refused, not a record */
    for (uint32_t i = 0; i < stock->count; i++) {
        const struct stock_row *row = &stock->rows[i];
        if (memcmp(&row->before, &row->now, sizeof row->now) == 0)
            continue;
        enum status status = stock_write(batch, row);
        if (status != STATUS_OK)
            return status;
    }
    batch->index = index;
    sqlite_stock_clear(stock);
    return STATUS_OK;
}
