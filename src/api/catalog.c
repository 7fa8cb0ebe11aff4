/* SPDX-License-Identifier: Apache-2.0 */
#include "api/catalog.h"

#include "base/clock.h"
#include "contract/currency.h"

#include <stdlib.h>
#include <string.h>

enum {
    READ_ROWS = 32,
    ITEM_TEXT_MAX = 6 * (NAME_BYTES_MAX + DESCRIPTION_BYTES_MAX) + IMAGES_BYTES_MAX + 512
};

/* Text grows while reading; spans are kept as offsets until the end. */
struct builder {
    struct catalog *catalog;
    struct order_store *store;
    size_t text_size, text_capacity;
    uint32_t sale_capacity, item_capacity;
    enum status status;
};

static void *grow(void *memory, uint32_t count, uint32_t *capacity, size_t each)
{
    if (count < *capacity)
        return memory;
    *capacity = *capacity == 0 ? 32 : *capacity * 2;
    void *larger = realloc(memory, *capacity * each);
    invariant(larger != NULL);
    return larger;
}

static struct text text_room(struct builder *builder)
{
    if (builder->text_capacity - builder->text_size < ITEM_TEXT_MAX) {
        builder->text_capacity = builder->text_capacity * 2 + 2 * ITEM_TEXT_MAX;
        builder->catalog->text = realloc(builder->catalog->text, builder->text_capacity);
        invariant(builder->catalog->text != NULL);
    }
    return text_in(builder->catalog->text + builder->text_size, ITEM_TEXT_MAX);
}

/* What was written since text_room, as an offset that catalog_build turns into a pointer. */
static struct span text_keep(struct builder *builder, const struct text *text)
{
    invariant(!text->overflow);
    const struct span kept = { (const char *)(uintptr_t)builder->text_size, text->size };
    builder->text_size += text->size;
    return kept;
}

static struct span plain_keep(struct builder *builder, struct span plain)
{
    struct text text = text_room(builder);
    text_add(&text, plain);
    return text_keep(builder, &text);
}

/* The first of a JSON list of addresses; empty: there is none, or it is written with escapes. */
static struct span image_first(const char *images)
{
    if (strncmp(images, "[\"", 2) != 0)
        return SPAN_NONE;
    const size_t size = strcspn(images + 2, "\"\\");
    return images[2 + size] == '"' ? span_of(images + 2, size) : SPAN_NONE;
}

static void item_add(struct builder *builder, const struct item *row)
{
    struct product *product = malloc(sizeof *product);
    struct catalog *catalog = builder->catalog;
    invariant(product != NULL);
    builder->status = builder->store->ops->product_get(builder->store, row->product, product);
    if (builder->status != STATUS_OK) {
        free(product);
        return;
    }
    catalog->items =
        grow(catalog->items, catalog->item_count, &builder->item_capacity, sizeof *catalog->items);
    struct catalog_item *item = &catalog->items[catalog->item_count++];
    *item = (struct catalog_item){ .id = row->id,
        .sale = row->sale,
        .sale_at = catalog->sale_count - 1, /* sale_add is at work on it */
        .deduct_on_payment = row->deduct_on_payment,
        .list_price = product->list_price,
        .flash_price = row->flash_price };
    item->name = plain_keep(builder, span_from_string(product->name));
    item->about = plain_keep(builder, span_from_string(product->description));
    item->image = plain_keep(builder, image_first(product->images));
    memcpy(item->currency, product->currency, sizeof item->currency);
    struct text text = text_room(builder);
    text_format(&text, "\"id\":%u,\"sale\":%u,\"product\":{\"id\":%u,\"name\":", row->id, row->sale,
        product->id);
    text_json(&text, span_from_string(product->name));
    text_literal(&text, ",\"images\":");
    text_string(&text, product->images[0] == 0 ? "[]" : product->images);
    item->head = text_keep(builder, &text);
    text = text_room(builder);
    text_json(&text, span_from_string(product->description));
    item->description = text_keep(builder, &text);
    text = text_room(builder);
    text_literal(&text, "}");
    currency_members(product->currency, &text);
    text_format(&text,
        ",\"list_price\":%llu,\"flash_price\":%llu,\"limit_per_user\":%u,"
        "\"deduct\":\"%s\"",
        (unsigned long long)product->list_price, (unsigned long long)row->flash_price,
        row->limit_per_user, row->deduct_on_payment ? "payment" : "order");
    item->tail = text_keep(builder, &text);
    if (row->id >= catalog->item_ids)
        catalog->item_ids = row->id + 1;
    free(product);
}

