/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stock.h"

#include "base/log.h"
#include "store/parts.h"

const char store_sums_tables[] = "CREATE TABLE order_sums("
                                 "  item INTEGER NOT NULL REFERENCES items(id),"
                                 "  state INTEGER NOT NULL, reason INTEGER NOT NULL," /* as in orders */
                                 "  orders INTEGER NOT NULL, units INTEGER NOT NULL,"
                                 "  amount_high INTEGER NOT NULL, amount_low INTEGER NOT NULL,"
                                 "  PRIMARY KEY(item, state, reason)"
                                 ") STRICT, WITHOUT ROWID;";

static const char stock_take[] = "UPDATE items SET sold = sold + ?3, version = version + 1"
                                 " WHERE id = ?1 AND version = ?2 AND total - locked - sold >= ?3";
static const char stock_change[] =
    "UPDATE items SET total = total + ?4, locked = locked + ?5, sold = sold + ?3,"
    " written_off = written_off + ?6, safety = safety + ?7,"
    " channel_0 = channel_0 + ?8, channel_1 = channel_1 + ?9, channel_2 = channel_2 + ?10,"
    " channel_3 = channel_3 + ?11, channel_4 = channel_4 + ?12, channel_5 = channel_5 + ?13,"
    " channel_6 = channel_6 + ?14, channel_7 = channel_7 + ?15, version = version + 1"
    " WHERE id = ?1 AND version = ?2 AND total + ?4 - locked - ?5 - sold >= ?3";

static const char item_version[] = "SELECT version FROM items WHERE id = ?1";

/* The slot of the item, or the free one where it would stand. */
static uint16_t *slot_of(struct stock *stock, item_id item)
{
    uint32_t slot = (item * 2654435761u) & (STOCK_SLOTS - 1);
    while (stock->slots[slot] != 0 && stock->rows[stock->slots[slot] - 1].item != item)
        slot = (slot + 1) & (STOCK_SLOTS - 1);
    return &stock->slots[slot];
}

void store_stock_clear(struct stock *stock)
{
    stock->last = NULL;
    if (stock->count > STOCK_FEW) {
        stock->count = 0;
        memset(stock->slots, 0, sizeof stock->slots);
    }
    while (stock->count > 0) /* the last one first: nobody stands behind it */
        *slot_of(stock, stock->rows[--stock->count].item) = 0;
}

static const struct sql_columns stock_columns = COLUMNS(stock_row, FIELD(stock_row, item),
    FIELD(stock_row, sale), FIELD(stock_row, limit_per_user), FIELD(stock_row, sale_limit),
    FIELD(stock_row, flash_price), FIELD(stock_row, version), FIELD(stock_row, preheated),
    FIELD(stock_row, buyers_listed), FIELD(stock_row, lot), FIELD(stock_row, orders_written),
    FIELD(stock_row, product), FIELD(stock_row, limits.period_limit),
    FIELD(stock_row, limits.payer_limit), FIELD(stock_row, limits.period_days),
    FIELD(stock_row, limits.period_group), FIELD(stock_row, now.total),
    FIELD(stock_row, now.locked), FIELD(stock_row, now.sold), FIELD(stock_row, now.written_off),
    FIELD(stock_row, now.safety), FIELD(stock_row, now.channel));

static enum status stock_load(struct store_batch *batch, item_id item, struct stock_row *row)
{
    const enum status status = sql_one(batch->store,
        "SELECT items.id, items.sale, items.limit_per_user, sales.logged_limit, items.flash_price,"
        " items.version, items.preheated, items.buyers_listed, last_lot,"
        " (SELECT coalesce(sum(orders), 0) FROM order_sums WHERE item = items.id), product, "
        "period_limit, payer_limit,"
        " period_days, period_group, total, locked, sold, written_off, safety,"
        " " CHANNEL_COLUMNS " FROM items JOIN sales ON sales.id = items.sale WHERE items.id = ?1",
        VALUES(U64(item)), &stock_columns, row);
    row->before = row->now;
    return status;
}

/* NULL: it is not there. */
static struct stock_row *row_find(struct stock *stock, item_id item)
{
    if (stock->last != NULL && stock->last->item == item)
        return stock->last;
    const uint16_t *slot = slot_of(stock, item);
    return *slot == 0 ? NULL : (stock->last = &stock->rows[*slot - 1]);
}

