/* SPDX-License-Identifier: Apache-2.0 */
/* api/catalog_build.c: the catalog from the store, whole or one change of it. What a change needs is
 * read first, so that a store that fails in the middle leaves the catalog as it was. */
#include "api/catalog_blocks.h"
#include "api/texts.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    READ_ROWS = 32,
    SWEEP_ROWS = 256,
    SALE_SAID_MAX = 6 * (NAME_BYTES_MAX + BEACON_NAME_BYTES_MAX + ROOM_MESSAGE_BYTES_MAX) + 32,
    SALE_TEXT_MAX = SALE_SAID_MAX + SALE_TEXTS_BYTES_MAX,
};

/* ---- blocks: one piece of memory each, with the text that its spans point into ---- */

static struct catalog_sale *sale_make(
    const struct catalog_sale *like, const item_id *items, uint32_t item_count)
{
    const size_t items_bytes = item_count * sizeof(item_id);
    struct catalog_sale *sale = block_take(sizeof *sale + items_bytes + like->title.size
        + like->beacon_name.size + like->message.size + like->texts.size);
    item_id *kept = (item_id *)(sale + 1);
    *sale = *like;
    sale->item_count = item_count;
    sale->items = kept;
    if (item_count > 0)
        memcpy(kept, items, items_bytes);
    char *at = span_keep(&sale->title, (char *)(kept + item_count));
    at = span_keep(&sale->beacon_name, at);
    at = span_keep(&sale->message, at);
    span_keep(&sale->texts, at);
    return sale;
}

/* ---- reading ---- */

/* A sale, its items and their products as the store has them, before the catalog has them. */
struct reading {
    struct order_store *store;
    const struct catalog *known; /* its products need not be read again */
    struct catalog_sale *sale;
    struct blocks items, products;
};

static void reading_drop(struct reading *reading)
{
    free(reading->sale);
    blocks_free(&reading->items);
    blocks_free(&reading->products);
}

static enum status product_read(struct order_store *store, uint32_t id, struct blocks *products)
{
    struct product *row = block_take(sizeof *row);
    const enum status status = store->ops->product_get(store, id, row);
    if (status == STATUS_OK)
        blocks_add(products, catalog_product_make(row));
    free(row);
    return status;
}

static bool product_is_known(const struct reading *reading, uint32_t id)
{
    const struct blocks *read = &reading->products;
    const struct catalog_product *last = read->count == 0 ? NULL : read->memory[read->count - 1];
    return (last != NULL && last->id == id) || id_table_find(&reading->known->products, id) != NULL;
}

static enum status item_take(struct reading *reading, struct catalog_item *item)
{
    blocks_add(&reading->items, item);
    return product_is_known(reading, item->product)
        ? STATUS_OK
        : product_read(reading->store, item->product, &reading->products);
}

static enum status item_read(struct reading *reading, const struct item *row)
{
    return item_take(reading, catalog_item_make(row));
}

static enum status items_read(struct reading *reading, sale_id sale)
{
    struct item rows[READ_ROWS];
    struct order_store *store = reading->store;
    enum status status = STATUS_OK;
    uint32_t count = READ_ROWS;
    for (item_id after = 0; status == STATUS_OK && count == READ_ROWS;) {
        status = store->ops->items(store, sale, after, rows, READ_ROWS, &count);
        for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
            status = item_read(reading, &rows[i]);
            after = rows[i].id;
        }
    }
    return status;
}