static void items_add(struct builder *builder, sale_id sale)
{
    struct item rows[READ_ROWS];
    uint32_t count = READ_ROWS;
    for (item_id after = 0; builder->status == STATUS_OK && count == READ_ROWS;) {
        builder->status =
            builder->store->ops->items(builder->store, sale, after, rows, READ_ROWS, &count);
        for (uint32_t i = 0; i < count && builder->status == STATUS_OK; i++) {
            item_add(builder, &rows[i]);
            after = rows[i].id;
        }
    }
}

static void sale_add(struct builder *builder, const struct sale *row)
{
    struct catalog *catalog = builder->catalog;
    catalog->sales =
        grow(catalog->sales, catalog->sale_count, &builder->sale_capacity, sizeof *catalog->sales);
    const uint32_t index = catalog->sale_count++;
    const uint32_t first = catalog->item_count;
    struct text text = text_room(builder);
    text_json(&text, span_from_string(row->title));
    catalog->sales[index] = (struct catalog_sale){ .id = row->id,
        .start_ms = row->start_ms,
        .end_ms = row->end_ms,
        .limit_per_user = row->limit_per_user,
        .details_required = row->details_required,
        .waiting_room = row->waiting_room,
        .pass_once = row->pass_once,
        .human_check = row->human_check,
        .drop_percent = row->drop_percent,
        .pace_per_s = row->pace_per_s,
        .gate = row->gate,
        .archived = row->archived,
        .first_item = first,
        .title = text_keep(builder, &text) };
    text = text_room(builder);
    if (row->waiting_room && row->beacon_name[0] != 0)
        text_json(&text, span_from_string(row->beacon_name));
    catalog->sales[index].beacon_name = text_keep(builder, &text);
    items_add(builder, row->id);
    catalog->sales[index].item_count = catalog->item_count - first;
}

static void span_settle(const struct catalog *catalog, struct span *span)
{
    span->data = catalog->text + (uintptr_t)span->data;
}

static void catalog_settle(struct catalog *catalog)
{
    catalog->item_by_id = calloc(catalog->item_ids + 1, sizeof *catalog->item_by_id);
    invariant(catalog->item_by_id != NULL);
    for (uint32_t i = 0; i < catalog->sale_count; i++) {
        span_settle(catalog, &catalog->sales[i].title);
        span_settle(catalog, &catalog->sales[i].beacon_name);
    }
    for (uint32_t i = 0; i < catalog->item_count; i++) {
        span_settle(catalog, &catalog->items[i].name);
        span_settle(catalog, &catalog->items[i].about);
        span_settle(catalog, &catalog->items[i].image);
        span_settle(catalog, &catalog->items[i].head);
        span_settle(catalog, &catalog->items[i].description);
        span_settle(catalog, &catalog->items[i].tail);
        catalog->item_by_id[catalog->items[i].id] = i + 1;
    }
    catalog_list_make(catalog, clock_now_ms());
}

enum status catalog_build(struct catalog **out, struct order_store *store)
{
    struct builder builder = { .catalog = calloc(1, sizeof(struct catalog)), .store = store };
    struct sale rows[READ_ROWS];
    uint32_t count = READ_ROWS;
    invariant(builder.catalog != NULL);
    *out = NULL;
    for (sale_id after = 0; builder.status == STATUS_OK && count == READ_ROWS;) {
        builder.status = store->ops->sales(store, after, rows, READ_ROWS, &count);
        for (uint32_t i = 0; i < count && builder.status == STATUS_OK; i++) {
            if (rows[i].published)
                sale_add(&builder, &rows[i]);
            after = rows[i].id;
        }
    }
    if (builder.status != STATUS_OK) {
        catalog_free(builder.catalog);
        return builder.status;
    }
    catalog_settle(builder.catalog);
    *out = builder.catalog;
    return STATUS_OK;
}