/* The next free row, which row_add makes one of them. */
static struct stock_row *row_free(struct stock *stock)
{
    invariant(stock->count < ORDER_BATCH_MAX); /* a record names one item at most */
    return &stock->rows[stock->count];
}

static struct stock_row *row_add(struct stock *stock)
{
    struct stock_row *row = row_free(stock);
    uint16_t *slot = slot_of(stock, row->item);
    invariant(*slot == 0);
    *slot = (uint16_t)++stock->count;
    return stock->last = row;
}

enum status store_stock_row(struct store_batch *batch, item_id item, struct stock_row **row)
{
    struct store *store = batch->store;
    *row = row_find(&store->stock, item);
    if (*row != NULL)
        return STATUS_OK;
    struct stock_row *fresh = row_free(&store->stock);
    const struct stock_row *kept = store->grouped ? row_find(&store->group.kept, item) : NULL;
    if (kept != NULL) {
        *fresh = *kept;
    } else {
        const enum status status = stock_load(batch, item, fresh);
        if (status == STATUS_NOT_FOUND)
            return store_refuse(batch, REFUSAL_UNKNOWN, "item %u is not in the database", item);
        if (status != STATUS_OK)
            return status;
    }
    *row = row_add(&store->stock);
    return STATUS_OK;
}

enum status store_stock_take(struct store_batch *batch, struct stock_row *row, uint32_t quantity)
{
    int64_t left = row->now.total - row->now.locked - row->now.sold;
    if (left < (int64_t)quantity)
        return store_refuse(batch, REFUSAL_STOCK, "item %u has %lld units left, %u wanted",
            row->item, (long long)left, quantity);
    row->now.sold += quantity;
    return STATUS_OK;
}

void store_stock_allot(struct stock_row *row, channel_index channel, int64_t units)
{
    if (channel < CHANNELS_MAX)
        row->now.channel[channel] += units;
    else if (channel == CHANNEL_SAFETY)
        row->now.safety += units;
}

void store_sum_add(struct stock_row *row, enum order_state state, enum order_reason reason,
    uint32_t quantity, uint64_t amount, int64_t sign)
{
    struct order_sum *sum = &row->sums[state * ORDER_REASONS + reason];
    row->summed = true;
    sum->orders += sign;
    sum->units += sign * (int64_t)quantity;
    sum->amount_high += sign * (int64_t)(amount >> 32);
    sum->amount_low += sign * (int64_t)(amount & UINT32_MAX);
}

static enum status sums_write(struct store_batch *batch, const struct stock_row *row)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < ORDER_SUMS && row->summed && status == STATUS_OK; i++) {
        const struct order_sum *sum = &row->sums[i];
        if (sum->orders == 0 && sum->units == 0)
            continue;
        status = store_batch_do(batch,
            "INSERT INTO order_sums(item, state, reason, orders, units, amount_high, amount_low)"
            " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(item, state, reason) DO UPDATE SET"
            " orders = order_sums.orders + excluded.orders, units = order_sums.units + "
            "excluded.units,"
            " amount_high = order_sums.amount_high + excluded.amount_high,"
            " amount_low = order_sums.amount_low + excluded.amount_low",
            VALUES(U64(row->item), U64(i / ORDER_REASONS), U64(i % ORDER_REASONS), U64(sum->orders),
                U64(sum->units), U64(sum->amount_high), U64(sum->amount_low)));
    }
    return status;
}

/* Nothing was matched: another connection has changed the item, or its stock does not allow this. */
static enum status stock_refused(struct store_batch *batch, const struct stock_row *row)
{
    uint64_t version = row->version;
    const enum status status = store_locks(batch->store)
        ? sql_number(batch->store, item_version, VALUES(U64(row->item)), &version)
        : STATUS_OK;
    if (status == STATUS_OK && version != row->version)
        return store_conflict(batch->store);
    return status != STATUS_OK ? status
                               : store_refuse(batch, REFUSAL_STOCK,
                                   "item %u has less stock, or its version is no longer %llu",
                                   row->item, (unsigned long long)row->version);
}