/* `was`: has its items; NULL: they are those that were read. */
static void sale_take(struct reading *reading, const struct sale *row, const struct catalog_sale *was)
{
    char bytes[SALE_TEXT_MAX];
    struct text text = text_in(bytes, sizeof bytes);
    text_json(&text, span_from_string(row->title));
    const size_t title_bytes = text.size;
    if (row->waiting_room && row->beacon_name[0] != 0)
        text_json(&text, span_from_string(row->beacon_name));
    const size_t name_bytes = text.size - title_bytes;
    if (row->waiting_room && row->room_message[0] != 0)
        text_json(&text, span_from_string(row->room_message));
    const struct span message = text_since(&text, title_bytes + name_bytes);
    json_t *texts = texts_parse(row->texts);
    if (texts != NULL)
        texts_json(row->texts, &text);
    json_decref(texts);
    invariant(!text.overflow);
    const struct catalog_sale like = { .id = row->id,
        .start_ms = row->start_ms,
        .end_ms = row->end_ms,
        .limit_per_user = row->limit_per_user,
        .details_required = row->details_required,
        .waiting_room = row->waiting_room,
        .pass_once = row->pass_once,
        .human_check = row->human_check,
        .drop_percent = row->drop_percent,
        .pace_per_s = row->pace_per_s,
        .timetable = row->timetable,
        .day_ms = row->day_ms,
        .gate = row->gate,
        .archived = row->archived,
        .title = span_of(bytes, title_bytes),
        .beacon_name = span_of(bytes + title_bytes, name_bytes),
        .message = message,
        .texts = text_since(&text, title_bytes + name_bytes + message.size),
        .message_mark = hash_crc32c(0, message.data, message.size) };
    if (was != NULL) {
        reading->sale = sale_make(&like, was->items, was->item_count);
        return;
    }
    const struct blocks *items = &reading->items;
    item_id *ids = block_take((items->count + 1) * sizeof *ids);
    for (uint32_t i = 0; i < items->count; i++)
        ids[i] = ((const struct catalog_item *)items->memory[i])->id;
    reading->sale = sale_make(&like, ids, items->count);
    free(ids);
}

/* ---- writing ---- */

static void sale_put(struct catalog *catalog, sale_id id, struct catalog_sale *sale, struct blocks *old)
{
    blocks_add(old, id_table_put(&catalog->sales, catalog->version, id, sale, old));
}

static void item_put(struct catalog *catalog, item_id id, struct catalog_item *item, struct blocks *old)
{
    blocks_add(old, id_table_put(&catalog->items, catalog->version, id, item, old));
}

static void product_put(struct catalog *catalog, struct catalog_product *product, struct blocks *old)
{
    blocks_add(old, id_table_put(&catalog->products, catalog->version, product->id, product, old));
}

/* What was read is the catalog's from now on. */
static void reading_put(struct reading *reading, struct catalog *catalog, struct blocks *old)
{
    for (uint32_t i = 0; i < reading->products.count; i++)
        product_put(catalog, reading->products.memory[i], old);
    for (uint32_t i = 0; i < reading->items.count; i++) {
        struct catalog_item *item = reading->items.memory[i];
        item_put(catalog, item->id, item, old);
    }
    if (reading->sale != NULL)
        sale_put(catalog, reading->sale->id, reading->sale, old);
    free(reading->items.memory);
    free(reading->products.memory);
}

/* All items that there are, by one pass over their table instead of a question for each sale. */
enum { NO_PLACE = UINT32_MAX };
struct sweep {
    struct blocks items;         /* in the order of their ids; NULL: a sale has taken it */
    uint32_t next[ITEMS_LIMIT];  /* by place in `items`: the next one of the same sale */
    uint32_t first[SALES_LIMIT]; /* by sale */
    uint32_t last[SALES_LIMIT];
};

static void sweep_note(struct sweep *sweep, const struct item *row)
{
    const uint32_t place = sweep->items.count;
    invariant(row->sale < SALES_LIMIT && place < ITEMS_LIMIT);
    blocks_add(&sweep->items, catalog_item_make(row));
    if (sweep->last[row->sale] == NO_PLACE)
        sweep->first[row->sale] = place;
    else
        sweep->next[sweep->last[row->sale]] = place;
    sweep->last[row->sale] = place;
    sweep->next[place] = NO_PLACE;
}

static enum status sweep_make(struct sweep *sweep, struct order_store *store)
{
    struct item *rows = block_take(SWEEP_ROWS * sizeof *rows);
    enum status status = STATUS_OK;
    uint32_t count = SWEEP_ROWS;
    sweep->items = (struct blocks){ 0 };
    for (sale_id sale = 0; sale < SALES_LIMIT; sale++)
        sweep->first[sale] = sweep->last[sale] = NO_PLACE;
    for (item_id after = 0; status == STATUS_OK && count == SWEEP_ROWS;) {
        status = store->ops->items(store, 0, after, rows, SWEEP_ROWS, &count);
        for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
            sweep_note(sweep, &rows[i]);
            after = rows[i].id;
        }
    }
    free(rows);
    return status;
}