void catalog_free(void *pointer)
{
    struct catalog *catalog = pointer;
    free(catalog->sales);
    free(catalog->items);
    free(catalog->item_by_id);
    free(catalog->by_start);
    free(catalog->by_end);
    free(catalog->text);
    free(catalog);
}

const struct catalog_sale *catalog_sale_find(const struct catalog *catalog, sale_id sale)
{
    uint32_t low = 0, high = catalog->sale_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (catalog->sales[middle].id < sale)
            low = middle + 1;
        else
            high = middle;
    }
    return low < catalog->sale_count && catalog->sales[low].id == sale ? &catalog->sales[low] : NULL;
}

const struct catalog_item *catalog_item_find(const struct catalog *catalog, item_id item)
{
    const uint32_t index = item < catalog->item_ids ? catalog->item_by_id[item] : 0;
    return index == 0 ? NULL : &catalog->items[index - 1];
}

void catalog_rules_show(const struct catalog *catalog, struct item_rules *rules, uint32_t items_max)
{
    for (item_id id = 1; id < items_max; id++) {
        const struct catalog_item *item = catalog_item_find(catalog, id);
        struct item_rule rule = { .known = item != NULL };
        if (item != NULL) {
            const struct catalog_sale *sale = catalog_sale_of(catalog, item);
            rule.waiting_room = sale->waiting_room;
            rule.drop_percent = (uint8_t)sale->drop_percent;
            rule.pace_per_s = sale->pace_per_s;
            rule.deduct_on_payment = item->deduct_on_payment;
        }
        item_rule_set(rules, id, &rule);
    }
}

const char *sale_state_name(uint8_t gate, uint64_t start_ms, uint64_t end_ms, uint64_t now_ms)
{
    if (gate == GATE_ENDED || now_ms >= end_ms)
        return "ended";
    if (gate == GATE_PAUSED)
        return "paused";
    return gate == GATE_OPENED || now_ms >= start_ms ? "open" : "scheduled";
}

static void bool_member(struct text *out, const char *name, bool value)
{
    text_format(out, ",\"%s\":%s", name, value ? "true" : "false");
}

void currency_members(const char *currency, struct text *out)
{
    unsigned digits;
    text_literal(out, ",\"currency\":");
    text_json(out, span_from_string(currency));
    if (currency_find(span_from_string(currency), &digits))
        text_format(out, ",\"minor_units\":%u", digits);
}

void counts_members(const struct item_counts *counts, struct text *out)
{
    const struct {
        const char *name;
        uint32_t value;
    } members[] = { { "given", counts->given }, { "free", counts->free }, { "held", counts->held },
        { "sold", counts->sold }, { "safety", counts->safety }, { "written_off", counts->written_off } };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        text_format(out, "%s\"%s\":%u", i == 0 ? "" : ",", members[i].name, members[i].value);
}

static void public_counts(const struct item_counts *counts, uint32_t free, struct text *out)
{
    text_format(out, "\"given\":%llu,\"free\":%u,\"held\":%u,\"sold\":%u",
        (unsigned long long)free + counts->held + counts->sold, free, counts->held, counts->sold);
}

void catalog_render_item(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_item *item, bool with_description, uint64_t now_ms, struct text *out)
{
    struct board_update view = { 0 };
    const bool preheated = board_read(board, item->id, &view);
    const struct catalog_sale *sale = catalog_sale_find(catalog, item->sale);
    if (!preheated)
        view = (struct board_update){
            .start_ms = sale->start_ms, .end_ms = sale->end_ms, .gate = sale->gate
        };
    const char *state = sale_state_name((uint8_t)view.gate, view.start_ms, view.end_ms, now_ms);
    const bool open = strcmp(state, "open") == 0;
    const uint32_t free = view.counts.channel_free[channel];
    text_literal(out, "{");
    text_add(out, item->head);
    if (with_description) {
        text_literal(out, ",\"description\":");
        text_add(out, item->description);
    }
    text_add(out, item->tail);
    text_format(out, ",\"state\":\"%s\",\"start_ms\":", state);
    text_u64(out, view.start_ms);
    text_literal(out, ",\"end_ms\":");
    text_u64(out, view.end_ms);
    bool_member(out, "started", open || strcmp(state, "scheduled") != 0);
    bool_member(out, "accepting",
        open && preheated && free > 0
            && atomic_load_explicit(&board->wins_stopped, memory_order_relaxed) == WINS_RUNNING);
    bool_member(out, "sold_out", preheated && free == 0);
    bool_member(out, "waiting_room", sale->waiting_room);
    if (with_description) { /* what a buyer may do ahead of the start */
        bool_member(out, "details_required", sale->details_required);
        text_format(out, ",\"human_check\":\"%s\"", human_check_name(sale->human_check));
    }
    text_literal(out, ",\"counts\":{");
    public_counts(&view.counts, free, out);
    text_literal(out, "}}");
}

