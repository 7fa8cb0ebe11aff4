/* SPDX-License-Identifier: Apache-2.0 */
#include "api/catalog.h"

#include "contract/currency.h"

#include <string.h>

enum { ITEM_BYTES = 512 }; /* of an item in a list, beside what does not change */

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

void catalog_item_members(const struct catalog *catalog, const struct catalog_item *item,
    bool with_description, struct text *out)
{
    const struct catalog_product *product = catalog_product_of(catalog, item);
    text_add(out, item->head);
    text_add(out, product->head);
    if (with_description) {
        text_literal(out, ",\"description\":");
        text_add(out, product->description);
    }
    text_add(out, with_description ? product->texts : product->names);
    text_add(out, product->tail);
    text_add(out, item->tail);
}

size_t catalog_item_bytes(const struct catalog *catalog, const struct catalog_item *item)
{
    const struct catalog_product *product = catalog_product_of(catalog, item);
    return item->head.size + product->head.size + product->names.size + product->tail.size
        + item->tail.size + ITEM_BYTES;
}

void catalog_render_item(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_item *item, bool with_description, uint64_t now_ms, struct text *out)
{
    struct board_update view = { 0 };
    const bool preheated = board_read(board, item->id, &view);
    const struct catalog_sale *sale = catalog_sale_of(catalog, item);
    if (!preheated)
        view = (struct board_update){
            .start_ms = sale->start_ms, .end_ms = sale->end_ms, .gate = sale->gate
        };
    const char *state = sale_state_name((uint8_t)view.gate, view.start_ms, view.end_ms, now_ms);
    const bool open = strcmp(state, "open") == 0;
    const uint32_t free = view.counts.channel_free[channel];
    text_literal(out, "{");
    catalog_item_members(catalog, item, with_description, out);
    text_format(out, ",\"state\":\"%s\",\"start_ms\":", state);
    text_u64(out, view.start_ms);
    text_literal(out, ",\"end_ms\":");
    text_u64(out, view.end_ms);
    bool_member(out, "started", open || strcmp(state, "scheduled") != 0);
    bool_member(out, "accepting",
        open && preheated && free > 0
            && atomic_load_explicit(&board->wins_stopped, memory_order_relaxed) == WINS_RUNNING);
    bool_member(out, "sold_out", preheated && free == 0);
    if (preheated && free == 0)
        text_add(out, item->offers);
    if (preheated && free == 0 && board_sold_out_ms(board, item->id) != 0)
        text_format(
            out, ",\"sold_out_ms\":%llu", (unsigned long long)board_sold_out_ms(board, item->id));
    bool_member(out, "waiting_room", sale->waiting_room);
    if (with_description) { /* what a buyer may do ahead of the start */
        bool_member(out, "details_required", sale->details_required);
        text_format(out, ",\"human_check\":\"%s\"", human_check_name(sale->human_check));
    }
    text_literal(out, ",\"counts\":{");
    public_counts(&view.counts, free, out);
    text_literal(out, "}}");
}

void catalog_sale_view(
    const struct board *board, const struct catalog_sale *sale, struct board_update *view)
{
    for (uint32_t i = 0; i < sale->item_count; i++)
        if (board_read(board, sale->items[i], view))
            return;
    *view =
        (struct board_update){ .start_ms = sale->start_ms, .end_ms = sale->end_ms, .gate = sale->gate };
}

bool catalog_sale_opened(const struct board *board, const struct catalog_sale *sale)
{
    struct board_update view;
    for (uint32_t i = 0; i < sale->item_count; i++)
        if (board_read(board, sale->items[i], &view))
            return view.gate == GATE_OPENED; /* the same for all items of a sale */
    return false;
}

void catalog_sale_members(
    const struct board *board, const struct catalog_sale *sale, uint64_t now_ms, struct text *out)
{
    struct board_update view;
    catalog_sale_view(board, sale, &view);
    text_format(out, "{\"id\":%u,\"title\":", sale->id);
    text_add(out, sale->title);
    text_add(out, sale->texts);
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
    catalog_sale_members(board, sale, now_ms, out);
    text_format(out, ",\"now_ms\":%llu,\"items\":[", (unsigned long long)now_ms);
    const char *comma = "";
    item_id next = 0, last = 0;
    for (uint32_t i = 0; i < sale->item_count && next == 0; i++) {
        if (sale->items[i] <= after)
            continue;
        const struct catalog_item *item = catalog_item_at(catalog, sale, i);
        if (last != 0 && out->size + catalog_item_bytes(catalog, item) > room) {
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