static enum status sweep_take(struct sweep *sweep, sale_id sale, struct reading *reading)
{
    enum status status = STATUS_OK;
    for (uint32_t at = sweep->first[sale]; at != NO_PLACE && status == STATUS_OK; at = sweep->next[at]) {
        status = item_take(reading, sweep->items.memory[at]);
        sweep->items.memory[at] = NULL;
    }
    return status;
}

static enum status sale_add(struct catalog *catalog, struct order_store *store, struct sweep *sweep,
    const struct sale *row, struct blocks *old)
{
    struct reading reading = { .store = store, .known = catalog };
    const enum status status = sweep_take(sweep, row->id, &reading);
    if (status == STATUS_OK) {
        sale_take(&reading, row, NULL);
        reading_put(&reading, catalog, old);
    } else {
        reading_drop(&reading);
    }
    return status;
}

enum status catalog_build(struct catalog **out, struct order_store *store)
{
    struct catalog *catalog = block_take(sizeof *catalog);
    struct blocks old = { 0 };
    struct sale *rows = block_take(READ_ROWS * sizeof *rows);
    struct sweep *sweep = block_take(sizeof *sweep);
    enum status status = sweep_make(sweep, store);
    uint32_t count = READ_ROWS;
    *catalog = (struct catalog){ .version = 1 };
    *out = NULL;
    for (sale_id after = 0; status == STATUS_OK && count == READ_ROWS;) {
        status = store->ops->sales(store, after, rows, READ_ROWS, &count);
        for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
            if (rows[i].published)
                status = sale_add(catalog, store, sweep, &rows[i], &old);
            after = rows[i].id;
        }
    }
    free(rows);
    blocks_free(&sweep->items); /* of sales that are not public */
    free(sweep);
    blocks_free(&old);
    if (status != STATUS_OK) {
        catalog_free(catalog);
        return status;
    }
    catalog->lists = catalog_lists_make(catalog, clock_now_ms());
    *out = catalog;
    return STATUS_OK;
}

void catalog_free(void *pointer)
{
    struct catalog *catalog = pointer;
    blocks_free(&catalog->dropped);
    if (!catalog->replaced) {
        id_table_free(&catalog->sales);
        id_table_free(&catalog->items);
        id_table_free(&catalog->products);
        free(catalog->lists);
    }
    free(catalog);
}

/* ---- one change ---- */

static struct catalog *version_after(struct catalog *now)
{
    struct catalog *next = block_take(sizeof *next);
    *next = *now;
    next->version++;
    next->dropped = (struct blocks){ 0 };
    now->replaced = true;
    return next;
}

static void lists_change(struct catalog *next, sale_id id, struct blocks *old)
{
    blocks_add(old, next->lists);
    next->lists = catalog_lists_change(next, id, catalog_sale_find(next, id), clock_now_ms());
}

static enum status product_change(
    struct catalog *now, struct order_store *store, uint32_t id, struct catalog **next)
{
    struct blocks read = { 0 };
    if (id_table_find(&now->products, id) == NULL)
        return STATUS_OK;
    const enum status status = product_read(store, id, &read);
    if (status == STATUS_OK) {
        *next = version_after(now);
        product_put(*next, read.memory[0], &now->dropped);
    }
    free(read.memory);
    return status;
}

/* A sale begins or ceases to name the item. */
static void sale_name_item(
    struct catalog *catalog, sale_id id, item_id item, bool named, struct blocks *old)
{
    const struct catalog_sale *sale = id_table_at(&catalog->sales, id);
    uint32_t at = 0;
    while (at < sale->item_count && sale->items[at] < item)
        at++;
    const bool is_named = at < sale->item_count && sale->items[at] == item;
    if (is_named == named)
        return;
    item_id *items = block_take((sale->item_count + 1) * sizeof *items);
    uint32_t count = 0;
    for (uint32_t i = 0; i <= sale->item_count; i++) {
        if (i == at && named)
            items[count++] = item;
        if (i < sale->item_count && (named || i != at))
            items[count++] = sale->items[i];
    }
    sale_put(catalog, id, sale_make(sale, items, count), old);
    free(items);
}