void catalog_sale_view(const struct catalog *catalog, const struct board *board,
    const struct catalog_sale *sale, struct board_update *view)
{
    for (uint32_t i = 0; i < sale->item_count; i++)
        if (board_read(board, catalog->items[sale->first_item + i].id, view))
            return;
    *view =
        (struct board_update){ .start_ms = sale->start_ms, .end_ms = sale->end_ms, .gate = sale->gate };
}

bool catalog_sale_opened(
    const struct catalog *catalog, const struct board *board, const struct catalog_sale *sale)
{
    struct board_update view;
    for (uint32_t i = 0; i < sale->item_count; i++)
        if (board_read(board, catalog->items[sale->first_item + i].id, &view))
            return view.gate == GATE_OPENED; /* the same for all items of a sale */
    return false;
}

const char *catalog_sale_state(const struct catalog *catalog, const struct board *board,
    const struct sale *row, uint64_t now_ms)
{
    const struct catalog_sale *sale = catalog == NULL ? NULL : catalog_sale_find(catalog, row->id);
    struct board_update view = { .gate = row->gate };
    if (sale != NULL)
        catalog_sale_view(catalog, board, sale, &view);
    /* Time alone opens no draft. */
    return sale_state_name(
        (uint8_t)view.gate, row->published ? row->start_ms : UINT64_MAX, row->end_ms, now_ms);
}

void catalog_sale_members(const struct catalog *catalog, const struct board *board,
    const struct catalog_sale *sale, uint64_t now_ms, struct text *out)
{
    struct board_update view;
    catalog_sale_view(catalog, board, sale, &view);
    text_format(out, "{\"id\":%u,\"title\":", sale->id);
    text_add(out, sale->title);
    text_format(out,
        ",\"state\":\"%s\",\"start_ms\":%llu,\"end_ms\":%llu,\"limit_per_user\":%u,"
        "\"details_required\":%s,\"human_check\":\"%s\",\"waiting_room\":%s",
        sale_state_name((uint8_t)view.gate, view.start_ms, view.end_ms, now_ms),
        (unsigned long long)view.start_ms, (unsigned long long)view.end_ms, sale->limit_per_user,
        sale->details_required ? "true" : "false", human_check_name(sale->human_check),
        sale->waiting_room ? "true" : "false");
    if (sale->beacon_name.size > 0) {
        text_literal(out, ",\"beacon_name\":");
        text_add(out, sale->beacon_name);
    }
}

void catalog_render_sale(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_sale *sale, item_id after, uint64_t now_ms, size_t room, struct text *out)
{
    catalog_sale_members(catalog, board, sale, now_ms, out);
    text_format(out, ",\"now_ms\":%llu,\"items\":[", (unsigned long long)now_ms);
    const char *comma = "";
    item_id next = 0, last = 0;
    for (uint32_t i = 0; i < sale->item_count && next == 0; i++) {
        const struct catalog_item *item = &catalog->items[sale->first_item + i];
        if (item->id <= after)
            continue;
        if (last != 0 && out->size + item->head.size + item->tail.size + 512 > room) {
            next = last;
            break;
        }
        text_string(out, comma);
        catalog_render_item(catalog, board, channel, item, false, now_ms, out);
        comma = ",";
        last = item->id;
    }
    text_literal(out, "]");
    if (next != 0)
        text_format(out, ",\"next\":%u", next);
    text_literal(out, "}");
}