static enum status stock_write(struct store_batch *batch, const struct stock_row *row)
{
    const struct stock_units *before = &row->before, *now = &row->now;
    struct stock_units only_sold = *before;
    only_sold.sold = now->sold;
    bool simple = memcmp(&only_sold, now, sizeof only_sold) == 0;
    int64_t channels[CHANNELS_MAX];
    for (int i = 0; i < CHANNELS_MAX; i++)
        channels[i] = now->channel[i] - before->channel[i];
    struct sql_values values = VALUES(U64(row->item), U64(row->version),
        U64(now->sold - before->sold), U64(now->total - before->total),
        U64(now->locked - before->locked), U64(now->written_off - before->written_off),
        U64(now->safety - before->safety), CHANNELS(channels));
    if (simple)
        values.count = 3;
    const enum status status = store_batch_do(batch, simple ? stock_take : stock_change, values);
    return status == STATUS_OK && sql_matched(batch->store) != 1 ? stock_refused(batch, row) : status;
}

static enum status rows_write(struct store_batch *batch, struct stock *stock)
{
    for (uint32_t i = 0; i < stock->count; i++) {
        const struct stock_row *row = &stock->rows[i];
        enum status status = sums_write(batch, row);
        if (status == STATUS_OK && memcmp(&row->before, &row->now, sizeof row->now) != 0)
            status = stock_write(batch, row);
        if (status != STATUS_OK)
            return status;
    }
    store_stock_clear(stock);
    return STATUS_OK;
}

enum status store_stock_flush(struct store_batch *batch)
{
    uint32_t index = batch->index;
    batch->index = UINT32_MAX; /* the sum is refused, not a record */
    const enum status status = rows_write(batch, &batch->store->stock);
    if (status == STATUS_OK)
        batch->index = index;
    return status;
}

/* ---- groups ---- */

static void row_keep(struct store *store, const struct stock_row *row)
{
    struct group_stock *group = &store->group;
    struct stock_row *kept = row_find(&group->kept, row->item);
    if (kept == NULL) { /* as it is in the database: nothing was added */
        kept = row_free(&group->kept);
        *kept = *row;
        kept->now = kept->before;
        kept->summed = false;
        memset(kept->sums, 0, sizeof kept->sums);
        kept = row_add(&group->kept);
    }
    if (store->together) {
        invariant(group->undo_count < ORDER_MOVES_MAX);
        group->undo[group->undo_count++] = *kept;
    }
    *kept = *row;
}

void store_stock_keep(struct store *store)
{
    for (uint32_t i = 0; i < store->stock.count; i++)
        row_keep(store, &store->stock.rows[i]);
    store_stock_clear(&store->stock);
}

void store_stock_mark(struct store *store)
{
    store->group.undo_count = 0;
}

void store_stock_back(struct store *store)
{
    struct group_stock *group = &store->group;
    while (group->undo_count > 0) {
        const struct stock_row *before = &group->undo[--group->undo_count];
        struct stock_row *kept = row_find(&group->kept, before->item);
        invariant(kept != NULL);
        *kept = *before;
    }
}

/* What the parts have added does not depend on what is there: it is added to the item as it is by now. */
static enum status group_lock(struct store *store)
{
    struct stock *kept = &store->group.kept;
    uint64_t items[ORDER_BATCH_MAX];
    if (!store_locks(store))
        return STATUS_OK;
    for (uint32_t i = 0; i < kept->count; i++)
        items[i] = kept->rows[i].item;
    enum status status = store_items_lock(store, items, kept->count);
    for (uint32_t i = 0; i < kept->count && status == STATUS_OK; i++)
        status =
            sql_number(store, item_version, VALUES(U64(kept->rows[i].item)), &kept->rows[i].version);
    return status;
}

enum status store_stock_settle(struct store *store)
{
    struct refusal refusal = { .index = UINT32_MAX };
    struct store_batch batch = { .store = store, .refusal = &refusal, .index = UINT32_MAX };
    if (!store->grouped || store->group.kept.count == 0)
        return STATUS_OK;
    invariant(!store->together);
    enum status status = group_lock(store);
    if (status == STATUS_OK)
        status = rows_write(&batch, &store->group.kept);
    if (status == STATUS_REFUSED)
        log_error("store", "the sums of a group are refused: %s", refusal.text);
    return status;
}