static enum status item_change(
    struct catalog *now, struct order_store *store, item_id id, struct catalog **next)
{
    struct item row = { 0 };
    struct reading reading = { .store = store, .known = now };
    const struct catalog_item *was = catalog_item_find(now, id);
    enum status status = store->ops->item_get(store, id, &row);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    const bool public = status == STATUS_OK && catalog_sale_find(now, row.sale) != NULL;
    if (!public && was == NULL)
        return STATUS_OK;
    status = public ? item_read(&reading, &row) : STATUS_OK;
    if (status != STATUS_OK) {
        reading_drop(&reading);
        return status;
    }
    *next = version_after(now);
    if (was != NULL && (!public || was->sale != row.sale))
        sale_name_item(*next, was->sale, id, false, &now->dropped);
    if (public)
        sale_name_item(*next, row.sale, id, true, &now->dropped);
    else
        item_put(*next, id, NULL, &now->dropped);
    reading_put(&reading, *next, &now->dropped);
    return STATUS_OK;
}

static void sale_remove(struct catalog *now, const struct catalog_sale *sale, struct catalog **next)
{
    *next = version_after(now);
    for (uint32_t i = 0; i < sale->item_count; i++)
        item_put(*next, sale->items[i], NULL, &now->dropped);
    sale_put(*next, sale->id, NULL, &now->dropped);
    lists_change(*next, sale->id, &now->dropped);
}

static enum status sale_change(
    struct catalog *now, struct order_store *store, sale_id id, struct catalog **next)
{
    struct sale row = { 0 };
    struct reading reading = { .store = store, .known = now };
    const struct catalog_sale *was = catalog_sale_find(now, id);
    enum status status = store->ops->sale_get(store, id, &row);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    if (status == STATUS_NOT_FOUND || !row.published) {
        if (was != NULL)
            sale_remove(now, was, next);
        return STATUS_OK;
    }
    status = was != NULL ? STATUS_OK : items_read(&reading, id);
    if (status != STATUS_OK) {
        reading_drop(&reading);
        return status;
    }
    sale_take(&reading, &row, was);
    *next = version_after(now);
    reading_put(&reading, *next, &now->dropped);
    if (was == NULL || was->start_ms != row.start_ms || was->end_ms != row.end_ms
        || was->archived != row.archived)
        lists_change(*next, id, &now->dropped);
    return STATUS_OK;
}

enum status catalog_change(struct catalog *now, struct order_store *store,
    const struct catalog_change *change, struct catalog **next)
{
    invariant(!now->replaced);
    *next = now;
    return change->part == CATALOG_SALE ? sale_change(now, store, (sale_id)change->id, next)
        : change->part == CATALOG_ITEM  ? item_change(now, store, (item_id)change->id, next)
                                        : product_change(now, store, change->id, next);
}

/* ---- rules of items ---- */

static void rule_show(
    const struct catalog *catalog, item_id id, struct item_rules *rules, uint32_t items_max)
{
    const struct catalog_item *item = catalog_item_find(catalog, id);
    struct item_rule rule = { .known = item != NULL };
    if (id >= items_max)
        return;
    if (item != NULL) {
        const struct catalog_sale *sale = catalog_sale_of(catalog, item);
        rule.waiting_room = sale->waiting_room;
        rule.drop_percent = (uint8_t)sale->drop_percent;
        rule.pace_per_s = sale->pace_per_s;
        rule.deduct_on_payment = item->deduct_on_payment;
        rule.offers = item->offers.size > 0;
    }
    item_rule_set(rules, id, &rule);
}

void catalog_rules_show(const struct catalog *catalog, struct item_rules *rules, uint32_t items_max)
{
    for (item_id id = 1; id < items_max; id++)
        rule_show(catalog, id, rules, items_max);
}

static bool rules_differ(const struct catalog_sale *a, const struct catalog_sale *b)
{
    return a == NULL || b == NULL || a->waiting_room != b->waiting_room
        || a->drop_percent != b->drop_percent || a->pace_per_s != b->pace_per_s;
}

void catalog_rules_change(const struct catalog *before, const struct catalog *after,
    const struct catalog_change *change, struct item_rules *rules, uint32_t items_max)
{
    if (change->part == CATALOG_ITEM)
        rule_show(after, (item_id)change->id, rules, items_max);
    if (change->part != CATALOG_SALE)
        return;
    const struct catalog_sale *was = catalog_sale_find(before, (sale_id)change->id),
                              *is = catalog_sale_find(after, (sale_id)change->id);
    const struct catalog_sale *named = is != NULL ? is : was; /* its items stay the same otherwise */
    for (uint32_t i = 0; named != NULL && rules_differ(was, is) && i < named->item_count; i++)
        rule_show(after, named->items[i], rules, items_max);
}
